"""Rows put in order and encoded block by block, by compiled kernels."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._data.rows import Data
from .._kernels import neighbour_encoding as block_encoding
from .._kernels import neighbour_labels
from .._kernels.neighbour_blocks import BLOCK, Layout
from .._kernels.reference import Cells
from .._utils.parallel import map_chunks, n_threads
from .._utils.progress import Progress, Report, ignore
from .count_tables import CountTable
from .voronoi import VoronoiPartition

BLOCKS_PER_SUPERBLOCK = 32
_ROWS_PER_CHUNK = 1 << 16
_RANGES_PER_THREAD = 4
_MAX_SUPERBLOCKS_AT_A_TIME, _BYTES_AT_A_TIME = 8, 1 << 21


@dataclass(frozen=True, eq=False)
class BlockedRows:
    """The cells of rows, and which row stands where."""

    order: NDArray[np.int64]  # (n,) row number at each place
    units: NDArray[np.int64]  # (n,) weight at each place
    layout: Layout

    @property
    def n_superblocks(self) -> int:
        return -(-len(self.layout.block_cells) // self.layout.blocks_per_superblock)

    def arrays(self) -> list[NDArray[Any]]:
        """Return all arrays, for `of` to put together again."""
        return [self.order, self.units, *self.layout[1:]]

    @classmethod
    def of(cls, arrays: Sequence[NDArray[Any]], blocks_per_superblock: int) -> Self:
        order, units, *parts = arrays
        return cls(order, units, Layout(blocks_per_superblock, *parts))

    def cells(self, places: NDArray[np.intp]) -> Cells:
        """Return the cells of the rows at some places, in full."""
        n_partitions = self.layout.block_cells.shape[1]
        cells = np.empty((len(places), n_partitions), dtype=self.layout.mixed_cells.dtype)
        neighbour_labels.expand_cells(self.layout, places, cells)
        return cells


def block_rows(
    data: Data,
    partition: VoronoiPartition,
    n_jobs: int | None,
    report: Report = ignore,
    blocks_per_superblock: int = BLOCKS_PER_SUPERBLOCK,
) -> BlockedRows:
    """Put the rows in order and find their cells."""
    order, points = _order_by_neighbourhood(data, n_jobs)
    units = data.weights.units[order]
    encoder = _Encoder(points, partition, blocks_per_superblock)
    parts = []
    for part in map_chunks(encoder.encode, len(order), encoder.rows_at_a_time, n_jobs):
        parts.append(part)
        done = min(len(parts) * encoder.rows_at_a_time, len(order))
        report(Progress("encode", done, len(order)))
    return BlockedRows(order, units, encoder.layout(parts))


def unpadded(counts: NDArray[np.int64], mass: int) -> CountTable:
    return CountTable(np.ascontiguousarray(counts[:, :-1]), mass)


def holders_of_cells(rows: BlockedRows, psi: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return where the superblocks that hold each of the t * psi cells start, and the list."""
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


