"""Errors about tables in files.

Python, the command line and the explorer offer different remedies for the same error. Errors
therefore carry facts, from which each interface derives its advice.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from .._utils.wording import counted
from .number_texts import has_decimal_comma, is_decorated_number

# More different values than this are not listed as texts for missing values.
MOST_STRAY_TEXTS = 3


class TableError(ValueError):
    """Error for a file that cannot be used as a table."""


class NoSuchFileError(TableError, FileNotFoundError):
    """Error for a file that does not exist."""


class SpecialFileError(TableError):
    """Error for a device, pipe or socket, which may have no end and cannot be read twice."""

    def __init__(self, name: str, words: str) -> None:
        self.is_pipe = words == "a pipe"
        super().__init__(f"{name} is {words}, not a file. Save its content to a file first.")


class WrongFormatError(TableError):
    """Error for a file that is not in the format that its extension or the caller claims."""

    def __init__(self, name: str, claimed: str, looks_like: str | None) -> None:
        self.looks_like = looks_like
        found = (
            f"it looks like {looks_like}" if looks_like else "it is damaged or has another format"
        )
        super().__init__(f"{name} is not in {claimed} format: {found}.")


class ImageGivenError(TableError):
    """Error for an image, which has pixels instead of rows."""


class WrongEncodingError(TableError):
    """Error for a text that is not in the encoding with which it was read."""

    def __init__(self, name: str, encoding: str) -> None:
        tried = "UTF-8" if encoding == "utf-8-sig" else encoding
        super().__init__(f"{name} is not {tried} text.")


class UnknownColumnError(TableError):
    """Error for a column that does not exist."""


class Strays(NamedTuple):
    """Summary of the values of a column that are not numbers, among the values examined."""

    n_strays: int
    n_values: int  # values examined, without missing ones
    cell: str  # the first value that is not a number
    line: int  # its line in the file
    is_all: bool  # whether the whole column was examined
    texts: tuple[str, ...]  # the different values that are not numbers, or some of them if many

    @property
    def are_few(self) -> bool:
        """Whether most values are numbers, so that the column was meant to hold numbers."""
        return 2 * self.n_strays < self.n_values

    @property
    def are_decorated(self) -> bool:
        """Whether the first value is a number with currency signs or thousands separators."""
        return is_decorated_number(self.cell)

    @property
    def may_be_missing(self) -> bool:
        """Whether a few words without digits stand for missing values, such as "unknown"."""
        has_digit = any(letter.isdigit() for text in self.texts for letter in text)
        return self.is_all and len(self.texts) <= MOST_STRAY_TEXTS and not has_digit


class NotNumbersError(TableError):
    """Error for columns that hold something other than numbers.

    `columns` gives their types in words. `strays` summarises the other values in columns that hold
    mostly numbers.
    """

    def __init__(
        self, columns: Mapping[str, str], strays: Mapping[str, Strays] | None = None
    ) -> None:
        self.columns, self.strays = tuple(columns), dict(strays or {})
        words = {**columns, **{name: _stray_words(found) for name, found in self.strays.items()}}
        each = (f'column "{name}" {words[name]}' for name in columns)
        super().__init__(f"{', '.join(each)}.")


def advice_on(cell: str, pointed: tuple[str, str] | None = None) -> str:
    """Return how to correct a number with decoration; nothing for other cells.

    `pointed` is a column of numbers with points, and one of them; None if there is no such column.
    """
    if has_decimal_comma(cell):
        if pointed is not None:
            name, value = pointed
            return (
                f', but column "{name}" has points, such as {value}: replace commas by points '
                "or, if the points separate thousands, remove the points"
            )
        return (
            ": write a decimal point instead of the comma or, if points in other columns separate "
            "thousands, remove those"
        )
    if is_decorated_number(cell):
        return ": remove thousands separators, currency signs and the like"
    return ""


def _stray_words(strays: Strays) -> str:
    values = f"{'' if strays.is_all else 'the first '}{counted(strays.n_values, 'value')}"
    if strays.n_strays == strays.n_values > 1:
        return (
            f"holds no number among {values} "
            f'(the first in line {strays.line:,}: "{strays.cell}"{advice_on(strays.cell)})'
        )
    if strays.n_strays == 1:
        return (
            f"holds 1 value that is not a number among {values} "
            f'(line {strays.line:,}: "{strays.cell}"{advice_on(strays.cell)})'
        )
    return (
        f"holds {strays.n_strays:,} values that are not numbers among {values} "
        f'(the first in line {strays.line:,}: "{strays.cell}"{advice_on(strays.cell)})'
    )


class GapsError(TableError):
    """Error for missing values, counted per column; `n_rows` of `n_all` rows have some."""

    def __init__(self, message: str, counts: Mapping[str, int], n_rows: int, n_all: int) -> None:
        self.counts, self.n_rows, self.n_all = dict(counts), n_rows, n_all
        super().__init__(message)

    @property
    def empty_columns(self) -> tuple[str, ...]:
        """The columns without any value."""
        return tuple(name for name, count in self.counts.items() if count == self.n_all)


class MissingValuesError(GapsError):
    """Error for columns with missing values."""

    def __init__(self, counts: Mapping[str, int], n_rows: int, n_all: int) -> None:
        each = ", ".join(f'"{name}" {count:,}' for name, count in counts.items())
        message = f"values are missing in {counted(n_rows, 'row')}, by column: {each}."
        super().__init__(message, counts, n_rows, n_all)


class NoRowLeftError(GapsError):
    """Error for a table in which every row has a missing value."""

    def __init__(self, name: str, counts: Mapping[str, int], n_all: int) -> None:
        message = f"every row of {name} has a missing value: no row is left."
        super().__init__(message, counts, n_all, n_all)


class EmptyColumnsError(TableError):
    """Error for columns without any value."""

    def __init__(self, name: str, columns: Sequence[str]) -> None:
        self.columns = tuple(columns)
        words = "column" if len(columns) == 1 else "columns"
        has = "has" if len(columns) == 1 else "have"
        super().__init__(f"{words} {listed(columns)} of {name} {has} no value at all.")


class EmptyLabelError(TableError):
    """Error for a column of classes without any value."""

    def __init__(self, name: str, column: str) -> None:
        self.column = column
        super().__init__(f'column "{column}" of {name} is empty in all rows to cluster.')


class WeightsError(TableError):
    """Error for a column that cannot be used as weights."""

    def __init__(self, column: str, reason: str, *, has_gaps: bool = False) -> None:
        self.column, self.has_gaps = column, has_gaps
        super().__init__(f'column "{column}" {reason}')


def listed(names: Sequence[str], most: int = 12) -> str:
    """Return names in quotes for a message, at most the first `most` of them."""
    shown = ", ".join(f'"{name}"' for name in names[:most])
    return shown + (f" and {len(names) - most:,} more" if len(names) > most else "")
