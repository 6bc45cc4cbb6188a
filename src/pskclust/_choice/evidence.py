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
        for place, n_clusters in enumerate(each.numbers.tolist()):
            candidates.append(Candidate(number, n_clusters))
            rows.append(cut_evidence(grown, number, splits[number], place, n_clusters))
    return Evidence(candidates, np.array(rows).reshape(-1, len(CUT_NAMES)), splits)


def cut_evidence(
    grown: Grown, number: int, splits: Floats, place: int, n_clusters: int
) -> list[float]:
    """Return the evidence for the cut of a tree into `n_clusters`, in the order of CUT_NAMES."""
    each = grown.trees[number]
    tree = each.tree
    nodes, cluster_of = tree.cut_nodes(n_clusters)
    sizes = tree.sizes[nodes]
    shares = sizes / grown.n_rows
    found, crossed = each.found.mean(axis=0)[nodes], grown.crossed[number][nodes]
    near_psi = grown.at_near_psi[number][nodes]
    heights, last = tree.heights, n_clusters - 2
    height_below = heights[last + 1] if last + 1 < len(heights) else 0.9 * heights[-1]
    *between, misplaced = _between_clusters(
        grown, each, nodes, cluster_of, heights[last] - height_below
    )
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
        *between,
        found_low[last],
        found_low[last + 1] if last + 1 < len(found_low) else 0.0,
        misplaced,
        found_low[: last + 1].min(),
        found_low[last + 1 :].max(initial=0),
        crossed_low[last + 1 :].max(initial=0),
    ]


def _own_and_other(
    grown: Grown, each: GrownTree, nodes: NDArray[np.intp], cluster_of: NDArray[np.intp]
) -> tuple[NDArray[np.intp], Floats, Floats]:
    """Return each row's cluster, and the mean number of cells it shares with rows of each cluster.

    The second array holds the mean for the row's own cluster; the third has -1 in its place.
    """
    sizes = each.tree.sizes[nodes]
    clusters = cluster_of[each.tree.leaves[grown.rows]]
    rows = np.arange(len(clusters))
    own = each.meetings[rows, nodes[clusters]] / np.maximum(sizes[clusters] - 1, 1)
    means = (each.meetings[:, nodes] / sizes.astype(np.float32)).astype(np.float64)
    means[rows, clusters] = -1
    return clusters, own, means


def _between_clusters(
    grown: Grown,
    each: GrownTree,
    nodes: NDArray[np.intp],
    cluster_of: NDArray[np.intp],
    gap: float,
) -> list[float]:
    """Return the entries of CUT_NAMES from ratio to valley_least, and misplaced.

    A row is misplaced if its mean similarity to another cluster is larger than to its own.
    """
    clusters, own, means = _own_and_other(grown, each, nodes, cluster_of)
    other = means.max(axis=1)
    n_clusters = len(nodes)
    counts = np.maximum(np.bincount(clusters, minlength=n_clusters), 1)

    def total(values: Floats) -> Floats:
        return np.bincount(clusters, values, minlength=n_clusters).astype(np.float64)

    silhouettes = (own - other) / np.maximum(np.maximum(own, other), LEAST)
    means[np.arange(len(clusters)), clusters] = 0
    order = np.argsort(clusters, kind="stable")
    present = np.flatnonzero(np.bincount(clusters, minlength=n_clusters))
    starts = np.searchsorted(clusters[order], present)
    sums = np.zeros((n_clusters, n_clusters))
    sums[present] = np.add.reduceat(means[order], starts, axis=0)
    largest = (sums / counts[:, np.newaxis]).max(axis=1)
    ratios = np.minimum(largest / np.maximum(total(own) / counts, LEAST), 2)
    fine = each.fine_meetings[:, nodes].astype(np.float64)
    all_fine, own_fine = fine.sum(axis=1), fine[np.arange(len(clusters)), clusters]
    contact = np.where(all_fine > 0, 1 - own_fine / np.maximum(all_fine, LEAST), 0).clip(0, 1)
    contacts = total(contact) / counts
    border, gaps = contact * (1 - contact), grown.log_gaps
    cores = total(gaps * (1 - contact)) / np.maximum(total(1 - contact), LEAST)
    borders = total(border)
    depths = grown.dimension * (total(gaps * border) / np.maximum(borders, LEAST) - cores)
    valleys = np.where(borders > 1e-6, np.clip(depths, NO_VALLEY, DEEPEST), DEEPEST)
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
        np.mean(other > own),
    ]
