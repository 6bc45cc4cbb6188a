"""The sample that a clustering is chosen on, with all values that draws do not change."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .discriminant import principal_axes
from .empty_space import widest_gap
from .scales import N_NEIGHBOURS, Around, sizes_of
from .similarity import Distances, Neighbours, n_near_for, nearest_rows, squared_distances


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows, with properties that do not depend on partitionings and are computed once."""

    points: NDArray[np.float64]  # (n, d)

    def __len__(self) -> int:
        return len(self.points)

    @cached_property
    def distances(self) -> Distances:
        return squared_distances(self.points)

    @cached_property
    def largest(self) -> float:
        """The largest of all distances."""
        return float(self.distances.max())

    @cached_property
    def near(self) -> Neighbours:
        return nearest_rows(self.distances, n_near_for(len(self)))

    @cached_property
    def around(self) -> Around:
        return Around.of(self.distances, self.near[:, :N_NEIGHBOURS])

    @cached_property
    def groups(self) -> NDArray[np.intp]:
        """A number for each row, equal for equal rows, in the order of first occurrence."""
        _, first, number = np.unique(self.points, axis=0, return_index=True, return_inverse=True)
        groups: NDArray[np.intp] = np.argsort(np.argsort(first))[number.ravel()]
        return groups

    @cached_property
    def n_different(self) -> int:
        return int(self.groups.max()) + 1

    @cached_property
    def sizes(self) -> list[int]:
        """The values of psi that trees are grown from."""
        return sizes_of(len(self), self.n_different)

    @cached_property
    def axes(self) -> NDArray[np.float64]:
        """Coordinates of the rows along principal axes, (n, a)."""
        return principal_axes(self.points)

    @cached_property
    def empty_gap(self) -> float:
        return widest_gap(self.distances)
