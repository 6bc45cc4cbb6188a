"""Data and a seed to a partition: the random cells that the isolation kernel is made of.

A partition is small, immutable, and all that a fitted kernel needs to place new points.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from sklearn.utils.random import sample_without_replacement

from ._kernels import numpy as numpy_kernels
from ._kernels.numpy import Cells
from ._kernels.screening import Screen, make_screen, screen_points
from ._parallel import Scratch, rows_per_chunk, rows_per_product
from ._validation import check_distances

_MIN_COLUMNS_FOR_PRODUCTS = 4


class Line(Protocol):
    """Rows on a line, each as long as it weighs, in units; `one` units are a row of weight 1."""

    @property
    def n_slots(self) -> int: ...

    @property
    def total(self) -> int: ...

    @property
    def one(self) -> int: ...

    def rows_at(self, places: NDArray[np.int64]) -> NDArray[np.intp]: ...


class RowSource(Protocol):
    """Rows that centres are drawn from, wherever they are."""

    @property
    def weights(self) -> Line: ...

    def points(self, chosen: NDArray[np.intp]) -> NDArray[np.float64]: ...


@dataclass(frozen=True, eq=False)
class Partition(ABC):
    """t partitionings of the space into psi cells each."""

    method: ClassVar[str]

    psi: int

    @property
    @abstractmethod
    def n_partitions(self) -> int: ...

    @property
    def n_cells(self) -> int:
        """The width of a count table: psi, and one more where a point may have no cell."""
        return self.psi if self.no_cell is None else self.psi + 1

    @property
    def chunk_rows(self) -> int:
        """How many rows are best encoded at a time."""
        return rows_per_chunk(self.n_cells)

    @property
    def no_cell(self) -> int | None:
        """The number that stands for having no cell, which shares nothing with anybody."""
        return None

    @property
    def cell_type(self) -> np.dtype[np.unsignedinteger[Any]]:
        return np.dtype(np.min_scalar_type(self.n_cells - 1))

    def cells(
        self,
        points: NDArray[np.float64],
        kernels: Any = numpy_kernels,
        scratch: Scratch | None = None,
    ) -> Cells:
        """Return the cell of each point in each partitioning, (m, t)."""
        # One partitioning after the other in memory while they are made, hence the transposes.
        cells = np.empty((self.n_partitions, len(points)), dtype=self.cell_type)
        distances = (scratch or Scratch()).array((2, len(points), self.psi), np.float64)
        for number, column in enumerate(cells):
            self._find_cells(points, number, distances, column)
        return np.ascontiguousarray(cells.T)

    @abstractmethod
    def _find_cells(
        self,
        points: NDArray[np.float64],
        number: int,
        scratch: NDArray[np.float64],
        cells: Cells,
    ) -> None:
        """Fill `cells` with the cell of each point in partitioning `number`."""

    @property
    def table_shape(self) -> tuple[int, int]:
        return self.n_partitions, self.n_cells

    def count(
        self, cells: Cells, units: NDArray[np.int64], kernels: Any = numpy_kernels
    ) -> NDArray[np.int64]:
        """Return the counts of a set, given the cells and the weights of its rows."""
        counts = np.zeros(self.table_shape, dtype=np.int64)
        self.add(cells, units, counts, kernels)
        return counts

    def add(
        self,
        cells: Cells,
        units: NDArray[np.int64],
        counts: NDArray[np.int64],
        kernels: Any = numpy_kernels,
    ) -> None:
        """Add rows to counts, given their cells and weights."""
        kernels.count_cells(cells, units, counts)
        if self.no_cell is not None:
            counts[:, self.no_cell] = 0

    @abstractmethod
    def check_reach(self, rows: NDArray[Any]) -> None:
        """Raise ValueError for new rows that are too far away for their cells to be found."""

    @abstractmethod
    def check(self, n_columns: int) -> None:
        """Raise ValueError where the arrays, read from a file, could not have been drawn."""

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what can be made again."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return all there is to keep in a file."""
        return {field.name: getattr(self, field.name) for field in fields(self)[1:]}


