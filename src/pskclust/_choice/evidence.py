"""Candidate clusterings, which are cuts of trees, and the evidence for each, without labels.

The names of columns are those in docs/automatic.md and in weights.json.
"""

from __future__ import annotations

import math
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._utils.parallel import map_items
from .borders import DEEPEST, LEAST, NO_VALLEY, Floats
from .split_evidence import split_evidence
from .stability import Grown, GrownTree

CUT_NAMES = (
    "log_number",
    "found",
    "found_by_rows",
    "found_least",
    "found_worst",
    "same_number",
    "near_psi",
    "near_psi_least",
    "crossed",
    "crossed_least",
    "evenness",
    "smallest",
    "largest",
    "ratio",
    "ratio_most",
    "silhouette",
    "silhouette_least",
    "ambiguous",
    "gap",
    "contact",
    "contact_most",
    "valley",
    "valley_least",
    "last_split",
    "next_split",
    "misplaced",
    "weakest_split",
    "best_left",
    "best_left_crossed",
)
_WEAK_SILHOUETTE = 0.2


class Candidate(NamedTuple):
    """A cut of one of the trees into two clusters or more."""

    tree: int
    n_clusters: int


class Evidence(NamedTuple):
    """All candidates of a sample, with the evidence for each."""

    candidates: list[Candidate]
    cuts: Floats  # (c, len(CUT_NAMES))
    splits: list[Floats]  # (s, len(SPLIT_NAMES)) of each tree


def gather_evidence(grown: Grown, n_jobs: int | None = 1) -> Evidence:
    """Return all cuts of all trees with their evidence."""
    candidates: list[Candidate] = []
    rows: list[list[float]] = []
    splits = map_items(partial(split_evidence, grown), range(len(grown.trees)), n_jobs)
    for number, each in enumerate(grown.trees):
        cuts = _Cuts.of(grown, number, splits[number])
        for place, n_clusters in enumerate(each.numbers.tolist()):
            candidates.append(Candidate(number, n_clusters))
            rows.append(cuts.evidence(place, n_clusters))
    return Evidence(candidates, np.array(rows).reshape(-1, len(CUT_NAMES)), splits)


