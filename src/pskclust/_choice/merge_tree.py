"""MergeTree: the order in which parts of clusters were joined, for plots and coarser cuts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .split_tree import SplitTree


@dataclass(frozen=True, eq=False)
class MergeTree:
    """A tree of m parts, joined two at a time, the most similar first.

    Part p is node p, and join j makes node m + j.
    """

    pairs: NDArray[np.int64]  # (m - 1, 2) the two nodes of each join
    similarities: NDArray[np.float64]  # (m - 1,) of the two nodes
    masses: NDArray[np.int64]  # (m,) of the parts

    def __len__(self) -> int:
        return len(self.masses)

    def cut(self, n_clusters: int) -> NDArray[np.int64]:
        """Return the cluster of each part; clusters are numbered by their first parts."""
        sets = self.sets_of_parts(n_clusters)
        _, first, cluster = np.unique(sets, return_index=True, return_inverse=True)
        answer: NDArray[np.int64] = np.argsort(np.argsort(first))[cluster]
        return answer

    def sets_of_parts(self, n_clusters: int) -> NDArray[np.int64]:
        """Return the node that contains each part in the cut into `n_clusters`."""
        n_parts = len(self)
        pairs = self.pairs[: max(0, n_parts - n_clusters)]
        # The node that each node was joined into; a node that was not joined is a cluster.
        became = np.arange(n_parts + len(pairs))
        became[pairs] = n_parts + np.arange(len(pairs))[:, np.newaxis]
        while not np.array_equal(became, further := became[became]):
            became = further
        return became[:n_parts]

    def to_scipy(self) -> NDArray[np.float64]:
        """Return the tree as a linkage matrix of `scipy.cluster.hierarchy`.

        Heights are -log10 of similarities; similarities below 1e-6 count as 1e-6. A join that is
        more similar than an earlier join gets the height of the earlier join.
        """
        heights = np.maximum.accumulate(-np.log10(np.maximum(self.similarities, 1e-6)))
        sizes = np.ones(len(self) + len(self.pairs))
        for join, pair in enumerate(self.pairs):
            sizes[len(self) + join] = sizes[pair].sum()
        return np.column_stack([self.pairs, heights, sizes[len(self) :]])


def merge_tree_of(tree: SplitTree) -> tuple[MergeTree, NDArray[np.intp]]:
    """Return the merge tree of the leaves of a split tree, and the node of each leaf."""
    leaves = np.flatnonzero(tree.is_leaf)
    numbers = np.full(tree.n_nodes, -1)
    numbers[leaves] = np.arange(len(leaves))
    pairs = np.empty((tree.n_splits, 2), dtype=np.int64)
    # The lowest split was joined first.
    for join, split in enumerate(reversed(range(tree.n_splits))):
        pairs[join] = np.sort(numbers[tree.children[split]])
        numbers[tree.owners[split]] = len(leaves) + join
    similarities = 1 - tree.heights[::-1]
    masses = tree.sizes[leaves].astype(np.int64)
    return MergeTree(pairs, similarities, masses), leaves
