"""Work on superblocks in threads, and labelling of rows by tables of clusters."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from .._cells.count_tables import ClusterTables, CountTable
from .._cells.neighbour_blocks import MAX_COLUMNS_TO_COPY, BlockedRows
from .._cells.voronoi import VoronoiPartition
from .._data.rows import Data
from .._kernels import neighbour_labels as label_kernels
from .._kernels.neighbour_blocks import BLOCK, UNKNOWN
from .._utils.memory import require_memory
from .._utils.parallel import map_chunks, n_threads
from .memory_rows import require_memory_to_fit

T = TypeVar("T")
Superblocks = NDArray[np.int64]

# If dense tables of all clusters would be larger than this, rows are labelled one by one.
LARGEST_TABLES_BYTES = 1 << 28
LARGEST_TABLES_PER_RUN_BYTES = 1 << 25
# Lists of the clusters in each cell are short if this share of counts is not 0, or less.
_MAX_SHARE_TO_LIST = 0.25
# Up to this many tables, counted only for the mixed pairs of a block, blocks are faster than lists.
_MAX_TABLES_OF_MIXED = 4
# The number of runs is small, because each run allocates a table.
_RUNS_PER_THREAD = 2
SUPERBLOCKS_PER_RUN = 64


# A table with a last column for mixed pairs, and its mass.
Part = tuple[NDArray[np.int64], int]
# Bounds on the scores of blocks, and of superblocks.
Bounds = tuple[NDArray[np.int64], NDArray[np.int64]]


def no_bounds(n_blocks: int, n_superblocks: int) -> Bounds:
    """Return bounds that are all unknown."""
    return np.full(n_blocks, UNKNOWN), np.full(n_superblocks, UNKNOWN)


class ScoreBounds:
    """Upper bounds on the scores of rows in no cluster against the table of all these rows.

    During growth the number of these rows only falls, so scores do not rise and bounds stay valid.
    """

    def __init__(self, n_blocks: int, n_superblocks: int) -> None:
        self._bounds = no_bounds(n_blocks, n_superblocks)
        self._counts: NDArray[np.int64] | None = None

    def of(self, table: CountTable) -> Bounds:
        """Return the bounds for a table; unknown bounds if a count has increased."""
        if self._counts is not None and (table.counts > self._counts).any():
            self._bounds = no_bounds(*map(len, self._bounds))
        self._counts = table.counts.copy()
        return self._bounds


class SpareTables:
    """Memory of tables that is reused from step to step, because new memory causes page faults."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self._shape = shape
        self._unused: list[NDArray[np.int64]] = []

    def take(self) -> NDArray[np.int64]:
        """Return a table of zeros."""
        try:
            return self._unused.pop()
        except IndexError:  # unlike a test of the length, this needs no lock
            return np.zeros(self._shape, dtype=np.int64)

    def pour_into(self, table: CountTable, parts: list[Part]) -> None:
        """Add parts to a table, and take back their memory."""
        for counts, mass in parts:
            table.add(CountTable(counts[:, :-1], mass))
            counts[:] = 0
            self._unused.append(counts)


def bounds_of_few(
    table: CountTable,
    holders_of_cells: tuple[NDArray[Any], NDArray[Any]],
    n_blocks: int,
    n_superblocks: int,
) -> Bounds:
    """Return bounds for a table with few members: a superblock's is the sum of its cells' counts.

    Only cells with a count are visited, which is fast for a single row.
    """
    starts, holders = holders_of_cells
    counts = table.counts.ravel()
    cells = np.flatnonzero(counts)
    first = starts[cells].astype(np.int64)
    lengths = starts[cells + 1] - first
    before = np.cumsum(lengths) - lengths
    entries = np.repeat(first - before, lengths) + np.arange(lengths.sum())
    highest = np.zeros(n_superblocks, dtype=np.int64)
    np.add.at(highest, holders[entries], np.repeat(counts[cells], lengths))
    return np.full(n_blocks, UNKNOWN), highest


