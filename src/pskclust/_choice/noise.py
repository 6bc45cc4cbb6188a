"""Rows that belong to no cluster: those of a uniform background, and outliers.

A background is spread over the whole box of the data, between clusters as well. The distance of an
outlier to nearly all other rows is about the width of the data, or larger. Both are found without
labels, so noise is removed from the sample before clusters are chosen. The rule then finds noise
among all rows and new ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from scipy.spatial import KDTree

from .._utils.parallel import one_blas_thread

Points = NDArray[np.float64]

# The distance of a row is its mean distance to the 8 nearest rows; 8 rows are not yet a cluster.
N_NEAR = 8
_ROWS_PER_FEW = 40
# A background must show in the emptiest tenth of the box, and in all larger parts of it.
EMPTIEST = 0.1
# With fewer rows, the tails of a cluster could pass for a background.
MIN_ROWS_FOR_BACKGROUND = 300
# In one column, the tails of a cluster fill the emptiest part of the range, as a background would.
MIN_COLUMNS_FOR_BACKGROUND = 2
# A background has at least 3 rows there, like the smallest cluster.
MIN_SEEN = 3
# A background with more than this share of the rows is the data itself.
MAX_SHARE = 0.62
# A row is noise if at least 2 in 5 rows at its distance are. To maximise F1, this share must be
# half of the F1 that is reached, here about 0.8.
_ODDS = 0.4
# A count is raised by this many standard errors before it is evidence against a background.
_ERRORS = 2.0
# An outlier is over 4 times as far from other rows as the median row is from the middle.
_FAR = 4.0
# Rows outside the box of the data, widened by its own width on either side, are noise.
_WIDER = 1.0
_MAX_COLUMNS_FOR_SEARCH_TREES = 16
# Up to this number of columns, these are compared with a box one after the other, because NumPy is
# slow with many short rows.
_MAX_COLUMNS_ONE_BY_ONE = 16
_ROWS_AT_A_TIME = 4096
# Many rows are looked up in a grid first. With more columns, its parts would be too wide.
_MIN_ROWS_FOR_GRID, _MAX_COLUMNS_FOR_GRID, _N_PARTS = 20_000, 3, 1 << 14
# Number of places drawn first, to see whether the box has an empty part; fewest places in total.
_N_PROBES, _MIN_PLACES = 200, 2_000
# Matrix products find a few more neighbours than needed, because rounding may swap them.
_SPARE = 4


@dataclass(frozen=True, eq=False)
class NoiseRule:
    """A rule that labels rows as noise by their distance to the rows of a sample."""

    sample: Points  # (n, d)
    threshold: float  # a row with this mean distance or more is background; infinite without one
    few: int  # this number of rows is too small for a cluster
    reach: float  # a row outside the box is an outlier if its `few`-th nearest row is farther
    low: NDArray[np.float64]  # (d,) the box of the sample without its noise
    high: NDArray[np.float64]

    def __call__(self, points: Points) -> NDArray[np.bool_]:
        """Return which rows are noise.

        Distances are computed for all rows if there is a background, else only outside the box.
        """
        beside, wider = _outside(points, self.low, self.high), _margin(self.low, self.high)
        noise, away = np.zeros(len(points), dtype=bool), np.flatnonzero(beside)
        noise[away] = _outside(points[away], self.low - wider, self.high + wider)
        is_asked = ~noise if np.isfinite(self.threshold) else ~noise & beside
        asked = np.flatnonzero(is_asked)
        if len(asked) >= _MIN_ROWS_FOR_GRID and points.shape[1] <= _MAX_COLUMNS_FOR_GRID:
            inside = asked[~beside[asked]]
            near_by, far_off = self._grid.settled(points[inside])
            noise[inside[far_off]] = True
            asked = np.append(asked[beside[asked]], inside[~(near_by | far_off)])
        if len(asked):
            near = self._search.distances(points[asked])
            far = near[:, min(self.few, near.shape[1]) - 1] > self.reach
            noise[asked] = (near.mean(axis=1) >= self.threshold) | (beside[asked] & far)
        return noise

    @cached_property
    def _search(self) -> _Search:
        return _Search(self.sample)

    @cached_property
    def _grid(self) -> _Grid:
        return _Grid(self._search, self.low, self.high, self.threshold)

    def __getstate__(self) -> dict[str, Any]:
        """Leave out the search tree and the grid, which are computed when needed."""
        return {name: value for name, value in vars(self).items() if not name.startswith("_")}

    def to_parts(self) -> tuple[dict[str, float], dict[str, NDArray[Any]]]:
        """Return the rule as numbers and arrays that a file can hold."""
        numbers = {"threshold": self.threshold, "few": self.few, "reach": self.reach}
        return numbers, {"sample": self.sample, "low": self.low, "high": self.high}

    @classmethod
    def from_parts(cls, numbers: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> NoiseRule:
        """Return the rule, restored from the output of `to_parts`."""
        threshold, reach = float(numbers["threshold"]), float(numbers["reach"])
        box = arrays["low"], arrays["high"]
        return cls(arrays["sample"], threshold, numbers["few"], reach, *box)


def find_noise(sample: Points, rng: RandomState) -> NoiseRule:
    """Return the rule that finds noise, given a sample of the rows."""
    n_rows = len(sample)
    few = int(np.clip(n_rows // _ROWS_PER_FEW, 2, N_NEAR))
    low, high = sample.min(axis=0), sample.max(axis=0)
    if n_rows <= 2 * few + 2:
        return NoiseRule(sample, np.inf, few, np.inf, low, high)
    search = _Search(sample)
    near = search.distances(sample)
    isolated, reach = _isolated(sample, near, min(few, near.shape[1]))
    kept, distances = sample[~isolated], near.mean(axis=1)[~isolated]
    box = _places_in_box(kept, max(n_rows, _MIN_PLACES), rng)
    in_box = search.distances(box[:_N_PROBES], itself=False).mean(axis=1)
    threshold = np.inf
    n_varying = np.count_nonzero(kept.min(axis=0) < kept.max(axis=0))
    is_possible = n_rows >= MIN_ROWS_FOR_BACKGROUND and n_varying >= MIN_COLUMNS_FOR_BACKGROUND
    # There is no background if the emptiest part of the box is empty: no row is as far from others
    # as places in this part are from rows.
    if is_possible and distances.max() >= np.quantile(in_box, 1 - EMPTIEST / 2):
        others = search.distances(box[_N_PROBES:], itself=False)
        in_box = np.append(in_box, others.mean(axis=1))
        threshold = _background(kept, distances, box, in_box)
        kept = kept[distances < threshold]
    return NoiseRule(sample, threshold, few, reach, kept.min(axis=0), kept.max(axis=0))


def _places_in_box(points: Points, n_places: int, rng: RandomState) -> Points:
    """Draw places uniformly in the box of rows; in a column of few distinct values, draw these."""
    low, high = points.min(axis=0), points.max(axis=0)
    shares = rng.uniform(size=(n_places, points.shape[1]))
    places: Points = low + shares * (high - low)
    ordered = np.sort(points, axis=0)
    n_steps = np.count_nonzero(ordered[1:] != ordered[:-1], axis=0)
    for column in np.flatnonzero(n_steps < np.sqrt(len(points))):
        values = np.unique(points[:, column])
        places[:, column] = values[(shares[:, column] * len(values)).astype(np.intp)]
    return places


def _margin(low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the allowed distance beyond a box; a column of one value sets no limit."""
    return np.where(high > low, _WIDER * (high - low), np.inf)