class _Cuts(NamedTuple):
    """A tree, with the values that the evidence for all its cuts is computed from."""

    grown: Grown
    each: GrownTree
    splits: Floats  # (s, len(SPLIT_NAMES))
    # (m,) how well each node is found by halves, on average and by the worst, and by other trees
    found: Floats
    found_worst: Floats
    crossed: Floats
    near_psi: Floats
    crossed_low: Floats  # (s,) how well each split is found by halves and by other trees
    leaves: NDArray[np.intp]  # (r,) leaves of the rows for which meetings are counted
    means: Floats  # (m, r) mean number of cells that a row shares with the rows of each node
    fine: Floats  # (m, r) number of fine cells that it shares with them

    @classmethod
    def of(cls, grown: Grown, number: int, splits: Floats) -> _Cuts:
        each = grown.trees[number]
        # In single precision, as the meetings.
        means = each.meetings / each.tree.sizes.astype(np.float32)
        return cls(
            grown,
            each,
            splits,
            each.found.mean(axis=0),
            each.found.min(axis=0),
            grown.crossed[number],
            grown.at_near_psi[number],
            np.minimum(splits[:, 0], splits[:, 4]),
            each.tree.leaves[grown.rows],
            np.ascontiguousarray(means.T, dtype=np.float64),
            np.ascontiguousarray(each.fine_meetings.T, dtype=np.float64),
        )

    def evidence(self, place: int, n_clusters: int) -> list[float]:
        """Return the evidence for the cut into `n_clusters`, in the order of CUT_NAMES."""
        tree, last = self.each.tree, n_clusters - 2
        nodes, cluster_of = tree.cut_nodes(n_clusters)
        shares = tree.sizes[nodes] / self.grown.n_rows
        found, crossed, near_psi = self.found[nodes], self.crossed[nodes], self.near_psi[nodes]
        heights = tree.heights
        height_below = heights[last + 1] if last + 1 < len(heights) else 0.9 * heights[-1]
        *between, misplaced = self._between(nodes, cluster_of, heights[last] - height_below)
        found_low = self.splits[:, 0]
        return [
            math.log(n_clusters),
            _mean(found),
            (found * shares).sum(),
            found.min(),
            self.found_worst[nodes].min(),
            self.each.same_number[place],
            _mean(near_psi),
            near_psi.min(),
            _mean(crossed),
            crossed.min(),
            -(shares * np.log(shares)).sum() / math.log(n_clusters),
            math.log(shares.min() * n_clusters),
            math.log(shares.max() * n_clusters),
            *between,
            found_low[last],
            found_low[last + 1] if last + 1 < len(found_low) else 0.0,
            misplaced,
            found_low[: last + 1].min(),
            found_low[last + 1 :].max(initial=0),
            self.crossed_low[last + 1 :].max(initial=0),
        ]

    def _between(
        self, nodes: NDArray[np.intp], cluster_of: NDArray[np.intp], gap: float
    ) -> list[float]:
        """Return the entries of CUT_NAMES from ratio to valley_least, and misplaced.

        A row is misplaced if its mean similarity to another cluster is larger than to its own.
        """
        rows = _RowsOfCut.of(cluster_of[self.leaves], len(nodes))
        sizes = self.each.tree.sizes[nodes]
        met = self.each.meetings[rows.numbers, nodes[rows.clusters]]
        own = met / np.maximum(sizes[rows.clusters] - 1, 1)
        means = self.means[nodes]
        means[rows.clusters, rows.numbers] = -1
        other = means.max(axis=0)
        silhouettes = (own - other) / np.maximum(np.maximum(own, other), LEAST)
        means[rows.clusters, rows.numbers] = 0
        ratios = np.minimum(rows.largest(means) / np.maximum(rows.means(own), LEAST), 2)
        # The top node has all rows.
        contact = _contact(self.fine[nodes[rows.clusters], rows.numbers], self.fine[0])
        contacts, valleys = rows.means(contact), self._valleys(rows, contact)
        return [
            _mean(ratios),
            ratios.max(),
            _mean(silhouettes),
            rows.means(silhouettes).min(),
            np.count_nonzero(silhouettes < _WEAK_SILHOUETTE) / len(silhouettes),
            gap,
            _mean(contacts),
            contacts.max(),
            (valleys * sizes / self.grown.n_rows).sum(),
            valleys.min(),
            np.count_nonzero(other > own) / len(own),
        ]

    def _valleys(self, rows: _RowsOfCut, contact: Floats) -> Floats:
        """Return the drop in density at the border of each cluster."""
        border, inner, gaps = contact * (1 - contact), 1 - contact, self.grown.log_gaps
        cores = rows.totals(gaps * inner) / np.maximum(rows.totals(inner), LEAST)
        borders = rows.totals(border)
        at_border = rows.totals(gaps * border) / np.maximum(borders, LEAST)
        depths = self.grown.dimension * (at_border - cores)
        return np.where(borders > 1e-6, depths.clip(NO_VALLEY, DEEPEST), DEEPEST)


class _RowsOfCut(NamedTuple):
    """The rows for which meetings are counted, by the clusters of a cut."""

    numbers: NDArray[np.intp]  # (r,) from 0
    clusters: NDArray[np.intp]  # (r,)
    sizes: NDArray[np.intp]  # (k,)
    counts: NDArray[np.intp]  # (k,) the same, but at least 1

    @classmethod
    def of(cls, clusters: NDArray[np.intp], n_clusters: int) -> _RowsOfCut:
        sizes = np.bincount(clusters, minlength=n_clusters)
        return cls(np.arange(len(clusters)), clusters, sizes, np.maximum(sizes, 1))

    def totals(self, values: Floats) -> Floats:
        """Return the sum of the values of each cluster."""
        return np.bincount(self.clusters, values, minlength=len(self.sizes)).astype(np.float64)

    def means(self, values: Floats) -> Floats:
        return self.totals(values) / self.counts

    def largest(self, values: Floats) -> Floats:
        """Return, for each cluster, the largest mean of the values of its rows; they are (k, r)."""
        order = np.argsort(self.clusters, kind="stable")
        present = np.flatnonzero(self.sizes)
        starts = (np.cumsum(self.sizes) - self.sizes)[present]
        sums = np.zeros((len(self.sizes), len(self.sizes)))
        sums[:, present] = np.add.reduceat(values.take(order, axis=1), starts, axis=1)
        largest: Floats = (sums / self.counts).max(axis=0)
        return largest


def _contact(own: Floats, everything: Floats) -> Floats:
    """Return the share of other clusters in the rows that each row meets."""
    shares = 1 - own / np.maximum(everything, LEAST)
    return np.where(everything > 0, shares, 0).clip(0, 1)


def _mean(values: Floats) -> Floats:
    # The same as `values.mean()` in half the time.
    mean: Floats = values.sum() / len(values)
    return mean
