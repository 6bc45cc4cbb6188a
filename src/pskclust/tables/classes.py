"""Detection of columns that hold known classes, by their values."""

from __future__ import annotations

import contextlib
from typing import Any

from .._data.odd_columns import FEWEST_ROWS_PER_CLASS, MOST_CLASSES
from .base import Table
from .errors import TableError


def looks_like_classes(table: Table, column: str) -> bool:
    """Return whether the first rows of a column look like known classes.

    Classes are few distinct values, text or whole numbers, that are repeated often. The answer is a
    guess, good enough for a suggestion.
    """
    # Conversion to Python fails for dates beyond the year 9999.
    with contextlib.suppress(TableError, StopIteration, OverflowError, ValueError):
        (values,) = next(iter(table.batches((), (column,)))).others
        known = [value for value in values.to_pylist() if not _is_missing(value, table.missing)]
        classes = set(known)
        return (
            2 <= len(classes) <= MOST_CLASSES
            and len(known) >= FEWEST_ROWS_PER_CLASS * len(classes)
            and not any(map(_is_fraction, classes))
        )
    return False


def _is_missing(value: Any, missing: tuple[str, ...]) -> bool:
    return value is None or value != value or str(value).strip() in missing


def _is_fraction(value: Any) -> bool:
    try:
        return not float(value).is_integer()
    except (TypeError, ValueError, OverflowError):
        return False
