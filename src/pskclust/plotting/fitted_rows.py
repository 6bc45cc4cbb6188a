"""FittedRows: a fitted model and the rows of its fit, for displays and reports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted


class FittedRows(NamedTuple):
    """A fitted model, the rows of its fit, and the names of their columns."""

    model: Any
    rows: NDArray[Any]  # (n, d)
    names: list[str]  # (d,)

    @classmethod
    def of(
        cls,
        estimator: Any,
        X: ArrayLike,
        feature_names: Sequence[str] | None = None,
        any_rows: bool = False,
    ) -> FittedRows:
        """Return the rows of a fit; raise ValueError if X does not have their shape.

        `estimator` is a fitted model, or a pipeline that ends in one. The other steps of a pipeline
        transform X. With `any_rows`, X may have other rows than the fit.
        """
        model = model_of(estimator)
        steps = earlier_steps(estimator)
        rows: Any = X if steps is None else steps.transform(X)
        rows = rows.toarray() if issparse(rows) else np.asarray(rows)
        _check_shape(model, rows, any_rows)
        if feature_names is None:
            feature_names = _names_of(X) if steps is None else names_after(steps, X)
        return cls(model, rows, _column_names(model, feature_names))


def model_of(estimator: Any) -> Any:
    """Return a fitted model: the last step of a pipeline, or else the estimator itself."""
    model = estimator[-1] if isinstance(estimator, Pipeline) else estimator
    check_is_fitted(model)
    return model


def earlier_steps(estimator: Any) -> Pipeline | None:
    """Return the steps of a pipeline before its last one; None if there are none."""
    if not isinstance(estimator, Pipeline) or len(estimator) == 1:
        return None
    return estimator[:-1]


def names_before(X: Any) -> list[str]:
    """Return the column names of a table, or numbered names for an array."""
    return _names_of(X) or _numbered(np.shape(X)[1])


def names_after(steps: Pipeline, X: Any) -> list[str] | None:
    """Return the names of the columns after `steps`; None if a step does not name its columns."""
    try:
        return [str(name) for name in steps.get_feature_names_out(names_before(X))]
    except (AttributeError, NotImplementedError):
        return None


def _names_of(X: Any) -> list[str] | None:
    names = getattr(X, "columns", None)
    return None if names is None else [str(name) for name in names]


def _numbered(n_columns: int) -> list[str]:
    return [f"column {number}" for number in range(n_columns)]


def _check_shape(model: Any, rows: NDArray[Any], any_rows: bool) -> None:
    if rows.ndim != 2 or rows.shape[1] != model.n_features_in_:
        raise ValueError(
            f"X has shape {rows.shape}, but the model was fitted to {model.n_features_in_} "
            "columns. Pass the rows of the fit, or the pipeline instead of its last step."
        )
    if not any_rows and len(rows) != len(model.labels_):
        raise ValueError(
            f"X has {len(rows)} rows, but the model was fitted to {len(model.labels_)}. "
            "Pass the rows of the fit."
        )


def _column_names(model: Any, feature_names: Sequence[str] | None) -> list[str]:
    """Return `feature_names` if given, else the names from the fit, else numbered names."""
    n_columns = model.n_features_in_
    if feature_names is None:
        feature_names = getattr(model, "feature_names_in_", None)
    if feature_names is None:
        return _numbered(n_columns)
    if len(feature_names) != n_columns:
        raise ValueError(
            f"feature_names has {len(feature_names)} names, but the model was fitted to "
            f"{n_columns} columns. Pass one name for each column."
        )
    return [str(name) for name in feature_names]
