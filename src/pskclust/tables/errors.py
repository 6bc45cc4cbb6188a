"""Errors about tables in files; the message of each is one sentence.

The ways out differ between the command line and a page, so errors carry what a caller needs to
name its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence


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


class NotNumbersError(TableError):
    """Columns that hold something else than numbers."""

    def __init__(self, columns: Mapping[str, str]) -> None:
        self.columns = tuple(columns)
        each = (f'column "{name}" {words}' for name, words in columns.items())
        super().__init__(f"{', '.join(each)}.")


class MissingValuesError(TableError):
    """Columns with missing values."""

    def __init__(self, counts: Mapping[str, int], n_rows: int) -> None:
        self.counts = dict(counts)
        each = ", ".join(f'"{name}" {count:,}' for name, count in counts.items())
        super().__init__(f"values are missing in {n_rows:,} rows, by column: {each}.")


def listed(names: Sequence[str], most: int = 12) -> str:
    """Return names for a message, the first few of many."""
    shown = ", ".join(f'"{name}"' for name in names[:most])
    return shown + (f" and {len(names) - most:,} more" if len(names) > most else "")
