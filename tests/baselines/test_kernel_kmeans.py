"""Kernel k-means, against kernel matrices written out in full."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.datasets import make_blobs, make_circles
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from pskclust import InsufficientMemoryError
from pskclust._utils import memory as _memory
from pskclust.baselines import _kernel_kmeans
from pskclust.baselines._kernel_kmeans import (
    KernelKMeans,
    leading_eigenpairs,
    neighbor_features,
    neighbor_kernel,
    nystroem_features,
    restrict_rank,
)
from pskclust.datasets import make_ring_g
from pskclust.metrics import matched_f1


def gaussian_kernel(X, Y, sigma):
    return np.exp(-((X[:, np.newaxis] - Y) ** 2).sum(axis=2) / (2 * sigma**2))


def plain_neighbor_kernel(X, n_neighbors):
    distances = ((X[:, np.newaxis] - X) ** 2).sum(axis=2)
    np.fill_diagonal(distances, -1)  # a row comes before its copies
    kernel = np.eye(len(X))
    for row, distance in enumerate(distances):
        for other in np.argsort(distance)[1 : n_neighbors + 1]:
            kernel[row, other] += 0.5
            kernel[other, row] += 0.5
    return kernel


def arc_and_ball():
    """An arc around a ball, as the paper's AC is drawn."""
    rng = np.random.RandomState(0)
    angle = rng.uniform(0, np.pi, 500)
    radius = rng.normal(1, 0.05, 500)
    arc = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    ball = rng.normal(0, 0.12, (500, 2))
    return np.vstack([arc, ball]), np.repeat([0, 1], 500)


def spirals():
    """Three arms, as the set Spiral has them."""
    along = np.linspace(0.3, 1, 104)
    angles = 4 * np.pi * along + 2 * np.pi / 3 * np.arange(3)[:, np.newaxis]
    arms = along * np.array([np.cos(angles), np.sin(angles)])
    return arms.transpose(1, 2, 0).reshape(-1, 2), np.repeat([0, 1, 2], 104)


def expected_failures(estimator):
    """Ten rows are all neighbours of each other, and k-means warns that they are alike."""
    return {"check_estimators_nan_inf": "ten rows"} if estimator.kernel == "knn" else {}


@parametrize_with_checks(
    [KernelKMeans(), KernelKMeans(kernel="knn")], expected_failed_checks=expected_failures
)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("sigma", [0.3, 1.0, 5.0])
def test_with_all_rows_as_landmarks_features_give_the_exact_kernel(scattered, sigma):
    features = nystroem_features(scattered, scattered, sigma)
    assert_allclose(features @ features.T, gaussian_kernel(scattered, scattered, sigma), atol=1e-6)


def test_with_fewer_landmarks_features_give_the_nystroem_approximation(scattered):
    landmarks = scattered[::20]
    across = gaussian_kernel(scattered, landmarks, 0.5)
    approximation = across @ np.linalg.pinv(gaussian_kernel(landmarks, landmarks, 0.5)) @ across.T
    features = nystroem_features(scattered, landmarks, 0.5)
    assert features.shape == (len(scattered), len(landmarks))
    assert_allclose(features @ features.T, approximation, atol=1e-8)


def test_features_do_not_depend_on_chunks(scattered, monkeypatch):
    whole = nystroem_features(scattered, scattered[:50], 0.5)
    monkeypatch.setattr(_kernel_kmeans, "rows_per_product", lambda width: 33)
    # Products of other shapes are rounded differently; small eigenvalues amplify the difference.
    assert_allclose(nystroem_features(scattered, scattered[:50], 0.5), whole, atol=1e-10)


def test_the_rank_is_restricted_as_a_singular_value_decomposition_does():
    features = np.random.RandomState(0).randn(60, 12)
    left, singular, right = np.linalg.svd(features, full_matrices=False)
    best = (left[:, :5] * singular[:5]) @ right[:5]
    restricted = restrict_rank(features, 5)
    assert restricted.shape == (60, 5)
    assert_allclose(restricted @ restricted.T, best @ best.T, atol=1e-10)


@pytest.mark.parametrize("n_neighbors", [1, 5, 100, 418, 419])
@pytest.mark.parametrize("dense_share", [0, 1])
def test_the_neighbor_kernel_is_that_of_plain_loops(
    scattered, n_neighbors, dense_share, monkeypatch
):
    monkeypatch.setattr(_kernel_kmeans, "_DENSE_SHARE_OF_ROWS", dense_share)
    kernel = neighbor_kernel(scattered, n_neighbors)
    assert sparse.issparse(kernel) == (dense_share == 1)
    full = kernel.toarray() if sparse.issparse(kernel) else kernel
    assert_array_equal(full, plain_neighbor_kernel(scattered, n_neighbors))


def test_the_neighbor_kernel_counts_a_neighbour_of_one_side_half():
    kernel = neighbor_kernel(np.array([[0.0], [1.0], [3.0]]), 1)
    assert_array_equal(kernel, [[1, 1, 0], [1, 1, 0.5], [0, 0.5, 1]])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("make", "n_clusters", "lowest", "highest"),
    [
        # Of the paper's sets, Ring-G's stand-in, and sets drawn in the likeness of others.
        (arc_and_ball, 2, 0.99, 1.0),
        (spirals, 3, 0.34, 0.7),
        (lambda: make_ring_g(random_state=0), 4, 0.7, 0.95),
        (lambda: make_blobs(900, centers=15, cluster_std=0.7, random_state=3), 15, 0.8, 1.0),
    ],
    ids=["arc and ball", "spirals", "Ring-G", "blobs"],
)
def test_the_neighbor_kernel_is_good_and_poor_where_the_paper_has_it_so(
    make, n_clusters, lowest, highest
):
    X, y = make()
    best = max(
        matched_f1(
            y,
            KernelKMeans(
                n_clusters, "knn", n_neighbors=int(share * len(X)), random_state=42
            ).fit_predict(X),
        )
        for share in (0.02, 0.1, 0.3)
    )
    assert lowest <= best <= highest


