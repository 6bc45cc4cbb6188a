"""Cells around drawn centres: Voronoi cells (aNNE) and hyperspheres (iNNE)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial import KDTree

from .._data.checks import check_overflow
from .._data.rows import Data, FitRows
from .._kernels import reference
from .._kernels.reference import Cells
from .._kernels.screening import Screen, make_screen, screen_bytes, screen_points
from .._kernels.second_bound import SECOND_NUMBERS
from .._utils.parallel import Buffers, rows_per_chunk, rows_per_product
from .drawing import draw_points
from .near_sizes import bytes_of_lists, entries_to_list, lists_pay, n_near, rows_at_a_time
from .neighbour_lists import NeighbourLists, length_of_lists
from .partition import Partition, require_valid
from .similar_rows import DIRECTIONS_TO_ORDER, bytes_to_order, order_by_similarity
from .spacing import log_spacings

if TYPE_CHECKING:
    from .near_screen import NearScreen

_MIN_COLUMNS_FOR_PRODUCTS = 4
# Fewer rows are encoded in the given order.
_MIN_ROWS_TO_ORDER = 4096
# Working memory for a row and one of its nearest points: numbers, distances and their order.
_BYTES_PER_NEIGHBOUR = 80


@dataclass(frozen=True, eq=False)
class VoronoiPartition(Partition):
    """Partition into Voronoi cells, as in the paper: points nearest to the same centre (aNNE)."""

    method = "voronoi"

    points: NDArray[np.float64]  # (u, d) the distinct rows that were drawn
    centres: NDArray[np.intp]  # (t, psi) index of each centre in `points`

    @property
    def n_partitions(self) -> int:
        return len(self.centres)

    @property
    def dimension(self) -> int:
        return int(self.points.shape[1])

    def middles(self, counts: sparse.csr_array) -> NDArray[np.float64]:
        cells = np.arange(self.n_partitions)[:, np.newaxis] * self.n_cells + np.arange(self.psi)
        ones = np.ones(cells.size)
        shape = counts.shape[1], len(self.points)
        is_around = sparse.csr_array((ones, (cells.ravel(), self.centres.ravel())), shape=shape)
        totals = np.maximum(counts.sum(axis=1), 1)
        # Sparse products have a fixed order of summation, unlike BLAS.
        sums = sparse.csr_array(counts @ is_around) @ self.points
        return np.asarray(sums / totals[:, np.newaxis])

    def log_sizes(self, n_jobs: int | None = 1) -> NDArray[np.float64]:
        """Return the log distance from each centre to the nearest distinct centre, (t, n_cells)."""
        sizes = np.zeros(self.table_shape)
        sizes[:, : self.psi] = log_spacings(self.points, self.centres, n_jobs)
        return sizes

    def check_reach(self, rows: NDArray[Any]) -> None:
        check_overflow(rows, self.points)

    def check(self, n_columns: int) -> None:
        require_valid(self.points.dtype == np.float64 and self.points.ndim == 2, "points")
        require_valid(
            self.points.shape[1] == n_columns and bool(np.isfinite(self.points).all()), "points"
        )
        require_valid(self.centres.dtype == np.intp and self.centres.ndim == 2, "centres")
        require_valid(self.centres.shape[1] == self.psi, "centres")
        require_valid(_within(self.centres, len(self.points)), "centres")

    def _find_cells(
        self,
        points: NDArray[np.float64],
        number: int,
        scratch: NDArray[np.float64],
        cells: Cells,
    ) -> None:
        reference.nearest_centres(points, self.points[self.centres[number]], scratch, cells)

    @property
    def chunk_rows(self) -> int:
        if self._screened:
            return rows_per_product(len(self.points))
        return rows_per_chunk(self._n_near) if self._n_near else super().chunk_rows

    def chunk_rows_of(self, compiled: bool) -> int:
        if not (compiled and self._screened and not self._n_near and self._lists_pay):
            return self.chunk_rows
        n_points = len(self.points)
        return rows_at_a_time(entries_to_list(n_near(n_points, *self.centres.shape), n_points))

    def best_order(self, data: Data, n_jobs: int | None) -> NDArray[np.intp] | None:
        if not self._screened or self._n_near or not self._lists_pay or self._near_screen is None:
            return None
        screen = self._near_screen.screen
        directions = screen.directions[:, :DIRECTIONS_TO_ORDER]
        # Without directions, bounds are distances, and few centres are looked at again.
        if not directions.size or len(data) < _MIN_ROWS_TO_ORDER:
            return None
        return order_by_similarity(data, screen.shift, directions, n_jobs)

    def encoding_bytes(self, n_rows: int, n_threads: int) -> int:
        if self._n_near:
            return self._rows_at_work(n_rows, n_threads) * _BYTES_PER_NEIGHBOUR * self._n_near
        if not self._screened:
            return super().encoding_bytes(n_rows, n_threads)
        n_points, n_columns = self.points.shape
        screen = screen_bytes(self.points, self.centres.size)
        products = self._rows_at_work(n_rows, n_threads) * int(4 * n_points + 16 * n_columns)
        if not self._lists_pay:
            return screen + products
        at_a_time = self.chunk_rows_of(compiled=True)
        rows = min(n_rows, n_threads * at_a_time)
        lists = -(-rows // at_a_time) * bytes_of_lists(n_points, *self.centres.shape)
        # Plain NumPy computes products instead of lists. Rows are ordered before they are encoded.
        most = max(products, lists + 28 * rows * n_columns, bytes_to_order(n_rows))
        return int(screen + 4 * SECOND_NUMBERS * n_points + 8 * n_rows + most)

    def prepare(self, compiled: bool) -> None:
        if not self._screened or self._n_near:
            return
        if not compiled:
            _ = self._wide_screen
        elif not self._lists_pay or self._near_screen is None:
            _ = self._narrow_screen

    def cells(
        self,
        points: NDArray[np.float64],
        kernels: Any = reference,
        buffers: Buffers | None = None,
    ) -> Cells:
        if self._n_near:
            return self._cells_by_lists(points)
        if not self._screened:
            return super().cells(points, kernels, buffers)
        cells = np.empty((len(points), self.n_partitions), dtype=self.cell_type)
        buffers = buffers or Buffers()
        near = self._near_screen if kernels is not reference and self._lists_pay else None
        if near is not None:
            near.find_cells(points, buffers, cells)
            return cells
        screen = self._wide_screen if kernels is reference else self._narrow_screen
        # Products with all centres take more memory than the lists for as many rows, and products
        # in float64 take twice that.
        step = max(1, 4 * rows_per_product(len(self.points)) // screen.factors.itemsize)
        for start in range(0, len(points), step):
            some = points[start : start + step]
            bound2 = buffers.array((len(some), len(self.points)), screen.factors.dtype)
            screened = screen_points(some, screen, bound2)
            kernels.settle_cells(some, screen, screened, cells[start : start + step])
        return cells

    def _cells_by_lists(self, points: NDArray[np.float64]) -> Cells:
        lists = NeighbourLists.of(points, self._search_tree, self._n_near)
        cells = np.empty((self.n_partitions, len(points)), dtype=self.cell_type)
        for number, column in enumerate(cells):
            missed = lists.find_cells(self.centres[number], column)
            if len(missed):
                settled = np.empty(len(missed), dtype=self.cell_type)
                scratch = np.empty((2, len(missed), self.psi))
                self._find_cells(points[missed], number, scratch, settled)
                column[missed] = settled
        return np.ascontiguousarray(cells.T)

    @cached_property
    def _n_near(self) -> int:
        """Length of the lists of nearest points from which cells are found; 0 for no lists."""
        return length_of_lists(len(self.points), self.psi, self.points.shape[1])

    @cached_property
    def _search_tree(self) -> KDTree:
        return KDTree(self.points)

    @property
    def _screened(self) -> bool:
        """Whether matrix products are faster than plain distances."""
        return bool(self.points.shape[1] >= _MIN_COLUMNS_FOR_PRODUCTS)

    @property
    def _lists_pay(self) -> bool:
        """Whether near centres are so few that compiled code lists them."""
        return lists_pay(len(self.points), *self.centres.shape)

    @cached_property
    def _near_screen(self) -> NearScreen | None:
        """Screen for compiled code if near centres are few and squared lengths fit in float32."""
        from .near_screen import NearScreen  # compiled code is loaded only where it is used

        return NearScreen.of(self.points, self.centres)

    @cached_property
    def _wide_screen(self) -> Screen:
        return make_screen(self.points, self.centres, narrow=False)

    @cached_property
    def _narrow_screen(self) -> Screen:
        """Screen for the compiled kernel, which needs exact distances to doubtful centres only."""
        return make_screen(self.points, self.centres, narrow=True)

    @classmethod
    def draw(
        cls, data: FitRows, n_partitions: int, psi: int, replace: bool, rng: RandomState
    ) -> Self:
        return cls(psi, *draw_points(data, n_partitions, psi, replace, rng))


@dataclass(frozen=True, eq=False)
class HyperspherePartition(VoronoiPartition):
    """Partition into balls around centres, each reaching to the nearest other centre (iNNE).

    A point in several balls belongs to the ball of the nearest centre; a point outside all balls
    has no cell.
    """

    method = "hypersphere"

    radius2: NDArray[np.float64]  # (t, psi) squared radius of each ball

    @property
    def no_cell(self) -> int:
        return self.psi

    @property
    def _screened(self) -> bool:
        """Whether matrix products are used: never, because distances are compared with radii."""
        return False

    @property
    def _n_near(self) -> int:
        """Length of lists of nearest points: 0, because the nearest centre may not hold a point."""
        return 0

    def check(self, n_columns: int) -> None:
        super().check(n_columns)
        require_valid(self.radius2.dtype == np.float64, "radius2")
        require_valid(self.radius2.shape == self.centres.shape, "radius2")
        require_valid(bool((self.radius2 >= 0).all()), "radius2")

    def _find_cells(
        self,
        points: NDArray[np.float64],
        number: int,
        scratch: NDArray[np.float64],
        cells: Cells,
    ) -> None:
        centres = self.points[self.centres[number]]
        reference.nearest_balls(points, centres, self.radius2[number], scratch, cells)

    @classmethod
    def draw(
        cls, data: FitRows, n_partitions: int, psi: int, replace: bool, rng: RandomState
    ) -> Self:
        drawn = VoronoiPartition.draw(data, n_partitions, psi, replace, rng)
        radius2 = np.array([_squared_gaps(drawn.points[centres]) for centres in drawn.centres])
        return cls(psi, drawn.points, drawn.centres, radius2)


def _within(numbers: NDArray[np.intp], end: int) -> bool:
    return bool(((numbers >= 0) & (numbers < end)).all())


def _squared_gaps(centres: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the squared distance from each centre to the nearest other centre."""
    difference, distance2 = np.empty((2, len(centres), len(centres)))
    reference.squared_distances(centres, centres, difference, distance2)
    np.fill_diagonal(distance2, np.inf)
    nearest: NDArray[np.float64] = distance2.min(axis=1)
    return nearest