def _outside(
    points: Points, low: NDArray[np.float64], high: NDArray[np.float64]
) -> NDArray[np.bool_]:
    if points.shape[1] > _MAX_COLUMNS_ONE_BY_ONE:
        return np.asarray(np.any((points < low) | (points > high), axis=1))
    outside = np.zeros(len(points), dtype=bool)
    for column, least, most in zip(points.T, low, high, strict=True):
        outside |= column < least
        outside |= column > most
    return outside


class _Search:
    """Distances to the nearest rows of a sample."""

    def __init__(self, sample: Points) -> None:
        self._sample = sample
        few_columns = sample.shape[1] <= _MAX_COLUMNS_FOR_SEARCH_TREES
        self._tree = KDTree(sample) if few_columns else None

    def distances(self, points: Points, *, itself: bool = True) -> NDArray[np.float64]:
        """Return the distances to the nearest rows of the sample, nearest first, (m, N_NEAR).

        If points may be rows of the sample (`itself`), a row at the same position does not count:
        distances are then those to other rows, in a fit and in predictions alike.
        """
        found = self.nearest(points)
        if found.shape[1] == 1:
            return found
        if not itself:
            return found[:, :N_NEAR]
        return np.where(found[:, :1] == 0, found[:, 1:], found[:, :-1])

    def nearest(self, points: Points) -> NDArray[np.float64]:
        """Return the distances to the nearest N_NEAR + 1 rows of the sample, nearest first."""
        wanted = min(N_NEAR + 1, len(self._sample))
        if self._tree is not None:
            queried = self._tree.query(points, wanted)[0]
            found: NDArray[np.float64] = np.asarray(queried).reshape(len(points), wanted)
        else:
            starts = range(0, len(points), _ROWS_AT_A_TIME)
            some = [self._by_products(points[i : i + _ROWS_AT_A_TIME], wanted) for i in starts]
            found = np.concatenate(some) if some else np.empty((0, wanted))
        return found

    def _by_products(self, points: Points, wanted: int) -> NDArray[np.float64]:
        sample = self._sample
        n_near = min(wanted + _SPARE, len(sample))
        with one_blas_thread:
            order = (sample * sample).sum(axis=1) - 2 * (points @ sample.T)
        who = np.argpartition(order, n_near - 1, axis=1)[:, :n_near]
        found = np.empty((len(points), n_near))
        for place in range(n_near):
            found[:, place] = np.sqrt(np.square(points - sample[who[:, place]]).sum(axis=1))
        found.sort(axis=1)
        return found[:, :wanted]


