"""Layers: clusterings of the same rows from coarse to fine, all of them cuts of one merge tree."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._cells.count_tables import ClusterTables
from .bands import best_of_bands
from .choose import Chosen, Option
from .linking import link_products
from .merge_tree import MergeTree
from .placing import SampleKernel, leaf_of_rows, tables_of

# Rows are given to this number of parts of the tree, if it has as many, or to more if the choice
# or one of its layers has more clusters: a number of clusters beyond needs another fit.
N_PARTS = 32
_TINY = 1e-300


@dataclass(frozen=True)
class Layer:
    """One of several clusterings of the same rows, for ``PSKC.relabel``.

    Attributes
    ----------
    n_clusters : int
    likeness : float
        Similarity of the two clusters that are most alike, at which the next coarser cut of the
        tree joins them, 0 to 1; 0 for one cluster. The less, the clearer they are apart.
    odds, stability, agreement, separation : float or None
        The evidence of the choice, as of a candidate in ``PSKC.auto_``. None if clusters grew.
    """

    n_clusters: int
    likeness: float
    odds: float | None = None
    stability: float | None = None
    agreement: float | None = None
    separation: float | None = None


@dataclass(frozen=True, eq=False)
class Parts:
    """Parts of the tree of a choice that all rows can be given to, by the rows of the sample."""

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

    def settled(self, n_clusters: int) -> SettledParts:
        """Return the rule that makes parts agree with the clusters of the fit."""
        n_parts = len(self)
        parts = np.tile(np.arange(n_parts), (n_clusters + 1, 1))
        for cluster in range(n_clusters):
            own = np.flatnonzero(self.links == cluster)
            largest = own[self.tables.masses[own].argmax()]
            parts[cluster + 1, self.links != cluster] = largest
        parts[0] = n_parts
        return SettledParts(parts.ravel())


@dataclass(frozen=True, eq=False)
class SettledParts:
    """The part of a row, given its label and the part it is most similar to.

    A row of a cluster that is most similar to a part of another one goes to the largest part of its
    cluster. Noise has the number that follows the last part.
    """

    parts: NDArray[np.int64]  # ((k + 1) * p,) noise first

    def of_rows(self, both: NDArray[np.int64], first_row: int) -> NDArray[np.float64]:
        """Return the parts of rows; `both` is (label + 1) * p + part."""
        return self.parts[both].astype(np.float64)


def n_parts_of(chosen: Chosen, tree: MergeTree) -> int:
    """Return how many parts of a tree the rows are given to."""
    choice = chosen.choice
    finest = max(option.n_clusters for option in (choice.chosen, *choice.layers))
    return min(len(tree), max(N_PARTS, finest))


def first_leaves(tree: MergeTree, n_parts: int) -> NDArray[np.intp]:
    """Return the first leaf of each part of a cut."""
    return np.unique(tree.cut(n_parts), return_index=True)[1]


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """The cuts of a merge tree whose parts are given to rows."""

    tree: MergeTree
    links: NDArray[np.int64]  # (p,) the cluster of the fit that each part is in, -1 for none
    sizes: NDArray[np.int64]  # (p,) rows of each part

    @classmethod
    def of_clusters(cls, clusters: ClusterTables, sizes: NDArray[np.int64]) -> Hierarchy:
        """Link the clusters of a fit: they are the parts."""
        tree = link_products(clusters.products(), clusters.masses)
        return cls(tree, np.arange(len(clusters)), sizes)

    @property
    def n_most(self) -> int:
        """The largest number of clusters."""
        return int(np.count_nonzero(self.sizes))

    def labels_of_parts(self, n_clusters: int) -> NDArray[np.int64]:
        """Return the cluster of each part in a cut into `n_clusters`, and -1 for noise, (p + 1,).

        Clusters are numbered as in the fit; those that it joins to one, by their first parts.
        """
        n_parts = len(self.links)
        first = first_leaves(self.tree, n_parts)
        is_there = self.sizes > 0
        for n_cut in range(n_clusters, n_parts + 1):
            cut = self.tree.cut(n_cut)[first]
            # A cluster of the cut may have no rows.
            used, starts = np.unique(cut[is_there], return_index=True)
            if len(used) == n_clusters:
                break
        parts = np.flatnonzero(is_there)
        links = np.array([self.links[parts[cut[parts] == one]].min() for one in used])
        order = np.lexsort((parts[starts], links))
        labels = np.full(n_parts + 1, -1)
        numbers = np.empty(int(cut.max()) + 1, dtype=np.int64)
        numbers[used[order]] = np.arange(n_clusters)
        labels[parts] = numbers[cut[parts]]
        return labels


def likeness(tree: MergeTree, n_clusters: int) -> float:
    """Return the similarity at which the next coarser cut of a tree joins two clusters."""
    join = len(tree) - n_clusters
    return float(tree.similarities[join]) if 0 <= join < len(tree.similarities) else 0.0


def chosen_layers(tree: MergeTree, options: tuple[Option, ...]) -> tuple[Layer, ...]:
    """Return the layers of a choice with their evidence."""
    return tuple(
        Layer(
            option.n_clusters,
            likeness(tree, option.n_clusters),
            option.odds,
            option.stability,
            option.agreement,
            option.separation,
        )
        for option in options
    )


def grown_layers(tree: MergeTree) -> tuple[Layer, ...]:
    """Return the layers of clusters that grew and are linked.

    They are the clusters themselves, and in each band of numbers the cut from which the similarity
    of the two next clusters falls most.
    """
    n_clusters = len(tree)
    if not n_clusters:
        return ()
    falls = {
        number: likeness(tree, number + 1) / max(likeness(tree, number), _TINY)
        for number in range(2, n_clusters)
    }
    numbers = best_of_bands(falls, n_clusters)
    return tuple(Layer(number, likeness(tree, number)) for number in numbers)
