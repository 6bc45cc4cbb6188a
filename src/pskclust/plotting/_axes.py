"""What all displays share: axes, and rows as points in a plane."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.decomposition import PCA
from sklearn.utils.validation import check_is_fitted

from .._utils.optional import optional

_ROWS_TO_FIND_AXES = 20_000
_LONGEST_NAME = 40


class Plane(NamedTuple):
    """Rows as points in a plane, and what its two directions are."""

    points: NDArray[np.float64]  # (n, 2)
    names: tuple[str, str]

    @classmethod
    def of(cls, rows: NDArray[Any], names: Sequence[str]) -> Plane:
        """Return rows of two columns as they are, others along their first two principal axes.

        One column is drawn against a spread that means nothing, so that points do not hide each
        other.
        """
        if rows.shape[1] == 2:
            return cls(np.asarray(rows, dtype=np.float64), (names[0], names[1]))
        if rows.shape[1] == 1:
            spread = np.random.RandomState(0).uniform(size=len(rows))
            return cls(np.column_stack([rows[:, 0], spread]), (names[0], "(spread)"))
        axes = PCA(2, random_state=0).fit(rows[:: -(-len(rows) // _ROWS_TO_FIND_AXES)])
        # Columns that are all the same have no variance to share.
        shares = np.nan_to_num(axes.explained_variance_ratio_)
        first, second = (f"principal axis {n + 1} ({shares[n]:.0%} of variance)" for n in (0, 1))
        return cls(axes.transform(rows), (first, second))


def axes_for(ax: Any, figsize: tuple[float, float]) -> Any:
    """Return the axes to draw on: those given, or new ones."""
    return grid_of_axes(None, figsize)[0, 0] if ax is None else ax


def grid_of_axes(
    figure: Any, figsize: tuple[float, float], n_rows: int = 1, n_columns: int = 1, **options: Any
) -> Any:
    """Return axes, (n_rows, n_columns), on the figure given, or on a new one."""
    if figure is None:
        plt = optional("matplotlib.pyplot", "pskclust.plotting", "plot")
        figure = plt.figure(figsize=figsize, layout="constrained")
    return figure.subplots(n_rows, n_columns, squeeze=False, **options)


def to_plane(estimator: Any, X: ArrayLike, feature_names: Sequence[str] | None) -> Plane:
    """Return the rows of a fit as points in a plane."""
    rows = rows_of_fit(estimator, X)
    return Plane.of(rows, column_names(estimator, feature_names))


def rows_of_fit(estimator: Any, X: ArrayLike) -> NDArray[Any]:
    """Return X as an array; raise ValueError if it cannot be what the estimator was fitted to."""
    check_is_fitted(estimator)
    rows = np.asarray(X)
    if rows.ndim != 2 or rows.shape[1] != estimator.n_features_in_:
        raise ValueError(
            f"X has shape {rows.shape}, but the model was fitted to "
            f"{estimator.n_features_in_} columns."
        )
    if len(rows) != len(estimator.labels_):
        raise ValueError(
            f"X has {len(rows)} rows, but the model was fitted to {len(estimator.labels_)}. "
            "Pass the rows of the fit."
        )
    return rows


def column_names(estimator: Any, feature_names: Sequence[str] | None) -> list[str]:
    """Return the names of the columns: those given, those of the fit, or their numbers."""
    n_columns = estimator.n_features_in_
    if feature_names is None:
        feature_names = getattr(estimator, "feature_names_in_", None)
    if feature_names is None:
        return [f"column {number}" for number in range(n_columns)]
    if len(feature_names) != n_columns:
        raise ValueError(
            f"feature_names has {len(feature_names)} names, but the model was fitted to "
            f"{n_columns} columns."
        )
    return [str(name) for name in feature_names]


def as_text(name: str) -> str:
    """Return a name as it is to be drawn: in one line, not too long, and no formula."""
    # Broken files have names that are no Unicode, which no font can draw.
    line = " ".join(name.encode("utf-8", "replace").decode("utf-8").split())
    if len(line) > _LONGEST_NAME:
        line = line[: _LONGEST_NAME - 1] + "\u2026"
    return line.replace("$", r"\$")


def mark_seeds(ax: Any, points: NDArray[np.float64]) -> None:
    """Mark the rows that clusters grew from, so that they are seen on any colour."""
    # Many must not hide what is under them.
    size = float(np.clip(40 / len(points) ** 0.5, 2.5, 7))
    for colour, width in (("white", 0.5 * size), ("black", 0.23 * size)):
        ax.plot(*points.T, "x", color=colour, ms=size, mew=width)


def without_frame(ax: Any) -> None:
    ax.spines[["top", "right"]].set_visible(False)