@dataclass(frozen=True, eq=False)
class VoronoiPartition(Partition):
    """Cells are all the points nearest to the same centre (aNNE, the paper's choice)."""

    method = "voronoi"

    points: NDArray[np.float64]  # (u, d) the different rows that were drawn
    centres: NDArray[np.intp]  # (t, psi) which of them is which centre

    @property
    def n_partitions(self) -> int:
        return len(self.centres)

    def check_reach(self, rows: NDArray[Any]) -> None:
        check_distances(rows, self.points)

    def check(self, n_columns: int) -> None:
        _require(self.points.dtype == np.float64 and self.points.ndim == 2, "points")
        _require(
            self.points.shape[1] == n_columns and bool(np.isfinite(self.points).all()), "points"
        )
        _require(self.centres.dtype == np.intp and self.centres.ndim == 2, "centres")
        _require(self.centres.shape[1] == self.psi, "centres")
        _require(_within(self.centres, len(self.points)), "centres")

    def _find_cells(
        self,
        points: NDArray[np.float64],
        number: int,
        scratch: NDArray[np.float64],
        cells: Cells,
    ) -> None:
        numpy_kernels.nearest_centres(points, self.points[self.centres[number]], scratch, cells)

    @property
    def chunk_rows(self) -> int:
        return rows_per_product(len(self.points)) if self._screened else super().chunk_rows

    def cells(
        self,
        points: NDArray[np.float64],
        kernels: Any = numpy_kernels,
        scratch: Scratch | None = None,
    ) -> Cells:
        if not self._screened:
            return super().cells(points, kernels, scratch)
        screen = self._wide_screen if kernels is numpy_kernels else self._narrow_screen
        shape = len(points), len(self.points)
        bound2 = (scratch or Scratch()).array(shape, screen.factors.dtype)
        cells = np.empty((len(points), self.n_partitions), dtype=self.cell_type)
        kernels.settle_cells(points, screen, screen_points(points, screen, bound2), cells)
        return cells

    @property
    def _screened(self) -> bool:
        """Whether matrix products pay: in few dimensions plain distances are as fast."""
        return bool(self.points.shape[1] >= _MIN_COLUMNS_FOR_PRODUCTS)

    @cached_property
    def _wide_screen(self) -> Screen:
        return make_screen(self.points, self.centres, narrow=False)

    @cached_property
    def _narrow_screen(self) -> Screen:
        """What the compiled kernel takes, which settles single centres, not whole rows."""
        return make_screen(self.points, self.centres, narrow=True)

    @classmethod
    def draw(
        cls, data: RowSource, n_partitions: int, psi: int, replace: bool, rng: RandomState
    ) -> Self:
        return cls(psi, *_draw_points(data, n_partitions, psi, replace, rng))


@dataclass(frozen=True, eq=False)
class HyperspherePartition(VoronoiPartition):
    """Cells are balls around centres that reach to the nearest other centre (iNNE).

    A point in several balls belongs to the one with the nearest centre, a point in none has no
    cell.
    """

    method = "hypersphere"

    radius2: NDArray[np.float64]  # (t, psi)

    @property
    def no_cell(self) -> int:
        return self.psi

    @property
    def _screened(self) -> bool:
        """Balls are compared with radii, not only with each other."""
        return False

    def check(self, n_columns: int) -> None:
        super().check(n_columns)
        _require(self.radius2.dtype == np.float64, "radius2")
        _require(self.radius2.shape == self.centres.shape, "radius2")
        _require(bool((self.radius2 >= 0).all()), "radius2")

    def _find_cells(
        self,
        points: NDArray[np.float64],
        number: int,
        scratch: NDArray[np.float64],
        cells: Cells,
    ) -> None:
        centres = self.points[self.centres[number]]
        numpy_kernels.nearest_balls(points, centres, self.radius2[number], scratch, cells)

    @classmethod
    def draw(
        cls, data: RowSource, n_partitions: int, psi: int, replace: bool, rng: RandomState
    ) -> Self:
        drawn = VoronoiPartition.draw(data, n_partitions, psi, replace, rng)
        radius2 = np.array([_squared_gaps(drawn.points[centres]) for centres in drawn.centres])
        return cls(psi, drawn.points, drawn.centres, radius2)


@dataclass(frozen=True, eq=False)
class TreePartition(Partition):
    """Cells are the leaves of random trees, each grown until it isolates the psi rows drawn.

    Equal rows cannot be told apart and share a leaf, so a tree may have fewer than psi leaves.
    Nodes stand in depth-first order: the branch below the threshold follows its node at once.
    """

    method = "tree"

    feature: NDArray[np.int32]  # (t, 2 psi - 1) column compared at a node; -1 at a leaf
    threshold: NDArray[np.float64]  # (t, 2 psi - 1)
    target: NDArray[np.int32]  # (t, 2 psi - 1) node of the other branch; at a leaf, its number

    @property
    def n_partitions(self) -> int:
        return len(self.feature)

    def check_reach(self, rows: NDArray[Any]) -> None:
        """Comparing values needs no distance."""

    def check(self, n_columns: int) -> None:
        shape = (self.n_partitions, 2 * self.psi - 1)
        for name, kind in (("feature", np.int32), ("threshold", np.float64), ("target", np.int32)):
            array = getattr(self, name)
            _require(array.shape == shape and array.dtype == kind, name)
        leaf = self.feature < 0
        _require(bool((self.feature < n_columns).all() and leaf[:, -1].all()), "feature")
        # Branches lead forwards, so every walk ends.
        beyond = np.where(leaf, -1, np.arange(shape[1]))
        bound = np.where(leaf, self.psi, shape[1])
        _require(bool(((self.target > beyond) & (self.target < bound)).all()), "target")

    def _find_cells(
        self,
        points: NDArray[np.float64],
        number: int,
        scratch: NDArray[np.float64],
        cells: Cells,
    ) -> None:
        numpy_kernels.tree_leaves(
            points, self.feature[number], self.threshold[number], self.target[number], cells
        )

    @classmethod
    def draw(
        cls, data: RowSource, n_partitions: int, psi: int, replace: bool, rng: RandomState
    ) -> Self:
        points, centres = _draw_points(data, n_partitions, psi, replace, rng)
        shape = (n_partitions, 2 * psi - 1)
        feature = np.full(shape, -1, dtype=np.int32)
        threshold = np.zeros(shape)
        target = np.zeros(shape, dtype=np.int32)
        for number, drawn in enumerate(centres):
            tree = (feature[number], threshold[number], target[number])
            _grow_tree(points[drawn], *tree, rng)
        return cls(psi, feature, threshold, target)


