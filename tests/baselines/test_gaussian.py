"""psKC with the Gaussian kernel, against plain loops over all pairs."""

from __future__ import annotations

import math
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from pskclust._utils import parallel as _parallel
from pskclust.baselines import GaussianPSKC, _gaussian_pskc
from pskclust.baselines._gaussian_kernel import RESOLUTION
from tests.helpers import naive
from tests.helpers.cases import rows


class PairwiseKernel(naive.PointSetKernel):
    """K-hat_g by plain loops; kernel values rounded as the package documents."""

    n_partitions = RESOLUTION

    def __init__(self, X, gamma):
        self.cells = X
        self.values = [
            [round(math.exp(-gamma * naive.squared_distance(x, y)) * RESOLUTION) for y in X]
            for x in X
        ]

    def scores(self, rows, members):
        return {row: sum(self.values[row][member] for member in members) for row in rows}


@settings(max_examples=150)
@given(rows(max_rows=15), st.sampled_from([0.05, 0.3, 0.6]), st.sampled_from([0.5, 2.0]))
def test_labels_are_those_of_the_pseudocode(X, tau, gamma):
    model = GaussianPSKC(tau=tau, gamma=gamma).fit(X)
    with mock.patch.object(naive, "PointSetKernel", lambda cells: PairwiseKernel(cells, gamma)):
        expected = naive.pskc(X.tolist(), tau)
    assert_array_equal(model.labels_, expected.labels)
    assert model.objective_ == expected.objective


def test_similarity_is_the_mean_of_the_kernel(scattered):
    model = GaussianPSKC(tau=0.3, gamma=0.7).fit(scattered)
    new = scattered[:20] + 0.3
    squared = ((new[:, np.newaxis] - scattered) ** 2).sum(axis=2)
    kernel = np.exp(-0.7 * squared)
    expected = [kernel[:, model.labels_ == cluster].mean(axis=1) for cluster in range(2)]
    assert_allclose(model.similarity(new)[:, :2], np.transpose(expected), atol=1e-7)


def test_weights_are_repeated_rows(scattered):
    weights = np.arange(len(scattered)) % 4
    weighted = GaussianPSKC(tau=0.3).fit(scattered, sample_weight=weights)
    repeated = GaussianPSKC(tau=0.3).fit(np.repeat(scattered, weights, axis=0))
    assert_array_equal(np.repeat(weighted.labels_, weights), repeated.labels_)


def test_labels_do_not_depend_on_chunks(scattered):
    plain = GaussianPSKC(tau=0.3, n_jobs=1).fit(scattered)
    with mock.patch.object(_parallel, "_CHUNK_ENTRIES", 2000):
        cut_up = GaussianPSKC(tau=0.3, n_jobs=2).fit(scattered)
    assert_array_equal(plain.labels_, cut_up.labels_)
    assert_array_equal(plain.similarities_, cut_up.similarities_)


@pytest.mark.parametrize("weights", [np.full(20, 0.3), np.full(20, 20_000)])
def test_the_objective_does_not_overflow_with_weights(weights):
    X = np.random.RandomState(0).randn(20, 2)
    model = GaussianPSKC(tau=0.3).fit(X, sample_weight=weights)
    assert model.objective_ == pytest.approx((weights * model.similarities_).sum(), rel=1e-3)


def test_the_rows_of_the_fit_are_copied(scattered):
    X = scattered.copy()
    model = GaussianPSKC(tau=0.3).fit(X)
    before = model.predict(scattered)
    X[:] = 0
    assert_array_equal(model.predict(scattered), before)


@pytest.mark.parametrize("scale", [1e155, 1e-170])
def test_scales_without_a_kernel_are_refused(scattered, scale):
    with pytest.raises(ValueError, match="overflow|underflow|gamma is"):
        GaussianPSKC().fit(scattered * scale)


def test_large_data_is_warned_of(monkeypatch, blobs):
    monkeypatch.setattr(_gaussian_pskc, "_LARGE_FOR_QUADRATIC_TIME", 100)
    with pytest.warns(UserWarning, match="quadratic in the number of rows, here 300"):
        GaussianPSKC().fit(blobs)


def test_far_away_is_similar_to_nothing(blobs):
    model = GaussianPSKC().fit(blobs)
    assert_array_equal(model.predict([[1e200, 0]]), -1)
