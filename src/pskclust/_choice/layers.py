"""Layers: clusterings of the same rows from coarse to fine, all of them cuts of one merge tree."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import linkage

from .._cells.count_tables import ClusterTables
from .._utils.wording import ShortRepr
from .bands import best_of_bands
from .choose import Chosen
from .linking import link_products
from .merge_tree import MergeTree
from .options import Option
from .placing import SampleKernel, leaf_of_rows, tables_of

# Rows are assigned to this number of parts of the tree: to fewer if it has fewer leaves, and to
# more if the choice or one of its layers has more clusters. More clusters need another fit.
N_PARTS = 16
_TINY = 1e-300


@dataclass(frozen=True, repr=False)
class Layer(ShortRepr):
    """One of several clusterings of the same rows, for ``PSKC.relabel``.

    Attributes
    ----------
    n_clusters : int
    likeness : float
        Similarity of the two most similar clusters, which the next coarser cut of the tree joins,
        0 to 1; 0 for one cluster. The lower it is, the better clusters are separated.
    odds, stability, agreement, separation : float or None
        Evidence, as for a candidate in ``PSKC.auto_``. None if the choice has none for this layer.
        The odds compare the layer with all candidates and may be near 0, because a layer is
        accepted for its splits, not for its odds: see ``PSKC.layers_``.
    """

    n_clusters: int
    likeness: float
    odds: float | None = None
    stability: float | None = None
    agreement: float | None = None
    separation: float | None = None


@dataclass(frozen=True, eq=False)
class Parts:
    """Parts of the tree of a choice, and the tables that assign rows to them.

    A row goes to the part with the most sampled rows in its cells; sampled rows keep their parts.
    """

    tables: ClusterTables  # of the p parts
    rows: NDArray[np.intp]  # (m,) rows of the sample
    numbers: NDArray[np.int64]  # (m,) their parts
    links: NDArray[np.int64]  # (p,) the cluster of each part, -1 for none

    @classmethod
    def of(
        cls, chosen: Chosen, kernel: SampleKernel, tree: MergeTree, links: NDArray[np.int64]
    ) -> Parts:
        n_parts = n_parts_of(chosen, tree)
        numbers = tree.cut(n_parts)[leaf_of_rows(chosen)]
        tables = tables_of(numbers, n_parts, kernel)
        return cls(tables, chosen.rows, numbers, links[first_leaves(tree, n_parts)])

    def __len__(self) -> int:
        return len(self.links)

    def n_held(self, labels: NDArray[np.int64]) -> int:
        """Return how many parts hold sampled rows, given the labels of these rows.

        Rows at borders may have left their part for another cluster, so a part may hold none.
        """
        settled = self.settled(int(labels.max(initial=-1)) + 1)
        found = settled.of_rows((labels + 1) * len(self) + self.numbers, 0)
        return len(np.unique(found[labels >= 0]))

    def settled(self, n_clusters: int) -> SettledParts:
        """Return the rule that keeps each row in a part of its own cluster."""
        n_parts = len(self)
        parts = np.tile(np.arange(n_parts), (n_clusters + 1, 1))
        for cluster in range(n_clusters):
            own = np.flatnonzero(self.links == cluster)
            largest = own[self.tables.masses[own].argmax()]
            parts[cluster + 1, self.links != cluster] = largest
        parts[0] = n_parts
        return SettledParts(parts.ravel().astype(np.float64))


@dataclass(frozen=True, eq=False)
class SettledParts:
    """The part of a row, given its label and the part it is most similar to.

    If that part belongs to another cluster, the row goes to the largest part of its own cluster.
    For noise, the part is the number of parts.
    """

    parts: NDArray[np.float64]  # ((k + 1) * p,) noise first

    def of_rows(self, both: NDArray[np.int64], first_row: int) -> NDArray[np.float64]:
        """Return the part of each row; `both` is (label + 1) * p + most similar part."""
        found: NDArray[np.float64] = self.parts.take(both)
        return found


def n_parts_of(chosen: Chosen, tree: MergeTree) -> int:
    """Return the number of parts of a tree that rows are assigned to."""
    choice = chosen.choice
    finest = max(option.n_clusters for option in (choice.chosen, *choice.layers))
    return min(len(tree), max(N_PARTS, finest))


def first_leaves(tree: MergeTree, n_parts: int) -> NDArray[np.intp]:
    """Return the first leaf of each part of the cut into `n_parts`."""
    return np.unique(tree.cut(n_parts), return_index=True)[1]


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """The cuts of a merge tree, to whose parts rows are assigned.

    Clusters that share no cell have similarity 0, however near they are. If cells have centres,
    such clusters are joined by the distance between their middles, the nearest first.
    """

    tree: MergeTree
    links: NDArray[np.int64]  # (p,) the cluster of the fit that each part is in, -1 for none
    distances: NDArray[np.float64]  # (j,) between middles, for the last joins, ascending

    @classmethod
    def of(
        cls,
        tree: MergeTree,
        links: NDArray[np.int64],
        masses: NDArray[np.int64],
        middles: NDArray[np.float64] | None,
    ) -> Hierarchy:
        """Return the hierarchy of a tree that is cut into `len(links)` parts.

        `masses` and `middles` are those of the clusters of the fit.
        """
        n_alike = len(tree) - int(np.count_nonzero(tree.similarities > 0))
        # Cuts into as many clusters as the fit, or more, do not change.
        n_apart = min(n_alike, len(masses))
        if middles is None or n_apart < 3:
            return cls(tree, links, np.empty(0))
        sets = tree.cut(n_apart)[first_leaves(tree, len(links))]
        weights = np.zeros((n_apart, len(masses)))
        weights[sets[links >= 0], links[links >= 0]] = masses[links[links >= 0]]
        held = weights.sum(axis=1) > 0
        points = np.zeros((n_apart, middles.shape[1]))
        points[held] = (weights[held] / weights[held].sum(axis=1, keepdims=True)) @ middles
        joined = linkage(points, "average")
        return cls(_joined_anew(tree, joined), links, joined[:, 2])

    @classmethod
    def of_clusters(cls, clusters: ClusterTables, middles: NDArray[np.float64] | None) -> Hierarchy:
        """Return the hierarchy of the clusters of a fit, which are the parts."""
        tree = link_products(clusters.products(), clusters.masses)
        return cls.of(tree, np.arange(len(clusters)), clusters.masses, middles)

    def labels_of_parts(self, n_clusters: int, sizes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the cluster of each part in a cut into `n_clusters`, and -1 for noise, (p + 1,).

        Clusters are numbered in the order of the fit and, within one cluster of the fit, in the
        order of their first parts. `sizes` are the numbers of rows in the parts; at least
        `n_clusters` of them must be positive.
        """
        n_parts = len(self.links)
        first = first_leaves(self.tree, n_parts)
        parts = np.flatnonzero(sizes)
        for n_cut in range(n_clusters, n_parts + 1):
            cut = self.tree.cut(n_cut)[first[parts]]
            # A cluster of the cut may have no rows: then a finer cut is tried.
            used, starts, numbers = np.unique(cut, return_index=True, return_inverse=True)
            if len(used) == n_clusters:
                break
        links = np.full(n_clusters, len(self.links))
        np.minimum.at(links, numbers, self.links[parts])
        order = np.lexsort((starts, links))
        labels = np.full(n_parts + 1, -1)
        labels[parts] = np.argsort(order)[numbers]
        return labels

    def likeness(self, n_clusters: int) -> float:
        """Return the similarity at which the next coarser cut joins two clusters."""
        join = len(self.tree) - n_clusters
        return float(self.tree.similarities[join]) if n_clusters > 1 else 0.0

    def layers(self, options: tuple[Option, ...]) -> tuple[Layer, ...]:
        """Return the layers, including the clusters of the fit; `options` are those of a choice.

        If clusters grew, or share no cell, the layer of each band is the cut before the largest
        drop in similarity, or rise in distance, from one join to the next.
        """
        n_clusters = int(self.links.max(initial=-1)) + 1
        if not n_clusters:
            return ()
        n_apart = len(self.distances) + 1
        n_most = np.count_nonzero(self.links >= 0)
        known = {
            option.n_clusters: self._evident(option)
            for option in options
            if option.n_clusters == 1 or n_apart <= option.n_clusters <= n_most
        }
        compared = range(2, n_apart if options else n_clusters)
        falls = {number: self._fall(number) for number in compared}
        # The clusters of the fit come last, because the last known number of a band is taken.
        numbers = best_of_bands(falls, [*known, n_clusters])
        return tuple(known.get(one) or Layer(one, self.likeness(one)) for one in numbers)

    def _fall(self, n_clusters: int) -> float:
        n_apart = len(self.distances) + 1
        if n_clusters < n_apart:
            before, after = self.distances[n_apart - n_clusters - 1 : n_apart - n_clusters + 1]
            return float(after / max(before, _TINY))
        return self.likeness(n_clusters + 1) / max(self.likeness(n_clusters), _TINY)

    def _evident(self, option: Option) -> Layer:
        return Layer(
            option.n_clusters,
            self.likeness(option.n_clusters),
            option.odds,
            option.stability,
            option.agreement,
            option.separation,
        )


def _joined_anew(tree: MergeTree, joined: NDArray[np.float64]) -> MergeTree:
    """Return the tree with its last joins replaced by those of `joined`, a SciPy linkage."""
    n_sets = len(joined) + 1
    n_kept = len(tree) - n_sets
    sets = np.empty(n_sets + len(joined), dtype=np.int64)
    sets[tree.cut(n_sets)] = tree.sets_of_parts(n_sets)
    sets[n_sets:] = len(tree) + n_kept + np.arange(len(joined))
    pairs = np.vstack([tree.pairs[:n_kept], np.sort(sets[joined[:, :2].astype(np.intp)], axis=1)])
    similarities = np.append(tree.similarities[:n_kept], np.zeros(len(joined)))
    return MergeTree(pairs, similarities, tree.masses)
