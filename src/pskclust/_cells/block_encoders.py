"""Encoders: find the cells of rows in block order, superblock by superblock, with compiled code.

The fastest encoder depends on the number of columns.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._kernels import block_cells, compiled, neighbour_encoding, neighbour_layout
from .._kernels.neighbour_blocks import BLOCK, Layout
from .._utils.parallel import Buffers
from .on_device import DevicePartition
from .voronoi import VoronoiPartition

# Up to this number of columns, most blocks lie in one cell, which bounds alone can find.
_MAX_COLUMNS_FOR_SHARING = 3
# With more columns, balls exclude nearly as many centres as boxes, at the cost of one product.
_MAX_COLUMNS_FOR_BOXES = 32
_BYTES_AT_A_TIME = 1 << 21

_CHUNK_ROWS = 2048
# With more columns, balls are tried on this many blocks. Screening a distinct centre takes as long
# as this many multiplications of a row's values with those of remaining centres (measured).
_BLOCKS_TO_TRY, _PRODUCTS_PER_SCREENED_CENTRE = 24, 96
# Squares and products of lengths within these limits neither overflow nor underflow in float32.
_SHORTEST, _LONGEST = 1e-12, 1e18

Arrays = tuple[NDArray[Any], ...]
PointsAt = Callable[[slice], NDArray[np.float64]]


def encoder_for(
    points_at: PointsAt, n_rows: int, partition: VoronoiPartition, blocks_per_superblock: int
) -> Encoder:
    """Return the encoder for a partition; `points_at` returns points by position in block order."""
    n_columns = partition.points.shape[1]
    arguments = points_at, n_rows, partition, blocks_per_superblock
    if isinstance(partition, DevicePartition):
        return ScreenEncoder(*arguments)
    if n_columns <= _MAX_COLUMNS_FOR_SHARING:
        return SharingEncoder(*arguments)
    if n_columns <= _MAX_COLUMNS_FOR_BOXES:
        return BoxEncoder(*arguments)
    balls = BallEncoder(*arguments)
    return balls if balls.pays(n_rows) else ScreenEncoder(*arguments)


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
        columns = self._columns(rows, n_blocks)
        n_mixed, n_distinct, n_super = self._fill(columns, rows, temporary, (block_cells, *output))
        n_superblocks = -(-n_blocks // self._blocks_per_superblock)
        sizes = n_blocks, n_mixed, n_mixed, n_mixed, n_distinct, n_superblocks, n_super
        return tuple(array[:size].copy() for array, size in zip(output, sizes, strict=True))

    @abstractmethod
    def _temporary(self) -> Any:
        """Return temporary arrays for one thread."""

    @abstractmethod
    def _fill(
        self, columns: NDArray[np.float64], rows: slice, temporary: Any, output: Arrays
    ) -> tuple[int, int, int]:
        """Fill `output` with the cells of rows; return the used lengths of its lists.

        The lists are those of mixed, distinct and superblock cells. `columns` are the points as
        `_columns` returns them.
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

    def _columns(self, rows: slice, n_blocks: int) -> NDArray[np.float64]:
        """Return the points of rows, (n_blocks, d, 64); copies of the last point fill its block."""
        points = self._points_at(rows)
        missing = n_blocks * BLOCK - len(points)
        if missing:
            points = np.concatenate([points, np.repeat(points[-1:], missing, axis=0)])
        return np.ascontiguousarray(points.reshape(n_blocks, BLOCK, -1).transpose(0, 2, 1))

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
        self._centres = _by_columns(partition)
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
        )

    def _fill(
        self, columns: NDArray[np.float64], rows: slice, temporary: Any, output: Arrays
    ) -> tuple[int, int, int]:
        used: tuple[int, int, int] = neighbour_encoding.encode_superblocks(
            columns,
            rows.stop - rows.start,
            self._blocks_per_superblock,
            self._centres,
            self._everything,
            *temporary,
            *output,
        )
        return used


class BoxEncoder(Encoder):
    """Encoder for 4 to 32 columns: boxes rule out far centres, then products find the nearest."""

    _boxes = True

    def __init__(
        self,
        points_at: PointsAt,
        n_rows: int,
        partition: VoronoiPartition,
        blocks_per_superblock: int,
    ) -> None:
        super().__init__(points_at, n_rows, partition, blocks_per_superblock)
        self._centres = block_cells.Centres(
            partition.points,
            partition.centres,
            _by_columns(partition, partition.n_partitions if self._boxes else 0),
        )

    def _temporary(self) -> tuple[block_cells.Workspace, NDArray[Any], Arrays]:
        n_partitions, psi = self._partition.centres.shape
        n_columns = self._partition.points.shape[1]
        return (
            block_cells.make_workspace(n_columns, psi, self._boxes),
            np.empty((self._blocks_at_a_time, n_partitions, BLOCK), self._partition.cell_type),
            (np.zeros((n_partitions, psi), dtype=np.bool_), np.empty(psi, dtype=np.int64)),
        )

    def _fill(
        self, columns: NDArray[np.float64], rows: slice, temporary: Any, output: Arrays
    ) -> tuple[int, int, int]:
        space, cells, marks = temporary
        cells = cells[: len(columns)]
        self._find_cells(columns, space, cells)
        used: tuple[int, int, int] = neighbour_layout.lay_out(
            cells, self._blocks_per_superblock, *marks, *output
        )
        return used

    def _find_cells(
        self, columns: NDArray[np.float64], space: block_cells.Workspace, cells: NDArray[Any]
    ) -> None:
        block_cells.find_cells_in_boxes(columns, self._centres, space, cells)


