"""Columns that are probably not meant to be clustered as they are: ids, classes, unequal units.

``PSKC.fit`` warns about the clearest cases. ``few_values`` adds columns that are found by the
clusters of a fit. The command line, its report and the explorer show
hints, which also use the names of columns.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._utils.callers import stack_level
from .._utils.exceptions import ColumnsWarning
from .named_columns import NamedColumns

_MIN_ROWS = 20
# This many rows are enough to compare the spreads of columns.
_MAX_ROWS_FOR_SPREADS = 10_000
# Spreads are unequal if the largest is this many times the smallest.
_UNEQUAL_SPREADS = 30
# In wider tables, columns seldom have different units: they are pixels, counts or embeddings, some
# of which vary little.
_MAX_COLUMNS_WITH_UNITS = 32
# A few columns, at most one in four, are dominant if they account for this share of the variance.
_DOMINANT_SHARE = 0.99
_MAX_DOMINANT = 3
_COLUMNS_PER_DOMINANT = 4
# Two or three columns may be coordinates of a long shape, unless their spreads have this ratio.
_LONGEST_SHAPE = 1000
# This many values are enough to decide whether columns are ids or classes.
_MAX_VALUES_FOR_KINDS = 2_000_000

# Known classes are at most this many values, each in this many rows or more.
MOST_CLASSES = 50
FEWEST_ROWS_PER_CLASS = 5
_FEWEST_ROWS_OF_DISTANCES = 5
# In fewer rows, whole numbers may increase by chance.
_FEWEST_ROW_NUMBERS = 10
# A column with such a name and this many values is an id, even if values are repeated.
_ID_WORDS = frozenset({"id", "ids", "uuid", "guid"})
_FEWEST_IDS = 20
# Columns with such names may also be measured, so their values must differ, too.
_MAYBE_ID_WORDS = frozenset({"nr", "no", "key", "index", "idx", "number"})
_TIME_WORDS = frozenset({"time", "date", "timestamp", "datetime", "epoch", "ts", "unix"})
_CLASS_WORDS = frozenset(
    {
        *("class", "classes", "label", "labels", "target", "species", "category", "diagnosis", "y"),
        # The column of labels that pskclust writes.
        "cluster",
    }
)
# Values of an id differ in nearly all rows, have the same number of digits, and are seldom round.
_DISTINCT = 0.99
_FEWEST_DIGITS = 6
_MOST_ROUND = 0.25
_WORDS_OF_A_NAME = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")

Kind = Literal["row number", "row number or a time", "id", "classes", "constant"]


class OddColumn(NamedTuple):
    """A column that is probably not meant to be clustered, and what it looks like."""

    name: str
    kind: Kind


class ColumnHint(NamedTuple):
    """A sentence on columns and, if there is a remedy, an option of ``pskclust fit`` for it."""

    fact: str
    purpose: str = ""  # of the option, such as "To leave it out"
    option: str = ""  # the parameter that the option sets: ids, drop, label, scaling
    value: str = ""

    def with_remedy(self, remedy: str) -> str:
        """Return the hint with a remedy in place of the option, if it has one."""
        return f"{self.fact} {self.purpose}, {remedy}" if self.purpose else self.fact


class RisingColumns:
    """Search for columns of whole numbers that increase from row to row, in one pass."""

    def __init__(self, n_columns: int) -> None:
        self.are_rising = np.ones(n_columns, dtype=bool)
        self._n_rows = 0
        self._first = np.zeros(n_columns)
        self._last = np.full(n_columns, -np.inf)

    def add(self, rows: NDArray[Any]) -> None:
        """Add the next rows, at least one."""
        for column in np.flatnonzero(self.are_rising):
            values = rows[:, column]
            if not self._n_rows:
                self._first[column] = values[0]
            self.are_rising[column] = (
                values[0] > self._last[column]
                and (values[1:] > values[:-1]).all()
                and (values == np.rint(values)).all()
            )
            self._last[column] = values[-1]
        self._n_rows += len(rows)

    @property
    def row_numbers(self) -> list[int]:
        """The increasing columns that fill at least half of their range."""
        is_full = self._last - self._first < 2 * self._n_rows
        return [int(column) for column in np.flatnonzero(self.are_rising & is_full)]


class ColumnKinds:
    """Search for odd columns in one pass over the rows of a table."""

    def __init__(self, names: Sequence[str]) -> None:
        n_columns = len(names)
        self._names, self._n_rows = tuple(names), 0
        self._rising = RisingColumns(n_columns)
        self._low, self._high = np.full(n_columns, np.inf), np.full(n_columns, -np.inf)
        self._first: NDArray[Any] | None = None

    def add(self, rows: NDArray[Any]) -> None:
        """Add the next rows; missing values are NaN."""
        if not len(rows):
            return
        self._n_rows += len(rows)
        if self._first is None:
            n_enough = max(1_000, _MAX_VALUES_FOR_KINDS // rows.shape[1])
            self._first = rows[:n_enough].copy()
        self._low = np.fmin(self._low, np.fmin.reduce(rows, axis=0))
        self._high = np.fmax(self._high, np.fmax.reduce(rows, axis=0))
        self._rising.add(rows)

    def found(self) -> tuple[OddColumn, ...]:
        """Return the odd columns, in the order of the table."""
        kinds = ((name, self._kind(place)) for place, name in enumerate(self._names))
        return tuple(OddColumn(name, kind) for name, kind in kinds if kind is not None)

    def _kind(self, column: int) -> Kind | None:
        if self._first is None:
            return None
        low, high = self._low[column], self._high[column]
        if low == high:
            return "constant"
        if len(self._names) < 2 or self._n_rows < _FEWEST_ROW_NUMBERS:
            return None
        if self._rising.are_rising[column]:
            return "row number" if high - low < 2 * self._n_rows else "row number or a time"
        name, values = self._names[column], self._first[:, column]
        values = values[~np.isnan(values)]
        if not len(values) or not (values == np.rint(values)).all():
            return None
        if _looks_like_ids(name, values):
            return "id"
        return "classes" if _looks_like_classes(name, values, self._names) else None


def odd_columns(rows: NDArray[Any], names: Sequence[str]) -> tuple[OddColumn, ...]:
    """Return the columns of an array that are probably not meant to be clustered."""
    kinds = ColumnKinds(names)
    kinds.add(rows)
    return kinds.found()


def not_asked_for(odd: Sequence[OddColumn], is_asked: bool) -> tuple[OddColumn, ...]:
    """Return odd columns; if the user named the columns to cluster, only constant ones."""
    return tuple(column for column in odd if not is_asked or column.kind == "constant")


def hints_on_columns(odd: Sequence[OddColumn]) -> list[ColumnHint]:
    """Return hints on odd columns, those with a remedy first; only one column is named as label."""
    hints = sorted((_hint(column) for column in odd), key=lambda hint: not hint.option)
    classes = [hint for hint in hints if hint.option == "label"]
    return [hint for hint in hints if hint not in classes[1:]]


def hint_on_units(
    names: Sequence[str], spreads: NDArray[np.float64], odd: Sequence[OddColumn] = ()
) -> ColumnHint | None:
    """Return a hint if a column outweighs another one; odd columns do not count."""
    left_out = {column.name for column in odd}
    measured = np.where([name in left_out for name in names], 0.0, spreads)
    unequal = unequal_columns(measured)
    if unequal is None:
        return None
    widest, narrowest = names[unequal.widest], names[unequal.narrowest]
    return ColumnHint(
        f'"{widest}" varies {unequal.ratio:,.0f} times as much as "{narrowest}" and outweighs it.',
        "If only their units differ",
        "scaling",
        "standard",
    )


class Unequal(NamedTuple):
    """Columns of very unequal spreads.

    `dominant` are the few columns that account for nearly all of the variance, the widest first;
    empty if there are no such columns.
    """

    widest: int
    narrowest: int
    ratio: float
    dominant: tuple[int, ...]


def unequal_columns(spreads: NDArray[np.float64]) -> Unequal | None:
    """Return the columns of very unequal spreads; None if scaling is not needed.

    Columns without spread are ignored. If there are many columns, they are unequal only if a few
    are dominant.
    """
    varying = np.flatnonzero(spreads > 0)
    if not len(varying):
        return None
    by_spread = varying[np.argsort(-spreads[varying], kind="stable")]
    widest, narrowest = int(by_spread[0]), int(by_spread[-1])
    ratio = float(spreads[widest] / spreads[narrowest])
    # Ratios do not overflow where squares would.
    shares = np.cumsum(np.square(spreads[by_spread] / spreads[widest]))
    shares /= shares[-1]
    most = min(_MAX_DOMINANT, len(varying) // _COLUMNS_PER_DOMINANT)
    if ratio >= _LONGEST_SHAPE:
        most = max(1, most)
    n_needed = int(np.searchsorted(shares, _DOMINANT_SHARE)) + 1
    dominant = tuple(map(int, by_spread[:n_needed])) if n_needed <= most else ()
    if ratio < _UNEQUAL_SPREADS or (len(varying) > _MAX_COLUMNS_WITH_UNITS and not dominant):
        return None
    return Unequal(widest, narrowest, ratio, dominant)


def warn_of_odd_columns(
    rows: NDArray[Any],
    columns: NamedColumns,
    metric: str = "euclidean",
    numbers: Sequence[int] | None = None,
) -> None:
    """Warn about columns of row numbers, and about a few columns that outweigh all others.

    Only columns with names are searched for row numbers, which are typical of tables. If `rows` are
    a sample, `numbers` are the columns of row numbers, which must be known from all rows.
    """
    n_columns = rows.shape[1]
    if metric != "euclidean" or len(rows) < _MIN_ROWS or n_columns < 2:
        return
    if columns.names is None:
        numbers = ()
    elif numbers is None:
        numbers = [column for column in range(n_columns) if _numbers_rows(rows[:, column])]
    for column in numbers:
        warn(
            f"Column {columns.word(column)} has a different whole number in every row, so it is "
            f"probably a row number. Leave it out{columns.without(column)}."
        )
    some = rows[:: -(-len(rows) // _MAX_ROWS_FOR_SPREADS)].astype(np.float64)
    # Values that overflow are refused later, with a reason.
    with np.errstate(over="ignore", invalid="ignore"):
        spreads = some.std(axis=0)
    spreads[list(numbers)] = 0
    unequal = unequal_columns(spreads) if np.isfinite(spreads).all() else None
    if unequal is not None and unequal.dominant:
        warn(_words_on_dominant(unequal, columns))


def warn_of_distances(rows: NDArray[Any]) -> None:
    """Warn if the rows look like a matrix of the distances between them."""
    if len(rows) != rows.shape[1] or len(rows) < _FEWEST_ROWS_OF_DISTANCES:
        return
    is_zero = rows == 0
    is_likely = is_zero.diagonal().all() and not is_zero.all() and (rows >= 0).all()
    if is_likely and np.array_equal(rows, rows.T):
        warn(
            "X looks like a matrix of distances: it is square and symmetric, with zeros on the "
            "diagonal. Its columns are clustered as coordinates, not as distances. Compute "
            "coordinates first, say with sklearn.manifold.MDS."
        )


def _words_on_dominant(unequal: Unequal, columns: NamedColumns) -> str:
    shown = [columns.word(column) for column in unequal.dominant]
    of_variance = f"more than {_DOMINANT_SHARE:.0%} of the variance of X"
    if len(shown) == 1:
        who = f"Column {shown[0]} accounts for {of_variance}, so it alone decides the clusters"
    else:
        listed = f"{', '.join(shown[:-1])} and {shown[-1]}"
        who = f"Columns {listed} account for {of_variance}, so they alone decide the clusters"
    return f"{who}. If this is only due to units, {columns.scaled}"


def _hint(column: OddColumn) -> ColumnHint:
    name = column.name
    if column.kind == "constant":
        return ColumnHint(
            f'"{name}" has the same value in all rows, so it does not affect the clusters.'
        )
    if column.kind == "classes":
        fact = f'"{name}" may hold known classes.'
        return ColumnHint(fact, "To compare the clusters with it instead", "label", name)
    article = "an" if column.kind == "id" else "a"
    fact = f'"{name}" looks like {article} {column.kind}.'
    return ColumnHint(fact, "To leave it out", "ids", name)


def _looks_like_ids(name: str, values: NDArray[Any]) -> bool:
    """Return whether whole numbers are ids, by their name or their digits."""
    words = _words(name)
    n_distinct = len(np.unique(values))
    if words and words[-1] in _ID_WORDS and n_distinct >= _FEWEST_IDS:
        return True
    if len(values) < _MIN_ROWS or n_distinct < _DISTINCT * len(values):
        return False
    if _numbers_rows(values) or (words and words[-1] in _MAYBE_ID_WORDS):
        return True
    low, high = values.min(), values.max()
    if low < 10 ** (_FEWEST_DIGITS - 1) or _TIME_WORDS.intersection(words):
        return False
    return (
        len(f"{low:.0f}") == len(f"{high:.0f}") and float((values % 10 == 0).mean()) < _MOST_ROUND
    )


def _looks_like_classes(name: str, values: NDArray[Any], names: Sequence[str]) -> bool:
    """Return whether few whole numbers are known classes, by the name of the column."""
    words = _words(name)
    if not words or words[-1] not in _CLASS_WORDS:
        return False
    # Beside a column x, a column y is a coordinate.
    if words == ["y"] and any(other.strip().lower() == "x" for other in names):
        return False
    n_distinct = len(np.unique(values))
    return n_distinct <= MOST_CLASSES and len(values) >= FEWEST_ROWS_PER_CLASS * n_distinct


def _words(name: str) -> list[str]:
    """Return the words of a name in lower case: customer and id for customerID or customer_id."""
    return [word.lower() for word in _WORDS_OF_A_NAME.findall(name)]


def _numbers_rows(values: NDArray[Any]) -> bool:
    """Return whether values are distinct whole numbers that fill at least half of their range."""
    low, high = values.min(), values.max()
    if not len(values) <= high - low + 1 <= 2 * len(values):
        return False
    places = (values - low).astype(np.int64)
    if not np.array_equal(places + low, values):
        return False
    return int(np.bincount(places).max()) == 1


def warn(message: str) -> None:
    """Issue a ColumnsWarning that points to the caller of the library."""
    warnings.warn(message, ColumnsWarning, stacklevel=stack_level())
