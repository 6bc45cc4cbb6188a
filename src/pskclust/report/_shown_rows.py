"""ShownRows: the rows that a report shows, and how the rows of the fit were made from them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.pipeline import Pipeline

from ..plotting.fitted_rows import AnyRows, FittedRows, earlier_steps

# Rows whose similarity shows whether the model was fitted to the rows of the report.
_N_COMPARED = 50
_MAX_ERROR = 1e-6


@dataclass(frozen=True, eq=False)
class ShownRows:
    """A fitted model, the rows of the report, and the steps between these rows and the fit."""

    model: Any
    rows: NDArray[Any]  # (n, d)
    names: list[str]  # (d,)
    are_fitted: bool  # whether the model was fitted to these very rows
    scaling: str  # for the table of details
    for_fit: str  # the rows to fit again, in words

    @classmethod
    def of(
        cls,
        estimator: Any,
        X: AnyRows,
        feature_names: Sequence[str] | None,
        scaling: str | None,
    ) -> ShownRows:
        """Return the rows of a report.

        If the steps of a pipeline keep the columns, as scalers do, the rows before these steps are
        shown, because readers know their values. Otherwise the rows after the steps are shown.
        """
        steps = earlier_steps(estimator)
        if steps is not None:
            return cls._of_pipeline(estimator, steps, X, feature_names)
        model, rows, names, _ = FittedRows.of(estimator, X, feature_names)
        if scaling is not None:
            after = f"the same rows after {scaling} scaling"
            return cls(model, rows, names, False, scaling, after)
        if _are_rows_of_fit(model, rows):
            return cls(model, rows, names, True, "none", "the same rows")
        after = "the same rows, prepared as for this fit"
        return cls(model, rows, names, False, "before the fit, but unknown to this report", after)

    @classmethod
    def _of_pipeline(
        cls, estimator: Pipeline, steps: Pipeline, X: Any, feature_names: Sequence[str] | None
    ) -> ShownRows:
        done = ", ".join(type(step).__name__ for _, step in steps.steps)
        after = f"the rows after these steps of the pipeline: {done}"
        model, rows, names, before = FittedRows.of(estimator, X, feature_names)
        if before is None:
            return cls(model, rows, names, True, f"{done}; this page shows the result", after)
        return cls(model, before, names, False, done, after)


def _are_rows_of_fit(model: Any, rows: NDArray[Any]) -> bool:
    """Return whether most rows have the similarities that they had in the fit."""
    members = np.flatnonzero(model.labels_ >= 0)
    some = members[:: -(-max(1, len(members)) // _N_COMPARED)]
    if not len(some):
        return True
    with warnings.catch_warnings():
        # The rows are an array here, without the names that the fit may have had.
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        similarities = model.similarity(rows[some])
    found = similarities[np.arange(len(some)), model.labels_[some]]
    equal = np.isclose(found, model.similarities_[some], rtol=_MAX_ERROR, atol=0)
    return bool(equal.mean() > 0.5)
