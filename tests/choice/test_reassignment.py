"""Reassignment of rows at the borders of clusters, against loops over pairs of rows."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from pskclust import PSKC
from pskclust._choice import reassignment
from pskclust._choice.reassignment import reassigned, similarities
from pskclust._choice.similarity import cells_shared_with_clusters

RNG = np.random.RandomState
N_ROWS, T, PSI, K = 60, 12, 5, 3


@pytest.fixture
def cells():
    return RNG(0).randint(0, PSI, (T, N_ROWS)).astype(np.int32)


@pytest.fixture
def labels():
    return np.append(np.arange(K), RNG(1).randint(0, K, N_ROWS - K))


def naive_similarities(labels, cells):
    shared = (cells[:, :, np.newaxis] == cells[:, np.newaxis]).sum(axis=0)
    np.fill_diagonal(shared, 0)
    similar = np.zeros((N_ROWS, K))
    for cluster in range(K):
        members = labels == cluster
        within = sum(shared[i, j] for i in np.flatnonzero(members) for j in np.flatnonzero(members))
        for row in range(N_ROWS):
            similar[row, cluster] = shared[row, members].sum() / np.sqrt(max(within, 1))
    return similar


def test_similarities_are_those_of_loops(cells, labels):
    shared = cells_shared_with_clusters(cells, PSI, labels)
    found = similarities(labels, shared, len(cells))
    assert_allclose(found, naive_similarities(labels, cells), rtol=1e-12)


def test_rows_move_to_the_most_similar_cluster(cells, labels, monkeypatch):
    monkeypatch.setattr(reassignment, "N_ROUNDS", 1)
    similar = naive_similarities(labels, cells)
    expected = np.where(
        similar.max(axis=1) > similar[np.arange(N_ROWS), labels], similar.argmax(axis=1), labels
    )
    assert (expected != labels).any()
    assert_array_equal(reassigned(labels, cells, PSI, 1), expected)


@pytest.mark.parametrize("min_rows", [1, 5, 19, 21, 60])
def test_no_cluster_falls_below_its_smallest_size(cells, labels, min_rows):
    before, found = np.bincount(labels), reassigned(labels, cells, PSI, min_rows)
    after = np.bincount(found, minlength=K)
    assert (after >= np.minimum(before, min_rows)).all()


def test_a_lone_row_stays_a_cluster(cells):
    labels = np.append(np.zeros(N_ROWS - 1, dtype=np.int64), 1)
    assert reassigned(labels, cells, PSI, 1)[-1] == 1


def test_the_order_of_rows_does_not_matter(cells, labels):
    order = RNG(2).permutation(N_ROWS)
    expected = reassigned(labels, cells, PSI, 3)[order]
    assert_array_equal(reassigned(labels[order], cells[:, order], PSI, 3), expected)


def test_copies_of_a_row_move_together(cells, labels):
    copied = np.tile(np.arange(N_ROWS // 2), 2)
    found = reassigned(labels[copied], cells[:, copied], PSI, 1)
    assert_array_equal(found[: N_ROWS // 2], found[N_ROWS // 2 :])


def test_clusters_far_apart_do_not_change():
    X, y = make_blobs(300, centers=[[0, 0], [50, 0], [0, 50]], random_state=0)
    model = PSKC(random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) == 1.0


def test_overlapping_blobs_gain():
    gains = []
    for seed in range(3):
        X, y = make_blobs(900, 8, centers=4, cluster_std=5.0, random_state=seed)
        with pytest.MonkeyPatch.context() as patch:
            after = PSKC(n_clusters=4, random_state=0).fit_predict(X)
            patch.setattr(reassignment, "N_ROUNDS", 0)
            before = PSKC(n_clusters=4, random_state=0).fit_predict(X)
        gains.append(adjusted_rand_score(y, after) - adjusted_rand_score(y, before))
    assert np.mean(gains) > 0
