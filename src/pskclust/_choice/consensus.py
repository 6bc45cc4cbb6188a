"""What several clusterings of the same rows agree on, through tables of how many rows they share.

The label -1 is noise: such a row agrees with nobody and does not count.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

Labels = NDArray[np.int64]

# Votes settle in one or two rounds; this only ends what might go round in circles.
_MAX_ROUNDS = 5


def shared_rows(first: Labels, second: Labels, n_first: int, n_second: int) -> NDArray[np.int64]:
    """Return how many rows each cluster of one and each of another clustering share."""
    # Noise is counted before the clusters, in a row and a column of its own.
    places = (first + 1) * (n_second + 1) + second + 1
    counts = np.bincount(places, minlength=(n_first + 1) * (n_second + 1))
    return counts.reshape(n_first + 1, n_second + 1)[1:, 1:]


def mean_jaccard(shared: NDArray[Any]) -> float:
    """Return how well clusters are found again, given how many rows two clusterings share.

    For each cluster of either one it is the largest Jaccard index with a cluster of the other; the
    mean over the clusters of each, then of the two. Every cluster counts the same, however small.
    """
    unions = shared.sum(axis=1, keepdims=True) + shared.sum(axis=0) - shared
    jaccard = shared / np.maximum(unions, 1)
    return float((jaccard.max(axis=1).mean() + jaccard.max(axis=0).mean()) / 2)


def _likeness(clusterings: list[Labels], n_clusters: int) -> NDArray[np.int64]:
    """Return how many rows are in matching clusters of each two of some clusterings.

    Clusters of one are matched one to one with those of another by the rows they share.
    """
    alike = np.zeros((len(clusterings), len(clusterings)), dtype=np.int64)
    for first, one in enumerate(clusterings):
        alike[first, first] = np.count_nonzero(one >= 0)
        for second in range(first):
            matched = _n_matched(one, clusterings[second], n_clusters)
            alike[first, second] = alike[second, first] = matched
    return alike


def most_typical(clusterings: list[Labels], n_clusters: int) -> Labels:
    """Return the clustering that is most like all others."""
    return clusterings[int(_likeness(clusterings, n_clusters).sum(axis=1).argmax())]


def vote(clusterings: list[Labels], n_clusters: int) -> Labels:
    """Return the labels that most of some clusterings agree on, each of so many clusters.

    Their clusters are matched at first with those of the clustering that is most like all others,
    then with the outcome of the vote.
    """
    labels = most_typical(clusterings, n_clusters)
    for _ in range(_MAX_ROUNDS):
        before, labels = labels, _ballot(clusterings, labels, n_clusters)
        if np.array_equal(labels, before):
            break
    return labels


def _ballot(clusterings: list[Labels], reference: Labels, n_clusters: int) -> Labels:
    # The last column is that of noise, which nobody counts.
    votes = np.zeros((len(reference), n_clusters + 1), dtype=np.int64)
    rows = np.arange(len(reference))
    for labels in clusterings:
        votes[rows, matched(labels, reference, n_clusters)] += 1
    counted = votes[:, :-1]
    return np.where(counted.any(axis=1), counted.argmax(axis=1), -1)


def matched(labels: Labels, reference: Labels, n_clusters: int) -> Labels:
    """Return labels with each cluster numbered as the cluster of a reference that it matches."""
    shared = shared_rows(labels, reference, n_clusters, n_clusters)
    names = linear_sum_assignment(shared, maximize=True)[1]
    return np.append(names, -1)[labels]


def _n_matched(one: Labels, other: Labels, n_clusters: int) -> int:
    shared = shared_rows(one, other, n_clusters, n_clusters)
    return int(shared[linear_sum_assignment(shared, maximize=True)].sum())