def _order_by_neighbourhood(
    data: Data, n_jobs: int | None
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return an order in which neighbours in space stand together, and the points in that order.

    It is that of the leaves of a k-d tree, each a block.
    """
    n_rows, n_columns = len(data), data.points(slice(0, 1)).shape[1]
    order, points = np.arange(n_rows), np.empty((n_rows, n_columns))

    def copy(chunk: slice) -> None:
        points[chunk] = data.points(chunk)

    _exhaust(map_chunks(copy, n_rows, _ROWS_PER_CHUNK, n_jobs))
    ranges = [(0, n_rows)]

    def split(some: slice) -> list[tuple[int, int]]:
        first, last = ranges[some.start]
        if last - first <= BLOCK:
            return [(first, last)]
        place = block_encoding.split_range(points, order, first, last)
        return [(first, place), (place, last)]

    def split_to_blocks(some: slice) -> None:
        block_encoding.split_to_blocks(points, order, *ranges[some.start])

    # A few ranges for each thread, then each by itself.
    while len(ranges) < _RANGES_PER_THREAD * n_threads(n_jobs) and n_rows > len(ranges) * BLOCK:
        parts = map_chunks(split, len(ranges), 1, n_jobs, min_chunks_per_thread=1)
        ranges = [part for both in parts for part in both]
    _exhaust(map_chunks(split_to_blocks, len(ranges), 1, n_jobs, min_chunks_per_thread=1))
    return order, points


class _Encoder:
    """Encodes superblocks, in threads that each have working arrays of their own."""

    def __init__(
        self,
        points: NDArray[np.float64],
        partition: VoronoiPartition,
        blocks_per_superblock: int,
    ) -> None:
        self._points = points
        self._blocks_per_superblock = blocks_per_superblock
        centres = partition.points[partition.centres]
        self._centres = np.ascontiguousarray(centres.transpose(0, 2, 1))
        self._n_blocks = -(-len(points) // BLOCK)
        everything = np.arange(partition.psi, dtype=partition.cell_type)
        self._everything = np.tile(everything, (partition.n_partitions, 1))
        shape = self._n_blocks, partition.n_partitions
        # One more number than there are cells: the mark of a mixed block.
        self._block_cells = np.empty(shape, dtype=np.min_scalar_type(partition.psi))
        self._thread = threading.local()
        # Several superblocks at a time cost little Python, if they need little memory.
        bytes_each = blocks_per_superblock * BLOCK * partition.n_partitions
        n_superblocks = max(1, min(_MAX_SUPERBLOCKS_AT_A_TIME, _BYTES_AT_A_TIME // bytes_each))
        self._blocks_at_a_time = n_superblocks * blocks_per_superblock
        self.rows_at_a_time = self._blocks_at_a_time * BLOCK

    def encode(self, rows: slice) -> tuple[NDArray[Any], ...]:
        """Return the mixed cells of some superblocks, and the cells that they have."""
        temporary, output = self._working_arrays()
        first_block = rows.start // BLOCK
        n_blocks = -(-(rows.stop - rows.start) // BLOCK)
        n_mixed, n_distinct, n_super = block_encoding.encode_superblocks(
            self._columns(rows, n_blocks),
            rows.stop - rows.start,
            self._blocks_per_superblock,
            self._centres,
            self._everything,
            *temporary,
            self._block_cells[first_block : first_block + n_blocks],
            *output,
        )
        n_superblocks = -(-n_blocks // self._blocks_per_superblock)
        sizes = n_blocks, n_mixed, n_mixed, n_mixed, n_distinct, n_superblocks, n_super
        return tuple(array[:size].copy() for array, size in zip(output, sizes, strict=True))

    def layout(self, parts: list[tuple[NDArray[Any], ...]]) -> Layout:
        """Return the layout of all superblocks, given the parts of each."""
        mixed_end, mixed_of, mixed_cells, distinct_end, distinct_cells, super_end, super_cells = (
            zip(*parts, strict=True)
        )
        return Layout(
            self._blocks_per_superblock,
            self._block_cells,
            _starts(mixed_end, mixed_of),
            np.concatenate(mixed_of),
            np.concatenate(mixed_cells),
            _starts(distinct_end, distinct_cells),
            np.concatenate(distinct_cells),
            _starts((ends.ravel() for ends in super_end), super_cells),
            np.concatenate(super_cells),
        )

    def _columns(self, rows: slice, n_blocks: int) -> NDArray[np.float64]:
        """Return the points of rows as (n_blocks, d, 64); the last point fills the last block."""
        points = self._points[rows]
        missing = n_blocks * BLOCK - len(points)
        if missing:
            points = np.concatenate([points, np.repeat(points[-1:], missing, axis=0)])
        return np.ascontiguousarray(points.reshape(n_blocks, BLOCK, -1).transpose(0, 2, 1))

    def _working_arrays(self) -> tuple[tuple[NDArray[Any], ...], tuple[NDArray[Any], ...]]:
        """Return this thread's own temporary arrays, and those for output."""
        if not hasattr(self._thread, "arrays"):
            n_partitions, n_columns, psi = self._centres.shape
            cell_type = self._everything.dtype
            n_blocks = self._blocks_at_a_time
            n_pairs = n_blocks * n_partitions
            n_superblocks = n_blocks // self._blocks_per_superblock
            temporary = (
                np.empty((n_blocks + 1, n_columns)),  # low
                np.empty((n_blocks + 1, n_columns)),  # high
                np.empty((2, max(psi, BLOCK))),  # bounds
                np.empty(self._centres.shape),  # possible
                np.empty((n_partitions, psi), dtype=cell_type),  # possible_numbers
                np.empty(n_partitions, dtype=np.int64),  # n_possible
                np.empty((1, n_columns, psi)),  # kept
                np.empty((1, psi), dtype=cell_type),  # kept_numbers
                np.empty(BLOCK, dtype=np.int64),  # nearest
                np.zeros((n_partitions, psi), dtype=np.bool_),  # present
            )
            output = (
                np.empty(n_blocks, dtype=np.int64),  # mixed_end
                np.empty(n_pairs, dtype=np.uint16 if n_partitions < 1 << 16 else np.uint32),
                np.empty((n_pairs, BLOCK), dtype=cell_type),  # mixed_cells
                np.empty(n_pairs, dtype=np.int64),  # distinct_end
                np.empty(n_pairs * min(psi, BLOCK), dtype=cell_type),  # distinct_cells
                np.empty((n_superblocks, n_partitions), dtype=np.int64),  # super_end
                np.empty(n_superblocks * n_partitions * psi, dtype=cell_type),  # super_cells
            )
            self._thread.arrays = temporary, output
        arrays: tuple[tuple[NDArray[Any], ...], tuple[NDArray[Any], ...]] = self._thread.arrays
        return arrays


def _starts(
    ends: Iterable[NDArray[np.int64]], entries: Iterable[NDArray[Any]]
) -> NDArray[np.int64]:
    """Return where each part starts among all entries, from where it ends among its own."""
    shifted, before = [np.zeros(1, dtype=np.int64)], 0
    for own_ends, own_entries in zip(ends, entries, strict=True):
        shifted.append(own_ends + before)
        before += len(own_entries)
    return np.concatenate(shifted)


def _exhaust(results: Iterable[None]) -> None:
    for _ in results:
        pass
