"""Choice of the engine, and of the encoding of rows, by the size of the data."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeGuard

import numpy as np
from numpy.typing import NDArray

from .._cells.count_tables import ClusterTables
from .._cells.encode import encode_rows
from .._cells.on_device import DevicePartition
from .._cells.partition import Partition
from .._cells.voronoi import VoronoiPartition
from .._data.duplicates import find_equal_rows
from .._data.rows import Data
from .._kernels.reference import Cells
from .._kernels.select import Backend, backend_for, kernels_for
from .._utils.parallel import n_threads
from .._utils.progress import Report, ignore
from .dense import MAX_ROWS_PER_CELL_TO_INDEX, DenseEngine
from .memory_rows import Keep, in_memory
from .merged import MergedEngine
from .protocol import Engine, ShardableEngine

# With more columns, rows of a block seldom share a cell. Blocks are still faster, unless cells have
# so few rows that clusters grow faster with an index of the rows of each cell.
_MAX_COLUMNS_TO_SHARE_CELLS = 8
# With more distinct cells per block and partitioning, bounds exclude nothing and save no time.
_MAX_CELLS_OF_BLOCK = 16
# New rows are sorted into blocks in batches, to limit memory.
_ROWS_AT_A_TIME = 1 << 20


def blocks_pay(n_rows: int, partition: Partition, backend: Backend | None = None) -> bool:
    """Return whether compiled kernels on neighbour blocks are faster than an array of cells."""
    return (
        isinstance(partition, VoronoiPartition)
        and partition.no_cell is None
        and (backend or backend_for(n_rows)) == "numba"
        and (
            partition.points.shape[1] <= _MAX_COLUMNS_TO_SHARE_CELLS
            or n_rows > MAX_ROWS_PER_CELL_TO_INDEX * partition.psi
        )
    )


def bytes_to_encode(n_rows: int, partition: Partition, n_jobs: int | None) -> int:
    """Return the bytes needed for the cells of rows and for finding them."""
    cells = partition.cell_bytes(n_rows)
    if not _encoded_in_blocks(partition, n_rows):
        return cells + partition.encoding_bytes(n_rows, n_threads(n_jobs))
    from .superblocks import bytes_of_blocks

    # Cells in the order of rows, and twice their size, as measured, for the work of threads.
    return 3 * cells + sum(bytes_of_blocks(n_rows, partition))


def _encoded_in_blocks(partition: Partition, n_rows: int) -> TypeGuard[VoronoiPartition]:
    # Blocks exclude centres before a product, but a device multiplies by all centres anyway.
    return not isinstance(partition, DevicePartition) and blocks_pay(n_rows, partition)


def cells_of_rows(data: Data, partition: Partition, n_jobs: int | None) -> Cells:
    """Return the cell of each row in each partitioning, (n, t)."""
    if not _encoded_in_blocks(partition, len(data)):
        return encode_rows(data, partition, kernels_for(len(data)), n_jobs)
    from .._cells.neighbour_blocks import block_rows

    cells = np.empty((len(data), partition.n_partitions), dtype=partition.cell_type)
    for some in _slices(len(data)):
        cells[some] = block_rows(data.only(some), partition, n_jobs).cells_by_row()
    return cells


def labels_by_blocks(
    data: Data,
    partition: Partition,
    clusters: ClusterTables,
    threshold: float,
    n_jobs: int | None,
    backend: Backend | None = None,
) -> NDArray[np.int64] | None:
    """Return the most similar cluster of each row, or None if blocks are not faster."""
    if not isinstance(partition, VoronoiPartition) or not blocks_pay(len(data), partition, backend):
        return None
    from .new_rows import most_similar_clusters
    from .superblocks import require_memory_to_label, tables_fit_in_memory

    if not len(clusters) or not tables_fit_in_memory(clusters):
        return None
    require_memory_to_label(min(len(data), _ROWS_AT_A_TIME), partition)
    # Cached properties are stored in a copy, so that they are freed afterwards.
    clusters = replace(clusters)
    found = [
        most_similar_clusters(data.only(some), partition, clusters, threshold, n_jobs)
        for some in _slices(len(data))
    ]
    return found[0] if len(found) == 1 else np.concatenate(found)


def isolation_engine(
    data: Data,
    partition: Partition,
    n_jobs: int | None,
    report: Report = ignore,
    *,
    backend: Backend | None = None,
    merge: bool | None = None,
    neighbour_blocks: bool = True,
) -> Engine:
    """Return an engine for rows in memory, ready for use.

    With `backend=None`, the backend depends on the data; with `merge=None`, so does the merging of
    equal rows. Without `neighbour_blocks`, compiled code works on an array of all cells.
    """
    equal = None if merge is False else find_equal_rows(data, always=bool(merge))
    rows = data if equal is None else equal.merged(data)
    engine = engine_for_rows(
        rows, partition, n_jobs, report=report, backend=backend, neighbour_blocks=neighbour_blocks
    )
    return engine if equal is None else MergedEngine(engine, equal)


def engine_for_rows(
    data: Data,
    partition: Partition,
    n_jobs: int | None,
    keep: Keep = in_memory,
    *,
    all_rows: bool = True,
    report: Report = ignore,
    backend: Backend | None = None,
    neighbour_blocks: bool = True,
) -> ShardableEngine:
    """Return an engine for rows in memory, without merging equal rows.

    With `all_rows=False`, other engines hold further rows of the same clusters.
    """
    pays = blocks_pay(len(data), partition, backend)
    cells = None
    if isinstance(partition, VoronoiPartition) and pays and neighbour_blocks:
        # Compiled code is loaded only if it is used.
        from .._cells.neighbour_blocks import block_rows
        from .neighbour_blocks import NeighbourBlocksEngine
        from .superblocks import require_memory_for_blocks

        require_memory_for_blocks(data, partition)
        blocked = block_rows(data, partition, n_jobs, report)
        if blocked.mean_cells_of_block <= _MAX_CELLS_OF_BLOCK:
            return NeighbourBlocksEngine(
                data, partition, blocked=blocked, n_jobs=n_jobs, keep=keep, report=report
            )
        cells = blocked.cells_by_row()
        del blocked
    # An index knows only the rows that joined a cluster in this engine.
    return DenseEngine(
        data,
        partition,
        kernels=kernels_for(len(data), backend),
        indexed=all_rows,
        n_jobs=n_jobs,
        cells=cells,
        keep=keep,
        report=report,
    )


def _slices(n_rows: int) -> list[slice]:
    starts = range(0, n_rows, _ROWS_AT_A_TIME)
    return [slice(start, min(start + _ROWS_AT_A_TIME, n_rows)) for start in starts]
