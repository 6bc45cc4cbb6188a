"""Warnings about columns that are almost certainly not meant to be clustered as they are."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._utils.exceptions import ColumnsWarning

_MIN_ROWS = 20
_MIN_RATIO = 1000
# This many rows are enough to tell whether the ratio of two spreads exceeds `_MIN_RATIO`.
_MAX_ROWS_FOR_SPREADS = 10_000
# Number of frames from warnings.warn up to the caller of PSKC.fit.
_STACK_LEVEL = 6


def warn_of_odd_columns(
    rows: NDArray[Any], names: Sequence[str] | None, metric: str = "euclidean"
) -> None:
    """Warn about columns of row numbers, and about a column that outweighs all others.

    Only columns with names are checked, because such columns are typical of tables, not of arrays.
    """
    if names is None or metric != "euclidean" or len(rows) < _MIN_ROWS or rows.shape[1] < 2:
        return
    numbers = [column for column in range(rows.shape[1]) if _numbers_rows(rows[:, column])]
    for column in numbers:
        _warn(
            f"Column {names[column]!r} has a different whole number in every row, so it is "
            f"probably a row number. Leave it out with X.drop(columns=[{names[column]!r}])."
        )
    spreads = rows[:: -(-len(rows) // _MAX_ROWS_FOR_SPREADS)].std(axis=0, dtype=np.float64)
    spreads[numbers] = 0
    next_one, widest = np.argsort(spreads, kind="stable")[-2:]
    if spreads[widest] > _MIN_RATIO * spreads[next_one] > 0:
        _warn(
            f"Column {names[widest]!r} varies {spreads[widest] / spreads[next_one]:,.0f} times as "
            "much as any other, so it alone decides the clusters. If that is only a matter of "
            "units, scale the columns first, say with sklearn.preprocessing.StandardScaler."
        )


def _numbers_rows(values: NDArray[Any]) -> bool:
    """Return whether values are distinct whole numbers that fill at least half of their range."""
    low, high = values.min(), values.max()
    if not len(values) <= high - low + 1 <= 2 * len(values):
        return False
    places = (values - low).astype(np.int64)
    if not np.array_equal(places + low, values):
        return False
    return int(np.bincount(places).max()) == 1


def _warn(message: str) -> None:
    warnings.warn(message, ColumnsWarning, stacklevel=_STACK_LEVEL + 1)
