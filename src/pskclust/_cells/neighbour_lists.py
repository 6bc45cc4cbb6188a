"""Cells of rows from lists of their nearest points, where many points are centres.

If each partitioning has one point in eight as a centre, say, the nearest centre of a row is nearly
always among the row's 47 nearest points. These are found once, for all partitionings.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

from .._kernels.reference import Cells, column_order_distances

# With more columns, a search tree visits nearly all points.
_MAX_COLUMNS = 3
# Longer lists cost more than the distances to all centres.
_MAX_NEAR = 64
# Share of rows without a centre in their list, for centres drawn at random.
_SHARE_MISSED = 0.002
# A search tree may round distances differently. Points that are farther than the last of a list
# by less than this may belong to the list.
_ROUNDING = 1e-9
_NOT_A_CENTRE = -1


def length_of_lists(n_points: int, psi: int, n_columns: int) -> int:
    """Return how many of the nearest points to list for each row; 0 if lists save no time."""
    if n_columns > _MAX_COLUMNS or not 1 < psi < n_points:
        return 0
    n_near = math.ceil(math.log(_SHARE_MISSED) / math.log1p(-psi / n_points))
    return n_near if n_near <= min(_MAX_NEAR, n_points) else 0


class NeighbourLists(NamedTuple):
    """The nearest points of m rows, the nearest first."""

    near: NDArray[np.intp]  # (m, n_near)
    distance2: NDArray[np.float64]  # (m, n_near)
    limit2: NDArray[np.float64]  # (m,) a centre at this distance or beyond may not be the nearest
    n_points: int
    has_ties: bool

    @classmethod
    def of(cls, rows: NDArray[np.float64], tree: KDTree, n_near: int) -> NeighbourLists:
        # Sorted by number first, so that equal distances are listed in the order of the points.
        near = np.sort(tree.query(rows, n_near)[1], axis=1)
        distance2 = column_order_distances(rows, np.asarray(tree.data), near)
        order = np.argsort(distance2, axis=1, kind="stable")
        near = np.take_along_axis(near, order, axis=1)
        distance2 = np.take_along_axis(distance2, order, axis=1)
        has_ties = bool((distance2[:, 1:] == distance2[:, :-1]).any())
        return cls(near, distance2, distance2[:, -1] / (1 + _ROUNDING), tree.n, has_ties)

    def find_cells(self, centres: NDArray[np.intp], cells: Cells) -> NDArray[np.intp]:
        """Fill `cells` in one partitioning; return the rows whose cell the lists do not show.

        Ties go to the first centre. `centres` are numbers of points, (psi,).
        """
        number = np.full(self.n_points, _NOT_A_CENTRE, dtype=np.int32)
        # A point that was drawn twice has the number of the first draw.
        number[centres[::-1]] = np.arange(len(centres) - 1, -1, -1, dtype=np.int32)
        numbers = number.take(self.near)
        is_centre = numbers != _NOT_A_CENTRE
        rows = np.arange(len(numbers))
        place = is_centre.argmax(axis=1)
        found, gap2 = numbers[rows, place], self.distance2[rows, place]
        if self.has_ties:
            as_near = is_centre & (self.distance2 == gap2[:, np.newaxis])
            found = np.where(as_near, numbers, len(centres)).min(axis=1)
        cells[...] = found
        return np.flatnonzero(~is_centre[rows, place] | (gap2 >= self.limit2))