def require_memory_for_blocks(data: Data, partition: VoronoiPartition) -> None:
    """Raise InsufficientMemoryError if rows in block order and their cells do not fit."""
    needs = bytes_of_blocks(len(data), partition)
    others = {"points": needs.points} | ({"lists": needs.lists} if needs.lists else {})
    require_memory_to_fit(len(data), partition, **others)


def require_memory_to_label(n_rows: int, partition: VoronoiPartition) -> None:
    """Raise InsufficientMemoryError if new rows in block order and their cells do not fit."""
    needs = bytes_of_blocks(n_rows, partition)
    require_memory(
        {"cells": needs.cells + needs.lists, "points": needs.points, "labels": 16 * n_rows},
        f"Finding the clusters of {n_rows} rows",
        "Predict fewer rows at a time.",
    )


class _BlockBytes(NamedTuple):
    cells: int
    points: int
    lists: int


def bytes_of_blocks(n_rows: int, partition: VoronoiPartition) -> _BlockBytes:
    """Return the bytes for rows in block order, their cells, and lists of each block's cells."""
    n_columns = partition.points.shape[1]
    cells = partition.cell_bytes(n_rows)
    points = 8 * n_rows * (min(n_columns, MAX_COLUMNS_TO_COPY) + 1)
    # In a plane, rows of a block share most cells; otherwise lists may be as long as the cells.
    return _BlockBytes(cells, points, 0 if n_columns <= 2 else cells)


def map_superblocks(
    work: Callable[[Superblocks], T],
    superblocks: Superblocks,
    n_jobs: int | None,
    superblocks_per_run: int = SUPERBLOCKS_PER_RUN,
) -> Iterator[T]:
    """Yield the results of `work` for a few runs of superblocks per thread.

    Superblocks that take long are often adjacent. The superblocks of a run are far apart, which
    spreads the work over the threads.
    """
    threads = n_threads(n_jobs)
    most = -(-len(superblocks) // superblocks_per_run)
    n_runs = min(_RUNS_PER_THREAD * threads if threads > 1 else 1, most)
    # Copies are contiguous; for another layout, the kernels would be compiled again.
    runs = [superblocks[first::n_runs].copy() for first in range(n_runs)]
    return map_chunks(lambda some: work(runs[some.start]), n_runs, 1, n_jobs, 1)


def block_scores() -> NDArray[np.int64]:
    """Return an empty array for the scores of a block."""
    return np.empty(BLOCK, dtype=np.int64)


def tables_fit_in_memory(
    clusters: ClusterTables, largest_bytes: int = LARGEST_TABLES_BYTES
) -> bool:
    """Return whether dense tables of all clusters take at most `largest_bytes`."""
    return bytes_of_tables(len(clusters), clusters.shape) <= largest_bytes


def bytes_of_tables(n_clusters: int, shape: tuple[int, int]) -> int:
    """Return the size in bytes of dense tables of all clusters."""
    return 8 * n_clusters * math.prod(shape)


def lists_are_faster(blocked: BlockedRows, clusters: ClusterTables) -> bool:
    """Return whether to score rows by lists of the clusters in each cell, not block by block.

    Scoring a block takes time for each cluster and mixed partitioning.
    """
    short_lists = clusters.counts.nnz < _MAX_SHARE_TO_LIST * math.prod(clusters.counts.shape)
    return short_lists and len(clusters) * blocked.share_mixed > _MAX_TABLES_OF_MIXED


def labeller(
    layout: Any,
    clusters: ClusterTables,
    threshold: float,
    labels: NDArray[np.int64],
) -> Callable[[Superblocks], None]:
    """Return a function that labels the rows of superblocks with their most similar cluster."""
    tables, denominators = clusters.padded, clusters.resolution * clusters.masses

    def label(some: Superblocks) -> None:
        possible = np.empty((2, len(clusters)), dtype=np.int64)
        commons, highs = np.empty_like(denominators), np.empty(len(clusters))
        label_kernels.most_similar(
            layout, some, tables, denominators, threshold, possible, commons, highs, labels
        )

    return label
