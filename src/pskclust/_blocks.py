"""Rows put in order and encoded block by block, by compiled kernels."""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._kernels import block_encoding, blocks
from ._kernels.blocks import BLOCK, Layout
from ._kernels.numpy import Cells
from ._metric import column_ranges
from ._parallel import map_chunks
from ._partition import VoronoiPartition
from ._progress import Progress, Report, ignore
from ._tables import ClusterTables, CountTable
from ._validation import Data

BLOCKS_PER_SUPERBLOCK = 32
_ROWS_PER_CHUNK = 1 << 16
_MAX_BITS_PER_COLUMN = 16


@dataclass(frozen=True, eq=False)
class BlockedRows:
    """The cells of rows, and which row stands where."""

    order: NDArray[np.int64]  # (n,) row number at each place
    units: NDArray[np.int64]  # (n,) weight at each place
    layout: Layout

    @property
    def n_superblocks(self) -> int:
        return -(-len(self.layout.full) // self.layout.blocks_per_superblock)

    def cells(self, places: NDArray[np.intp]) -> Cells:
        """Return the cells of the rows at some places, in full."""
        block_cells = self.layout.block_cells
        cells = np.empty((len(places), block_cells.shape[1]), dtype=block_cells.dtype)
        blocks.expand_cells(self.layout, places, cells)
        return cells


def block_rows(
    data: Data, partition: VoronoiPartition, n_jobs: int | None, report: Report = ignore
) -> BlockedRows:
    """Put the rows in order and find their cells."""
    order = _order_along_curve(data, n_jobs)
    units = data.weights.units[order]
    encoder = _Encoder(data, partition, order)
    parts = []
    for part in map_chunks(encoder.encode, len(order), encoder.rows_per_superblock, n_jobs):
        parts.append(part)
        done = min(len(parts) * encoder.rows_per_superblock, len(order))
        report(Progress("encode", done, len(order)))
    return BlockedRows(order, units, encoder.layout(parts))


def padded(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return tables with a last column of zeros, the cell of a mixed block."""
    width = [(0, 0)] * (counts.ndim - 1) + [(0, 1)]
    return np.pad(counts, width)


def padded_tables(clusters: ClusterTables) -> NDArray[np.int64]:
    """Return the tables of all clusters, (k, t, psi + 1)."""
    return padded(clusters.counts.toarray().reshape(len(clusters), *clusters.shape))


def unpadded(counts: NDArray[np.int64], mass: int) -> CountTable:
    return CountTable(np.ascontiguousarray(counts[:, :-1]), mass)


def _order_along_curve(data: Data, n_jobs: int | None) -> NDArray[np.int64]:
    """Return the rows in an order in which neighbours in the order are neighbours in space."""
    n_rows = len(data)

    def bounds(chunk: slice) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return column_ranges(data.points(chunk))

    lows, highs = zip(*map_chunks(bounds, n_rows, _ROWS_PER_CHUNK, n_jobs), strict=True)
    low, high = np.min(lows, axis=0), np.max(highs, axis=0)
    row_bits = max(1, (n_rows - 1).bit_length())
    bits = max(1, min(_MAX_BITS_PER_COLUMN, (64 - row_bits) // len(low)))
    n_columns = min(len(low), 64 - row_bits)
    # A column as narrow as that cannot order anything, and 1 / spread would overflow.
    spread = np.where(high - low > 1e-290, high - low, 1.0)
    # Where there are more columns than bits, the widest ones decide.
    used = np.sort(np.argsort(low - high, kind="stable")[:n_columns])
    scale = ((1 << bits) - 1) / spread[used]
    keys = np.empty(n_rows, dtype=np.uint64)

    def make_keys(chunk: slice) -> None:
        points = np.ascontiguousarray(data.points(chunk)[:, used])
        block_encoding.curve_keys(
            points, low[used], scale, bits, row_bits, chunk.start, keys[chunk]
        )

    _exhaust(map_chunks(make_keys, n_rows, _ROWS_PER_CHUNK, n_jobs))
    keys.sort()
    keys &= np.uint64((1 << row_bits) - 1)
    return keys.view(np.int64)


class _Encoder:
    """Encodes superblocks, in threads that each have working arrays of their own."""

    def __init__(
        self,
        data: Data,
        partition: VoronoiPartition,
        order: NDArray[np.int64],
    ) -> None:
        self._data = data
        self._order = order
        self._centres = partition.points[partition.centres]
        self._n_blocks = -(-len(order) // BLOCK)
        cell_type = np.min_scalar_type(partition.psi)
        self._everything = np.arange(partition.psi, dtype=cell_type)
        shape = self._n_blocks, partition.n_partitions
        self._block_cells = np.empty(shape, dtype=cell_type)
        self._thread = threading.local()
        self.rows_per_superblock = BLOCKS_PER_SUPERBLOCK * BLOCK

    def encode(self, rows: slice) -> tuple[NDArray[Any], ...]:
        """Return the mixed cells of one superblock, and the cells that it has."""
        work = self._working_arrays()
        first_block = rows.start // BLOCK
        n_blocks = -(-(rows.stop - rows.start) // BLOCK)
        n_mixed, n_distinct, n_super = block_encoding.encode_superblock(
            self._columns(rows, n_blocks),
            rows.stop - rows.start,
            self._centres,
            self._everything,
            *(array[: n_blocks + 1] for array in work[:2]),
            *work[2:6],
            self._block_cells[first_block : first_block + n_blocks],
            *work[6:],
        )
        sizes = n_blocks, n_mixed, n_mixed, n_mixed, n_distinct, None, n_super
        return tuple(array[:size].copy() for array, size in zip(work[6:], sizes, strict=True))

    def layout(self, parts: list[tuple[NDArray[Any], ...]]) -> Layout:
        """Return the layout of all superblocks, given the parts of each."""
        mixed_end, mixed_of, mixed_cells, distinct_end, distinct_cells, super_end, super_cells = (
            zip(*parts, strict=True)
        )
        full = np.full(self._n_blocks, ~np.uint64(0))
        n_last = len(self._order) - (self._n_blocks - 1) * BLOCK
        full[-1] >>= np.uint64(BLOCK - n_last)
        return Layout(
            BLOCKS_PER_SUPERBLOCK,
            full,
            self._block_cells,
            _starts(mixed_end, mixed_of),
            np.concatenate(mixed_of),
            np.concatenate(mixed_cells),
            _starts(distinct_end, distinct_cells),
            np.concatenate(distinct_cells),
            _starts(super_end, super_cells),
            np.concatenate(super_cells),
        )

    def _columns(self, rows: slice, n_blocks: int) -> NDArray[np.float64]:
        """Return the points of rows as (n_blocks, d, 64); the last point fills the last block."""
        points = self._data.points(self._order[rows])
        missing = n_blocks * BLOCK - len(points)
        if missing:
            points = np.concatenate([points, np.repeat(points[-1:], missing, axis=0)])
        return np.ascontiguousarray(points.reshape(n_blocks, BLOCK, -1).transpose(0, 2, 1))

    def _working_arrays(self) -> tuple[NDArray[Any], ...]:
        if not hasattr(self._thread, "arrays"):
            n_partitions, psi, n_columns = self._centres.shape
            cell_type = self._everything.dtype
            n_pairs = BLOCKS_PER_SUPERBLOCK * n_partitions + 1
            self._thread.arrays = (
                np.empty((BLOCKS_PER_SUPERBLOCK + 1, n_columns)),  # low
                np.empty((BLOCKS_PER_SUPERBLOCK + 1, n_columns)),  # high
                np.empty((3, max(psi, BLOCK))),  # distances2
                np.empty(psi, dtype=cell_type),  # candidates
                np.empty(BLOCK, dtype=np.int64),  # nearest
                np.zeros((n_partitions, psi), dtype=np.bool_),  # present
                np.empty(BLOCKS_PER_SUPERBLOCK, dtype=np.int64),  # mixed_end
                np.empty(n_pairs, dtype=np.uint16 if n_partitions < 1 << 16 else np.uint32),
                np.empty((n_pairs, BLOCK), dtype=cell_type),  # mixed_cells
                np.empty(n_pairs, dtype=np.int64),  # distinct_end
                np.empty(n_pairs * min(psi, BLOCK), dtype=cell_type),  # distinct_cells
                np.empty(n_partitions, dtype=np.int64),  # super_end
                np.empty(n_partitions * psi, dtype=cell_type),  # super_cells
            )
        arrays: tuple[NDArray[Any], ...] = self._thread.arrays
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
