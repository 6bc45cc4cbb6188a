"""MBSCAN, against scikit-learn's DBSCAN on the whole matrix and against plain loops."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.cluster import DBSCAN
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from pskclust import InsufficientMemoryError, IsolationKernel
from pskclust._utils import memory as _memory
from pskclust._utils import parallel as _parallel
from pskclust.baselines import MBSCAN
from tests.helpers.cases import naive_cells, rows


@parametrize_with_checks([MBSCAN(), MBSCAN(eps=0.8, min_samples=2, psi=4)])
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def naive_dbscan(cells, eps, min_samples):
    """Return labels: a cluster is all that core rows reach; the first to reach a row has it."""

    def dissimilarity(a, b):
        return 1 - sum(p == q for p, q in zip(a, b, strict=True)) / len(a)

    everybody = range(len(cells))
    near = [[j for j in everybody if dissimilarity(cells[i], cells[j]) <= eps] for i in everybody]
    labels = [-1] * len(cells)
    n_clusters = 0
    for row in everybody:
        if labels[row] >= 0 or len(near[row]) < min_samples:
            continue
        reached = [row]
        for member in reached:
            labels[member] = n_clusters
            if len(near[member]) >= min_samples:
                reached += [j for j in near[member] if labels[j] < 0 and j not in reached]
        n_clusters += 1
    return labels


@settings(max_examples=200)
@given(
    rows(),
    st.sampled_from([0.001, 0.1, 0.25, 0.3, 0.5, 0.7, 0.9, 1.0, 2.5]),
    st.integers(1, 6),
    st.integers(1, 12),
    st.integers(0, 2**16),
)
def test_labels_are_those_of_dbscan_on_the_whole_matrix(X, eps, min_samples, n_partitions, seed):
    psi = 2 + seed % (len(X) - 1)
    model = MBSCAN(eps, min_samples, psi, n_partitions, random_state=seed).fit(X)
    kernel = IsolationKernel(psi=psi, n_partitions=n_partitions, random_state=seed).fit(X)
    whole = DBSCAN(eps=eps, min_samples=min_samples, metric="precomputed")
    whole.fit(1 - kernel.similarity(X))
    assert_array_equal(model.labels_, whole.labels_)
    assert_array_equal(model.core_sample_indices_, whole.core_sample_indices_)
    assert_array_equal(model.components_, X[whole.core_sample_indices_])
    assert model.n_clusters_ == len(set(whole.labels_) - {-1})
    cells = naive_cells(model.kernel_, X)
    assert_array_equal(model.labels_, naive_dbscan(cells, eps, min_samples))


@pytest.mark.parametrize("n_partitions", [1, 255, 256])
def test_equal_rows_are_neighbors_however_small_eps_is(n_partitions):
    X = np.repeat([[0.0], [1.0], [2.0]], [5, 6, 1], axis=0)
    model = MBSCAN(1e-9, 5, 12, n_partitions, random_state=0).fit(X)
    assert_array_equal(model.labels_, [0] * 5 + [1] * 6 + [-1])


def test_labels_do_not_depend_on_chunks(scattered):
    whole = MBSCAN(0.3, psi=16, n_jobs=1, random_state=0).fit(scattered)
    with (
        mock.patch.object(_parallel, "_CHUNK_ENTRIES", 1),
        mock.patch.object(_parallel, "_MIN_CHUNK_ROWS", 7),
    ):
        cut_up = MBSCAN(0.3, psi=16, n_jobs=2, random_state=0).fit(scattered)
    assert whole.n_clusters_ > 1
    assert_array_equal(whole.labels_, cut_up.labels_)
    assert_array_equal(whole.core_sample_indices_, cut_up.core_sample_indices_)


def test_three_blobs_are_found():
    X, y = make_blobs(300, centers=3, cluster_std=0.5, random_state=1)
    assert adjusted_rand_score(y, MBSCAN(0.7, psi=16, random_state=0).fit_predict(X)) == 1


def test_no_core_rows_are_no_clusters(blobs):
    model = MBSCAN(0.01, 300, random_state=0).fit(blobs)
    assert_array_equal(model.labels_, -1)
    assert model.n_clusters_ == 0
    assert model.components_.shape == (0, 2)


def test_the_kernel_knows_the_columns(blobs):
    frame = pd.DataFrame(blobs, columns=["a", "b"])
    model = MBSCAN(random_state=0).fit(frame)
    assert model.kernel_.similarity(frame).shape == (300, 300)


def test_too_many_neighbors_are_refused(monkeypatch, blobs):
    monkeypatch.setattr(_memory, "available_bytes", lambda: 1_000_000)
    message = "Clustering 300 rows with 90000 pairs within eps=1 needs about.*smaller eps"
    with pytest.raises(InsufficientMemoryError, match=message):
        MBSCAN(1.0, n_partitions=10).fit(blobs)


BAD_PARAMETERS = {
    "eps": ({"eps": 0}, "eps=0 is not allowed. Use a number above 0"),
    "min_samples": ({"min_samples": 2.5}, "min_samples=2.5 is not allowed. Use a whole number"),
    "psi": ({"psi": 1}, "psi=1 is not allowed. Use a whole number of 2 or more, or 'auto'"),
    "psi above n": ({"psi": 512}, "psi=512 is more than the 300 rows of X"),
    "n_partitions": ({"n_partitions": 0}, "n_partitions=0 is not allowed"),
    "n_jobs": ({"n_jobs": 0}, "n_jobs=0 is not allowed"),
}


@pytest.mark.parametrize(("wrong", "message"), BAD_PARAMETERS.values(), ids=BAD_PARAMETERS)
def test_bad_parameters_are_refused(blobs, wrong, message):
    with pytest.raises(ValueError, match=message):
        MBSCAN(**wrong).fit(blobs)
