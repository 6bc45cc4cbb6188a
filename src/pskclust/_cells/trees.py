"""Cells that are the leaves of random isolation trees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from scipy import sparse

from .._data.rows import FitRows
from .._kernels import reference
from .._kernels.reference import Cells
from .drawing import draw_points
from .partition import Partition, require_valid


@dataclass(frozen=True, eq=False)
class TreePartition(Partition):
    """Partition into the leaves of random trees, each grown until it isolates psi drawn rows.

    Equal rows share a leaf, so a tree may have fewer than psi leaves. Nodes are in depth-first
    order: the branch below the threshold directly follows its node.
    """

    method = "tree"

    feature: NDArray[np.int32]  # (t, 2 psi - 1) column compared at a node; -1 at a leaf
    threshold: NDArray[np.float64]  # (t, 2 psi - 1)
    target: NDArray[np.int32]  # (t, 2 psi - 1) node of the other branch; at a leaf, the cell number

    @property
    def n_partitions(self) -> int:
        return len(self.feature)

    @property
    def dimension(self) -> int:
        return 1

    def middles(self, counts: sparse.csr_array) -> None:
        """Return None, because leaves have no centres."""

    def log_sizes(self, n_jobs: int | None = 1) -> NDArray[np.float64]:
        """Return zeros: leaves at the border are unbounded, so all cells count as equally large."""
        return np.zeros(self.table_shape)

    def check_reach(self, rows: NDArray[Any]) -> None:
        """Accept all rows, because comparisons need no distances."""

    def check(self, n_columns: int) -> None:
        shape = (self.n_partitions, 2 * self.psi - 1)
        for name, kind in (("feature", np.int32), ("threshold", np.float64), ("target", np.int32)):
            array = getattr(self, name)
            require_valid(array.shape == shape and array.dtype == kind, name)
        leaf = self.feature < 0
        require_valid(bool((self.feature < n_columns).all() and leaf[:, -1].all()), "feature")
        # Branches lead to later nodes only, so every walk through the tree ends.
        beyond = np.where(leaf, -1, np.arange(shape[1]))
        bound = np.where(leaf, self.psi, shape[1])
        require_valid(bool(((self.target > beyond) & (self.target < bound)).all()), "target")

    def _find_cells(
        self,
        points: NDArray[np.float64],
        number: int,
        scratch: NDArray[np.float64],
        cells: Cells,
    ) -> None:
        reference.tree_leaves(
            points, self.feature[number], self.threshold[number], self.target[number], cells
        )

    @classmethod
    def draw(
        cls, data: FitRows, n_partitions: int, psi: int, replace: bool, rng: RandomState
    ) -> Self:
        points, centres = draw_points(data, n_partitions, psi, replace, rng)
        shape = (n_partitions, 2 * psi - 1)
        feature = np.full(shape, -1, dtype=np.int32)
        threshold = np.zeros(shape)
        target = np.zeros(shape, dtype=np.int32)
        for number, drawn in enumerate(centres):
            tree = (feature[number], threshold[number], target[number])
            _grow_tree(points[drawn], *tree, rng)
        return cls(psi, feature, threshold, target)


def _grow_tree(
    points: NDArray[np.float64],
    feature: NDArray[np.int32],
    threshold: NDArray[np.float64],
    target: NDArray[np.int32],
    rng: RandomState,
) -> None:
    """Fill the arrays with a tree that isolates each distinct point."""
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
