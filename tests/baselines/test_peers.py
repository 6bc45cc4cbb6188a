"""The systems of the paper against parts of scikit-learn that compute the same."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import DBSCAN, KMeans
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import NearestNeighbors

from pskclust import IsolationKernel
from pskclust.baselines import MBSCAN, DensityPeaks, KernelKMeans

PSI, N_PARTITIONS = 16, 50


def neighbours_within(points, radius, metric):
    """Return how many other rows are closer than a radius, by a search for neighbours."""
    search = NearestNeighbors(radius=radius, metric=metric).fit(points)
    distances, _ = search.radius_neighbors()
    return np.array([(some < radius).sum() for some in distances])


def distance_to_denser(points, density, metric):
    """Return the distance of each row to the nearest one before it in the order of densities."""
    ranking = np.argsort(-density, kind="stable")
    found = np.zeros(len(points))
    for place in range(1, len(ranking)):
        search = NearestNeighbors(n_neighbors=1, metric=metric).fit(points[ranking[:place]])
        distances, _ = search.kneighbors(points[ranking[place : place + 1]])
        found[ranking[place]] = distances[0, 0]
    return ranking, found


@pytest.mark.slow
@pytest.mark.parametrize("metric", ["euclidean", "isolation"])
def test_density_peaks_has_the_neighbours_of_a_search(scattered, metric):
    """DP on rows; DP_ik on cells, whose Hamming distance is 1 minus the Isolation Kernel."""
    isolation = {"psi": PSI, "n_partitions": N_PARTITIONS, "random_state": 0}
    bandwidth = 0.5001  # no whole number of shared cells
    model = DensityPeaks(
        4, bandwidth, "cutoff", metric=metric, **isolation if metric == "isolation" else {}
    ).fit(scattered)
    points, peer_metric = scattered, "euclidean"
    if metric == "isolation":
        points, peer_metric = model.kernel_.cells(scattered), "hamming"
    density = neighbours_within(points, bandwidth, peer_metric)
    assert_array_equal(model.density_, density)
    ranking, distances = distance_to_denser(points, density, peer_metric)
    assert_allclose(model.distance_to_denser_[ranking[1:]], distances[ranking[1:]], atol=1e-12)


def test_mbscan_is_dbscan_of_the_hamming_distance_of_cells(scattered):
    kernel = IsolationKernel(psi=PSI, n_partitions=N_PARTITIONS, random_state=0).fit(scattered)
    setting = {"eps": 0.4501, "min_samples": 8}
    peer = DBSCAN(**setting, metric="hamming").fit(kernel.cells(scattered))
    model = MBSCAN(**setting, psi=PSI, n_partitions=N_PARTITIONS, random_state=0).fit(scattered)
    assert peer.labels_.max() >= 1
    assert_array_equal(model.labels_ < 0, peer.labels_ < 0)
    core = peer.core_sample_indices_
    assert adjusted_rand_score(model.labels_[core], peer.labels_[core]) == 1


def test_kernel_k_means_ends_where_k_means_of_nystroem_features_does(scattered):
    sigma = 1.0
    model = KernelKMeans(
        3, sigma=sigma, n_landmarks=len(scattered), n_components=len(scattered), random_state=0
    ).fit(scattered)
    features = Nystroem(gamma=1 / (2 * sigma**2), n_components=len(scattered), random_state=0)
    peer = KMeans(3, n_init=10, random_state=1).fit(features.fit_transform(scattered))
    assert model.inertia_ == pytest.approx(peer.inertia_, rel=1e-4)
    assert adjusted_rand_score(model.labels_, peer.labels_) > 0.98
