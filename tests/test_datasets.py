"""Generated data."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.metrics import adjusted_rand_score

from pskclust import PSKC
from pskclust.datasets import make_shapes


def test_shapes_are_reproducible():
    first, second = make_shapes(500, random_state=0), make_shapes(500, random_state=0)
    assert_array_equal(first[0], second[0])
    assert_array_equal(first[1], second[1])
    assert (first[0] != make_shapes(500, random_state=1)[0]).any()


def test_shapes_come_with_noise_as_asked():
    X, y = make_shapes(10_000, noise=0.1, random_state=0)
    assert X.shape == (10_000, 2)
    assert set(y) == set(range(-1, 9))
    assert np.mean(y == -1) == pytest.approx(0.1, abs=0.02)
    assert -1 not in make_shapes(1000, noise=0, random_state=0)[1]


def test_shapes_are_what_pskc_finds():
    X, y = make_shapes(8000, random_state=0)
    model = PSKC(96, 0.015, min_cluster_size=40, random_state=0).fit(X)
    assert model.n_clusters_ == 9
    assert adjusted_rand_score(y[y >= 0], model.labels_[y >= 0]) > 0.98


@pytest.mark.parametrize("wrong", [{"n_samples": 0}, {"noise": -0.1}, {"noise": 1.5}])
def test_bad_parameters_are_refused(wrong):
    with pytest.raises(ValueError, match="is not allowed. Use n_samples of 1 or more and noise"):
        make_shapes(**wrong)
