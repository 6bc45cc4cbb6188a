"""Reassign rows of a sample at the borders of chosen clusters.

Trees join rows step by step and never separate them again, so a row between two clusters may be in
the wrong one. A row is compared with a cluster by the cosine of their mean maps: the number of
cells that the row shares with the members, divided by the root of the same number for all members.
A plain sum would favour large clusters, and a mean would favour small ones.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

from .borders import Floats
from .consensus import Labels
from .similarity import cells_shared_with_clusters

# Later rounds move few rows.
N_ROUNDS = 2

# Returns the number of cells that each row shares with the rows of each cluster, (n, k).
Count = Callable[[Labels], Floats]


def reassigned(labels: Labels, cells: NDArray[np.int32], psi: int, min_rows: int) -> Labels:
    """Return labels in which each row is in the cluster that it is most similar to.

    Parameters
    ----------
    labels : of shape (n,)
        Clusters, numbered from 0; all numbers occur.
    cells : of shape (t, n)
        Small cells of the rows.
    psi : int
        Number of cells in each partitioning.
    min_rows : int
        A cluster that would be left with fewer rows keeps all its rows.
    """
    count = partial(cells_shared_with_clusters, cells, psi)
    return reassigned_by(count, labels, len(cells), min_rows)


def reassigned_by(count: Count, labels: Labels, n_partitions: int, min_rows: int) -> Labels:
    """Return the same; `count` returns the cells that rows share with clusters."""
    for _ in range(N_ROUNDS):
        moved = _moved(labels, similarities(labels, count(labels), n_partitions))
        # Keeping the rows of one cluster may leave another with too few.
        while (too_few := _too_few(moved, labels, min_rows)).any():
            moved = np.where(too_few[labels], labels, moved)
        labels = moved
    return labels


def similarities(labels: Labels, shared: Floats, n_partitions: int) -> Floats:
    """Return the similarity of each row to each cluster, (n, k); a row does not count itself.

    `shared` is the number of cells that each row shares with the rows of each cluster; it is
    changed in place.
    """
    rows = np.arange(len(labels))
    shared[rows, labels] -= n_partitions
    within = np.bincount(labels, shared[rows, labels])
    found: Floats = shared / np.sqrt(np.maximum(within, 1))
    return found


def _moved(labels: Labels, similar: Floats) -> Labels:
    own = similar[np.arange(len(labels)), labels]
    return np.where(similar.max(axis=1) > own, similar.argmax(axis=1), labels)


def _too_few(moved: Labels, labels: Labels, min_rows: int) -> NDArray[np.bool_]:
    """Return which clusters lose rows and are left with fewer than `min_rows`."""
    n_clusters = int(labels.max()) + 1
    left = np.bincount(moved, minlength=n_clusters)
    loses = np.bincount(labels[moved != labels], minlength=n_clusters) > 0
    return (left < min_rows) & loses