class BallEncoder(BoxEncoder):
    """Encoder for many columns: balls rule out far centres, then products find the nearest."""

    _boxes = False

    def __init__(
        self,
        points_at: PointsAt,
        n_rows: int,
        partition: VoronoiPartition,
        blocks_per_superblock: int,
    ) -> None:
        super().__init__(points_at, n_rows, partition, blocks_per_superblock)
        self._shift = partition.points.mean(axis=0)
        self._shifted = np.empty(partition.points.shape, dtype=np.float32)
        squares = np.empty(len(partition.points))
        for start in range(0, len(squares), _CHUNK_ROWS):
            some = slice(start, start + _CHUNK_ROWS)
            shifted = partition.points[some] - self._shift
            squares[some] = np.einsum("ij,ij->i", shifted, shifted)
            with np.errstate(over="ignore"):
                self._shifted[some] = shifted
        self._squares = squares
        self._longest = float(np.sqrt(squares.max()))

    def pays(self, n_rows: int) -> bool:
        """Return whether balls exclude enough centres to beat a product with all centres."""
        n_partitions, psi = self._partition.centres.shape
        n_points, n_columns = self._partition.points.shape
        n_products = self._share_left(n_rows) * n_partitions * psi * n_columns
        return bool(n_products < _PRODUCTS_PER_SCREENED_CENTRE * n_points)

    def _share_left(self, n_rows: int) -> float:
        """Return the fraction of centres that balls around some blocks do not exclude."""
        n_blocks = -(-n_rows // BLOCK)
        left = []
        for block in np.unique(np.linspace(0, n_blocks - 1, _BLOCKS_TO_TRY).astype(int)).tolist():
            points = self._points_at(slice(block * BLOCK, min((block + 1) * BLOCK, n_rows)))
            middle = points.mean(axis=0)
            away2, errors = self._distances2(middle[np.newaxis])
            radius = np.sqrt(((points - middle) ** 2).sum(axis=1).max())
            own2 = away2[0][self._partition.centres]
            limits = np.sqrt(np.maximum(own2.min(axis=1), 0)) + 2 * radius
            left.append(np.mean(~(own2 > limits[:, np.newaxis] ** 2 + errors)))
        return float(np.mean(left))

    def _find_cells(
        self, columns: NDArray[np.float64], space: block_cells.Workspace, cells: NDArray[Any]
    ) -> None:
        middles = columns.mean(axis=2)
        away2, errors = self._distances2(middles)
        block_cells.find_cells_in_balls(
            columns, middles, away2, errors, self._centres, space, cells
        )

    def _distances2(
        self, middles: NDArray[np.float64]
    ) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
        """Return squared distances from middles to all centres, and bounds on rounding errors.

        For a middle m, a centre z and the unit roundoff u, the error of a float32 product of d
        columns is at most (d + 4) u |m| |z|, including the rounding of its factors. The sum adds an
        error of a few u (|m| + |z|)^2.
        """
        shifted = middles - self._shift
        squares = np.einsum("ij,ij->i", shifted, shifted)
        with np.errstate(over="ignore", invalid="ignore"):
            away2 = shifted.astype(np.float32) @ self._shifted.T
            away2 *= -2
            away2 += squares[:, np.newaxis].astype(np.float32)
            away2 += self._squares.astype(np.float32)
        reach = np.sqrt(squares) + self._longest
        errors = reach * reach * ((middles.shape[1] + 32) * 2.0**-24)
        errors[~((reach > _SHORTEST) & (reach < _LONGEST))] = np.inf
        return away2, errors


class ScreenEncoder(BoxEncoder):
    """Encoder for devices and for many columns: rows are multiplied by all distinct centres."""

    _boxes = False
    _buffers = Buffers()

    def _find_cells(
        self, columns: NDArray[np.float64], space: block_cells.Workspace, cells: NDArray[Any]
    ) -> None:
        n_at_a_time = max(1, self._partition.chunk_rows // BLOCK)
        for start in range(0, len(columns), n_at_a_time):
            some = slice(start, start + n_at_a_time)
            points = columns[some].transpose(0, 2, 1).reshape(-1, columns.shape[1])
            by_row = self._partition.cells(points, compiled, self._buffers)
            cells[some] = by_row.reshape(-1, BLOCK, cells.shape[1]).transpose(0, 2, 1)


def _by_columns(
    partition: VoronoiPartition, n_partitions: int | None = None
) -> NDArray[np.float64]:
    """Return the centres of the first `n_partitions` partitionings (default all), (t, d, psi)."""
    centres = partition.points[partition.centres[:n_partitions]]
    return np.ascontiguousarray(centres.transpose(0, 2, 1))


def _starts(
    ends: Iterable[NDArray[np.int64]], entries: Iterable[NDArray[Any]]
) -> NDArray[np.int64]:
    """Return the starts of lists in the joined entries, given their ends within each part."""
    shifted, before = [np.zeros(1, dtype=np.int64)], 0
    for own_ends, own_entries in zip(ends, entries, strict=True):
        shifted.append(own_ends + before)
        before += len(own_entries)
    return np.concatenate(shifted)
