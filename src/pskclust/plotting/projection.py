"""Projection of the rows of a fit onto a plane, for displays and reports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.decomposition import PCA
from sklearn.utils.validation import check_is_fitted

_ROWS_TO_FIND_AXES = 20_000


class Projection(NamedTuple):
    """Rows as points in a plane, and the names of the two axes."""

    points: NDArray[np.float64]  # (n, 2)
    names: tuple[str, str]

    @classmethod
    def of(cls, rows: NDArray[Any], names: Sequence[str]) -> Projection:
        """Return the projection of rows onto a plane.

        Two columns stay as they are; more columns are projected onto their first two principal
        axes. A single column is spread over random heights, so that points do not hide each other.
        """
        if rows.shape[1] == 2:
            return cls(np.asarray(rows, dtype=np.float64), (names[0], names[1]))
        if rows.shape[1] == 1:
            spread = np.random.RandomState(0).uniform(size=len(rows))
            return cls(np.column_stack([rows[:, 0], spread]), (names[0], "(spread)"))
        axes = PCA(2, random_state=0).fit(rows[:: -(-len(rows) // _ROWS_TO_FIND_AXES)])
        # The shares of the variance are NaN if all rows are equal.
        shares = np.nan_to_num(axes.explained_variance_ratio_)
        first, second = (f"principal axis {n + 1} ({shares[n]:.0%} of variance)" for n in (0, 1))
        return cls(axes.transform(rows), (first, second))


def project(estimator: Any, X: ArrayLike, feature_names: Sequence[str] | None) -> Projection:
    """Return the rows of a fit as points in a plane."""
    rows = rows_of_fit(estimator, X)
    return Projection.of(rows, column_names(estimator, feature_names))


def rows_of_fit(estimator: Any, X: ArrayLike) -> NDArray[Any]:
    """Return X as an array; raise ValueError if its shape differs from that of the fit."""
    check_is_fitted(estimator)
    rows = np.asarray(X)
    if rows.ndim != 2 or rows.shape[1] != estimator.n_features_in_:
        raise ValueError(
            f"X has shape {rows.shape}, but the model was fitted to "
            f"{estimator.n_features_in_} columns. Pass the rows of the fit."
        )
    if len(rows) != len(estimator.labels_):
        raise ValueError(
            f"X has {len(rows)} rows, but the model was fitted to {len(estimator.labels_)}. "
            "Pass the rows of the fit."
        )
    return rows


def column_names(estimator: Any, feature_names: Sequence[str] | None) -> list[str]:
    """Return `feature_names` if given, else the names from the fit, else numbered names."""
    n_columns = estimator.n_features_in_
    if feature_names is None:
        feature_names = getattr(estimator, "feature_names_in_", None)
    if feature_names is None:
        return [f"column {number}" for number in range(n_columns)]
    if len(feature_names) != n_columns:
        raise ValueError(
            f"feature_names has {len(feature_names)} names, but the model was fitted to "
            f"{n_columns} columns. Pass one name for each column."
        )
    return [str(name) for name in feature_names]
