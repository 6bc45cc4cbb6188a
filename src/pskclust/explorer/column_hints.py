"""Hints on the columns of a table, in words that fit the page."""

from __future__ import annotations

import shlex

import numpy as np
from numpy.typing import NDArray

from .._advice import Hint
from .._data.few_values import find_few_values, hints_on_few_values
from .._data.odd_columns import ColumnHint, hint_on_units
from .settings import Settings
from .subject import Subject, TableSubject

_FLAGS = {"ids": "--id", "drop": "--drop", "label": "--label", "has_header": "--header"}


def column_hints(
    subject: Subject, settings: Settings, labels: NDArray[np.int64] | None = None
) -> list[Hint]:
    """Return hints on columns: a missing header, ids, classes, one value, few values, spreads.

    With `labels`, the clusters of a fit, columns of few values that split them get hints.
    """
    if not isinstance(subject, TableSubject):
        return []
    hints = [Hint(_words(hint, subject)) for hint in subject.column_hints]
    if settings.metric == "euclidean" and labels is not None:
        few = find_few_values(subject.rows(settings), labels)
        found = hints_on_few_values(few, subject.columns, subject.odd_columns)
        hints += [Hint(_words(hint, subject)) for hint in found]
    if settings.scaling == "none" and settings.metric == "euclidean":
        units = hint_on_units(subject.columns, subject.spreads, subject.odd_columns)
        if units is not None:
            words = f"{units.fact} {units.purpose}, scale the columns."
            hints.append(Hint(words, {units.option: units.value}))
    return hints


def _words(hint: ColumnHint, subject: TableSubject) -> str:
    """Return a hint that ends in what to do: the page cannot change the columns."""
    if not hint.option:
        return hint.fact
    # --columns and --drop exclude each other.
    chose = hint.option == "drop" and subject.origin.options.get("columns")
    if not subject.origin.options or chose:
        return f"{hint.fact} To leave it out, start the explorer without this column."
    words = " ".join([_FLAGS[hint.option], *([shlex.quote(hint.value)] if hint.value else [])])
    return f"{hint.fact} {hint.purpose}, start the explorer with: {words}"
