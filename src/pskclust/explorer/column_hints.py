"""Hints on the columns of a table, in words that fit the page."""

from __future__ import annotations

import shlex

from .._advice import Hint
from .._data.odd_columns import ColumnHint, hint_on_units
from .settings import Settings
from .subject import Subject, TableSubject

_FLAGS = {"ids": "--id", "label": "--label", "has_header": "--header"}


def column_hints(subject: Subject, settings: Settings) -> list[Hint]:
    """Return hints on columns: a missing header, ids, classes, one value, unequal spreads."""
    if not isinstance(subject, TableSubject):
        return []
    hints = [Hint(_words(hint, subject)) for hint in subject.column_hints]
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
    if not subject.origin.options:
        return f"{hint.fact} To leave it out, start the explorer without this column."
    words = " ".join([_FLAGS[hint.option], *([shlex.quote(hint.value)] if hint.value else [])])
    return f"{hint.fact} {hint.purpose}, start the explorer with: {words}"
