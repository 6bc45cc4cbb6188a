"""The two sides of a split: similarity, contact, and the valley of density between them.

Everything is computed for many splits at a time, from the number of cells that rows share with each
node of a tree, or from the number of their nearest rows in each node. Densities are estimated from
distances to the nearest centre or to the nearest rows: log density is minus the intrinsic dimension
times the log distance, up to a constant.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Nodes = NDArray[np.intp]

# Log density ratios are clipped to these bounds. Sides that do not touch have the deepest valley.
NO_VALLEY, DEEPEST = -3.0, 6.0
# The same for a valley in units of its error.
_NO_SURE, _SUREST = -6.0, 20.0
LEAST = 1e-9
# If the total weight of the rows of a border is less than this, the sides do not touch.
_NO_BORDER = 1e-6
# The density of a saddle or a peak is that of its densest quarter of rows.
_DENSEST = 0.25


class Sides(NamedTuple):
    """The two sides of each of s splits, and the rows on either of them."""

    one: Nodes  # (s,) nodes of a tree
    other: Nodes  # (s,)
    in_one: NDArray[np.bool_]  # (r, s)
    in_other: NDArray[np.bool_]  # (r, s)

    @classmethod
    def of(cls, one: Nodes, other: Nodes, within: NDArray[np.bool_]) -> Sides:
        """Return the sides of splits; `within` tells which nodes each row is in, (r, m)."""
        return cls(one, other, within[:, one], within[:, other])

    @property
    def inside(self) -> NDArray[np.bool_]:
        return self.in_one | self.in_other


class Cohesion(NamedTuple):
    """Similarity of rows to their own side and to the other one."""

    own: Floats  # (r, s) mean number of shared cells with the rows of the own side
    other: Floats  # (r, s) with those of the other side
    silhouettes: Floats  # (r, s) (own - other) / (own + other)

    def ratio(self, sides: Sides) -> Floats:
        """Return the similarity across each split divided by that within its less similar side."""
        least = np.minimum(mean(self.own, sides.in_one), mean(self.own, sides.in_other))
        return np.minimum(mean(self.other, sides.inside) / np.maximum(least, LEAST), 2)


def cohesion_of(meetings: NDArray[np.float32], sizes: Floats, sides: Sides) -> Cohesion:
    """Return the similarity of rows to either side, given their `meetings` with nodes, (r, m)."""
    one, other = meetings[:, sides.one], meetings[:, sides.other]
    n_one, n_other = sizes[sides.one], sizes[sides.other]
    own = np.where(sides.in_one, one / np.maximum(n_one - 1, 1), other / np.maximum(n_other - 1, 1))
    across = np.where(sides.in_one, other / np.maximum(n_other, 1), one / np.maximum(n_one, 1))
    return Cohesion(own, across, (own - across) / np.maximum(own + across, LEAST))


class Border(NamedTuple):
    """Contact of the two sides of each split, and the drop in density between them."""

    contact: Floats  # (s,) mean share of the other side in the rows that a row meets
    contact_of_other: Floats  # (s,) the same for the rows of the second side only
    valley: Floats  # (s,) mean log density of the sparser side minus that of the border
    sure: Floats  # (s,) valley in units of its error
    saddle: Floats  # (s,) like valley, for the densest quarters of sides and border


def border_of(
    meetings: NDArray[np.float32], log_gaps: Floats, dimension: float, sides: Sides
) -> Border:
    """Return the borders of splits, given how often r rows meet each of m nodes, (r, m).

    Rows meet in cells, or as nearest rows. The larger the share of the other side in the rows that
    a row meets, the more the row belongs to the border.
    """
    pairs = _Pairs.of(sides)
    is_one = sides.in_one[pairs.rows, pairs.splits]
    shares = _shares(meetings, sides, pairs, is_one)
    # Rows of a side count the more, the less they belong to the border.
    cores = 1 - shares
    weights = shares * cores
    in_one, in_other = cores * is_one, cores * ~is_one
    gaps = log_gaps[pairs.rows]
    sparser = np.maximum(pairs.mean(gaps, in_one), pairs.mean(gaps, in_other))
    depth = dimension * (pairs.mean(gaps, weights) - sparser)
    n_border = pairs.table(weights).sum(axis=1)
    error = 1 / np.sqrt(1 + 4 * n_border)
    by_gap = _ByGap.of(log_gaps, pairs)
    peaks = np.maximum(by_gap.densest(in_one), by_gap.densest(in_other))
    saddle = dimension * (by_gap.densest(weights) - peaks)
    touch = n_border > _NO_BORDER
    # A side is missing if it has no rows, or only rows that belong to the border entirely.
    is_there = (pairs.totals(in_one) > 0) & (pairs.totals(in_other) > 0)

    def bounded(values: Floats, low: float, high: float) -> Floats:
        return np.where(is_there, np.where(touch, np.clip(values, low, high), high), low)

    return Border(
        np.where(is_there, pairs.mean(shares, np.ones(len(shares), dtype=bool)), 1.0),
        pairs.mean(shares, ~is_one),
        bounded(depth, NO_VALLEY, DEEPEST),
        bounded(depth / error, _NO_SURE, _SUREST),
        bounded(saddle, NO_VALLEY, DEEPEST),
    )


class _Pairs(NamedTuple):
    """Each split with each row on either side of it.

    Most splits divide few rows, so there are far fewer pairs than entries in a table of all splits
    and rows.
    """

    shape: tuple[int, int]  # (s, r)
    places: Nodes  # (p,) place of each pair in a flat table, ascending
    splits: Nodes  # (p,)
    rows: Nodes  # (p,)
    counts: Nodes  # (s,)
    starts: Nodes  # (s,) the first pair of each split

    @classmethod
    def of(cls, sides: Sides) -> _Pairs:
        inside = np.ascontiguousarray(sides.inside.T)
        n_splits, n_rows = inside.shape
        places = np.flatnonzero(inside)
        counts = np.count_nonzero(inside, axis=1)
        splits = np.repeat(np.arange(n_splits), counts)
        rows, starts = places - splits * n_rows, np.cumsum(counts) - counts
        return cls((n_splits, n_rows), places, splits, rows, counts, starts)

    def table(self, values: NDArray[Any]) -> NDArray[Any]:
        """Return a table that is zero for all other rows and splits, (s, r)."""
        table = np.zeros(self.shape, dtype=values.dtype)
        table.ravel()[self.places] = values
        return table

    def totals(self, values: NDArray[Any]) -> Floats:
        """Return the sum of the values of each split."""
        totals = np.zeros(len(self.counts))
        some = self.counts > 0
        if some.any():
            totals[some] = np.add.reduceat(values, self.starts[some], dtype=np.float64)
        return totals

    def mean(self, values: NDArray[Any], weights: NDArray[Any]) -> Floats:
        """Return the weighted mean of each split."""
        sums = self.totals(values.astype(np.float64, copy=False) * weights)
        return np.asarray(sums / np.maximum(self.totals(weights), LEAST))


def _shares(
    meetings: NDArray[np.float32], sides: Sides, pairs: _Pairs, is_one: NDArray[np.bool_]
) -> NDArray[np.float32]:
    """Return the share of the other side in the rows that a row meets, (p,)."""
    flat, first = meetings.ravel(), pairs.rows * meetings.shape[1]
    one = flat.take(first + sides.one[pairs.splits])
    other = flat.take(first + sides.other[pairs.splits])
    total = one + other
    across = np.where(is_one, other, one)
    return np.where(total > 0, across / np.maximum(total, LEAST), 0).astype(np.float32, copy=False)


class _ByGap(NamedTuple):
    """The pairs of each split, sorted by the log gaps of their rows, one split after the other.

    Running sums of all splits are computed at once: each split ends with a value that sets the sum
    back to zero.
    """

    log_gaps: Floats  # (r,) ascending
    ranks: Nodes  # (p,) places of the rows of the pairs among `log_gaps`
    pairs: Nodes  # (p,) numbers of the pairs
    splits: Nodes  # (p,) ascending
    starts: Nodes  # (s,) the first pair of each split
    slots: Nodes  # (p,) place of each pair in the running sum
    columns: Nodes  # (p,) place of each pair in a flat table with a column for each split
    n_most: int  # pairs of the split that has most

    @classmethod
    def of(cls, log_gaps: Floats, pairs: _Pairs) -> _ByGap:
        n_splits, n_rows = pairs.shape
        order = np.argsort(log_gaps, kind="stable")
        rank = np.empty_like(order)
        rank[order] = np.arange(n_rows)
        places = pairs.splits * n_rows + rank[pairs.rows]
        by_gap = np.argsort(places)
        ranks = places[by_gap] - pairs.splits * n_rows
        numbers = np.arange(len(places))
        slots = numbers + pairs.splits
        columns = (numbers - pairs.starts[pairs.splits]) * (n_splits + 1) + pairs.splits
        own = pairs.splits, pairs.starts, slots, columns, int(pairs.counts.max())
        return cls(log_gaps[order], ranks, by_gap, *own)

    def densest(self, weights: NDArray[np.float32]) -> Floats:
        """Return the largest log gap in the densest quarter, by weight, of the rows, (s,)."""
        ordered, n_splits = weights[self.pairs], len(self.starts)
        table = np.zeros((self.n_most, n_splits + 1), dtype=weights.dtype)
        table.ravel()[self.columns] = ordered
        # Added from row to row of the table, as in a running sum.
        totals = table.sum(axis=0)[:-1]
        values = np.zeros(len(ordered) + n_splits, dtype=weights.dtype)
        values[self.slots] = ordered
        values[self.starts[1:] + np.arange(n_splits - 1)] = -totals[:-1]
        sums = np.cumsum(values)[self.slots]
        quarters = _DENSEST * totals
        below = np.bincount(self.splits[sums < quarters[self.splits]], minlength=n_splits)
        # Without any weight, the densest of all rows stands for the quarter.
        places = np.where(quarters > 0, np.append(self.ranks, 0)[self.starts + below], 0)
        answer: Floats = self.log_gaps[places]
        return answer


# Evidence for a split if the tree of a half has no split.
NOT_FOUND = (2.0, 0.0, 1.0, NO_VALLEY, _NO_SURE, NO_VALLEY, NO_VALLEY, _NO_SURE, 1.0)


def low_quantile(values: Floats, inside: NDArray[np.bool_], share: float) -> Floats:
    """Return a quantile of each column over the rows that are `inside`, (s,); 0 if none are."""
    ordered = np.sort(np.where(inside, values, np.inf), axis=0)
    counts = inside.sum(axis=0)
    place = np.minimum((share * counts).astype(np.intp), np.maximum(counts - 1, 0))
    found = ordered[place, np.arange(ordered.shape[1])]
    return np.where(np.isfinite(found), found, 0.0)


def mean(values: NDArray[Any], weights: NDArray[Any]) -> Floats:
    """Return the weighted mean of each column."""
    totals = np.asarray(weights, dtype=np.float64).sum(axis=0)
    sums: Floats = (np.asarray(values, dtype=np.float64) * weights).sum(axis=0)
    return np.asarray(sums / np.maximum(totals, LEAST))
