"""Encoders: find the cells of rows in block order, superblock by superblock, with compiled code."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._kernels import block_cells, neighbour_encoding, neighbour_layout
from .._kernels.neighbour_blocks import BLOCK, Layout
from .voronoi import VoronoiPartition

_BYTES_AT_A_TIME = 1 << 21

Arrays = tuple[NDArray[Any], ...]
PointsAt = Callable[[slice], NDArray[np.float64]]


class Encoder(ABC):
    """Base class of encoders of superblocks; each thread has its own working arrays."""

    _max_superblocks = 1  # encoded at a time

    def __init__(
        self,
        points_at: PointsAt,
        n_rows: int,
        partition: VoronoiPartition,
        blocks_per_superblock: int,
    ) -> None:
        self._points_at = points_at
        self._partition = partition
        self._blocks_per_superblock = blocks_per_superblock
        shape = -(-n_rows // BLOCK), partition.n_partitions
        # The cell number psi marks a mixed block.
        self._block_cells = np.empty(shape, dtype=np.min_scalar_type(partition.psi))
        self._thread = threading.local()
        # Encoding several superblocks at a time reduces Python's overhead; memory limits them.
        bytes_each = blocks_per_superblock * BLOCK * partition.n_partitions
        n_superblocks = max(1, min(self._max_superblocks, _BYTES_AT_A_TIME // bytes_each))
        self._blocks_at_a_time = n_superblocks * blocks_per_superblock
        self.rows_at_a_time = self._blocks_at_a_time * BLOCK

    def encode(self, rows: slice) -> Arrays:
        """Fill the block cells of rows, and return the other arrays of their layout."""
        if not hasattr(self._thread, "arrays"):
            self._thread.arrays = self._temporary(), self._output()
        temporary, output = self._thread.arrays
        first_block = rows.start // BLOCK
        n_blocks = -(-(rows.stop - rows.start) // BLOCK)
        block_cells = self._block_cells[first_block : first_block + n_blocks]
        points = _filled_up(self._points_at(rows), n_blocks)
        n_rows = rows.stop - rows.start
        n_mixed, n_distinct, n_super = self._fill(points, n_rows, temporary, (block_cells, *output))
        n_superblocks = -(-n_blocks // self._blocks_per_superblock)
        sizes = n_blocks, n_mixed, n_mixed, n_mixed, n_distinct, n_superblocks, n_super
        return tuple(array[:size].copy() for array, size in zip(output, sizes, strict=True))

    @abstractmethod
    def _temporary(self) -> Any:
        """Return temporary arrays for one thread."""

    @abstractmethod
    def _fill(
        self, points: NDArray[np.float64], n_rows: int, temporary: Any, output: Arrays
    ) -> tuple[int, int, int]:
        """Fill `output` with the cells of rows; return the used lengths of its lists.

        The lists are those of mixed, distinct and superblock cells. Copies of the last of `n_rows`
        points fill its block.
        """

    def layout(self, parts: list[Arrays]) -> Layout:
        """Return the layout of all rows, joined from the parts that `encode` returned."""
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

    def _output(self) -> Arrays:
        """Return output arrays for one thread."""
        n_partitions, psi = self._partition.centres.shape
        cell_type = self._partition.cell_type
        n_blocks = self._blocks_at_a_time
        n_pairs = n_blocks * n_partitions
        n_superblocks = n_blocks // self._blocks_per_superblock
        return (
            np.empty(n_blocks, dtype=np.int64),  # mixed_end
            np.empty(n_pairs, dtype=np.uint16 if n_partitions < 1 << 16 else np.uint32),
            np.empty((n_pairs, BLOCK), dtype=cell_type),  # mixed_cells
            np.empty(n_pairs, dtype=np.int64),  # distinct_end
            np.empty(n_pairs * min(psi, BLOCK), dtype=cell_type),  # distinct_cells
            np.empty((n_superblocks, n_partitions), dtype=np.int64),  # super_end
            np.empty(n_superblocks * n_partitions * psi, dtype=cell_type),  # super_cells
        )


class SharingEncoder(Encoder):
    """Encoder for few columns, where bounds often leave one centre for a whole block."""

    _max_superblocks = 8

    def __init__(
        self,
        points_at: PointsAt,
        n_rows: int,
        partition: VoronoiPartition,
        blocks_per_superblock: int,
    ) -> None:
        super().__init__(points_at, n_rows, partition, blocks_per_superblock)
        self._centres = by_columns(partition)
        self._everything = np.arange(partition.psi, dtype=partition.cell_type)

    def _temporary(self) -> Arrays:
        n_partitions, n_columns, psi = self._centres.shape
        cell_type = self._everything.dtype
        n_blocks = self._blocks_at_a_time
        return (
            np.empty((n_blocks + 1, n_columns)),  # low
            np.empty((n_blocks + 1, n_columns)),  # high
            np.empty((2, max(psi, BLOCK))),  # bounds
            np.empty(self._centres.shape),  # possible
            np.empty((n_partitions, psi), dtype=cell_type),  # possible_numbers
            np.empty(n_partitions, dtype=np.int64),  # n_possible
            np.empty((n_columns, psi)),  # kept
            np.empty(psi, dtype=cell_type),  # kept_numbers
            np.empty(BLOCK, dtype=np.int64),  # nearest
            np.zeros((n_partitions, psi), dtype=np.bool_),  # present
            np.empty((2, n_columns, self._blocks_per_superblock)),  # corners
            np.empty((neighbour_encoding.FEW_CENTRES + 1, self._blocks_per_superblock)),  # outside2
            np.empty((n_columns, self._blocks_per_superblock)),  # own
            np.empty(self._blocks_per_superblock),  # gains
            np.empty(self._blocks_per_superblock, dtype=np.int64),  # best
            np.empty(self._blocks_per_superblock, dtype=np.int64),  # n_kept
        )

    def _fill(
        self, points: NDArray[np.float64], n_rows: int, temporary: Any, output: Arrays
    ) -> tuple[int, int, int]:
        used: tuple[int, int, int] = neighbour_encoding.encode_superblocks(
            _columns(points),
            n_rows,
            self._blocks_per_superblock,
            self._centres,
            self._everything,
            *temporary,
            *output,
        )
        return used


class CellsEncoder(Encoder):
    """Base class of encoders that find the cells of all rows of a superblock, then arrange them."""

    def _temporary(self) -> tuple[Any, NDArray[Any], Arrays]:
        n_partitions, psi = self._partition.centres.shape
        return (
            self._workspace(),
            np.empty((self._blocks_at_a_time, n_partitions, BLOCK), self._partition.cell_type),
            (np.zeros((n_partitions, psi), dtype=np.bool_), np.empty(psi, dtype=np.int64)),
        )

    def _fill(
        self, points: NDArray[np.float64], n_rows: int, temporary: Any, output: Arrays
    ) -> tuple[int, int, int]:
        space, cells, marks = temporary
        cells = cells[: len(points) // BLOCK]
        self._find_cells(points, space, cells)
        used: tuple[int, int, int] = neighbour_layout.lay_out(
            cells, self._blocks_per_superblock, *marks, *output
        )
        return used

    @abstractmethod
    def _workspace(self) -> Any:
        """Return working arrays of `_find_cells` for one thread."""

    @abstractmethod
    def _find_cells(self, points: NDArray[np.float64], space: Any, cells: NDArray[Any]) -> None:
        """Write the cells of the rows of some blocks to `cells`, (n_blocks, t, 64)."""


class BoxEncoder(CellsEncoder):
    """Encoder for 4 to 32 columns: boxes rule out far centres, then products find the nearest."""

    _max_superblocks = 4

    def __init__(
        self,
        points_at: PointsAt,
        n_rows: int,
        partition: VoronoiPartition,
        blocks_per_superblock: int,
    ) -> None:
        super().__init__(points_at, n_rows, partition, blocks_per_superblock)
        self._centres = block_cells.Centres(
            partition.points, partition.centres, by_columns(partition)
        )

    def _workspace(self) -> block_cells.Workspace:
        return block_cells.make_workspace(self._partition.points.shape[1], self._partition.psi)

    def _find_cells(self, points: NDArray[np.float64], space: Any, cells: NDArray[Any]) -> None:
        block_cells.find_cells_in_boxes(_columns(points), self._centres, space, cells)


def _filled_up(points: NDArray[np.float64], n_blocks: int) -> NDArray[np.float64]:
    """Return points of whole blocks, the last one filled up with copies of the last point."""
    missing = n_blocks * BLOCK - len(points)
    if not missing:
        return points
    return np.concatenate([points, np.repeat(points[-1:], missing, axis=0)])


def _columns(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the points of blocks by column, (n_blocks, d, 64)."""
    blocks = points.reshape(-1, BLOCK, points.shape[1])
    return np.ascontiguousarray(blocks.transpose(0, 2, 1))


def by_columns(partition: VoronoiPartition) -> NDArray[np.float64]:
    """Return the coordinates of all centres, (t, d, psi)."""
    return np.ascontiguousarray(partition.points[partition.centres].transpose(0, 2, 1))


def _starts(
    ends: Iterable[NDArray[np.int64]], entries: Iterable[NDArray[Any]]
) -> NDArray[np.int64]:
    """Return the starts of lists in the joined entries, given their ends within each part."""
    shifted, before = [np.zeros(1, dtype=np.int64)], 0
    for own_ends, own_entries in zip(ends, entries, strict=True):
        shifted.append(own_ends + before)
        before += len(own_entries)
    return np.concatenate(shifted)
