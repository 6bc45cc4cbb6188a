"""Drift of new rows from those of a fit."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import pskclust
from pskclust import PSKC, DriftMonitor
from pskclust.datasets import make_shapes

SETTINGS = ({}, {"psi": 128, "tau": 0.01}, {"psi": 64, "tau": 0.02, "method": "hypersphere"})


@pytest.fixture(scope="module", params=SETTINGS, ids=str)
def model(request):
    X, _ = make_shapes(3000, random_state=0)
    return PSKC(**request.param, random_state=0).fit(X)


def drift_of(model, *blocks):
    monitor = DriftMonitor(model)
    for block in blocks:
        monitor.predict(block)
    return monitor.drift()


def naive_similarity(cells, other=None):
    """Return the mean number of cells that rows share, over pairs of different rows."""
    pairs = itertools.permutations(cells, 2) if other is None else itertools.product(cells, other)
    return np.mean([np.sum((a == b) & (a < 16)) for a, b in pairs])


@pytest.mark.parametrize("method", ["voronoi", "hypersphere", "tree"])
def test_the_score_is_that_of_plain_loops(scattered, method):
    rows, new = scattered[::4], scattered[1::8]
    model = PSKC(psi=16, tau=0.05, n_partitions=20, method=method, random_state=0).fit(rows)
    old_cells = model.kernel_.cells(rows)[model.labels_ >= 0]
    new_cells = model.kernel_.cells(new)[model.predict(new) >= 0]
    own = naive_similarity(old_cells) * naive_similarity(new_cells)
    expected = 1 - naive_similarity(old_cells, new_cells) / math.sqrt(own)
    assert_allclose(drift_of(model, new).score, max(0, expected), atol=1e-9)


def test_rows_of_the_same_distribution_do_not_drift(model):
    drift = drift_of(model, make_shapes(3000, random_state=1)[0])
    assert drift.score < 0.02
    assert not drift.fit_again
    assert drift.advice.startswith("Keep the model: drift is 0.0")


def test_the_score_grows_with_the_distance(model):
    X, _ = make_shapes(2000, random_state=1)
    scores = [drift_of(model, X + shift).score for shift in (0, 0.2, 0.6, 2)]
    assert scores == sorted(scores)
    assert scores[-1] > 0.3


def test_other_shares_of_clusters_are_drift(model):
    X, y = make_shapes(6000, random_state=1)
    drift = drift_of(model, X[y < 3])
    assert drift.fit_again
    assert drift.advice.startswith("Fit again: new rows are distributed differently (drift is 0.")


def test_rows_that_belong_to_no_cluster_are_drift(model):
    far = np.random.RandomState(0).uniform(100, 200, (500, 2))
    drift = drift_of(model, make_shapes(500, random_state=1)[0], far)
    assert drift.fit_again


def test_new_noise_is_told():
    model = PSKC(random_state=0).fit(make_shapes(3000, random_state=0)[0])
    drift = drift_of(model, np.random.RandomState(0).uniform(100, 200, (500, 2)))
    assert drift.noise == 1
    assert drift.score == 1
    assert drift.advice == (
        "Fit again: more rows belong to no cluster; noise is 100% "
        f"({drift.noise_of_fit:.0%} in the fit)."
    )


def test_half_of_the_rows_in_a_new_place_raise_the_noise_and_not_the_score():
    model = PSKC(random_state=0).fit(make_shapes(3000, random_state=0)[0])
    X, _ = make_shapes(500, random_state=1)
    drift = drift_of(model, X, X + 100)
    assert drift.score < 0.1
    assert drift.noise > 0.5
    assert "fit_again=True" in repr(drift)
    assert "advice='Fit again: more rows belong to no cluster; noise is 5" in repr(drift)


def test_a_pipeline_is_monitored_by_its_last_step():
    X, _ = make_shapes(1000, random_state=0)
    pipeline = make_pipeline(StandardScaler(), PSKC(random_state=0)).fit(1000 * X)
    new, _ = make_shapes(500, random_state=1)
    monitor = DriftMonitor(pipeline)
    assert_array_equal(monitor.predict(1000 * new), pipeline.predict(1000 * new))
    assert monitor.drift() == drift_of(pipeline[-1], pipeline[:-1].transform(1000 * new))
    assert drift_of(make_pipeline(pipeline[-1]), X) == drift_of(pipeline[-1], X)


def test_a_monitor_shows_its_model_and_the_number_of_rows():
    monitor = DriftMonitor(PSKC(random_state=0).fit(make_shapes(300, random_state=0)[0]))
    monitor.predict(make_shapes(200, random_state=1)[0])
    assert repr(monitor) == "DriftMonitor(PSKC(random_state=0), n_samples=200)"


def test_other_models_are_refused_with_the_way_out():
    rows = make_shapes(300, random_state=0)[0]
    for model in (KMeans(2), make_pipeline(StandardScaler(), KMeans(2))):
        with pytest.raises(TypeError, match="is a KMeans. Pass a fitted PSKC, or a fitted pipeli"):
            DriftMonitor(model.fit(rows))


def test_blocks_and_their_order_do_not_matter(model):
    X, _ = make_shapes(900, random_state=1)
    in_blocks = drift_of(model, *np.array_split(X[::-1], 7))
    assert in_blocks == drift_of(model, X)


def test_labels_are_those_of_predict(model):
    X, _ = make_shapes(300, random_state=1)
    monitor = DriftMonitor(model)
    assert_array_equal(monitor.predict(X), model.predict(X))
    assert monitor.n_samples_ == 300


def test_a_reset_starts_a_new_window(model):
    X, _ = make_shapes(600, random_state=1)
    monitor = DriftMonitor(model)
    monitor.predict(X + 5)
    monitor.reset()
    monitor.predict(X)
    assert monitor.drift() == drift_of(model, X)


def test_a_loaded_model_drifts_alike(model, tmp_path):
    X, _ = make_shapes(600, random_state=1)
    model.save(tmp_path / "model.npz")
    assert drift_of(pskclust.load(tmp_path / "model.npz"), X) == drift_of(model, X)


def test_the_unit_of_weights_does_not_matter(blobs):
    new = blobs[::3] + 0.1
    one = PSKC(psi=16, tau=0.05, random_state=0).fit(blobs, sample_weight=np.ones(len(blobs)))
    half = PSKC(psi=16, tau=0.05, random_state=0).fit(blobs, sample_weight=np.full(len(blobs), 0.5))
    assert_array_equal(one.labels_, half.labels_)
    assert_allclose(drift_of(one, new).score, drift_of(half, new).score, rtol=1e-12)


@pytest.mark.parametrize("n_rows", [0, 1, 199])
def test_too_few_rows_tell_nothing(model, n_rows):
    X, _ = make_shapes(200, random_state=1)
    drift = drift_of(model, *([X[:n_rows] + 50] if n_rows else []))
    assert not drift.fit_again
    assert drift.advice == f"{n_rows} rows are too few to tell: wait for 200 or more."


def test_a_model_that_is_not_fitted_is_refused():
    with pytest.raises(NotFittedError):
        DriftMonitor(PSKC())
    with pytest.raises(NotFittedError):
        DriftMonitor(make_pipeline(StandardScaler(), PSKC()))
