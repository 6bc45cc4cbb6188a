"""Projection of the rows of a fit onto a plane, for displays and reports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA

_ROWS_TO_FIND_AXES = 20_000
# The axis of this name has no meaning and no ticks.
RANDOM_HEIGHT = "random height, for legibility"


class Projection(NamedTuple):
    """Rows as points in a plane, and the names of the two axes."""

    points: NDArray[np.float64]  # (n, 2)
    names: tuple[str, str]

    @classmethod
    def of(cls, rows: NDArray[Any], names: Sequence[str], metric: str = "euclidean") -> Projection:
        """Return the projection of rows onto a plane.

        With metric "haversine", the longitude is the horizontal axis.
        Two columns stay as they are; more columns are projected onto their first two principal
        axes. A single column is spread over random heights, so that points do not hide each other.
        """
        if metric == "haversine":
            numbered = list(names) == ["column 0", "column 1"]
            latitude, longitude = ("latitude", "longitude") if numbered else names
            return cls(np.asarray(rows[:, ::-1], dtype=np.float64), (longitude, latitude))
        if rows.shape[1] == 2:
            return cls(np.asarray(rows, dtype=np.float64), (names[0], names[1]))
        if rows.shape[1] == 1:
            spread = np.random.RandomState(0).uniform(size=len(rows))
            return cls(np.column_stack([rows[:, 0], spread]), (names[0], RANDOM_HEIGHT))
        axes = PCA(2, random_state=0).fit(rows[:: -(-len(rows) // _ROWS_TO_FIND_AXES)])
        # The shares of the variance are NaN if all rows are equal.
        shares = np.nan_to_num(axes.explained_variance_ratio_)
        first, second = (f"principal axis {n + 1} ({shares[n]:.0%} of variance)" for n in (0, 1))
        return cls(axes.transform(rows), (first, second))
