"""The one place that picks an engine, and whether rows are encoded by blocks."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from .._cells.count_tables import ClusterTables
from .._cells.encode import encode_rows
from .._cells.partition import Partition
from .._cells.voronoi import VoronoiPartition
from .._data.duplicates import find_equal_rows
from .._data.rows import Data
from .._kernels import select as choice
from .._kernels.reference import Cells
from .dense import LocalEngine
from .memory_rows import Keep, in_memory
from .merged import MergedEngine
from .protocol import EncodingEngine, ShardableEngine

# Beyond, blocks of neighbours are too wide to share cells.
_MAX_COLUMNS_FOR_BLOCKS = 8
# New rows are put into blocks so many at a time, so that their number needs no memory.
_ROWS_AT_A_TIME = 1 << 20


def blocks_pay(n_rows: int, partition: Partition) -> bool:
    """Whether the compiled kernels on blocks of neighbours are the faster way."""
    return (
        type(partition) is VoronoiPartition
        and n_rows >= choice.MIN_ROWS_FOR_COMPILED
        and partition.points.shape[1] <= _MAX_COLUMNS_FOR_BLOCKS
    )


def cells_of_rows(data: Data, partition: Partition, n_jobs: int | None) -> Cells:
    """Return the cell of each row in each partitioning, (n, t)."""
    if not isinstance(partition, VoronoiPartition) or not blocks_pay(len(data), partition):
        return encode_rows(data, partition, choice.kernels_for(len(data)), n_jobs)
    from .._cells.neighbour_blocks import block_rows

    cells = np.empty((len(data), partition.n_partitions), dtype=partition.cell_type)
    for some in _slices(len(data)):
        blocked = block_rows(data.only(some), partition, n_jobs)
        cells[some][blocked.order] = blocked.cells(np.arange(len(blocked.order)))
    return cells


def labels_by_blocks(
    data: Data,
    partition: Partition,
    clusters: ClusterTables,
    threshold: float,
    n_jobs: int | None,
) -> NDArray[np.int64] | None:
    """Return the most similar cluster of each row; None where blocks are not the faster way."""
    if not isinstance(partition, VoronoiPartition) or not blocks_pay(len(data), partition):
        return None
    from .neighbour_blocks import most_similar_clusters, tables_fit_in_memory

    if not len(clusters) or not tables_fit_in_memory(clusters):
        return None
    # A copy, so that what is made of it does not stay.
    clusters = replace(clusters)
    labels = np.empty(len(data), dtype=np.int64)
    for some in _slices(len(data)):
        labels[some] = most_similar_clusters(
            data.only(some), partition, clusters, threshold, n_jobs
        )
    return labels


def isolation_engine(data: Data, partition: Partition, n_jobs: int | None) -> EncodingEngine:
    """Return the engine for rows in memory that suits them."""
    equal = find_equal_rows(data)
    if equal is not None:
        return MergedEngine(engine_for_rows(equal.merged(data), partition, n_jobs), equal)
    return engine_for_rows(data, partition, n_jobs)


def engine_for_rows(
    data: Data,
    partition: Partition,
    n_jobs: int | None,
    keep: Keep = in_memory,
    *,
    all_rows: bool = True,
) -> ShardableEngine:
    """Return the engine for rows in memory that suits them, without merging any.

    Where these are not `all_rows`, clusters grow by others too.
    """
    if blocks_pay(len(data), partition):
        from .neighbour_blocks import BlockedEngine  # compiled code is loaded only where it is used

        return BlockedEngine(data, n_jobs=n_jobs, keep=keep)
    # An index knows of the rows that joined here only.
    return LocalEngine(
        data,
        kernels=choice.kernels_for(len(data)),
        indexed=all_rows,
        n_jobs=n_jobs,
        keep=keep,
    )


def _slices(n_rows: int) -> list[slice]:
    starts = range(0, n_rows, _ROWS_AT_A_TIME)
    return [slice(start, min(start + _ROWS_AT_A_TIME, n_rows)) for start in starts]
