"""Density peaks, against plain loops over all pairs."""

from __future__ import annotations

import math
from contextlib import ExitStack
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from pskclust import IsolationKernel
from pskclust._utils import parallel as _parallel
from pskclust.baselines import DensityPeaks
from tests.helpers import naive
from tests.helpers.cases import rows

FITTED = (
    "labels_",
    "center_indices_",
    "density_",
    "distance_to_denser_",
    "denser_neighbor_",
    "bandwidth_",
    "n_clusters_",
)
GOOD = np.arange(20.0).reshape(10, 2)


@parametrize_with_checks(
    [
        DensityPeaks(),
        DensityPeaks(density="cutoff"),
        DensityPeaks(metric="isolation", psi=8),
    ]
)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def euclidean(X):
    X = X.tolist()
    return [[math.sqrt(naive.squared_distance(x, y)) for y in X] for x in X]


def closeness(distance, bandwidth, kind):
    if kind == "cutoff":
        return float(distance < bandwidth)
    scaled = distance / bandwidth
    return round(math.exp(-scaled * scaled) * 2**32) / 2**32


def naive_decision_graph(distances, bandwidth, kind):
    """Return density, distance to the nearest denser row, and that row."""
    everybody = range(len(distances))
    density = [
        sum(closeness(distances[i][j], bandwidth, kind) for j in everybody if j != i)
        for i in everybody
    ]
    ranks = [(-density[i], i) for i in everybody]
    distance, neighbor = [], []
    for i in everybody:
        denser = [j for j in everybody if ranks[j] < ranks[i]]
        nearest = min(denser, key=lambda j: (distances[i][j], ranks[j]), default=-1)
        neighbor.append(nearest)
        distance.append(distances[i][nearest] if denser else max(distances[i]))
    return density, distance, neighbor


def naive_labels(neighbor, centers):
    labels = []
    for row in range(len(neighbor)):
        while row not in centers:
            row = neighbor[row]
        labels.append(centers.index(row))
    return labels


def naive_centers(density, distance, n_clusters):
    everybody = range(len(density))
    ranked = sorted(everybody, key=lambda i: (-density[i] * distance[i], -density[i], i))
    return ranked[:n_clusters]


def assert_is_naive(model, distances):
    kind, bandwidth = model.density, model.bandwidth_
    density, distance, neighbor = naive_decision_graph(distances, bandwidth, kind)
    assert_array_equal(model.density_, density)
    assert_array_equal(model.distance_to_denser_, distance)
    assert_array_equal(model.denser_neighbor_, neighbor)
    centers = naive_centers(density, distance, model.n_clusters)
    assert_array_equal(model.center_indices_, centers)
    assert_array_equal(model.labels_, naive_labels(neighbor, centers))
    assert model.n_clusters_ == len(centers)


def assert_same_fit(first, second):
    for name in FITTED:
        assert_array_equal(getattr(first, name), getattr(second, name), err_msg=name)


def tiny_chunks():
    patches = ExitStack()
    for name, value in (
        ("_CHUNK_ENTRIES", 1),
        ("_MIN_CHUNK_ROWS", 3),
        ("_MIN_CHUNKS_PER_THREAD", 1),
        ("_MIN_PRODUCT_ROWS", 3),
        ("_MAX_PRODUCT_ROWS", 3),
    ):
        patches.enter_context(mock.patch.object(_parallel, name, value))
    return patches


@settings(max_examples=200)
@given(
    rows(),
    st.sampled_from(["gaussian", "cutoff"]),
    st.sampled_from(["auto", 0.3, 1.0, 2.0]),
    st.integers(1, 5),
    st.booleans(),
)
def test_a_fit_is_that_of_plain_loops(X, kind, bandwidth, n_clusters, cut_up):
    model = DensityPeaks(min(n_clusters, len(X)), bandwidth, kind)
    with tiny_chunks() if cut_up else ExitStack():
        model.fit(X)
    assert_is_naive(model, euclidean(X))


