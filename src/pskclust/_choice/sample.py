"""The samples that a clustering is chosen on, with all values that draws do not change."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

from .._cells.drawing import draw_rows
from .._data.checks import check_underflow
from .._data.rows import FitRows
from .discriminant import principal_axes
from .empty_space import widest_gap
from .noise import NoiseRule, find_noise
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


@dataclass(frozen=True, eq=False)
class Samples:
    """The sample whose rows are clustered, and samples of other rows for further draws.

    If the data have no more rows than a sample, all draws have all rows.
    """

    noise: NoiseRule  # found in the first sample
    rows: NDArray[np.intp]  # (n,) row numbers of the first sample without noise, ascending
    points: NDArray[np.float64]  # (n, d) their points
    all_points: NDArray[np.float64]  # (m, d) points of all rows that were drawn, with noise
    others: list[NDArray[np.intp]]  # the rows of each other sample, as places in `all_points`

    def of_draw(self, number: int) -> NDArray[np.float64]:
        """Return the points of the sample of a draw without noise; the first draw is draw 0."""
        if not (number and self.others):
            return self.points
        own = self.all_points[self.others[number - 1]]
        return own[~self.noise(own)]


def draw_samples(data: FitRows, n_rows: int, n_samples: int, rng: RandomState) -> Samples:
    """Draw samples of `n_rows` rows, and find the noise in them."""
    # A row of weight w counts as w equal rows, as in all other steps.
    drawn = np.sort(draw_rows(data.weights, n_samples, n_rows, False, rng), axis=1)
    # All rows are read in one pass.
    rows, places = np.unique(drawn, return_inverse=True)
    points = data.points(rows)
    check_underflow(points)
    first, *others = places.reshape(drawn.shape)
    noise = find_noise(points[first], rng)
    kept = first[~noise(points[first])]
    return Samples(noise, rows[kept], points[kept], points, others)
