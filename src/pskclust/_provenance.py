"""Provenance of a fit: given parameters, chosen values, and the call that gives the same labels.

The command line, the report and the explorer use this module, so all print the same text.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._estimator import PSKC
from ._utils.json_values import plain_value

# Parameters that do not affect labels: a call that repeats a fit leaves them out.
_WITHOUT_EFFECT_ON_LABELS = (
    "n_jobs",
    "device",
    "verbose",
    "callback",
    "scratch_dir",
    "checkpoint",
)

UNREPEATABLE = (
    "random_state is not an int, so another fit may give other labels. Pass an int to get the "
    "same labels every time."
)


def given_parameters(model: PSKC) -> dict[str, Any]:
    """Return the parameters that differ from the defaults and affect labels, as plain values."""
    values = model.get_params(deep=False)
    given = {}
    for name, parameter in inspect.signature(type(model)).parameters.items():
        if name in _WITHOUT_EFFECT_ON_LABELS or name not in values:
            continue
        value = plain_value(values[name])
        if value is not None and value != parameter.default:
            given[name] = value
    return given


def chosen_values(model: PSKC) -> dict[str, Any]:
    """Return the values that the fit chose for parameters that were left open.

    psi is included for grown clusters only: if the `psi_` of a choice is passed to a new fit as
    psi, the new fit may choose other clusters.
    """
    if model.auto_ is not None:
        return {"n_clusters": int(model.n_clusters_)} if model.n_clusters is None else {}
    return {"psi": int(model.psi_)} if model.psi == "auto" else {}


def choice_words(model: PSKC) -> str | None:
    """Return the chosen values and the reason, in words; None if nothing was chosen."""
    chosen = chosen_values(model)
    if model.auto_ is not None:
        return model.auto_.reason if chosen else None
    return f"psi {chosen['psi']}, the default for this number of rows" if chosen else None


def candidates(model: PSKC) -> list[dict[str, Any]]:
    """Return the best candidates of a choice with their evidence; empty without a choice."""
    choice = model.auto_
    if choice is None:
        return []
    listed = dict.fromkeys([*choice.candidates, choice.chosen])
    return [asdict(option) | {"chosen": option == choice.chosen} for option in listed]


def has_confidences(model: PSKC) -> bool:
    """Return whether there were several candidates, so that confidences differ.

    Grown clusters have no candidates. If a number of clusters is given, only one candidate may have
    that number. Few rows, or equal ones, have a single candidate.
    """
    if model.confidences_ is None:
        return False
    choice = model.auto_
    return choice is None or len(choice.candidates) > 1 or len(choice.numbers) > 1


def mean_confidences(model: PSKC) -> NDArray[np.float64] | None:
    """Return the mean confidence of the members of each cluster; None if it tells nothing."""
    if not has_confidences(model):
        return None
    labels = model.labels_ + 1
    totals = np.bincount(labels, model.confidences_, model.n_clusters_ + 1)[1:]
    counts = np.bincount(labels, minlength=model.n_clusters_ + 1)[1:]
    return np.asarray(totals / np.maximum(counts, 1))


def python_call(model: PSKC) -> str:
    """Return the constructor call that gives the same labels for the same rows."""
    return f"{type(model).__name__}({arguments(given_parameters(model))})"


def arguments(values: Mapping[str, Any]) -> str:
    """Return keyword arguments as Python code."""
    return ", ".join(f"{name}={value!r}" for name, value in values.items())


def is_repeatable(model: PSKC) -> bool:
    """Return whether `python_call` gives the same labels every time."""
    return "random_state" in given_parameters(model)


def is_linked(model: PSKC) -> bool:
    """Return whether clusters were chosen or linked, not only grown."""
    return model.fitted_.linkage is not None


def is_refined(model: PSKC) -> bool:
    """Return whether refinement was applied to the clusters."""
    return not is_linked(model) if model.refine == "auto" else bool(model.refine)
