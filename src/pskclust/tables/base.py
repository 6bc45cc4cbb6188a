"""Interface of table files: names of columns, and rows in batches."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from .errors import Strays, TableError
from .number_texts import MISSING

if TYPE_CHECKING:
    import pyarrow as pa

Numbers = NDArray[Any]  # float32 or float64

# Limits of a batch: small compared with memory, but large enough to outweigh the cost of a call.
BATCH_VALUES = 1 << 22
MAX_BATCH_ROWS = 1 << 18
MAX_COLUMNS = 1_000_000


class Batch(NamedTuple):
    """Some rows of a table, in the order of the file."""

    numbers: Numbers  # (n, d), NaN where a value is missing
    others: list[pa.Array]  # further columns, in their original types
    share: float  # fraction of the file that has been read, 0 to 1


class Table(Protocol):
    """A file that can be read any number of times, always in batches of bounded size.

    `columns` are clustered by default, `extras` only if the user names them. `has_names` tells
    whether the file names its columns. `n_rows` is None if it is not known before all rows have
    been read. `missing` are the texts that stand for a missing value. `notes` are facts about the
    file that the user should know.
    """

    name: str
    columns: tuple[str, ...]
    extras: tuple[str, ...]
    has_names: bool
    n_rows: int | None
    missing: tuple[str, ...]
    notes: tuple[str, ...]

    def not_numbers(self) -> dict[str, str]:
        """Return the columns known not to hold numbers, and their types in words."""

    def strays(self, column: str) -> Strays | None:
        """Summarise the values of a column that are not numbers; None if they cannot be listed."""

    def holds(self, column: str) -> bool:
        """Return whether the table has a column of this name."""

    def place_of(self, row: int) -> str:
        """Return where to find a row, counted from 0, in words such as "line 7"."""

    def batches(self, numbers: Sequence[str], others: Sequence[str] = ()) -> Iterator[Batch]:
        """Yield batches: the columns `numbers` as one array, the columns `others` unchanged."""


@dataclass
class NamedColumns:
    """Attributes and defaults that all kinds of tables share."""

    name: str
    columns: tuple[str, ...]
    extras: tuple[str, ...] = ()
    has_names: bool = True
    n_rows: int | None = None
    missing: tuple[str, ...] = MISSING
    notes: tuple[str, ...] = ()
    _strange: dict[str, str] = field(default_factory=dict)

    def not_numbers(self) -> dict[str, str]:
        return self._strange

    def strays(self, column: str) -> Strays | None:
        return None

    def place_of(self, row: int) -> str:
        return f"row {row:,} (counted from 0)"

    def holds(self, column: str) -> bool:
        return column in self.columns or column in self.extras


def batch_rows(n_columns: int) -> int:
    """Return the number of rows of a batch, given the number of columns."""
    return max(1, min(MAX_BATCH_ROWS, BATCH_VALUES // max(1, n_columns)))


def require_few_columns(n_columns: int, name: str) -> None:
    """Raise TableError if there are too many columns; a damaged file can claim any number."""
    if n_columns > MAX_COLUMNS:
        raise TableError(
            f"{name} has {n_columns:,} columns, more than the limit of {MAX_COLUMNS:,}. "
            "Reduce it first, say with sklearn.decomposition.TruncatedSVD."
        )


def numbered(n_columns: int) -> tuple[str, ...]:
    """Return the names column_1, column_2, ... for columns without names."""
    return tuple(f"column_{number}" for number in range(1, n_columns + 1))


def checked_names(names: Sequence[str], table: str) -> tuple[str, ...]:
    """Return the names of columns; raise TableError if two are the same."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise TableError(f'{table} has two columns named "{twice[0]}". Rename one of them.')
    return tuple(names)


def float_type(types: Sequence[Any]) -> np.dtype[Any]:
    """Return the smallest floating type that holds numbers of all these types exactly.

    The type has at most 64 bits, so large integers are rounded, as they are for clustering.
    """
    common = np.result_type(np.float32, *types) if types else np.dtype(np.float64)
    return common if common == np.float32 else np.dtype(np.float64)
