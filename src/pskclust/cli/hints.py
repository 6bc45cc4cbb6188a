"""Hints on the columns of a table, with the options that act on them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from .._data.few_values import Found, hints_on_few_values
from .._data.odd_columns import ColumnHint, hint_on_units, hints_on_columns, not_asked_for
from .._data.scaling import mean_and_deviation
from .repeating import option_value, typed_command

if TYPE_CHECKING:
    from ..tables.base import Table
    from ..tables.reading import Rows
    from ..tables.selection import Selection

_FLAGS = {"ids": "--id", "drop": "--drop", "label": "--label", "scaling": "--scale"}
_NO_HEADER = ColumnHint(
    "No header was found, so the first line counts as data.",
    "If it names the columns",
    "has_header",
)


def column_hints(
    table: Table,
    selection: Selection,
    rows: Rows,
    few_values: Found,
    options: dict[str, Any],
) -> list[ColumnHint]:
    """Return hints on columns: a missing header, ids, classes, one value, few values, spreads.

    Columns that the user names with --columns get no hint about row numbers, ids or classes.
    """
    odd = not_asked_for(rows.odd, bool(options["columns"]))
    hints = hints_on_file(table, options)
    hints += [_allowed(hint, selection) for hint in hints_on_columns(odd)]
    hints += [
        # --columns and --drop exclude each other.
        hint._replace(option="") if options["columns"] else hint
        for hint in hints_on_few_values(few_values, selection.features, odd)
    ]
    if options["scaling"] == "none":
        _, spreads = mean_and_deviation(rows.values, rows.weight)
        units = hint_on_units(selection.features, spreads, odd)
        hints += [] if units is None else [units]
    return hints


def hints_on_file(table: Table, options: dict[str, Any]) -> list[ColumnHint]:
    """Return hints on the file: what was skipped in it, and a header that was not found."""
    hints = [ColumnHint(note) for note in table.notes]
    if lacks_header(table) and options["has_header"] is None:
        hints.append(_NO_HEADER)
    return hints


def lacks_header(table: Table) -> bool:
    """Return whether a table is text without names of columns; other formats need no header."""
    from ..tables.text import TextTable

    return isinstance(table, TextTable) and not table.has_names


def hint_words(hint: ColumnHint) -> str:
    """Return a hint as a sentence that ends in the option to add."""
    if not hint.option:
        return hint.fact
    if hint.option == "has_header":
        return f"{hint.fact} {hint.purpose}, add: --header"
    return f"{hint.fact} {hint.purpose}, add: {_FLAGS[hint.option]} {option_value([hint.value])}"


def command_for(hints: Sequence[ColumnHint], *, replaces_files: bool) -> str | None:
    """Return the typed command with the options of all hints; None if fewer than two have one.

    A header would change the names of the columns, so --header is not among the options.
    """
    useful = [hint for hint in hints if hint.option in _FLAGS]
    if len(useful) < 2:
        return None
    context = click.get_current_context()
    changed: dict[str, Any] = {"force": True} if replaces_files else {}
    for name in ("ids", "drop"):
        new = tuple(hint.value for hint in useful if hint.option == name)
        changed |= {name: (*context.params[name], *new)} if new else {}
    changed |= {hint.option: hint.value for hint in useful if hint.option in ("label", "scaling")}
    return typed_command(context, changed)


def _allowed(hint: ColumnHint, selection: Selection) -> ColumnHint:
    """Return the hint; a second column of classes is left out, because --label names only one."""
    if hint.option == "label" and selection.label is not None:
        return hint._replace(purpose="To leave it out", option="drop")
    return hint
