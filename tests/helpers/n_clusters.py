"""Sets of any kind to be parted into a given number of clusters, and the check of a fit of one."""

from __future__ import annotations

import re

import numpy as np


def generated(seed):
    """Return rows, weights and parameters of any kind: n, d, k, copies, weights, cells."""
    rng = np.random.RandomState(seed)
    n_rows, n_columns = int(rng.choice([2, 5, 12, 30, 80, 150])), int(rng.choice([1, 2, 5, 40]))
    X = rng.normal(size=(n_rows, n_columns))
    kind = rng.randint(4)
    if kind == 1:
        X = X[rng.randint(0, max(1, n_rows // 4), n_rows)]
    elif kind == 2:
        X += 8 * rng.randint(0, 4, (n_rows, 1))
    weights = rng.randint(0, 4, n_rows) if rng.rand() < 0.4 else None
    if weights is not None:
        weights[rng.randint(n_rows)] += 2
    parameters = {"n_clusters": int(rng.choice([1, 2, 3, 7, 20])), "n_partitions": 20}
    parameters["method"] = str(rng.choice(["voronoi", "voronoi", "hypersphere", "tree"]))
    n_slots = n_rows if weights is None else weights.sum()
    if rng.rand() < 0.4:
        parameters |= {"psi": int(min(n_slots, rng.choice([2, 8, 30]))), "tau": 0.1}
    return X, weights, parameters


def fit_or_the_most_possible(fit, parameters):
    """Return a fit and the number of clusters that it was asked for.

    A number that is refused must be refused with the largest one that is possible, which is then
    asked for.
    """
    n_clusters = parameters["n_clusters"]
    try:
        return fit(**parameters), n_clusters
    except ValueError as error:
        possible = int(re.search(r"Use n_clusters <= (\d+)", str(error)).group(1))
        assert possible < n_clusters
        return fit(**parameters | {"n_clusters": possible}), possible


def assert_exactly(n_clusters, model, labels, weights):
    """Assert that a fit has that many clusters, each with a row of positive weight."""
    assert model.n_clusters_ == n_clusters
    assert (model.cluster_sizes_ > 0).all()
    taking_part = labels >= 0 if weights is None else (labels >= 0) & (weights > 0)
    assert len(np.unique(labels[taking_part])) == n_clusters
