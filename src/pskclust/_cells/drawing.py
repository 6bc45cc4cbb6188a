"""Row numbers of centres, drawn by weight from rows wherever they are."""

from __future__ import annotations

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from sklearn.utils.random import sample_without_replacement

from .._data.checks import check_underflow
from .._data.rows import FitRows
from .._data.weights import RowWeights


def draw_points(
    data: FitRows, n_partitions: int, psi: int, replace: bool, rng: RandomState
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Return the points of the different rows drawn, (u, d), and which is which draw, (t, psi)."""
    rows = draw_rows(data.weights, n_partitions, psi, replace, rng)
    different, numbers = np.unique(rows, return_inverse=True)
    points = data.points(different)
    # Of the rows drawn, since rows of weight 0 must make no difference.
    check_underflow(points)
    return points, numbers.reshape(rows.shape)


def draw_rows(
    weights: RowWeights, n_partitions: int, psi: int, replace: bool, rng: RandomState
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
