"""``n_clusters=k`` gives exactly k clusters, or says how many are possible."""

from __future__ import annotations

import re

import numpy as np
import pytest

from pskclust import PSKC
from tests.helpers.row_blocks import in_blocks

N_SETS = 200


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


def assert_exactly(n_clusters, model, weights):
    assert model.n_clusters_ == n_clusters
    assert (model.cluster_sizes_ > 0).all()
    taking_part = model.labels_ >= 0 if weights is None else (model.labels_ >= 0) & (weights > 0)
    assert len(np.unique(model.labels_[taking_part])) == n_clusters


def clustered(X, weights, parameters, in_memory):
    rows = X if in_memory else in_blocks(X, [len(X) // 3])
    return PSKC(random_state=0, **parameters).fit(rows, sample_weight=weights)


@pytest.mark.parametrize(
    "seed", [pytest.param(seed, marks=[pytest.mark.slow] * (seed >= 20)) for seed in range(N_SETS)]
)
def test_exactly_as_many_clusters_as_asked_for(seed):
    X, weights, parameters = generated(seed)
    in_memory = bool(seed % 3)
    try:
        model = clustered(X, weights, parameters, in_memory)
    except ValueError as error:
        possible = int(re.search(r"Use n_clusters <= (\d+)", str(error)).group(1))
        assert possible < parameters["n_clusters"]
        parameters |= {"n_clusters": possible}
        model = clustered(X, weights, parameters, in_memory)
    assert_exactly(parameters["n_clusters"], model, weights)


@pytest.mark.slow
@pytest.mark.parametrize(("n_columns", "n_clusters"), [(50, 20), (2, 30)])
def test_clusters_that_overlap_all_get_rows(n_columns, n_clusters):
    X = np.random.RandomState(0).normal(size=(2_000, n_columns))
    model = PSKC(n_clusters=n_clusters, random_state=0).fit(X)
    assert_exactly(n_clusters, model, None)
