"""Columns that are probably not meant to be clustered as they are: row numbers, other units."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._utils.exceptions import ColumnsWarning

_MIN_ROWS = 20
# This many rows are enough to compare the spreads of columns.
_MAX_ROWS_FOR_SPREADS = 10_000
# Spreads are unequal if the largest is this many times the smallest.
_UNEQUAL_SPREADS = 30
# More columns are seldom quantities in units of their own: they are pixels, counts or embeddings,
# of which some vary little.
_MAX_COLUMNS_WITH_UNITS = 32
# A few columns, at most one in four, are dominant if they account for this share of the variance.
_DOMINANT_SHARE = 0.99
_MAX_DOMINANT = 3
_COLUMNS_PER_DOMINANT = 4
# Two or three columns may be coordinates of a long shape, unless their spreads have this ratio.
_LONGEST_SHAPE = 1000
# Number of frames from warnings.warn up to the caller of PSKC.fit.
_STACK_LEVEL = 6


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
    """Return what is unequal in the spreads of columns; None if nothing calls for scaling.

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


def hint_on_spreads(
    spreads: NDArray[np.float64],
    names: Sequence[str],
    remedy: str = "scale the columns before the fit.",
) -> str | None:
    """Return a hint with a remedy if columns have very unequal spreads; None otherwise."""
    unequal = unequal_columns(spreads)
    if unequal is None:
        return None
    return (
        f'"{names[unequal.widest]}" varies {unequal.ratio:,.0f} times as much as '
        f'"{names[unequal.narrowest]}" and outweighs it. If only their units differ, {remedy}'
    )


def warn_of_odd_columns(
    rows: NDArray[Any], names: Sequence[str] | None, metric: str = "euclidean"
) -> None:
    """Warn about columns of row numbers, and about a few columns that outweigh all others.

    Row numbers are looked for in columns with names only: those are typical of tables.
    """
    n_columns = rows.shape[1]
    if metric != "euclidean" or len(rows) < _MIN_ROWS or n_columns < 2:
        return
    numbers: list[int] = []
    if names is not None:
        numbers = [column for column in range(n_columns) if _numbers_rows(rows[:, column])]
        for column in numbers:
            _warn(
                f"Column {names[column]!r} has a different whole number in every row, so it is "
                f"probably a row number. Leave it out with X.drop(columns=[{names[column]!r}])."
            )
    some = rows[:: -(-len(rows) // _MAX_ROWS_FOR_SPREADS)].astype(np.float64)
    # Values that overflow are refused later, with a reason.
    with np.errstate(over="ignore", invalid="ignore"):
        spreads = some.std(axis=0)
    spreads[numbers] = 0
    unequal = unequal_columns(spreads) if np.isfinite(spreads).all() else None
    if unequal is not None and unequal.dominant:
        _warn(_words_on_dominant(unequal, names))


def _words_on_dominant(unequal: Unequal, names: Sequence[str] | None) -> str:
    shown = [f"{column if names is None else repr(names[column])}" for column in unequal.dominant]
    of_variance = f"more than {_DOMINANT_SHARE:.0%} of the variance of X"
    if len(shown) == 1:
        who = f"Column {shown[0]} accounts for {of_variance}, so it decides the clusters alone"
    else:
        listed = f"{', '.join(shown[:-1])} and {shown[-1]}"
        who = f"Columns {listed} account for {of_variance}, so they decide the clusters alone"
    return (
        f"{who}. If only units differ, scale the columns first: "
        "make_pipeline(StandardScaler(), PSKC())."
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
