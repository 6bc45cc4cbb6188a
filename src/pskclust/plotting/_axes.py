"""What all displays share: axes, and rows as points in a plane."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.decomposition import PCA
from sklearn.utils.validation import check_is_fitted

from .._optional import optional

_ROWS_TO_FIND_AXES = 20_000


class Plane(NamedTuple):
    """Rows as points in a plane, and what its two directions are."""

    points: NDArray[np.float64]  # (n, 2)
    names: tuple[str, str]


def axes_for(ax: Any, **options: Any) -> Any:
    """Return the axes to draw on: those given, or new ones."""
    if ax is not None:
        return ax
    plt = optional("matplotlib.pyplot", "pskclust.plotting", "plot")
    return plt.subplots(layout="constrained", **options)[1]


def to_plane(estimator: Any, X: ArrayLike) -> Plane:
    """Return rows of two columns as they are, others along their first two principal axes.

    One column is drawn against a spread that means nothing, so that points do not hide each other.
    """
    check_is_fitted(estimator)
    rows = np.asarray(X, dtype=np.float64)
    if rows.ndim != 2 or rows.shape[1] != estimator.n_features_in_:
        raise ValueError(
            f"X has shape {rows.shape}, but the model was fitted to "
            f"{estimator.n_features_in_} columns."
        )
    names = list(getattr(estimator, "feature_names_in_", []))
    names = names or [f"column {number}" for number in range(rows.shape[1])]
    if rows.shape[1] == 2:
        return Plane(rows, (names[0], names[1]))
    if rows.shape[1] == 1:
        spread = np.random.RandomState(0).uniform(size=len(rows))
        return Plane(np.column_stack([rows[:, 0], spread]), (names[0], "(spread)"))
    axes = PCA(2, random_state=0).fit(rows[:: -(-len(rows) // _ROWS_TO_FIND_AXES)])
    shares = axes.explained_variance_ratio_
    first, second = (f"principal axis {n + 1} ({shares[n]:.0%} of the variance)" for n in (0, 1))
    return Plane(axes.transform(rows), (first, second))


def check_same_rows(estimator: Any, n_rows: int) -> None:
    if n_rows != len(estimator.labels_):
        raise ValueError(
            f"X has {n_rows} rows, but the model was fitted to {len(estimator.labels_)}. "
            "Pass the rows of the fit."
        )
