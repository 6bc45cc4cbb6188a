"""Texts of numbers: which cells of a text table hold a number, a missing value, or neither.

In a column of booleans, true counts as 1 and false as 0.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

# Texts that stand for a missing value.
MISSING = ("", "NA", "N/A", "n/a", "#N/A", "<NA>", "NaN", "nan", "NULL", "null", "None", "?")
TRUE, FALSE = ("True", "true", "TRUE"), ("False", "false", "FALSE")

# With a decimal comma, a point is not part of a number.
_COMMA_TO_POINT = str.maketrans({",": ".", ".": " . "})
_NUMBER = re.compile(r"\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?\s*|\s*[+-]?inf(inity)?\s*", re.I)
# Characters that are not part of a number, and the thousands separators for each decimal mark.
_SIGNS = r"(?<=\d)[' _\u00a0\u202f](?=\d{3}\b)|[$€£¥%]|\s"
_DECORATIONS = {
    ".": re.compile(rf"(?<=\d),(?=\d{{3}}\b)|{_SIGNS}"),
    ",": re.compile(rf"(?<=\d)\.(?=\d{{3}}\b)|{_SIGNS}"),
}


def is_number(cell: str, decimal: str = ".", missing: tuple[str, ...] = MISSING) -> bool:
    """Return whether a cell holds a number or a missing value."""
    pointed = cell if decimal == "." else cell.translate(_COMMA_TO_POINT)
    return cell.strip() in missing or bool(_NUMBER.fullmatch(pointed))


def is_boolean(cell: str, missing: tuple[str, ...] = MISSING) -> bool:
    """Return whether a cell holds a boolean or a missing value."""
    return cell.strip() in (*TRUE, *FALSE, *missing)


def has_decimal_comma(cell: str) -> bool:
    """Return whether a cell is a number with a comma that does not separate thousands."""
    without_separators = _DECORATIONS["."].sub("", cell)
    return "," in without_separators and is_number(cell, ",")


def is_decorated_number(cell: str) -> bool:
    """Return whether a cell is a number with a currency or percent sign or thousands separators."""
    return not is_number(cell) and any(
        is_number(decoration.sub("", cell) or "-", decimal)
        for decimal, decoration in _DECORATIONS.items()
    )


def decimal_mark_of(cells: Iterable[str], preferred: str = ".") -> str | None:
    """Return the decimal mark of decorated numbers; None if there is none that fits all of them."""
    cells = tuple(cells)
    marks = [
        mark
        for mark, decoration in _DECORATIONS.items()
        if all(is_number(decoration.sub("", cell) or "-", mark) for cell in cells)
    ]
    return preferred if preferred in marks else next(iter(marks), None)
