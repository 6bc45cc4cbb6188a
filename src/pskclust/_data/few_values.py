"""Columns of few values that split clusters, such as ratings, counts and flags.

Rows with equal values are near each other, and rows with different values are a step apart. If the
step is wide, every value becomes a cluster of its own, whatever the other columns hold. If all
columns are such columns, so does every row that occurs often.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .named_columns import NamedColumns
from .odd_columns import ColumnHint, OddColumn, warn

# Enough for the hours of a day and the days of a month.
MOST_VALUES = 31
_MIN_ROWS = 50
# A column splits the clusters if they hold this share of what is left of its values when the most
# frequent one is guessed for every row: 1 if each cluster holds one value.
_LEAST_GAIN = 0.9
# The other columns do not tell the values if the nearest rows have equal values this often, where 0
# is chance and 1 is always.
_MOST_TOLD = 0.5
_N_NEAR = 5
# This many rows are enough to compare values with clusters, and rows with their nearest rows.
_MOST_ROWS = 2_000
_MOST_ROWS_TO_COMPARE = 1_000
# A table has few distinct rows if each of them occurs this often on average.
_FEWEST_EQUAL_ROWS = 10
# Columns with more values than `MOST_VALUES` in so many rows are left out at once.
_ROWS_AT_FIRST = 64
# Of more columns of few values, those that vary most are examined.
_MOST_COLUMNS = 64


class FewValues(NamedTuple):
    """A column of few values that splits the clusters: its index and the number of its values."""

    column: int
    n_values: int


class FewRows(NamedTuple):
    """A table of columns of few values only: the numbers of distinct rows and of rows examined."""

    n_distinct: int
    n_rows: int

    @property
    def words(self) -> str:
        """The number of distinct rows, for the beginning of a sentence."""
        return f"Only {self.n_distinct:,} of the {self.n_rows:,} rows examined are distinct"


Found = tuple[FewValues | FewRows, ...]


def find_few_values(rows: NDArray[Any], labels: NDArray[np.int64]) -> Found:
    """Return the columns of few values that split the clusters of some rows.

    Such a column has at most 31 distinct values, nearly every cluster holds one of them, and the
    other columns do not tell which: among the rows that are nearest in the other columns, values
    differ nearly as often as among any rows. A column that separates clusters as other columns do
    is therefore not returned. Columns of 0 and 1 that are never 1 in the same row, such as encoded
    categories, are not compared with each other.

    If all columns that vary have few values, and few rows are distinct, the number of distinct rows
    is returned instead.
    """
    step = max(1, -(-len(rows) // _MOST_ROWS))
    rows, labels = rows[::step], labels[::step]
    rows, labels = rows[labels >= 0], labels[labels >= 0]
    if len(rows) < _MIN_ROWS or labels.min() == labels.max():
        return ()
    columns = _of_few_values(rows)
    n_varying = int(np.count_nonzero((rows != rows[0]).any(axis=0)))
    if len(columns) == n_varying:
        few = FewRows(len(np.unique(rows, axis=0)), len(rows))
        if few.n_distinct * _FEWEST_EQUAL_ROWS <= few.n_rows:
            return (few,)
    found = [
        (column, codes)
        for column in columns
        if _gain(codes := np.unique(rows[:, column], return_inverse=True)[1], labels) >= _LEAST_GAIN
    ]
    if not found:
        return ()
    some = slice(None, None, -(-len(rows) // _MOST_ROWS_TO_COMPARE))
    split = [
        (column, codes)
        for column, codes in found
        if _told(codes[some], rows[some][:, _others(rows, column, found)]) <= _MOST_TOLD
    ]
    if len(split) == n_varying:
        return ()
    return tuple(FewValues(column, int(codes.max()) + 1) for column, codes in split)


def hints_on_few_values(
    found: Found, names: Sequence[str], odd: Sequence[OddColumn] = ()
) -> list[ColumnHint]:
    """Return hints on few distinct rows and on columns that split the clusters.

    Columns in `odd` get none, because they have hints already.
    """
    have_hints = {column.name for column in odd}
    hints = []
    for few in found:
        if isinstance(few, FewRows):
            hints.append(ColumnHint(f"{few.words}, so clusters may only repeat values."))
        elif names[few.column] not in have_hints:
            name = names[few.column]
            fact = (
                f'"{name}" has {few.n_values} distinct values and splits the clusters: nearly '
                "every cluster holds only one of them, whatever the other columns hold."
            )
            hints.append(ColumnHint(fact, "To leave it out", "drop", name))
    return hints


def warn_of_few_values(found: Found, columns: NamedColumns) -> None:
    """Warn of few distinct rows, and of each column of few values that splits the clusters."""
    for few in found:
        if isinstance(few, FewRows):
            warn(
                f"{few.words}, so clusters may only repeat values, such as ratings, counts or "
                "flags, or combinations of them. If this is not intended, count the distinct rows "
                "instead, or cluster columns of measurements."
            )
            continue
        column = few.column
        in_pipeline = (
            ' If X comes from a pipeline, set_output(transform="pandas") on the steps before PSKC '
            "makes this warning name the column."
            if columns.source == "array"
            else ""
        )
        warn(
            f"Column {columns.word(column)} has {few.n_values} distinct values and splits the "
            "clusters: nearly every cluster holds only one of them, whatever the other columns "
            f"hold. If this is not intended, leave it out{columns.without(column)}, or divide it "
            f"by a number such as 10 to give it less weight.{in_pipeline}"
        )


def _of_few_values(rows: NDArray[Any]) -> list[int]:
    """Return the columns with 2 to `MOST_VALUES` distinct values; of many, the most varying."""

    def counts(some: NDArray[Any]) -> NDArray[np.intp]:
        ordered = np.sort(some, axis=0)
        changes: NDArray[np.intp] = np.count_nonzero(ordered[1:] != ordered[:-1], axis=0)
        return changes + 1

    few = np.flatnonzero(counts(rows[:: max(1, len(rows) // _ROWS_AT_FIRST)]) <= MOST_VALUES)
    if len(few) > _MOST_COLUMNS:
        # Halves of float64 do not overflow, and booleans cannot be subtracted.
        spreads = np.ptp(rows[:, few].astype(np.float64) / 2, axis=0)
        few = np.sort(few[np.argsort(-spreads, kind="stable")[:_MOST_COLUMNS]])
    n_values = counts(rows[:, few])
    return [int(column) for column in few[(n_values > 1) & (n_values <= MOST_VALUES)]]


def _gain(codes: NDArray[np.intp], labels: NDArray[np.int64]) -> float:
    """Return how much better clusters predict values than the most frequent value, up to 1."""
    shared = np.zeros((int(labels.max()) + 1, int(codes.max()) + 1))
    np.add.at(shared, (labels, codes), 1)
    by_chance = shared.sum(axis=0).max()
    return float((shared.max(axis=1).sum() - by_chance) / (len(codes) - by_chance))


def _nearest(points: NDArray[Any]) -> NDArray[np.intp]:
    """Return the nearest rows of each row, (n, few)."""
    wide = points.astype(np.float64)
    wide -= wide.mean(axis=0)
    # Distances are compared, so their unit does not matter; squares must not overflow.
    wide /= max(1e-300, np.abs(wide).max())
    squares = np.square(wide).sum(axis=1)
    distances = squares - 2 * (wide @ wide.T)
    np.fill_diagonal(distances, np.inf)
    return np.argpartition(distances, _N_NEAR, axis=1)[:, :_N_NEAR]


def _others(
    rows: NDArray[Any], column: int, found: Sequence[tuple[int, NDArray[np.intp]]]
) -> NDArray[np.intp]:
    """Return the other columns, except those that with this one may encode one category."""
    own = rows[:, column] == rows[:, column].max()
    flags = [other for other, codes in found if codes.max() == 1]
    excluded = [column]
    if column in flags:
        high = rows[:, flags] == rows[:, flags].max(axis=0)
        excluded += [flags[place] for place in np.flatnonzero(~(high & own[:, np.newaxis]).any(0))]
    return np.setdiff1d(np.arange(rows.shape[1]), excluded)


def _told(codes: NDArray[np.intp], points: NDArray[Any]) -> float:
    """Return how often the nearest points have the same value: 0 for chance, 1 for always."""
    if not points.shape[1]:
        return 1.0
    shares = np.bincount(codes) / len(codes)
    by_chance = float(np.square(shares).sum())
    same = float((codes[_nearest(points)] == codes[:, np.newaxis]).mean())
    return (same - by_chance) / (1 - by_chance) if by_chance < 1 else 1.0
