"""Agreement of several clusterings of the same rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .borders import Floats

Labels = NDArray[np.int64]


class Clustering(NamedTuple):
    """Labels from 0, the number of clusters, and the number of pairs of rows within clusters."""

    labels: Labels
    n_clusters: int
    n_pairs: int  # pairs of rows in the same cluster

    @classmethod
    def of(cls, labels: Labels) -> Clustering:
        sizes = np.bincount(labels)
        return cls(labels, len(sizes), _pairs(sizes))


def adjusted_rand(one: Clustering, other: Clustering) -> float:
    """Return the adjusted Rand index of two clusterings."""
    both = np.bincount(one.labels * other.n_clusters + other.labels)
    together, in_one, in_other = _pairs(both), one.n_pairs, other.n_pairs
    everything = len(one.labels) * (len(one.labels) - 1) // 2
    # Whole numbers with a single division, so that rounding happens once.
    most = (in_one + in_other) * everything - 2 * in_one * in_other
    return 2 * (together * everything - in_one * in_other) / most if most else 1.0


def shared_rows(one: Labels, other: Labels) -> NDArray[np.int64]:
    """Return the number of rows shared by each pair of clusters of two clusterings, (k, l)."""
    n_one, n_other = int(one.max()) + 1, int(other.max()) + 1
    counts = np.bincount(one * n_other + other, minlength=n_one * n_other)
    return counts.reshape(n_one, n_other)


def _pairs(counts: NDArray[np.int64]) -> int:
    return (int(counts @ counts) - int(counts.sum())) // 2


def agreements(clusterings: list[Labels]) -> Floats:
    """Return the adjusted Rand index of each pair of clusterings."""
    known = [Clustering.of(labels) for labels in clusterings]
    alike = np.eye(len(known))
    for first in range(len(known)):
        for second in range(first):
            agreement = adjusted_rand(known[first], known[second])
            alike[first, second] = alike[second, first] = agreement
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
