"""The two sides of a split: similarity, contact, and the valley of density between them.

Everything is computed for many splits at a time, from the number of cells that rows share with each
node of a tree, or from the number of their nearest rows in each node. Densities are estimated from
distances to the nearest centre or to the nearest rows: log density is minus the intrinsic dimension
times the log distance, up to a constant.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
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


@dataclass(frozen=True, eq=False)
class Sides:
    """The two sides of each of s splits, and the rows on either of them."""

    one: Nodes  # (s,) nodes of a tree
    other: Nodes  # (s,)
    in_one: NDArray[np.bool_]  # (r, s)
    in_other: NDArray[np.bool_]  # (r, s)

    @classmethod
    def of(cls, one: Nodes, other: Nodes, within: NDArray[np.bool_]) -> Sides:
        """Return the sides of splits; `within` tells which nodes each row is in, (r, m)."""
        return cls(one, other, within[:, one], within[:, other])

    @cached_property
    def inside(self) -> NDArray[np.bool_]:
        return self.in_one | self.in_other

    @cached_property
    def pairs(self) -> _Pairs:
        return _Pairs.of(self.inside)

    @cached_property
    def pairs_in_one(self) -> NDArray[np.bool_]:
        """Whether the row of each pair of split and row is on the first side, (p,)."""
        return self.in_one[self.pairs.rows, self.pairs.splits]


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


@dataclass(frozen=True, eq=False)
class Border:
    """Contact of the two sides of each split, and the drop in density between them.

    Each measure is computed when it is first asked for.
    """

    sides: Sides
    shares: NDArray[np.float32]  # (p,) see `_shares`
    log_gaps: Floats  # (r,)
    dimension: float

    @cached_property
    def contact(self) -> Floats:
        """Share of the other side among the rows that a row meets, mean over rows, (s,)."""
        everywhere = self._pairs.mean(self.shares, np.ones(len(self.shares), dtype=bool))
        return np.where(self._is_there, everywhere, 1.0)

    @cached_property
    def contact_of_other(self) -> Floats:
        """The same for the rows of the second side only, (s,)."""
        return self._pairs.mean(self.shares, ~self.sides.pairs_in_one)

    @cached_property
    def valley(self) -> Floats:
        """Mean log density of the sparser side minus that of the border, (s,)."""
        return self._bounded(self._depth, NO_VALLEY, DEEPEST)

    @cached_property
    def sure(self) -> Floats:
        """The valley in units of its error, (s,)."""
        error = 1 / np.sqrt(1 + 4 * self._n_border)
        return self._bounded(self._depth / error, _NO_SURE, _SUREST)

    @cached_property
    def saddle(self) -> Floats:
        """Like the valley, for the densest quarters of sides and border, (s,)."""
        by_gap = _ByGap.of(self.log_gaps, self._pairs)
        in_one, in_other = self._cores
        peaks = np.maximum(by_gap.densest(in_one), by_gap.densest(in_other))
        saddle = self.dimension * (by_gap.densest(self._weights) - peaks)
        return self._bounded(saddle, NO_VALLEY, DEEPEST)

    @property
    def _pairs(self) -> _Pairs:
        return self.sides.pairs

    @cached_property
    def _cores(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Weights of rows on either side, larger for rows that belong less to the border."""
        cores, is_one = 1 - self.shares, self.sides.pairs_in_one
        return cores * is_one, cores * ~is_one

    @cached_property
    def _weights(self) -> NDArray[np.float32]:
        """Weights of rows at the border."""
        return self.shares * (1 - self.shares)

    @cached_property
    def _n_border(self) -> NDArray[np.float32]:
        n_border: NDArray[np.float32] = self._pairs.table(self._weights).sum(axis=1)
        return n_border

    @cached_property
    def _core_totals(self) -> tuple[Floats, Floats]:
        in_one, in_other = self._cores
        return self._pairs.totals(in_one), self._pairs.totals(in_other)

    @cached_property
    def _is_there(self) -> NDArray[np.bool_]:
        """Whether both sides have rows that do not belong to the border entirely."""
        one, other = self._core_totals
        return (one > 0) & (other > 0)

    @cached_property
    def _depth(self) -> Floats:
        pairs, gaps = self._pairs, self.log_gaps[self._pairs.rows]
        sides = [
            pairs.totals(gaps * core) / np.maximum(total, LEAST)
            for core, total in zip(self._cores, self._core_totals, strict=True)
        ]
        return self.dimension * (pairs.mean(gaps, self._weights) - np.maximum(*sides))

    def _bounded(self, values: Floats, low: float, high: float) -> Floats:
        bounded = np.where(self._n_border > _NO_BORDER, np.clip(values, low, high), high)
        return np.where(self._is_there, bounded, low)


def border_of(
    meetings: NDArray[np.float32], log_gaps: Floats, dimension: float, sides: Sides
) -> Border:
    """Return the borders of splits, given how often r rows meet each of m nodes, (r, m).

    Rows meet in cells, or as nearest rows. The larger the share of the other side in the rows that
    a row meets, the more the row belongs to the border.
    """
    return Border(sides, _shares(meetings, sides), log_gaps, dimension)


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
    def of(cls, inside: NDArray[np.bool_]) -> _Pairs:
        inside = np.ascontiguousarray(inside.T)
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


def _shares(meetings: NDArray[np.float32], sides: Sides) -> NDArray[np.float32]:
    """Return the share of the other side in the rows that a row meets, (p,)."""
    pairs = sides.pairs
    flat, first = meetings.ravel(), pairs.rows * meetings.shape[1]
    one = flat.take(first + sides.one[pairs.splits])
    other = flat.take(first + sides.other[pairs.splits])
    total = one + other
    across = np.where(sides.pairs_in_one, other, one)
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
