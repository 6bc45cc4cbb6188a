"""Agreement of several clusterings of the same rows."""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .borders import Floats
from .split_tree import SplitTree, rows_of_nodes

Labels = NDArray[np.int64]


class Cut(NamedTuple):
    """A clustering that is a cut of a tree."""

    tree: SplitTree
    n_clusters: int


def shared_rows(one: Labels, other: Labels) -> NDArray[np.int64]:
    """Return the number of rows shared by each pair of clusters of two clusterings, (k, l)."""
    n_one, n_other = int(one.max()) + 1, int(other.max()) + 1
    counts = np.bincount(one * n_other + other, minlength=n_one * n_other)
    return counts.reshape(n_one, n_other)


def agreements_of_cuts(cuts: list[Cut]) -> Floats:
    """Return the adjusted Rand index of each pair of cuts of trees over the same rows.

    The clusters of a cut are nodes, and the rows that nodes share are counted once for each pair of
    trees.
    """
    if not cuts:
        return np.empty((0, 0))
    trees = {id(cut.tree): cut.tree for cut in cuts}
    own = {key: np.flatnonzero([id(cut.tree) == key for cut in cuts]) for key in trees}
    has_node = {
        key: _nodes_of_cuts(tree, [cuts[i] for i in own[key]]) for key, tree in trees.items()
    }
    squares = np.empty((len(cuts), len(cuts)))
    for one, other in combinations_with_replacement(trees, 2):
        shared = rows_of_nodes(trees[one], trees[other]).astype(np.float64)
        block = has_node[one] @ (shared * shared) @ has_node[other].T
        squares[np.ix_(own[one], own[other])] = block
        squares[np.ix_(own[other], own[one])] = block.T
    return _adjusted_rand_of_pairs(squares, len(cuts[0].tree.leaves))


def _nodes_of_cuts(tree: SplitTree, cuts: list[Cut]) -> Floats:
    """Return a table with 1 for the nodes that are clusters of each cut of a tree, (c, m)."""
    has_node = np.zeros((len(cuts), tree.n_nodes))
    for line, cut in zip(has_node, cuts, strict=True):
        line[tree.nodes_of_cut(cut.n_clusters)] = 1
    return has_node


def _adjusted_rand_of_pairs(squares: Floats, n_rows: int) -> Floats:
    """Return the adjusted Rand index of each pair of clusterings.

    `squares` are the sums of the squared numbers of rows that clusters of both share. Up to 10,000
    rows, all numbers are whole and below 2^53, so that only the division rounds.
    """
    together = (squares - n_rows) / 2
    alone, everything = np.diag(together), n_rows * (n_rows - 1) / 2
    by_chance = np.outer(alone, alone)
    most = (alone[:, np.newaxis] + alone) * everything - 2 * by_chance
    alike: Floats = np.ones(together.shape)
    np.divide(2 * (together * everything - by_chance), most, out=alike, where=most != 0)
    return alike


def most_typical(alike: Floats, odds: Floats) -> tuple[int, float]:
    """Return the index of the clustering that is most like the others, and its mean ARI with them.

    It has the largest mean ARI with all clusterings, weighted by their odds."""
    typical = alike @ odds
    winner = int(typical.argmax())
    return winner, float(typical[winner])


def share_agreeing(labels: Labels, clusterings: list[Labels], odds: Floats) -> Floats:
    """Return, for each row, the share of the odds held by clusterings that agree with its label."""
    confidences = np.zeros(len(labels))
    for other, share in zip(clusterings, odds, strict=True):
        shared = shared_rows(labels, other)
        unions = shared.sum(axis=1, keepdims=True) + shared.sum(axis=0) - shared
        matches = (shared / unions).argmax(axis=1)
        confidences += share * (matches[labels] == other)
    # The odds may sum to a little more than 1.
    return np.minimum(confidences, 1)


def numbers_by_size(labels: Labels) -> Labels:
    """Return the number by size of each label, the largest cluster first; ties by first row.

    Labels are 0, 1, ..., k - 1, and each occurs.
    """
    _, first, sizes = np.unique(labels, return_index=True, return_counts=True)
    numbers: Labels = np.argsort(np.lexsort((first, -sizes)))
    return numbers
