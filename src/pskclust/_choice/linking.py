"""Link grown clusters, so that fewer and larger ones are left.

A long or a large cluster covers many cells, and its far ends share none, so growth cuts it into
parts. Linking joins parts two at a time, always the two that are most alike. The likeness of two
sets of parts is the geometric mean of two cosines: that of the mean embeddings of the sets, and the
largest one between a part of one set and a part of the other. The first alone is too strict with
sets that meet only at their ends, the second alone follows every bridge of noise.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._cells.count_tables import ClusterTables, TableStack
from .._engines.protocol import Engine
from .._pskc.growth import Growth
from .merge_tree import MergeTree


@dataclass(frozen=True, eq=False)
class Linked:
    """Clusters that are made of parts."""

    clusters: ClusterTables  # of k clusters
    n_steps: NDArray[np.int64] | None  # (k,) growth steps of all parts; None for chosen clusters
    tree: MergeTree  # of m parts
    links: NDArray[np.int64]  # (m,) the cluster of each part; -1 for none
    numbers: NDArray[np.int64]  # (k,) their numbers before `only` dropped clusters

    def only(self, kept: NDArray[np.bool_]) -> Linked:
        """Return the linked clusters that are kept, renumbered."""
        renumbered = np.append(np.where(kept, np.cumsum(kept) - 1, -1), -1)
        return replace(
            self,
            clusters=self.clusters.only(kept),
            n_steps=None if self.n_steps is None else self.n_steps[kept],
            links=renumbered[self.links],
            numbers=self.numbers[kept],
        )


def link_growth(engine: Engine, growth: Growth, n_clusters: int) -> Linked:
    """Link grown clusters until exactly `n_clusters` are left."""
    parts = growth.clusters
    tree = link_products(parts.products(), parts.masses)
    if not len(parts):
        # Growth found no clusters, and one is requested: it holds all rows.
        everything = TableStack()
        everything.push(engine.total())
        one = everything.clusters(parts.shape, parts.resolution)
        return Linked(one, np.zeros(1, dtype=np.int64), tree, np.empty(0, np.int64), np.arange(1))
    links = tree.cut(n_clusters)
    n_steps = np.zeros(n_clusters, dtype=np.int64)
    np.add.at(n_steps, links, growth.n_steps)
    return Linked(parts.joined(links, n_clusters), n_steps, tree, links, np.arange(n_clusters))


def link_products(products: NDArray[Any], masses: NDArray[np.int64]) -> MergeTree:
    """Return the merge tree of parts: join the two most similar sets until one is left.

    Ties go to the first pair. `products` are the inner products of the count tables of all pairs
    of parts.
    """
    n_parts = len(masses)
    state = _Sets.of(products, masses)
    numbers = np.arange(n_parts)
    pairs = np.empty((max(0, n_parts - 1), 2), dtype=np.int64)
    similarities = np.empty(len(pairs))
    for join in range(len(pairs)):
        first, second = state.most_alike()
        pairs[join] = numbers[[first, second]]
        similarities[join] = state.similarities[first, second]
        state.join(first, second)
        numbers[first] = n_parts + join
    return MergeTree(pairs, similarities, masses)


@dataclass(eq=False)
class _Sets:
    """Sets of parts while they are joined. The index of a set is that of its first part."""

    products: NDArray[Any]  # (m, m) inner products of the summed tables
    contacts: NDArray[np.float64]  # (m, m) largest cosine between parts of the two
    similarities: NDArray[np.float64]  # (m, m) -1 on the diagonal and for joined sets
    masses: NDArray[Any]  # (m,) 0 for sets that were joined to others
    partners: NDArray[np.intp]  # (m,) the most similar set of each set

    @classmethod
    def of(cls, products: NDArray[Any], masses: NDArray[np.int64]) -> _Sets:
        contacts = _cosines(products, np.diag(products))
        np.fill_diagonal(contacts, -1)
        partners = contacts.argmax(axis=1) if len(masses) else np.empty(0, dtype=np.intp)
        # Copies, because sets are joined in place.
        changing = products.copy(), contacts, contacts.copy(), masses.astype(np.float64)
        return cls(*changing, partners)

    def most_alike(self) -> tuple[int, int]:
        best = self.similarities[np.arange(len(self.partners)), self.partners]
        one = int(best.argmax())
        other = int(self.partners[one])
        return min(one, other), max(one, other)

    def join(self, first: int, second: int) -> None:
        """Add the second set to the first, which has the earlier parts."""
        self.products[first] += self.products[second]
        self.products[:, first] += self.products[:, second]
        self.masses[first] += self.masses[second]
        self.masses[second] = 0
        own = self.products[first, first]
        cosines = _cosines(self.products[first], np.diag(self.products), own)
        contacts = np.maximum(self.contacts[first], self.contacts[second])
        alike = np.where(self.masses > 0, np.sqrt(cosines * np.maximum(contacts, 0)), -1.0)
        alike[first] = contacts[first] = -1
        self.contacts[first] = self.contacts[:, first] = contacts
        self.similarities[first] = self.similarities[:, first] = alike
        self.similarities[second] = self.similarities[:, second] = -1
        self._find_partners(first, second)

    def _find_partners(self, first: int, second: int) -> None:
        """Update the most similar set of every set affected by the join."""
        lost = (self.partners == first) | (self.partners == second)
        lost[first] = True
        self.partners[lost] = self.similarities[lost].argmax(axis=1)
        rows = np.arange(len(self.partners))
        best = self.similarities[rows, self.partners]
        closer = self.similarities[:, first] > best
        earlier = (self.similarities[:, first] == best) & (first < self.partners)
        self.partners[closer | earlier] = first


def _cosines(products: NDArray[Any], own: NDArray[Any], other: Any = None) -> NDArray[np.float64]:
    """Return products divided by the lengths of the two tables."""
    own = own.astype(np.float64)
    squares = np.outer(own, own) if other is None else own * float(other)
    cosines: NDArray[np.float64] = products / np.sqrt(squares)
    return cosines
