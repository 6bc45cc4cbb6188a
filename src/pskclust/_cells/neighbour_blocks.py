"""Rows sorted into blocks of neighbours and encoded block by block, with compiled code."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.extmath import randomized_svd

from .._data.rows import Data
from .._kernels import neighbour_labels, neighbour_order
from .._kernels.neighbour_blocks import BLOCK, Layout
from .._kernels.reference import Cells
from .._utils.parallel import map_chunks, n_threads, one_blas_thread
from .._utils.progress import Progress, Report, ignore
from .block_encoders import PointsAt
from .count_tables import CountTable
from .encoder_choice import MAX_COLUMNS_FOR_SHARING, encoder_for
from .voronoi import VoronoiPartition

# Small superblocks seldom hold rows of several clusters, but bounds are computed for more of them.
BLOCKS_PER_SUPERBLOCK, _BLOCKS_IN_BOXES = 32, 8
ROWS_PER_CHUNK, _VALUES_PER_CHUNK = 1 << 16, 1 << 19
_RANGES_PER_THREAD = 4
# With more columns, rows are sorted along 8 main directions of variation, and not copied.
MAX_COLUMNS_TO_COPY, _DIRECTIONS_TO_ORDER_BY = 32, 8
_POINTS_TO_FIND_DIRECTIONS = 2048


@dataclass(frozen=True, eq=False)
class BlockedRows:
    """The cells of rows in block order, and the row at each position."""

    order: NDArray[np.int64]  # (n,) row number at each position
    units: NDArray[np.int64]  # (n,) weight at each position
    layout: Layout

    @property
    def n_superblocks(self) -> int:
        return -(-len(self.layout.block_cells) // self.layout.blocks_per_superblock)

    @property
    def mean_cells_of_block(self) -> float:
        """Mean number of distinct cells of a block in a partitioning."""
        n_shared = self.layout.block_cells.size - len(self.layout.mixed_cells)
        return (n_shared + len(self.layout.distinct_cells)) / self.layout.block_cells.size

    @property
    def share_mixed(self) -> float:
        """Share of the pairs of block and partitioning in which rows have different cells."""
        return len(self.layout.mixed_cells) / self.layout.block_cells.size

    def cells_by_row(self) -> Cells:
        """Return the cells of all rows, in the order of the data."""
        places = np.empty_like(self.order)
        places[self.order] = np.arange(len(places))
        return self.cells(places)

    def arrays(self) -> list[NDArray[Any]]:
        """Return all arrays, in the order that `of` expects."""
        return [self.order, self.units, *self.layout[1:]]

    @classmethod
    def of(cls, arrays: Sequence[NDArray[Any]], blocks_per_superblock: int) -> Self:
        order, units, *parts = arrays
        return cls(order, units, Layout(blocks_per_superblock, *parts))

    def cells(self, places: NDArray[np.intp]) -> Cells:
        """Return the cells of the rows at some positions, (m, t)."""
        n_partitions = self.layout.block_cells.shape[1]
        cells = np.empty((len(places), n_partitions), dtype=self.layout.mixed_cells.dtype)
        neighbour_labels.expand_cells(self.layout, places, cells)
        return cells


def block_rows(
    data: Data,
    partition: VoronoiPartition,
    n_jobs: int | None,
    report: Report = ignore,
    blocks_per_superblock: int | None = None,
) -> BlockedRows:
    """Sort rows into blocks and find their cells."""
    size = blocks_per_superblock or usual_size(partition.points.shape[1])
    with one_blas_thread:
        order, points_at = _order_of_rows(data, partition, n_jobs, size)
        layout = encode(points_at, len(order), partition, n_jobs, report, size)
    return BlockedRows(order, data.weights.units[order], layout)


def encode(
    points_at: PointsAt,
    n_rows: int,
    partition: VoronoiPartition,
    n_jobs: int | None,
    report: Report = ignore,
    blocks_per_superblock: int = BLOCKS_PER_SUPERBLOCK,
) -> Layout:
    """Find the cells of rows in block order; `points_at` returns points by position."""
    parts = []
    encoder = encoder_for(points_at, n_rows, partition, blocks_per_superblock)
    for part in map_chunks(encoder.encode, n_rows, encoder.rows_at_a_time, n_jobs):
        parts.append(part)
        report(Progress("encode", min(len(parts) * encoder.rows_at_a_time, n_rows), n_rows))
    return encoder.layout(parts)


def usual_size(n_columns: int) -> int:
    """Return the number of blocks of a superblock that suits the number of columns.

    With few columns, a superblock has few cells, whatever its size. With many, rows are sorted
    along a few directions only, which do not tell clusters apart as well.
    """
    boxes = MAX_COLUMNS_FOR_SHARING < n_columns <= MAX_COLUMNS_TO_COPY
    return _BLOCKS_IN_BOXES if boxes else BLOCKS_PER_SUPERBLOCK


def unpadded(counts: NDArray[np.int64], mass: int) -> CountTable:
    return CountTable(np.ascontiguousarray(counts[:, :-1]), mass)


def holders_of_cells(rows: BlockedRows, psi: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """List the superblocks with rows in each of the t * psi cells; return starts and list."""
    layout = rows.layout
    n_partitions = layout.block_cells.shape[1]
    first_cells = np.tile(np.arange(n_partitions) * psi, rows.n_superblocks)
    cells = np.repeat(first_cells, np.diff(layout.super_start)) + layout.super_cells
    held = sparse.csr_array(
        (np.ones(len(cells), dtype=np.bool_), cells, layout.super_start[::n_partitions]),
        shape=(rows.n_superblocks, n_partitions * psi),
    )
    holders = held.tocsc()
    return holders.indptr, holders.indices


def _order_of_rows(
    data: Data, partition: VoronoiPartition, n_jobs: int | None, unit: int
) -> tuple[NDArray[np.int64], PointsAt]:
    """Return an order that keeps neighbours together, and a function that returns its points."""
    n_columns = partition.points.shape[1]
    if n_columns <= MAX_COLUMNS_TO_COPY:
        order, points = order_by_neighbourhood(
            data.points, len(data), n_columns, ROWS_PER_CHUNK, n_jobs, unit
        )
        return order, points.__getitem__
    directions = _main_directions(partition.points)

    def project(chunk: slice) -> NDArray[np.float64]:
        return data.points(chunk) @ directions

    chunk_rows = max(BLOCK, _VALUES_PER_CHUNK // n_columns)
    order, _ = order_by_neighbourhood(
        project, len(data), directions.shape[1], chunk_rows, n_jobs, unit
    )
    return order, lambda places: data.points(order[places])


def _main_directions(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the main directions of variation of the points, (d, 8)."""
    some = points[:: -(-len(points) // _POINTS_TO_FIND_DIRECTIONS)]
    _, _, directions = randomized_svd(
        some - some.mean(axis=0), _DIRECTIONS_TO_ORDER_BY, n_iter=2, random_state=0
    )
    return np.ascontiguousarray(directions.T)


def order_by_neighbourhood(
    points_of: Callable[[slice], NDArray[np.float64]],
    n_rows: int,
    n_columns: int,
    chunk_rows: int,
    n_jobs: int | None,
    unit: int,
    largest: int = BLOCK,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return an order that keeps neighbours together, and the points in that order.

    Rows are in the order of the leaves of a k-d tree; each leaf is a block, or has `largest` rows.
    `unit` is the number of blocks of a superblock.
    """
    order, points = np.arange(n_rows), np.empty((n_rows, n_columns))

    def copy(chunk: slice) -> None:
        points[chunk] = points_of(chunk)

    exhaust(map_chunks(copy, n_rows, chunk_rows, n_jobs))
    ranges = [(0, n_rows)]

    def split(some: slice) -> list[tuple[int, int]]:
        first, last = ranges[some.start]
        if last - first <= largest:
            return [(first, last)]
        place = split_rows(points, order, first, last, unit, largest, once=True)
        return [(first, place), (place, last)]

    def split_to_blocks(some: slice) -> None:
        first, last = ranges[some.start]
        split_rows(points, order, first, last, unit, largest)

    # First split all rows into a few ranges for each thread, then split each range into blocks.
    while len(ranges) < _RANGES_PER_THREAD * n_threads(n_jobs) and n_rows > len(ranges) * largest:
        parts = map_chunks(split, len(ranges), 1, n_jobs, min_chunks_per_thread=1)
        ranges = [part for both in parts for part in both]
    exhaust(map_chunks(split_to_blocks, len(ranges), 1, n_jobs, min_chunks_per_thread=1))
    return order, points


def split_rows(
    points: NDArray[np.float64],
    order: NDArray[np.int64],
    first: int,
    last: int,
    unit: int,
    largest: int = BLOCK,
    once: bool = False,
) -> int:
    """Sort a range of rows into blocks; if `once`, split it into two and return the border.

    Ranges of more than `unit` blocks are split at a multiple of it. Ranges of at most `largest`
    rows are not split.
    """
    values = np.empty(neighbour_order.MAX_VALUES)
    misplaced = np.empty((2, neighbour_order.BATCH), dtype=np.int64)
    ends = np.empty(neighbour_order.MAX_WAITING, dtype=np.int64)
    place: int = neighbour_order.split(
        points, order, first, last, unit, largest, once, values, misplaced, ends
    )
    return place


def exhaust(results: Iterable[None]) -> None:
    for _ in results:
        pass