PARTITIONS: dict[str, type[VoronoiPartition | TreePartition]] = {
    kind.method: kind for kind in (VoronoiPartition, HyperspherePartition, TreePartition)
}


def draw_partition(
    data: RowSource, method: str, n_partitions: int, psi: int, replace: bool, rng: RandomState
) -> Partition:
    """Draw n_partitions samples of psi rows each, and make cells of them."""
    return PARTITIONS[method].draw(data, n_partitions, psi, replace, rng)


def _draw_points(
    data: RowSource, n_partitions: int, psi: int, replace: bool, rng: RandomState
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return the points of the different rows drawn, (u, d), and which is which draw, (t, psi)."""
    rows = draw_rows(data.weights, n_partitions, psi, replace, rng)
    different, numbers = np.unique(rows, return_inverse=True)
    return data.points(different), numbers.reshape(rows.shape)


def draw_rows(
    weights: Line, n_partitions: int, psi: int, replace: bool, rng: RandomState
) -> NDArray[np.intp]:
    """Return the row numbers of the centres, (t, psi).

    Rows lie on a line, each as long as it weighs, and the line is cut into slots of equal length.
    Slots are drawn: with integer weights a slot is a copy of a row; otherwise a random place in
    the slot decides between the rows that share it. So equal draws come from equal weights,
    whether as numbers or as repeated rows.
    """
    n_slots = weights.n_slots
    slots = np.array([_draw_slots(n_slots, psi, replace, rng) for _ in range(n_partitions)])
    places = slots
    if weights.one != 1:
        within = rng.uniform(size=slots.shape)
        places = ((slots + within) * (weights.total / n_slots)).astype(np.int64)
    return weights.rows_at(np.minimum(places, weights.total - 1))


def _draw_slots(n_slots: int, psi: int, replace: bool, rng: RandomState) -> NDArray[np.intp]:
    if replace:
        return rng.randint(n_slots, size=psi, dtype=np.intp)
    return np.asarray(sample_without_replacement(n_slots, psi, random_state=rng), dtype=np.intp)


def _within(numbers: NDArray[np.intp], end: int) -> bool:
    return bool(((numbers >= 0) & (numbers < end)).all())


def _require(condition: bool, name: str) -> None:
    if not condition:
        raise ValueError(f"{name} is not what a partition can have")


def _squared_gaps(centres: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return each centre's squared distance to the nearest other one."""
    difference, distance2 = np.empty((2, len(centres), len(centres)))
    numpy_kernels.squared_distances(centres, centres, difference, distance2)
    np.fill_diagonal(distance2, np.inf)
    nearest: NDArray[np.float64] = distance2.min(axis=1)
    return nearest


def _grow_tree(
    points: NDArray[np.float64],
    feature: NDArray[np.int32],
    threshold: NDArray[np.float64],
    target: NDArray[np.int32],
    rng: RandomState,
) -> None:
    """Fill the arrays with a tree that isolates every different one of `points`."""
    n_nodes = n_leaves = 0
    waiting: list[tuple[NDArray[np.float64], int | None]] = [(points, None)]
    while waiting:
        here, parent = waiting.pop()
        if parent is not None:
            target[parent] = n_nodes
        low, high = here.min(axis=0), here.max(axis=0)
        varying = np.flatnonzero(low < high)
        if len(varying):
            column = varying[rng.randint(len(varying))]
            place = rng.uniform(low[column], high[column])
            # Both branches must get a point: the smallest value is below, the largest is not.
            place = max(place, np.nextafter(low[column], high[column]))
            feature[n_nodes], threshold[n_nodes] = column, place
            below = here[:, column] < place
            waiting.append((here[~below], n_nodes))
            waiting.append((here[below], None))
        else:
            target[n_nodes] = n_leaves
            n_leaves += 1
        n_nodes += 1
