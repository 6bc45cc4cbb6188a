"""Clusters to a merge tree, and the tree to fewer clusters.

A long or a large cluster covers many cells, and its far ends share none, so growth cuts it into
parts. Linking joins parts two at a time, always the two that are most alike. How alike two sets
of parts are is the geometric mean of two cosines: that of the mean embeddings of the sets as they
are, and the largest one between a part of one set and a part of the other. The first alone is too
strict with sets that meet only at their ends, the second alone follows every bridge of noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._cells.count_tables import ClusterTables


@dataclass(frozen=True, eq=False)
class MergeTree:
    """How m parts were joined, the most alike first.

    Part p has the number p, and what join j made has the number m + j.
    """

    pairs: NDArray[
        np.int64
    ]  # (m - 1, 2) the two that were joined, the one with earlier parts first
    similarities: NDArray[np.float64]  # (m - 1,) how alike they were
    separations: NDArray[np.float64]  # (m, 2) mean and least, of the cut into 1, 2, ..., m sets
    masses: NDArray[np.int64]  # (m,) of the parts

    def __len__(self) -> int:
        return len(self.masses)

    def cut(self, n_clusters: int) -> NDArray[np.int64]:
        """Return the cluster of each part, clusters being numbered by their first part."""
        n_parts = len(self)
        pairs = self.pairs[: max(0, n_parts - n_clusters)]
        # What a set of parts became; a set that was not joined is a cluster.
        became = np.arange(n_parts + len(pairs))
        became[pairs] = n_parts + np.arange(len(pairs))[:, np.newaxis]
        while not np.array_equal(became, further := became[became]):
            became = further
        _, first, cluster = np.unique(became[:n_parts], return_index=True, return_inverse=True)
        answer: NDArray[np.int64] = np.argsort(np.argsort(first))[cluster]
        return answer

    def to_scipy(self) -> NDArray[np.float64]:
        """Return the tree as `scipy.cluster.hierarchy` takes it.

        Heights are -log10 of similarities, of which the least is taken for one in a million.
        Where a join is of sets more alike than those joined before, it is drawn as high as they.
        """
        heights = np.maximum.accumulate(-np.log10(np.maximum(self.similarities, 1e-6)))
        sizes = np.ones(len(self) + len(self.pairs))
        for join, pair in enumerate(self.pairs):
            sizes[len(self) + join] = sizes[pair].sum()
        return np.column_stack([self.pairs, heights, sizes[len(self) :]])


def link(parts: ClusterTables) -> MergeTree:
    """Join the two most alike sets of parts until one is left; of ties, the first."""
    return link_products(parts.products(), parts.masses)


def link_products(products: NDArray[Any], masses: NDArray[np.int64]) -> MergeTree:
    """Join parts, of which all products of two are known, as `link` does."""
    n_parts = len(masses)
    state = _Sets.of(products, masses)
    numbers = np.arange(n_parts)
    pairs = np.empty((max(0, n_parts - 1), 2), dtype=np.int64)
    similarities = np.empty(len(pairs))
    separations = np.zeros((n_parts, 2))
    for join in range(len(pairs)):
        separations[n_parts - join - 1] = state.separation()
        first, second = state.most_alike()
        pairs[join] = numbers[[first, second]]
        similarities[join] = state.similarities[first, second]
        state.join(first, second)
        numbers[first] = n_parts + join
    return MergeTree(pairs, similarities, separations, masses)


@dataclass(eq=False)
class _Sets:
    """Sets of parts while they are joined. A set stands at the place of its first part."""

    products: NDArray[Any]  # (m, m) of the summed tables
    contacts: NDArray[np.float64]  # (m, m) largest cosine between parts of the two
    similarities: NDArray[np.float64]  # (m, m) -1 for a set with itself and for those joined
    masses: NDArray[Any]  # (m,) 0 for sets that were joined to others
    cohesions: NDArray[np.float64]  # (m,) the least similarity at which a set's own were joined
    partners: NDArray[np.intp]  # (m,) who is most similar to each

    @classmethod
    def of(cls, products: NDArray[Any], masses: NDArray[np.int64]) -> _Sets:
        contacts = _cosines(products, np.diag(products))
        np.fill_diagonal(contacts, -1)
        partners = contacts.argmax(axis=1) if len(masses) else np.empty(0, dtype=np.intp)
        ones = np.ones(len(masses))
        # Sets are joined in place.
        changing = products.copy(), contacts, contacts.copy(), masses.astype(np.float64)
        return cls(*changing, ones, partners)

    def most_alike(self) -> tuple[int, int]:
        best = self.similarities[np.arange(len(self.partners)), self.partners]
        one = int(best.argmax())
        other = int(self.partners[one])
        return min(one, other), max(one, other)

    def join(self, first: int, second: int) -> None:
        """Add the second set to the first, which has the earlier parts."""
        self.cohesions[first] = min(
            self.cohesions[first], self.cohesions[second], self.similarities[first, second]
        )
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
        """Find the partner anew of each set for which it may be another one now."""
        lost = (self.partners == first) | (self.partners == second)
        lost[first] = True
        self.partners[lost] = self.similarities[lost].argmax(axis=1)
        rows = np.arange(len(self.partners))
        best = self.similarities[rows, self.partners]
        closer = self.similarities[:, first] > best
        earlier = (self.similarities[:, first] == best) & (first < self.partners)
        self.partners[closer | earlier] = first

    def separation(self) -> tuple[float, float]:
        """Return the mean over rows, and the least, of 1 - a / c, or 0 where that is less.

        Here a is how alike the row's set and the most alike other set are, and c how alike the
        two halves of the set itself were when they were joined; 1 for a part.
        """
        there = self.masses > 0
        other = self.similarities[np.arange(len(there)), self.partners][there]
        own = self.cohesions[there]
        ratios = np.divide(other, own, out=np.ones(len(own)), where=other < own)
        return float(np.average(1 - ratios, weights=self.masses[there])), float(1 - ratios.max())


def _cosines(products: NDArray[Any], own: NDArray[Any], other: Any = None) -> NDArray[np.float64]:
    """Return products over the roots of the products of the two with themselves."""
    own = own.astype(np.float64)
    squares = np.outer(own, own) if other is None else own * float(other)
    cosines: NDArray[np.float64] = products / np.sqrt(squares)
    return cosines
