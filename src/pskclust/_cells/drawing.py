"""Random selection of rows as centres, in proportion to their weights."""

from __future__ import annotations

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from sklearn.utils.random import sample_without_replacement

from .._data.checks import check_underflow
from .._data.rows import FitRows
from .._data.weights import RowWeights

# A small sample seldom contains duplicates, so it is fastest to draw with replacement and to
# redraw the duplicates.
_SMALL_SHARE = 0.01


def draw_points(
    data: FitRows, n_partitions: int, psi: int, replace: bool, rng: RandomState
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return the distinct drawn rows, (u, d), and the index of each centre in them, (t, psi)."""
    rows = draw_rows(data.weights, n_partitions, psi, replace, rng)
    different, numbers = np.unique(rows, return_inverse=True)
    points = data.points(different)
    # Only drawn rows are checked, because rows of weight 0 must have no effect.
    check_underflow(points)
    return points, numbers.reshape(rows.shape)


def draw_rows(
    weights: RowWeights, n_partitions: int, psi: int, replace: bool, rng: RandomState
) -> NDArray[np.intp]:
    """Return the row numbers of the centres, (t, psi).

    The cumulative weights are divided into slots of equal length, and slots are drawn. With integer
    weights a slot is a copy of a row; otherwise a random position within the slot selects one of
    the rows in it. So an integer weight has the same effect as copies of the row.
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
    if psi <= _SMALL_SHARE * n_slots:
        return _draw_distinct(n_slots, psi, rng)
    return np.asarray(sample_without_replacement(n_slots, psi, random_state=rng), dtype=np.intp)


def _draw_distinct(n: int, size: int, rng: RandomState) -> NDArray[np.intp]:
    """Return distinct numbers below `n`, in the order in which they were drawn.

    `sample_without_replacement` gives the same numbers for a small share, but draws them one by
    one, which takes much longer.
    """
    drawn = np.empty(0, dtype=np.intp)
    while len(drawn) < size:
        drawn = np.append(drawn, rng.randint(n, size=size - len(drawn)))
        drawn = drawn[np.sort(np.unique(drawn, return_index=True)[1])]
    return drawn
