"""DBSCAN for many eps at once: the cuts of one spanning tree for each `min_samples`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components


class Tree(NamedTuple):
    """The edges of a spanning tree."""

    rows: np.ndarray
    parents: np.ndarray
    lengths: np.ndarray


def dbscan_path(
    distances: np.ndarray, epsilons: Sequence[float], all_min_samples: Sequence[int]
) -> Iterator[tuple[int, float, np.ndarray]]:
    """Yield `min_samples`, eps and DBSCAN's labels; labels equal to the last ones are skipped.

    When the edges longer than eps of a minimum spanning tree of mutual reachability are cut, the
    core rows of each remaining part are a cluster. A border row goes to its nearest core row;
    scikit-learn gives it to the first cluster that finds it, so rows between two clusters can
    differ. `epsilons` must rise.
    """
    n_near = min(max(all_min_samples), len(distances))
    nearest = np.argpartition(distances, n_near - 1, axis=1)[:, :n_near]
    near = np.take_along_axis(distances, nearest, axis=1)
    by_distance = np.argsort(near, axis=1, kind="stable")
    nearest = np.take_along_axis(nearest, by_distance, axis=1)
    near = np.take_along_axis(near, by_distance, axis=1)
    for min_samples in all_min_samples:
        if min_samples > len(distances):
            break
        tree = spanning_tree(distances, near[:, min_samples - 1])
        seen = None
        for eps in epsilons:
            labels = _cut(tree, nearest[:, :min_samples], near[:, :min_samples], eps)
            if seen is not None and np.array_equal(labels, seen):
                continue
            seen = labels
            yield min_samples, float(eps), labels
            if labels.max(initial=-1) == 0 and labels.min() == 0:
                break  # for larger eps, all rows stay in one cluster


def spanning_tree(distances: np.ndarray, core: np.ndarray) -> Tree:
    """Return the minimum spanning tree of mutual reachability, by Prim's algorithm."""
    n_rows = len(core)
    tree = Tree(np.empty(n_rows - 1, int), np.empty(n_rows - 1, int), np.empty(n_rows - 1))
    length, parent = np.full(n_rows, np.inf), np.zeros(n_rows, int)
    outside = np.ones(n_rows, bool)
    newest = 0
    for place in range(n_rows - 1):
        outside[newest] = False
        reach = np.maximum(np.maximum(distances[newest], core), core[newest])
        closer = outside & (reach < length)
        length[closer] = reach[closer]
        parent[closer] = newest
        newest = int(np.argmin(np.where(outside, length, np.inf)))
        for column, value in zip(tree, (newest, parent[newest], length[newest]), strict=True):
            column[place] = value
    return tree


def _cut(tree: Tree, nearest: np.ndarray, near: np.ndarray, eps: float) -> np.ndarray:
    """Return the labels for one eps, given each row's `min_samples` nearest rows."""
    n_rows = len(near)
    short = tree.lengths <= eps
    edges = tree.rows[short], tree.parents[short]
    graph = coo_array((np.ones(short.sum(), bool), edges), (n_rows, n_rows))
    _, parts = connected_components(graph, directed=False)
    is_core = near[:, -1] <= eps
    labels = np.full(n_rows, -1)
    _, labels[is_core] = np.unique(parts[is_core], return_inverse=True)
    # A border row has fewer than min_samples rows within eps, so all of them are in `nearest`.
    border = np.flatnonzero(~is_core)
    reached = is_core[nearest[border]] & (near[border] <= eps)
    first = reached.argmax(axis=1)
    some = reached.any(axis=1)
    labels[border[some]] = labels[nearest[border[some], first[some]]]
    return labels