def test_neighbor_features_give_the_nearest_kernel_of_their_rank(scattered):
    eigenvalues, eigenvectors = np.linalg.eigh(plain_neighbor_kernel(scattered, 15))
    nearest = (eigenvectors[:, -20:] * eigenvalues[-20:]) @ eigenvectors[:, -20:].T
    features = neighbor_features(scattered, 15, 20)
    assert_allclose(features @ features.T, nearest, atol=1e-8)


def test_eigenvectors_of_negative_eigenvalues_are_left_out(scattered):
    eigenvalues = np.linalg.eigvalsh(plain_neighbor_kernel(scattered, 15))
    assert eigenvalues[0] < -1
    features = neighbor_features(scattered, 15, len(scattered))
    assert features.shape[1] == (eigenvalues > 1e-9).sum()


def test_sparse_and_full_matrices_have_the_same_eigenpairs(scattered):
    kernel = neighbor_kernel(scattered, 15)
    sparse_values, sparse_vectors = leading_eigenpairs(kernel, 10)
    values, vectors = leading_eigenpairs(kernel.toarray(), 10)
    assert_allclose(sparse_values, values)
    assert_allclose(np.abs(sparse_vectors), np.abs(vectors), atol=1e-8)


def test_the_objective_is_that_of_kernel_k_means(scattered):
    model = KernelKMeans(
        4, sigma=0.5, n_landmarks=10**6, n_components=10**6, n_init=1, random_state=0
    )
    labels = model.fit_predict(scattered)
    kernel = gaussian_kernel(scattered, scattered, 0.5)
    within = sum(
        kernel[np.ix_(labels == k, labels == k)].sum() / (labels == k).sum() for k in range(4)
    )
    assert model.inertia_ == pytest.approx(np.trace(kernel) - within, rel=1e-6)


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"kernel": "knn", "n_neighbors": 30, "n_components": 5},
        {"kernel": "knn", "n_neighbors": 99},
    ],
)
def test_blobs_are_found(parameters):
    X, y = make_blobs(300, centers=3, cluster_std=0.5, random_state=1)
    labels = KernelKMeans(3, random_state=0, **parameters).fit_predict(X)
    assert adjusted_rand_score(y, labels) == 1


def test_the_gaussian_kernel_tells_a_ring_from_what_it_surrounds():
    X, y = make_circles(400, factor=0.1, noise=0.02, random_state=0)
    scores = {
        sigma: adjusted_rand_score(
            y, KernelKMeans(2, sigma=sigma, n_init=3, random_state=0).fit_predict(X)
        )
        for sigma in (0.3, 30)
    }
    assert scores[0.3] == 1
    assert scores[30] < 0.5


@pytest.mark.parametrize("kernel", ["gaussian", "knn"])
def test_the_same_seed_gives_the_same_fit(scattered, kernel):
    first, second = (
        KernelKMeans(5, kernel, n_init=2, random_state=3).fit(scattered) for _ in range(2)
    )
    assert_array_equal(first.labels_, second.labels_)
    assert first.inertia_ == second.inertia_


def test_another_seed_draws_other_landmarks(scattered):
    inertias = {
        KernelKMeans(3, n_landmarks=5, random_state=seed).fit(scattered).inertia_
        for seed in range(4)
    }
    assert len(inertias) == 4


def test_the_origin_does_not_matter(scattered):
    near = KernelKMeans(4, sigma=0.5, n_init=2, random_state=0).fit(scattered)
    far = KernelKMeans(4, sigma=0.5, n_init=2, random_state=0).fit(scattered + 1e6)
    assert adjusted_rand_score(near.labels_, far.labels_) == 1


@pytest.mark.parametrize("kernel", ["gaussian", "knn"])
def test_two_rows_are_enough(kernel):
    assert_array_equal(KernelKMeans(1, kernel).fit_predict([[1.0, 2.0], [3.0, 4.0]]), [0, 0])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_clusters": 0}, "n_clusters=0 is not allowed. Use a whole number of 1 or more."),
        ({"kernel": "rbf"}, "kernel='rbf' is not allowed. Use one of 'gaussian', 'knn'."),
        ({"sigma": 0}, "sigma=0 is not allowed. Use a number above 1e-150"),
        ({"sigma": 1e-200}, "sigma=1e-200 is not allowed. Use a number above 1e-150"),
        ({"n_landmarks": 0.5}, "n_landmarks=0.5 is not allowed."),
        ({"n_components": None}, "n_components=None is not allowed."),
        ({"n_neighbors": True}, "n_neighbors=True is not allowed."),
        (
            {"n_clusters": 301},
            "n_clusters=301 is more than .* n_samples=300. Use n_clusters <= 300.",
        ),
    ],
)
def test_bad_parameters_are_refused(blobs, parameters, message):
    with pytest.raises(ValueError, match=message):
        KernelKMeans(**parameters).fit(blobs)


@pytest.mark.parametrize("kernel", ["gaussian", "knn"])
def test_too_little_memory_is_told_before_it_is_taken(blobs, kernel):
    with (
        mock.patch.object(_memory, "available_bytes", return_value=1000),
        pytest.raises(InsufficientMemoryError, match="Use fewer"),
    ):
        KernelKMeans(kernel=kernel).fit(blobs)
