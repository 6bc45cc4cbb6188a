"""FittedRows: a fitted model and the rows of its fit, for displays and reports."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import issparse
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from .._data.sources import RowBlocks
from .._utils.optional import optional
from ..tables.streaming import row_blocks

# Rows that displays and reports accept.
AnyRows = ArrayLike | RowBlocks | os.PathLike[str]


class FittedRows(NamedTuple):
    """A fitted model, the rows of its fit, and the names of their columns."""

    model: Any
    rows: NDArray[Any]  # (n, d)
    names: list[str]  # (d,)
    # The rows before the other steps of a pipeline, (n, d), if these keep the columns; else None.
    before: NDArray[np.float64] | None

    @classmethod
    def of(
        cls,
        estimator: Any,
        X: AnyRows,
        feature_names: Sequence[str] | None = None,
        any_rows: bool = False,
    ) -> FittedRows:
        """Return the rows of a fit; raise ValueError if X does not have their shape.

        `estimator` is a fitted model, or a pipeline that ends in one. The other steps of a pipeline
        transform X. With `any_rows`, X may have other rows than the fit. Files and row blocks are
        read as in a fit.
        """
        model = model_of(estimator)
        steps = earlier_steps(estimator)
        X, names = _in_memory(X, model if steps is None else steps)
        rows: Any = X if steps is None else steps.transform(X)
        rows = rows.toarray() if issparse(rows) else np.asarray(rows)
        _check_shape(model, rows, any_rows)
        if feature_names is None:
            feature_names = names if steps is None else _names_after(steps, X)
        before = None if steps is None else _rows_before(steps, X)
        return cls(model, rows, _column_names(model, feature_names), before)

    @classmethod
    def drawn(
        cls, estimator: Any, X: AnyRows, feature_names: Sequence[str] | None = None
    ) -> FittedRows:
        """Return the rows of a fit as points are drawn.

        If the steps of a pipeline keep two columns or fewer, as scalers do, these are the rows
        before the steps, because readers know their values.
        """
        found = cls.of(estimator, X, feature_names)
        if found.before is None or found.rows.shape[1] > 2:
            return found
        return found._replace(rows=found.before)


def model_of(estimator: Any) -> Any:
    """Return a fitted model: the last step of a pipeline, or else the estimator itself."""
    model = estimator[-1] if isinstance(estimator, Pipeline) else estimator
    if not hasattr(model, "fit"):
        raise TypeError(
            f"The model is of type {type(model).__name__}. Pass a fitted PSKC, or a fitted "
            "pipeline that ends in one."
        )
    check_is_fitted(model)
    if hasattr(model, "clusterer_"):
        raise TypeError(
            f"{type(model).__name__} has clusters of groups, not of rows. Pass the clustering of "
            "the groups, model.clusterer_, and model.embedding_ as the rows."
        )
    return model


def earlier_steps(estimator: Any) -> Pipeline | None:
    """Return the steps of a pipeline before its last one; None if there are none."""
    if not isinstance(estimator, Pipeline) or len(estimator) == 1:
        return None
    return estimator[:-1]


def _names_before(X: Any) -> list[str] | None:
    """Return the column names of a table, numbered names for an array, None for a list of texts."""
    names = _names_of(X)
    if names is not None:
        return names
    shape = X.shape if issparse(X) else np.asarray(X).shape
    return _numbered(shape[1]) if len(shape) == 2 else None


def _rows_before(steps: Pipeline, X: Any) -> NDArray[np.float64] | None:
    """Return X as numbers if the steps keep its columns and no number is missing, else None."""
    if _names_after(steps, X) != _names_before(X):
        return None
    try:
        rows = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    return rows if np.isfinite(rows).all() else None


def _names_after(steps: Pipeline, X: Any) -> list[str] | None:
    """Return the names of the columns after `steps`; None if a step does not name its columns."""
    try:
        return [str(name) for name in steps.get_feature_names_out(_names_before(X))]
    except (AttributeError, NotImplementedError):
        return None


def _names_of(X: Any) -> list[str] | None:
    names = getattr(X, "columns", None)
    return None if names is None else [str(name) for name in names]


def _in_memory(X: Any, fitted: Any) -> tuple[Any, list[str] | None]:
    """Return X and the names of its columns; a file or row blocks are read as in a fit.

    `fitted` is a model, or the steps of a pipeline before it. If these steps were fitted to a
    table, a table is returned, because they may find its columns by name.
    """
    if not isinstance(X, str | os.PathLike | RowBlocks):
        return X, _names_of(X)
    names = getattr(fitted, "feature_names_in_", None)
    blocks = row_blocks(X, None if names is None else list(names))
    assert blocks is not None  # for the type checker
    rows = np.concatenate(list(blocks))
    if names is None or not isinstance(fitted, Pipeline):
        return rows, blocks.names
    pandas = optional("pandas", "a file for a pipeline that was fitted to a table", "all")
    return pandas.DataFrame(rows, columns=blocks.names or list(names)), blocks.names


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
