"""Hierarchies of the rows of a sample, condensed to the splits that matter.

Two kinds are grown from the isolation similarity. "average": average linkage, for compact clusters.
"path": single linkage on mutual reachability, for winding clusters. The reachability of two rows is
at most the similarity of either to its `N_NEAR`-th most similar row, so that single rows do not
form bridges.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform

from .similarity import Counts, Distances, Neighbours

AVERAGE, PATH = "average", "path"
N_NEAR = 8
# Splits that would make more leaves, counted from the top, are dropped.
MAX_LEAVES = 60


@dataclass(frozen=True, eq=False)
class SplitTree:
    """A binary tree of clusters; split j divides a node into nodes 2j + 1 and 2j + 2.

    Node 0 holds all rows. Splits are sorted by descending height.
    """

    kind: str
    psi: int
    owners: NDArray[np.intp]  # (s,) the node that each split divides
    heights: NDArray[np.float64]  # (s,) dissimilarity at which the two sides were joined
    nodes: NDArray[np.intp]  # (n,) deepest node of each row, -1 for rows that are not in the tree
    leaves: NDArray[np.intp]  # (n,) the leaf that each row is assigned to

    @property
    def n_splits(self) -> int:
        return len(self.owners)

    @property
    def n_nodes(self) -> int:
        return 2 * self.n_splits + 1

    @cached_property
    def children(self) -> NDArray[np.intp]:
        """The two nodes that each split makes, (s, 2)."""
        first = 2 * np.arange(self.n_splits) + 1
        return np.column_stack([first, first + 1])

    @cached_property
    def parents(self) -> NDArray[np.intp]:
        """The node above each node, -1 for the top."""
        parents = np.full(self.n_nodes, -1)
        parents[self.children] = self.owners[:, np.newaxis]
        return parents

    @cached_property
    def is_leaf(self) -> NDArray[np.bool_]:
        is_leaf = np.ones(self.n_nodes, dtype=bool)
        is_leaf[self.owners] = False
        return is_leaf

    @cached_property
    def within(self) -> NDArray[np.bool_]:
        """True where node i is node j or lies below it, (m, m)."""
        within = np.eye(self.n_nodes, dtype=bool)
        # Split j makes nodes 2j + 1 and 2j + 2, after the node that it divides.
        for split, owner in enumerate(self.owners.tolist()):
            within[2 * split + 1 : 2 * split + 3] |= within[owner]
        return within

    @cached_property
    def leaf_within(self) -> NDArray[np.float32]:
        """1 where the leaf of a line is node j or lies below it, else 0, (s + 1, m)."""
        return self.within[self.is_leaf].astype(np.float32)

    @cached_property
    def numbers_of_leaves(self) -> NDArray[np.intp]:
        """The line of each leaf in `leaf_within`, (m,); meaningless for other nodes."""
        return np.cumsum(self.is_leaf) - 1

    @cached_property
    def leaf_of_rows(self) -> NDArray[np.intp]:
        """The line of each row's leaf in `leaf_within`."""
        return self.numbers_of_leaves[self.leaves]

    @cached_property
    def sizes(self) -> NDArray[np.float64]:
        """The number of rows of each node."""
        counts = np.bincount(self.leaves, minlength=self.n_nodes)
        return (counts @ self.within).astype(np.float64)

    @cached_property
    def _nodes_of_cuts(self) -> dict[int, NDArray[np.intp]]:
        return {}

    def nodes_of_cut(self, n_clusters: int) -> NDArray[np.intp]:
        """Return the nodes of a cut, ascending."""
        nodes = self._nodes_of_cuts.get(n_clusters)
        if nodes is None:
            # Split j makes nodes 2j + 1 and 2j + 2.
            is_there = np.zeros(self.n_nodes, dtype=bool)
            is_there[: 2 * n_clusters - 1] = True
            is_there[self.owners[: n_clusters - 1]] = False
            nodes = self._nodes_of_cuts[n_clusters] = np.flatnonzero(is_there)
        return nodes

    def cut_nodes(self, n_clusters: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the nodes of a cut, ascending, and the index of the one above each node, or -1."""
        nodes = self.nodes_of_cut(n_clusters)
        below = self.within[:, nodes]
        return nodes, np.where(below.any(axis=1), below.argmax(axis=1), -1)

    def over(self, followed: NDArray[np.intp]) -> SplitTree:
        """Return the tree over other rows, each of which follows one of these rows.

        The tree ends before the first split with a side that no row follows.
        """
        whole = replace(self, nodes=self.nodes[followed], leaves=self.leaves[followed])
        has_rows = (whole.sizes[self.children] > 0).all(axis=1)
        n_splits = int(np.append(has_rows, False).argmin())
        n_nodes = 2 * n_splits + 1
        # The deepest remaining node above each node; nodes come after those above them.
        above = n_nodes - 1 - self.within[:, n_nodes - 1 :: -1].argmax(axis=1)
        return replace(
            whole,
            owners=self.owners[:n_splits],
            heights=self.heights[:n_splits],
            nodes=np.where(whole.nodes < 0, -1, above[whole.nodes]),
            leaves=above[whole.leaves],
        )

    def cut(self, n_clusters: int) -> NDArray[np.int64]:
        """Return the cluster of each row in the cut into `n_clusters` clusters."""
        if n_clusters == 1:
            return np.zeros(len(self.leaves), dtype=np.int64)
        return self.cut_nodes(n_clusters)[1][self.leaves].astype(np.int64)


def join_rows(counts: Counts, n_partitions: int, kind: str) -> NDArray[np.float64]:
    """Return the hierarchy of all rows as a linkage matrix of `scipy.cluster.hierarchy`."""
    if kind == AVERAGE:
        apart = squareform(counts, checks=False).astype(np.float64)
        apart /= n_partitions
        np.subtract(1, apart, out=apart)
        return np.asarray(linkage(apart, "average"))
    # NumPy finds small order statistics of numbers of two bytes much faster than of one.
    others = n_partitions - counts.astype(np.promote_types(counts.dtype, np.uint16))
    np.fill_diagonal(others, n_partitions)
    n_near = min(N_NEAR, len(counts) - 1)
    core = np.partition(others, n_near - 1, axis=1)[:, n_near - 1]
    reach = np.maximum(others, core)
    np.maximum(reach, core[:, np.newaxis], out=reach)
    # Rows that share all cells are joined first, even if fewer than `N_NEAR` do.
    np.copyto(reach, 0, where=others == 0)
    apart = squareform(reach, checks=False).astype(np.float64)
    joined = np.asarray(linkage(apart, "single"))
    joined[:, 2] /= n_partitions
    return joined


def condense(
    joined: NDArray[np.float64], kind: str, psi: int, min_rows: int, max_leaves: int = MAX_LEAVES
) -> SplitTree:
    """Return a tree of those splits of a hierarchy that have `min_rows` rows or more on both sides.

    Rows that leave a node in smaller groups stay with that node. A split at height 0 would divide
    rows that share all cells, and is ignored.
    """
    n_rows = len(joined) + 1
    first, second = joined[:, 0].astype(np.intp), joined[:, 1].astype(np.intp)
    size = np.concatenate([np.ones(n_rows), joined[:, 3]])
    both = (size[first] >= min_rows) & (size[second] >= min_rows) & (joined[:, 2] > 0)
    splits = np.flatnonzero(both)[::-1][: max_leaves - 1]
    n_sets = 2 * n_rows - 1
    node = np.full(n_sets, -1)
    node[n_sets - 1] = 0
    node[first[splits]] = 2 * np.arange(len(splits)) + 1
    node[second[splits]] = 2 * np.arange(len(splits)) + 2
    above = np.arange(n_sets)
    above[first] = above[second] = n_rows + np.arange(n_rows - 1)
    above = np.where(node >= 0, np.arange(n_sets), above)
    while not np.array_equal(above, further := above[above]):
        above = further
    nodes = node[above[:n_rows]]
    return SplitTree(
        kind, psi, node[above[n_rows + splits]], joined[splits, 2], nodes, np.empty(0, np.intp)
    )


def settle(
    tree: SplitTree, nodes: NDArray[np.intp], distances: Distances, near: Neighbours
) -> SplitTree:
    """Assign every row to a leaf: that of the nearest row in a leaf below the row's node.

    `nodes` are the nodes of all rows, -1 for those that are not in the tree.
    """
    leaves = nodes.copy()
    is_leaf, n_nodes = tree.is_leaf, tree.n_nodes
    # Whether a node is a leaf below another; the line at the end is for rows that are in no node.
    is_below = np.zeros((n_nodes + 1, n_nodes), dtype=bool)
    is_below[:-1][is_leaf] = tree.within[is_leaf]
    lines = np.where(nodes >= 0, nodes, n_nodes) * n_nodes
    unsettled = np.flatnonzero((nodes < 0) | ~is_leaf[nodes])
    # Most rows have a neighbour in a leaf among the first few, so the others come later.
    for some in (near[:, :N_NEAR], near[:, N_NEAR:]):
        start = np.maximum(nodes[unsettled], 0)
        around = some.take(unsettled, axis=0)
        fits = is_below.ravel().take(lines.take(around) + start[:, np.newaxis])
        is_settled = fits.any(axis=1)
        settled = np.flatnonzero(is_settled)
        place = fits[settled].argmax(axis=1) if len(settled) else settled
        leaves[unsettled[settled]] = nodes[around[settled, place]]
        unsettled = unsettled[~is_settled]
    in_leaf = (nodes >= 0) & is_leaf[nodes]
    for row in unsettled:
        members = np.flatnonzero(in_leaf & tree.within[nodes, max(nodes[row], 0)])
        leaves[row] = nodes[members[distances[row, members].argmin()]]
    return replace(tree, nodes=nodes, leaves=leaves)


def rows_of_nodes(one: SplitTree, other: SplitTree) -> NDArray[np.float32]:
    """Return the number of rows that each node of one tree shares with each node of another."""
    n_own, n_others = one.n_splits + 1, other.n_splits + 1
    places = one.leaf_of_rows * n_others + other.leaf_of_rows
    table = np.bincount(places, minlength=n_own * n_others)
    # Sums of whole numbers are exact in any order.
    shared = table.reshape(n_own, n_others).astype(np.float32)
    return np.asarray(one.leaf_within.T @ shared @ other.leaf_within)


def node_jaccards(one: SplitTree, other: SplitTree) -> NDArray[np.float32]:
    """Return the Jaccard index of each node of one tree with each node of another."""
    both = rows_of_nodes(one, other)
    jaccards: NDArray[np.float32] = both / (both[:, :1] + both[:1] - both)
    return jaccards
