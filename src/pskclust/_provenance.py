"""Provenance of a fit: what was given, what was chosen, and the call that gives the same labels.

The command line, the report and the explorer print these, so that all of them say the same.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from ._estimator import PSKC
from ._utils.json_values import plain_value

# They change no label: a call that repeats a fit leaves them out.
_WITHOUT_EFFECT_ON_LABELS = ("n_jobs", "verbose", "callback", "scratch_dir", "checkpoint")

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
    """Return the values that the fit chose for parameters that were left open."""
    chosen: dict[str, Any] = {}
    if model.auto_ is not None and model.n_clusters is None:
        chosen["n_clusters"] = int(model.n_clusters_)
    if model.psi == "auto":
        chosen["psi"] = int(model.psi_)
    return chosen


def choice_words(model: PSKC) -> str | None:
    """Return the values that were chosen, and why, in a sentence; None if none were."""
    chosen = chosen_values(model)
    if not chosen:
        return None
    words = []
    if "n_clusters" in chosen:
        words.append(_clusters(chosen["n_clusters"]))
    if "psi" in chosen:
        words.append(f"psi {chosen['psi']}")
    return f"{', '.join(words)}; {_reason(model)}"


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
    """Return whether clusters were linked from parts instead of grown as they are."""
    return model.fitted_.linkage is not None


def is_refined(model: PSKC) -> bool:
    """Return whether refinement was applied to the clusters."""
    return not is_linked(model) if model.refine == "auto" else bool(model.refine)


def _reason(model: PSKC) -> str:
    linkage = model.fitted_.linkage
    choice = None if linkage is None else linkage.choice
    return "the default for this number of rows" if choice is None else choice.reason


def _clusters(number: int) -> str:
    return f"{number:,} cluster{'' if number == 1 else 's'}"
