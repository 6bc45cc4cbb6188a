"""Errors about tables in files; the message of each is one sentence.

The ways out differ between the command line and a page, so errors carry what a caller needs to
name its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple


class TableError(ValueError):
    """A file that cannot be used as a table."""


class NoSuchFileError(TableError, FileNotFoundError):
    """A file that is not there."""


class SpecialFileError(TableError):
    """A device, pipe or socket, which may have no end and cannot be read twice."""

    def __init__(self, name: str, words: str) -> None:
        self.is_pipe = words == "a pipe"
        super().__init__(f"{name} is {words}, not a file. Save its content to a file first.")


class WrongFormatError(TableError):
    """A file that is not what its ending, or the caller, says."""

    def __init__(self, name: str, claimed: str, looks_like: str | None) -> None:
        self.looks_like = looks_like
        found = f"it looks like {looks_like}" if looks_like else "it is damaged or something else"
        super().__init__(f"{name} is not in {claimed} format: {found}.")


class ImageGivenError(TableError):
    """A picture, which has pixels and no rows."""


class WrongEncodingError(TableError):
    """A text in another encoding than the one it was read in."""

    def __init__(self, name: str, encoding: str) -> None:
        tried = "UTF-8" if encoding == "utf-8-sig" else encoding
        super().__init__(f"{name} is not {tried} text.")


class UnknownColumnError(TableError):
    """A column that was asked for is not there."""


class Strays(NamedTuple):
    """The values of a column that are not numbers, among those that were looked at."""

    n_strays: int
    n_values: int  # without missing ones
    cell: str  # the first stray
    line: int  # where it stands
    is_all: bool  # whether the whole column was looked at

    @property
    def are_few(self) -> bool:
        """Whether most values are numbers, so that the column is one of numbers."""
        return 2 * self.n_strays < self.n_values


class NotNumbersError(TableError):
    """Columns that hold something else than numbers.

    `columns` gives their types in words, and `strays` the values of those that are mostly numbers.
    """

    def __init__(
        self, columns: Mapping[str, str], strays: Mapping[str, Strays] | None = None
    ) -> None:
        self.columns, self.strays = tuple(columns), dict(strays or {})
        words = {**columns, **{name: _stray_words(found) for name, found in self.strays.items()}}
        each = (f'column "{name}" {words[name]}' for name in columns)
        super().__init__(f"{', '.join(each)}.")


def _stray_words(strays: Strays) -> str:
    values = f"{'' if strays.is_all else 'the first '}{strays.n_values:,} values"
    if strays.n_strays == 1:
        return f'holds 1 of {values} that is not a number (line {strays.line:,}: "{strays.cell}")'
    return (
        f"holds {strays.n_strays:,} of {values} that are not numbers "
        f'(the first in line {strays.line:,}: "{strays.cell}")'
    )


class GapsError(TableError):
    """Missing values: their number by column, in `n_rows` of `n_all` rows that were read."""

    def __init__(self, message: str, counts: Mapping[str, int], n_rows: int, n_all: int) -> None:
        self.counts, self.n_rows, self.n_all = dict(counts), n_rows, n_all
        super().__init__(message)

    @property
    def empty_columns(self) -> tuple[str, ...]:
        """The columns without any value."""
        return tuple(name for name, count in self.counts.items() if count == self.n_all)


class MissingValuesError(GapsError):
    """Columns with missing values."""

    def __init__(self, counts: Mapping[str, int], n_rows: int, n_all: int) -> None:
        each = ", ".join(f'"{name}" {count:,}' for name, count in counts.items())
        message = f"values are missing in {n_rows:,} rows, by column: {each}."
        super().__init__(message, counts, n_rows, n_all)


class NoRowLeftError(GapsError):
    """A table whose every row has a missing value."""

    def __init__(self, name: str, counts: Mapping[str, int], n_all: int) -> None:
        message = f"every row of {name} has a missing value: none is left."
        super().__init__(message, counts, n_all, n_all)


class EmptyColumnsError(TableError):
    """Columns without any value."""

    def __init__(self, name: str, columns: Sequence[str]) -> None:
        self.columns = tuple(columns)
        words = "column" if len(columns) == 1 else "columns"
        has = "has" if len(columns) == 1 else "have"
        super().__init__(f"{words} {listed(columns)} of {name} {has} no value at all.")


class EmptyLabelError(TableError):
    """A column of classes without any value."""

    def __init__(self, name: str, column: str) -> None:
        self.column = column
        super().__init__(f'column "{column}" of {name} has no class in the rows to cluster.')


class WeightsError(TableError):
    """A column that cannot be used as weights."""

    def __init__(self, column: str, reason: str, *, has_gaps: bool = False) -> None:
        self.column, self.has_gaps = column, has_gaps
        super().__init__(f'column "{column}" {reason}')


def listed(names: Sequence[str], most: int = 12) -> str:
    """Return names for a message, the first few of many."""
    shown = ", ".join(f'"{name}"' for name in names[:most])
    return shown + (f" and {len(names) - most:,} more" if len(names) > most else "")
