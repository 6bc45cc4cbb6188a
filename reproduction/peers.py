"""Comparison of our DP, DP_ik, MBSCAN and kernel k-means with other implementations."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from framework import Comparison, Outcome, Settings, table
from sklearn.cluster import DBSCAN, KMeans
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics import adjusted_rand_score, pairwise_distances

from pskclust import IsolationKernel
from pskclust.baselines import MBSCAN, DensityPeaks, KernelKMeans
from pskclust.datasets import make_ring_g

TITLE = "The systems compared, beside other implementations of them"
PLACES = {
    "Systems compared": "our DP, DP_ik, MBSCAN and kernel k-means are those of the publications"
}
SEED, PSI, N_CLUSTERS = 0, 32, 4
# Not 1: the kernel's dissimilarities are whole hundredths, and ties may be broken differently.
SAME_ARI = 0.95


class Peer(NamedTuple):
    """Agreement of one of our systems with another implementation."""

    system: str
    peer: str
    ari: float
    largest_difference: float  # relative, of densities or of the objective; MBSCAN: of noise


def run(settings: Settings) -> Outcome:
    outcome = Outcome()
    X, _ = make_ring_g(random_state=0)
    found = [density_peaks(X), density_peaks_isolation(X), mbscan(X), kernel_kmeans(X[::3])]
    for one in found:
        same = one.ari >= SAME_ARI
        outcome.comparisons.append(
            Comparison(
                one.system,
                f"the clusters of {one.peer}",
                f"adjusted Rand index {one.ari:.3f}, difference {one.largest_difference:.1e}",
                bool(same),
                "" if same else f"{one.system}: adjusted Rand index {one.ari:.3f} with {one.peer}.",
            )
        )
        outcome.values[one.system] = one.ari
    outcome.findings["Systems compared"] = (
        ", ".join(f"{one.system} {one.ari:.3f} with {one.peer}" for one in found)
        + " (adjusted Rand index on Ring-G)"
    )
    rows = [
        [one.system, one.peer, f"{one.ari:.3f}", f"{one.largest_difference:.1e}"] for one in found
    ]
    head = ["system", "other implementation", "adjusted Rand index", "largest relative difference"]
    outcome.tables.append(table(head, rows))
    return outcome


def density_peaks(X: np.ndarray) -> Peer:
    ours = DensityPeaks(N_CLUSTERS).fit(X)
    return _beside_pydpc("DP", ours, X, pairwise_distances(X))


def density_peaks_isolation(X: np.ndarray) -> Peer:
    ours = DensityPeaks(N_CLUSTERS, metric="isolation", psi=PSI, random_state=SEED).fit(X)
    return _beside_pydpc("DP_ik", ours, X, 1 - ours.kernel_.similarity(X))


def _beside_pydpc(system: str, ours: DensityPeaks, X: np.ndarray, distances: np.ndarray) -> Peer:
    from pydpc import Cluster

    peer = Cluster(X, autoplot=False, distances=distances, kernel_size=ours.bandwidth_)
    # The densities differ by a constant (a row counts itself or not), which changes no order.
    density = peer.density - np.median(peer.density - ours.density_)
    difference = np.abs(density - ours.density_).max() / ours.density_.max()
    centres = np.argsort(-peer.density * peer.delta, kind="stable")[:N_CLUSTERS]
    labels = _follow(np.asarray(peer.neighbour), centres, np.argsort(-peer.density, kind="stable"))
    return Peer(system, "pydpc", adjusted_rand_score(ours.labels_, labels), float(difference))


def _follow(neighbour: np.ndarray, centres: np.ndarray, ranking: np.ndarray) -> np.ndarray:
    """Return the labels of rows: each follows its denser neighbours to a centre."""
    labels = np.full(len(neighbour), -1)
    labels[centres] = np.arange(len(centres))
    for row in ranking:
        if labels[row] < 0:
            labels[row] = labels[neighbour[row]]
    return labels


def mbscan(X: np.ndarray) -> Peer:
    kernel = IsolationKernel(psi=PSI, n_partitions=200, random_state=SEED).fit(X)
    distances = 1 - kernel.similarity(X)
    setting = {"eps": 0.6, "min_samples": 10}
    ours = MBSCAN(**setting, psi=PSI, n_partitions=200, random_state=SEED).fit(X)
    peer = DBSCAN(**setting, metric="precomputed").fit(distances)
    noise = float(np.mean((peer.labels_ < 0) != (ours.labels_ < 0)))
    ari = adjusted_rand_score(ours.labels_, peer.labels_)
    return Peer("MBSCAN", "scikit-learn's DBSCAN on the kernel's matrix", ari, noise)


def kernel_kmeans(X: np.ndarray) -> Peer:
    sigma = 4.0  # here k-means has a single best solution; at some other widths, two are close
    ours = KernelKMeans(
        N_CLUSTERS, sigma=sigma, n_landmarks=len(X), n_components=len(X), random_state=SEED
    ).fit(X)
    features = Nystroem(gamma=1 / (2 * sigma**2), n_components=len(X), random_state=SEED)
    peer = KMeans(N_CLUSTERS, n_init=10, random_state=SEED).fit(features.fit_transform(X))
    difference = abs(peer.inertia_ / ours.inertia_ - 1)
    ari = adjusted_rand_score(ours.labels_, peer.labels_)
    return Peer("kernel k-means (Gaussian)", "scikit-learn's Nystroem and KMeans", ari, difference)
