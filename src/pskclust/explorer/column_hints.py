"""Hints on the columns of a table, in words that fit the page."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._advice import Hint
from .._data.few_values import find_few_values, hints_on_few_values
from .._data.odd_columns import ColumnHint, hint_on_units
from .settings import Settings
from .subject import Origin, Subject, TableSubject


def column_hints(
    subject: Subject, settings: Settings, labels: NDArray[np.int64] | None = None
) -> list[Hint]:
    """Return the hints of `found_hints` for the page, with a button that scales the columns."""
    return [_on_page(hint, subject.origin) for hint in found_hints(subject, settings, labels)]


def found_hints(
    subject: Subject, settings: Settings, labels: NDArray[np.int64] | None = None
) -> list[ColumnHint]:
    """Return hints on columns: a missing header, ids, classes, one value, few values, spreads.

    With `labels`, the clusters of a fit, columns of few values that split them get hints.
    """
    if not isinstance(subject, TableSubject):
        return []
    hints = [*subject.column_hints]
    if settings.metric == "euclidean" and labels is not None:
        few = find_few_values(subject.rows(settings), labels)
        hints += hints_on_few_values(few, subject.columns, subject.odd_columns)
    if settings.scaling == "none" and settings.metric == "euclidean":
        units = hint_on_units(subject.columns, subject.spreads, subject.odd_columns)
        hints += [] if units is None else [units]
    return hints


def _on_page(hint: ColumnHint, origin: Origin) -> Hint:
    if hint.option == "scaling":
        words = f"{hint.fact} {hint.purpose}, scale the columns."
        return Hint(words, {hint.option: hint.value})
    return Hint(_words(hint, origin))


def _words(hint: ColumnHint, origin: Origin) -> str:
    """Return a hint that ends in what to do: the page cannot change the columns."""
    if not hint.option:
        return hint.fact
    # --columns and --drop exclude each other.
    command, options = origin.command, origin.options
    if command is None or (hint.option == "drop" and options.get("columns")):
        return f"{hint.fact} To leave it out, start the explorer without this column."
    changed: dict[str, Any] = {hint.option: hint.value}
    if hint.option == "has_header":
        changed = {hint.option: True}
    elif hint.option in ("ids", "drop"):
        changed = {hint.option: (*options.get(hint.option, ()), hint.value)}
    return f"{hint.fact} {hint.purpose}, start the explorer with: {command.changed(changed)}"
