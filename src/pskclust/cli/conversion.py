"""A command that converts numbers with thousands separators and currency signs to plain numbers."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from ..tables.number_texts import decimal_mark_of

if TYPE_CHECKING:
    from ..tables.base import Table


class Conversion(NamedTuple):
    """The command that writes a table with plain numbers, and the file that it writes."""

    command: str
    path: str
    is_guess: bool  # whether points in other columns may separate thousands


def conversion(table: Table | None, data: str, columns: Sequence[str]) -> Conversion | None:
    """Return the command that converts some columns of a text table, with pandas.

    Return None if the table is not a text file, or its numbers cannot be told from other text.
    """
    from ..tables.text import TextTable

    if not isinstance(table, TextTable) or not os.path.isfile(data):
        return None
    marks = set()
    for column in columns:
        strays = table.strays(column)
        marks.add(decimal_mark_of(strays.texts, table.dialect.decimal) if strays else None)
    if len(marks) != 1 or None in marks:
        return None
    (mark,) = marks
    path = Path(data)
    new = os.fspath(path.with_name(f"{path.name.partition('.')[0]}_numbers.csv"))
    cleaned = f't[c].astype(str).replace("[^-+{mark}0-9eE]", "", regex=True)'
    if mark == ",":
        cleaned += '.replace(",", ".", regex=True)'
    is_guess = mark != table.dialect.decimal and table.dialect.pointed is not None
    steps = [
        "import pandas as pd",
        f"t = pd.read_csv({', '.join([_text(data), *_options(table)])})",
        f"c = {_text(list(columns))}",
        # A missing value is the text nan before its letters are removed.
        f't[c] = {cleaned}.replace("", "nan").astype(float)',
        f"t.to_csv({_text(new)}, index=False)",
    ]
    return Conversion(shlex.join(["python", "-c", "; ".join(steps)]), new, is_guess)


def _options(table: Any) -> list[str]:
    """Return the arguments of pandas.read_csv that differ from its defaults."""
    dialect = table.dialect
    given = {}
    if dialect.delimiter != ",":
        given["sep"] = dialect.delimiter
    if dialect.decimal != ".":
        given["decimal"] = dialect.decimal
    if dialect.n_skipped:
        given["skiprows"] = dialect.n_skipped
    if not dialect.n_header_rows:
        given["names"] = list(dialect.names)
    if dialect.encoding not in ("utf-8", "utf-8-sig"):
        given["encoding"] = dialect.encoding
    return [f"{name}={_text(value)}" for name, value in given.items()]


def _text(value: Any) -> str:
    """Return a value as Python code with double quotes, which need no escape in a shell."""
    return json.dumps(value, ensure_ascii=False)
