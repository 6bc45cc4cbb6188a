"""Evidence for splits of a tree and for its cuts into clusters, without labels.

Names of columns are those of the page docs/automatic.md, and of the numbers in weights.json.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .stability import Grown, GrownTree

Floats = NDArray[np.float64]

SPLIT_NAMES = (
    "found_low",
    "found_high",
    "found_whole",
    "found_worst",
    "crossed_low",
    "crossed_whole",
    "log_size",
    "log_share",
    "log_whole",
    "log_cells",
    "height",
    "height_below",
    "height_above",
    "ratio",
    "silhouette",
    "ambiguous",
    "contact",
    "contact_smaller",
    "valley",
)
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
_LEAST = 1e-9
_NO_VALLEY, DEEPEST = -3.0, 6.0
_WEAK_SILHOUETTE, _NO_SILHOUETTE = 0.2, 0.1


class Candidate(NamedTuple):
    """A cut of one of the trees into two clusters or more."""

    tree: int
    n_clusters: int


class Evidence(NamedTuple):
    """All candidates of a sample, and what speaks for them."""

    candidates: list[Candidate]
    cuts: Floats  # (c, len(CUT_NAMES))
    splits: list[Floats]  # (s, len(SPLIT_NAMES)) of each tree


def gather_evidence(grown: Grown) -> Evidence:
    """Return all cuts of all trees with their evidence."""
    candidates: list[Candidate] = []
    rows: list[list[float]] = []
    splits = [split_evidence(grown, number) for number in range(len(grown.trees))]
    for number, each in enumerate(grown.trees):
        for place, n_clusters in enumerate(each.numbers.tolist()):
            candidates.append(Candidate(number, n_clusters))
            rows.append(cut_evidence(grown, number, splits[number], place, n_clusters))
    return Evidence(candidates, np.array(rows).reshape(-1, len(CUT_NAMES)), splits)


def split_evidence(grown: Grown, number: int) -> Floats:
    """Return the evidence for each split of a tree by itself, (s, len(SPLIT_NAMES))."""
    each = grown.trees[number]
    tree = each.tree
    if not tree.n_splits:
        return np.zeros((0, len(SPLIT_NAMES)))
    sizes, found, crossed = tree.sizes, each.found.mean(axis=0), grown.crossed[number]
    large, small = tree.children.T
    swapped = sizes[large] < sizes[small]
    large, small = np.where(swapped, small, large), np.where(swapped, large, small)
    whole = tree.owners
    below = np.zeros(tree.n_nodes)
    below[whole] = tree.heights
    parent = tree.parents[whole]
    above = np.where(parent >= 0, below[parent], tree.heights)
    between = _between_sides(grown, each, large, small)
    return np.column_stack(
        [
            np.minimum(found[large], found[small]),
            np.maximum(found[large], found[small]),
            found[whole],
            np.minimum(each.found[:, large].min(axis=0), each.found[:, small].min(axis=0)),
            np.minimum(crossed[large], crossed[small]),
            crossed[whole],
            np.log(sizes[small]),
            np.log(sizes[small] / sizes[whole]),
            np.log(sizes[whole] / grown.n_rows),
            np.log(tree.psi * sizes[whole] / grown.n_rows),
            tree.heights,
            tree.heights - np.maximum(below[large], below[small]),
            above - tree.heights,
            between,
        ]
    )


def _between_sides(
    grown: Grown, each: GrownTree, large: NDArray[np.intp], small: NDArray[np.intp]
) -> Floats:
    """Return ratio, silhouette, ambiguous, contact, contact_smaller and valley, (s, 6)."""
    tree, sizes = each.tree, each.tree.sizes
    within = tree.within[tree.leaves[grown.rows]]
    in_large, in_small = within[:, large], within[:, small]
    inside = in_large | in_small
    to_large, to_small = each.meetings[:, large], each.meetings[:, small]
    own = np.where(
        in_large,
        to_large / np.maximum(sizes[large] - 1, 1),
        to_small / np.maximum(sizes[small] - 1, 1),
    )
    other = np.where(in_large, to_small / sizes[small], to_large / sizes[large])
    silhouettes = (own - other) / np.maximum(own + other, _LEAST)
    cohesion = np.minimum(_mean(own, in_large), _mean(own, in_small))
    fine_large, fine_small = each.fine_meetings[:, large], each.fine_meetings[:, small]
    total = fine_large + fine_small
    of_other = np.where(in_large, fine_small, fine_large)
    shares = np.where(total > 0, of_other / np.maximum(total, _LEAST), 0)
    return np.column_stack(
        [
            np.minimum(_mean(other, inside) / np.maximum(cohesion, _LEAST), 2),
            _mean(silhouettes, inside),
            _mean(silhouettes < _NO_SILHOUETTE, inside),
            _mean(shares, inside),
            _mean(shares, in_small),
            _split_valleys(grown, shares, in_large, in_small),
        ]
    )


def _split_valleys(
    grown: Grown, shares: Floats, in_large: NDArray[np.bool_], in_small: NDArray[np.bool_]
) -> Floats:
    """Return how much less dense, in units of log density, rows between two sides are."""
    gaps = grown.log_gaps[grown.rows, np.newaxis]
    border = shares * (1 - shares) * (in_large | in_small)
    cores = np.maximum(_mean(gaps, (1 - shares) * in_large), _mean(gaps, (1 - shares) * in_small))
    depths = np.clip(grown.dimension * (_mean(gaps, border) - cores), _NO_VALLEY, DEEPEST)
    return np.where(border.sum(axis=0) > 1e-6, depths, DEEPEST)


def _mean(values: NDArray[Any], weights: NDArray[Any]) -> Floats:
    """Return the weighted mean of each column."""
    totals = np.asarray(weights, dtype=np.float64).sum(axis=0)
    sums: Floats = (np.asarray(values, dtype=np.float64) * weights).sum(axis=0)
    return np.asarray(sums / np.maximum(totals, _LEAST))


def cut_evidence(
    grown: Grown, number: int, splits: Floats, place: int, n_clusters: int
) -> list[float]:
    """Return the evidence for the cut of a tree into some clusters, in the order of CUT_NAMES."""
    each = grown.trees[number]
    tree = each.tree
    nodes, cluster_of = tree.cut_nodes(n_clusters)
    sizes = tree.sizes[nodes]
    shares = sizes / grown.n_rows
    found, crossed = each.found.mean(axis=0)[nodes], grown.crossed[number][nodes]
    near_psi = grown.at_near_psi[number][nodes]
    heights, last = tree.heights, n_clusters - 2
    height_below = heights[last + 1] if last + 1 < len(heights) else 0.9 * heights[-1]
    found_low = splits[:, 0]
    crossed_low = np.minimum(found_low, splits[:, 4])
    return [
        math.log(n_clusters),
        found.mean(),
        (found * shares).sum(),
        found.min(),
        each.found.min(axis=0)[nodes].min(),
        each.same_number[place],
        near_psi.mean(),
        near_psi.min(),
        crossed.mean(),
        crossed.min(),
        -(shares * np.log(shares)).sum() / math.log(n_clusters),
        math.log(shares.min() * n_clusters),
        math.log(shares.max() * n_clusters),
        *_between_clusters(grown, each, nodes, cluster_of, heights[last] - height_below),
        found_low[last],
        found_low[last + 1] if last + 1 < len(found_low) else 0.0,
        _share_misplaced(grown, each, nodes, cluster_of),
        found_low[: last + 1].min(),
        found_low[last + 1 :].max(initial=0),
        crossed_low[last + 1 :].max(initial=0),
    ]


def _own_and_other(
    grown: Grown, each: GrownTree, nodes: NDArray[np.intp], cluster_of: NDArray[np.intp]
) -> tuple[NDArray[np.intp], Floats, Floats]:
    """Return the cluster of rows, their mean meetings with its rows, and with all clusters."""
    sizes = each.tree.sizes[nodes]
    clusters = cluster_of[each.tree.leaves[grown.rows]]
    rows = np.arange(len(clusters))
    own = each.meetings[rows, nodes[clusters]] / np.maximum(sizes[clusters] - 1, 1)
    means = (each.meetings[:, nodes] / sizes.astype(np.float32)).astype(np.float64)
    means[rows, clusters] = -1
    return clusters, own, means


def _share_misplaced(
    grown: Grown, each: GrownTree, nodes: NDArray[np.intp], cluster_of: NDArray[np.intp]
) -> float:
    """Return the share of rows that meet another cluster more often than their own."""
    _, own, means = _own_and_other(grown, each, nodes, cluster_of)
    return float(np.mean(means.max(axis=1) > own))


def _between_clusters(
    grown: Grown,
    each: GrownTree,
    nodes: NDArray[np.intp],
    cluster_of: NDArray[np.intp],
    gap: float,
) -> list[float]:
    """Return ratio to valley_least of CUT_NAMES, with `gap` in its place."""
    clusters, own, means = _own_and_other(grown, each, nodes, cluster_of)
    other = means.max(axis=1)
    n_clusters = len(nodes)
    counts = np.maximum(np.bincount(clusters, minlength=n_clusters), 1)

    def total(values: Floats) -> Floats:
        return np.bincount(clusters, values, minlength=n_clusters).astype(np.float64)

    silhouettes = (own - other) / np.maximum(np.maximum(own, other), _LEAST)
    means[np.arange(len(clusters)), clusters] = 0
    order = np.argsort(clusters, kind="stable")
    present = np.flatnonzero(np.bincount(clusters, minlength=n_clusters))
    starts = np.searchsorted(clusters[order], present)
    sums = np.zeros((n_clusters, n_clusters))
    sums[present] = np.add.reduceat(means[order], starts, axis=0)
    largest = (sums / counts[:, np.newaxis]).max(axis=1)
    ratios = np.minimum(largest / np.maximum(total(own) / counts, _LEAST), 2)
    fine = each.fine_meetings[:, nodes].astype(np.float64)
    all_fine, own_fine = fine.sum(axis=1), fine[np.arange(len(clusters)), clusters]
    contact = np.where(all_fine > 0, 1 - own_fine / np.maximum(all_fine, _LEAST), 0).clip(0, 1)
    contacts = total(contact) / counts
    border, gaps = contact * (1 - contact), grown.log_gaps[grown.rows]
    cores = total(gaps * (1 - contact)) / np.maximum(total(1 - contact), _LEAST)
    borders = total(border)
    depths = grown.dimension * (total(gaps * border) / np.maximum(borders, _LEAST) - cores)
    valleys = np.where(borders > 1e-6, np.clip(depths, _NO_VALLEY, DEEPEST), DEEPEST)
    return [
        ratios.mean(),
        ratios.max(),
        silhouettes.mean(),
        (total(silhouettes) / counts).min(),
        np.mean(silhouettes < _WEAK_SILHOUETTE),
        gap,
        contacts.mean(),
        contacts.max(),
        (valleys * each.tree.sizes[nodes] / grown.n_rows).sum(),
        valleys.min(),
    ]