@settings(max_examples=50)
@given(rows(), st.sampled_from(["gaussian", "cutoff"]), st.integers(1, 12))
def test_a_fit_with_the_isolation_kernel_is_that_of_plain_loops(X, kind, n_partitions):
    options = {"psi": 2, "n_partitions": n_partitions, "random_state": 0}
    model = DensityPeaks(2, density=kind, metric="isolation", **options).fit(X)
    assert_is_naive(model, (1 - IsolationKernel(**options).fit(X).similarity(X)).tolist())


def test_many_columns_of_whole_numbers_are_compared_exactly():
    X = np.random.RandomState(0).randint(0, 3, (40, 20)) + 1000
    X[20:30] = X[:10]
    assert_is_naive(DensityPeaks(3).fit(X), euclidean(X))


def test_many_columns_far_from_zero_are_compared_closely():
    X = np.random.RandomState(0).randn(60, 30) + 1e4
    model = DensityPeaks(3, 5.0).fit(X)
    density, distance, _ = naive_decision_graph(euclidean(X), 5.0, "gaussian")
    assert_allclose(model.density_, density, rtol=1e-9)
    assert_allclose(model.distance_to_denser_, distance, rtol=1e-9)


def test_equal_rows_of_many_columns_are_at_distance_zero():
    X = np.repeat(np.random.RandomState(0).randn(8, 100), 5, axis=0)
    model = DensityPeaks(8).fit(X)
    assert_array_equal(np.sort(model.center_indices_), np.arange(0, 40, 5))
    others = np.setdiff1d(np.arange(40), model.center_indices_)
    assert_array_equal(model.distance_to_denser_[others], 0)
    assert model.bandwidth_ > 1


def test_a_failed_fit_leaves_the_one_before(blobs):
    model = DensityPeaks(3).fit(blobs)
    labels, density = model.labels_, model.density_
    model.set_params(n_clusters=None, density_threshold=0, distance_threshold=1e6)
    with pytest.raises(ValueError, match="No row exceeds"):
        model.fit(blobs[:100])
    assert model.labels_ is labels
    assert model.density_ is density


@pytest.mark.parametrize("metric", ["euclidean", "isolation"])
def test_a_fit_depends_on_neither_chunks_nor_threads(scattered, metric):
    options = {"n_clusters": 3, "metric": metric, "random_state": 0}
    whole = DensityPeaks(**options, n_jobs=1).fit(scattered)
    with tiny_chunks():
        cut_up = DensityPeaks(**options, n_jobs=2).fit(scattered)
    assert_same_fit(whole, cut_up)


def test_many_columns_do_not_depend_on_threads():
    X = np.random.RandomState(0).randn(2500, 20)
    assert_same_fit(DensityPeaks(3, 5.0, n_jobs=1).fit(X), DensityPeaks(3, 5.0, n_jobs=2).fit(X))


@pytest.mark.parametrize("n_columns", [2, 20])
@pytest.mark.parametrize("metric", ["euclidean", "isolation"])
@pytest.mark.parametrize("kind", ["gaussian", "cutoff"])
def test_three_blobs_are_found(kind, metric, n_columns):
    X, y = make_blobs(300, n_columns, centers=3, cluster_std=0.5, random_state=1)
    model = DensityPeaks(3, density=kind, metric=metric, psi=4, random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) == 1
    assert_array_equal(model.labels_[model.center_indices_], [0, 1, 2])


def test_thresholds_find_the_centers_that_their_number_finds(blobs):
    by_number = DensityPeaks(3).fit(blobs)
    density, distance = by_number.decision_graph()
    assert density is by_number.density_
    least = np.sort(distance)[-4]
    by_thresholds = DensityPeaks(None, density_threshold=1, distance_threshold=least).fit(blobs)
    assert_same_fit(by_number, by_thresholds)


def test_centers_exceed_both_thresholds():
    X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [9.0]])
    model = DensityPeaks(None, 1.0, "cutoff", density_threshold=0, distance_threshold=0.5).fit(X)
    assert_array_equal(model.density_, [2, 2, 2, 1, 1, 0])
    assert_array_equal(model.center_indices_, [0, 3])
    assert_array_equal(model.labels_, [0, 0, 0, 1, 1, 1])
    its_distance = float(model.distance_to_denser_[3])
    for raised in ({"density_threshold": 1}, {"distance_threshold": its_distance}):
        assert_array_equal(clone(model).set_params(**raised).fit(X).center_indices_, [0])