class _Grid:
    """Parts of a box in which all points, or none, have a mean distance below a threshold.

    The distance to the k-th nearest row differs between two points by at most their distance, so
    the distances from the middle of a part bound those from all its points.
    """

    def __init__(
        self,
        search: _Search,
        low: NDArray[np.float64],
        high: NDArray[np.float64],
        threshold: float,
    ) -> None:
        n_columns = len(low)
        self._low, self._n_steps = low, int(_N_PARTS ** (1 / n_columns))
        steps = (high - low) / self._n_steps
        self._steps = np.where(steps > 0, steps, 1.0)
        numbers = np.indices((self._n_steps,) * n_columns).reshape(n_columns, -1).T
        near = search.nearest(low + (numbers + 0.5) * steps)
        # With a margin for rounding errors of middles, steps and distances.
        largest = max(float(np.abs(low).max()), float(np.abs(high).max()))
        radius = 0.51 * float(np.linalg.norm(steps)) + 1e-12 * n_columns * largest
        # A row at the position of a point does not count, so one more row may be needed.
        self._near_by = (near[:, 1:].mean(axis=1) + radius) * (1 + 1e-9) < threshold
        self._far_off = (near[:, :-1].mean(axis=1) - radius) * (1 - 1e-9) >= threshold

    def settled(self, points: Points) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return two masks of points in the box: surely below the threshold, and surely not.

        The threshold is one of the mean distance. A point in neither mask is undecided."""
        part = np.zeros(len(points), dtype=np.intp)
        for column in range(points.shape[1]):
            steps = ((points[:, column] - self._low[column]) / self._steps[column]).astype(np.intp)
            part = part * self._n_steps + np.minimum(steps, self._n_steps - 1)
        return self._near_by[part], self._far_off[part]


def _isolated(
    points: Points, near: NDArray[np.float64], few: int
) -> tuple[NDArray[np.bool_], float]:
    """Return the mask of outliers, and the limit of their distance to other rows.

    A row is an outlier if its distance to the `few`-th nearest row exceeds the limit. A row is also
    an outlier if one of its values is far outside the range of its column, which leaves out the
    `few` rows at either end: farther than the width of the range. If many rows are that far
    outside, rare values are normal in these columns, and the second rule is not applied.
    """
    from_middle = np.sqrt(np.square(points - np.median(points, axis=0)).sum(axis=1))
    reach = _FAR * float(np.median(from_middle))
    far = near[:, few - 1] > reach
    ends = np.sort(points, axis=0)
    low, high = ends[few], ends[-1 - few]
    wider = _margin(low, high)
    outside = _outside(points, low - wider, high + wider)
    return (far | outside if outside.sum() <= 2 * few else far), reach


def _background(
    points: Points,
    distances: NDArray[np.float64],
    box: Points,
    in_box: NDArray[np.float64],
) -> float:
    """Return the mean distance at which a uniform background begins, infinite without one.

    `in_box` are the distances of places drawn uniformly in the box. If a share p of the rows is
    drawn like them, then for every c at least p * P(in_box >= c) of the rows have a distance of c
    or more: in the whole box, and in either half of it along each column. The largest p that no
    part of the box contradicts is the share of the background. The threshold is the c that
    maximises the expected number of noise rows beyond c, minus `_ODDS` times the number of all rows
    beyond c.
    """
    n_rows, n_places = len(distances), len(in_box)
    cuts = np.unique(in_box)
    rows, places = _Beyond(distances, cuts), _Beyond(in_box, cuts)
    all_rows = rows.counts(np.ones(n_rows, dtype=bool))
    all_places = places.counts(np.ones(n_places, dtype=bool))
    is_wide = all_places >= EMPTIEST * n_places
    # Fewer rows may be the tails of clusters.
    if (all_rows[is_wide] < MIN_SEEN).any():
        return np.inf

    def most(some: NDArray[np.int64], part: NDArray[np.int64]) -> float:
        wide = part >= EMPTIEST * n_places
        raised = some[wide] + _ERRORS * np.sqrt(some[wide])
        return float((raised / part[wide]).min(initial=np.inf) * n_places / n_rows)

    share = most(all_rows, all_places)
    middle = (box.min(axis=0) + box.max(axis=0)) / 2
    for column in range(points.shape[1]):
        upper_rows = rows.counts(points[:, column] > middle[column])
        upper_places = places.counts(box[:, column] > middle[column])
        lower = most(all_rows - upper_rows, all_places - upper_places)
        share = min(share, most(upper_rows, upper_places), lower)
    if share > MAX_SHARE:
        return np.inf
    gain = share * all_places / n_places - _ODDS * all_rows / n_rows
    best = len(gain) - 1 - int(gain[::-1].argmax())
    if gain[best] <= 0 or all_rows[best] > MAX_SHARE * n_rows:
        return np.inf
    return float(cuts[best])


class _Beyond:
    """Counts of the values at or above each cut."""

    def __init__(self, values: NDArray[np.float64], cuts: NDArray[np.float64]) -> None:
        self._order = np.argsort(values, kind="stable")
        self._places = np.searchsorted(values[self._order], cuts)

    def counts(self, inside: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return the counts of the values that are `inside` a part of the box, at each cut."""
        totals = np.cumsum(inside[self._order][::-1], dtype=np.int64)[::-1]
        counts: NDArray[np.int64] = np.append(totals, 0)[self._places]
        return counts
