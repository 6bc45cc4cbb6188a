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

    shares: Floats  # (r, s) share of the other side in the rows that a row meets
    contact: Floats  # (s,) mean of these shares
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
    one, other = meetings[:, sides.one], meetings[:, sides.other]
    total = one + other
    across = np.where(sides.in_one, other, one)
    shares = np.where(total > 0, across / np.maximum(total, LEAST), 0)
    weights = shares * (1 - shares) * sides.inside
    in_one, in_other = (1 - shares) * sides.in_one, (1 - shares) * sides.in_other
    gaps = log_gaps[:, np.newaxis]
    sparser = np.maximum(mean(gaps, in_one), mean(gaps, in_other))
    depth = dimension * (mean(gaps, weights) - sparser)
    n_border = weights.sum(axis=0)
    error = 1 / np.sqrt(1 + 4 * n_border)
    order = np.argsort(log_gaps, kind="stable")
    peaks = np.maximum(_densest(log_gaps, order, in_one), _densest(log_gaps, order, in_other))
    saddle = dimension * (_densest(log_gaps, order, weights) - peaks)
    touch = n_border > _NO_BORDER
    # A side is missing if it has no rows, or only rows that belong to the border entirely.
    is_there = in_one.any(axis=0) & in_other.any(axis=0)

    def bounded(values: Floats, low: float, high: float) -> Floats:
        return np.where(is_there, np.where(touch, np.clip(values, low, high), high), low)

    return Border(
        shares,
        np.where(is_there, mean(shares, sides.inside), 1.0),
        bounded(depth, NO_VALLEY, DEEPEST),
        bounded(depth / error, _NO_SURE, _SUREST),
        bounded(saddle, NO_VALLEY, DEEPEST),
    )


# Evidence for a split if the tree of a half has no split.
NOT_FOUND = (2.0, 0.0, 1.0, NO_VALLEY, _NO_SURE, NO_VALLEY, NO_VALLEY, _NO_SURE, 1.0)


def _densest(log_gaps: Floats, order: Nodes, weights: Floats) -> Floats:
    """Return the largest log gap in the densest quarter, by weight, of the rows, (s,)."""
    totals = np.cumsum(weights[order], axis=0)
    place = (totals < _DENSEST * totals[-1]).sum(axis=0)
    answer: Floats = log_gaps[order][np.minimum(place, len(order) - 1)]
    return answer


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
