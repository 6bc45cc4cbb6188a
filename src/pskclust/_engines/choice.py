"""The one place that picks an engine, and with it the kernels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._partition import Partition, VoronoiPartition
from .._tables import ClusterTables
from .._validation import Data
from .labelled import LabelledRows
from .local import LocalEngine

# Below, plain NumPy is done before compiled code is loaded.
_MIN_ROWS_FOR_BLOCKS = _MIN_ROWS_FOR_COMPILED = 20_000
# Beyond, blocks of neighbours are too wide to share cells.
_MAX_COLUMNS_FOR_BLOCKS = 8


def blocks_pay(n_rows: int, partition: Partition) -> bool:
    """Whether the compiled kernels on blocks of neighbours are the faster way."""
    return (
        type(partition) is VoronoiPartition
        and n_rows >= _MIN_ROWS_FOR_BLOCKS
        and partition.points.shape[1] <= _MAX_COLUMNS_FOR_BLOCKS
    )


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
    from .blocked import most_similar_clusters, tables_fit_in_memory

    if not len(clusters) or not tables_fit_in_memory(clusters):
        return None
    return most_similar_clusters(data, partition, clusters, threshold, n_jobs)


def isolation_engine(data: Data, partition: Partition, n_jobs: int | None) -> LabelledRows:
    """Return the engine for rows in memory that suits them."""
    if blocks_pay(len(data), partition):
        from .blocked import BlockedEngine  # compiled code is loaded only where it is used

        return BlockedEngine(data, n_jobs=n_jobs)
    if len(data) >= _MIN_ROWS_FOR_COMPILED:
        from .._kernels import numba as compiled_kernels

        return LocalEngine(data, kernels=compiled_kernels, n_jobs=n_jobs)
    return LocalEngine(data, n_jobs=n_jobs)