def test_the_bandwidth_is_a_quantile_of_all_distances(blobs):
    distances = np.array(euclidean(blobs))[np.triu_indices(len(blobs), 1)]
    assert DensityPeaks().fit(blobs).bandwidth_ == np.quantile(distances, 0.02)


def test_the_bandwidth_of_many_rows_is_close_to_that_of_all():
    X = np.random.RandomState(0).uniform(size=(1500, 1))
    model = DensityPeaks(random_state=0).fit(X)
    distances = np.abs(X - X.T)[np.triu_indices(1500, 1)]
    assert model.bandwidth_ == pytest.approx(np.quantile(distances, 0.02), rel=0.1)
    assert_same_fit(model, DensityPeaks(random_state=0).fit(X))


def test_the_bandwidth_is_never_zero():
    X = np.repeat([[0.0], [3.0], [7.0]], [40, 1, 1], axis=0)
    assert DensityPeaks(2).fit(X).bandwidth_ == 3
    assert DensityPeaks(2).fit(X[:40]).bandwidth_ == 1


def test_a_tiny_bandwidth_leaves_rows_alone(blobs):
    model = DensityPeaks(2, 1e-300).fit(blobs)
    assert_array_equal(model.density_, 0)
    assert_array_equal(model.center_indices_, [0, 1])


def test_another_metric_forgets_the_kernel(blobs):
    model = DensityPeaks(3, metric="isolation", random_state=0).fit(blobs)
    assert isinstance(model.kernel_, IsolationKernel)
    assert model.set_params(metric="euclidean").fit(blobs).kernel_ is None


BAD_PARAMETERS = {
    "n_clusters 0": ({"n_clusters": 0}, "n_clusters=0 is not allowed.*1 or more, or None"),
    "too many": ({"n_clusters": 11}, "n_clusters=11 is more than the 10 rows.*n_clusters <= 10"),
    "no way": ({"n_clusters": None}, "n_clusters=None.*density_threshold is None. Pass n_clusters"),
    "half a way": (
        {"n_clusters": None, "density_threshold": 1},
        "distance_threshold is None. Pass n_clusters, or both",
    ),
    "two ways": (
        {"n_clusters": 3, "distance_threshold": 2},
        "distance_threshold=2 has no meaning with n_clusters=3. Use n_clusters=None",
    ),
    "no centres": (
        {"n_clusters": None, "density_threshold": 1, "distance_threshold": 99},
        "No row exceeds density_threshold=1 and distance_threshold=99: .*Use lower thresholds",
    ),
    "threshold": (
        {"n_clusters": None, "density_threshold": -1, "distance_threshold": 1},
        "density_threshold=-1 is not allowed. Use a number of 0 or more",
    ),
    "bandwidth": ({"bandwidth": 0}, "bandwidth=0 is not allowed. Use a number above 0, or 'auto'"),
    "density": ({"density": "knn"}, "density='knn'.*one of 'gaussian', 'cutoff'"),
    "metric": ({"metric": "cosine"}, "metric='cosine'.*one of 'euclidean', 'isolation'"),
    "psi": ({"psi": 1}, "psi=1 is not allowed"),
    "psi above n": ({"psi": 11, "metric": "isolation"}, "psi=11 is more than the 10 rows"),
    "n_jobs": ({"n_jobs": 0}, "n_jobs=0 is not allowed"),
}


@pytest.mark.parametrize(("wrong", "message"), BAD_PARAMETERS.values(), ids=BAD_PARAMETERS)
def test_bad_parameters_are_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        DensityPeaks(**wrong).fit(GOOD)


@pytest.mark.parametrize("scale", [1e160, 1e-170])
def test_distances_that_are_no_numbers_are_refused(scale):
    with pytest.raises(ValueError, match="overflow|underflow"):
        DensityPeaks(2).fit(GOOD * scale)


def test_there_is_no_decision_graph_before_a_fit():
    with pytest.raises(NotFittedError, match="This DensityPeaks instance is not fitted yet"):
        DensityPeaks().decision_graph()
