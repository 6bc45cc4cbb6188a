"""The eleven systems of the paper, each searched over the paper's own parameter ranges.

A search yields labels, each with the model that gives them. A computation that serves many settings
is done once, so that a whole search takes minutes: DBSCAN's clusters for all eps are cuts of one
tree, and RCC's clusters for all thresholds come from one optimisation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from dbscan_path import dbscan_path
from sklearn.cluster import DBSCAN, KMeans
from sklearn.metrics import pairwise_distances

from pskclust import PSKC, IsolationKernel
from pskclust.baselines import MBSCAN, RCC, SGL, DensityPeaks, GaussianPSKC, KernelKMeans

Candidates = Iterator[tuple[np.ndarray, Any]]
Search = Callable[[np.ndarray, int, bool], Candidates]
SEED = 42
# Parts of the paper's ranges that are left out, because they would take hours.
CUTS = (
    "psKC_g: growth rates below 1e-3 (more than 2,000 steps for a cluster); on S3, below 0.1. "
    "Kernel k-means (kNN): on S3, k other than 1 to 10%, 15% and multiples of 10% of the rows. "
    "RCC: k other than 1 to 20, 25, 30, 40, 50, 75, 100, 150 and 200."
)
MIN_SAMPLES = range(2, 31)


def _some(values: Any, fast: bool, step: int) -> Any:
    """Return all values, or in a fast run every `step`-th."""
    return values[::step] if fast else values


def _is_large(X: np.ndarray) -> bool:
    return len(X) > 2000


def pskc(X: np.ndarray, n_clusters: int, fast: bool, growth_rate: float = 0.1) -> Candidates:
    for psi in (55, 70, 128, 256, 512, 1024):
        for tau in _some((0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 800), fast, 2):
            model = PSKC(
                psi=psi,
                tau=tau * 1e-4,
                growth_rate=growth_rate,
                replace=True,
                random_state=SEED,
            )
            yield model.fit_predict(X), model


def pskc_gaussian(X: np.ndarray, n_clusters: int, fast: bool) -> Candidates:
    growth_rates = (0.1, 0.01) if fast else (0.1, 0.01, 0.001)
    if _is_large(X):
        growth_rates = (0.1,)
    for exponent in _some(range(1, 17), fast, 5):
        for growth_rate in growth_rates:
            model = GaussianPSKC(tau=0.1, growth_rate=growth_rate, gamma=2.0**exponent)
            yield model.fit_predict(X), model


def kmeans(X: np.ndarray, n_clusters: int, fast: bool) -> Candidates:
    model = KMeans(n_clusters, n_init=10, random_state=SEED)
    yield model.fit_predict(X), model


def gaussian_kernel_kmeans(X: np.ndarray, n_clusters: int, fast: bool) -> Candidates:
    small = len(X) < 400
    for sigma in (0.1, 0.25, 0.5, 1, 2, 4, 8, 16, 24, 32):
        model = KernelKMeans(
            n_clusters,
            sigma=sigma,
            n_landmarks=200 if small else 400,
            n_components=20 if small else 100,
            random_state=SEED,
        )
        yield model.fit_predict(X), model


def knn_kernel_kmeans(X: np.ndarray, n_clusters: int, fast: bool) -> Candidates:
    shares = (*range(1, 11), 15, *range(20, 100, 10)) if _is_large(X) else range(1, 100)
    for share in _some(shares, fast, 6 if _is_large(X) else 16):
        model = KernelKMeans(
            n_clusters,
            kernel="knn",
            n_neighbors=max(1, int(share / 100 * len(X))),
            n_components=100,
            random_state=SEED,
        )
        yield model.fit_predict(X), model


def sgl(X: np.ndarray, n_clusters: int, fast: bool) -> Candidates:
    for n_anchors in _some((25, 30, 33, 36, 40, 50), fast, 3):
        for alpha in _some((0.1, 1, 10, 50), fast, 2):
            for beta in (1e-4, 1e-3):
                model = SGL(
                    n_clusters, n_anchors=n_anchors, alpha=alpha, beta=beta, random_state=SEED
                )
                yield model.fit_predict(X), model


def density_peaks(X: np.ndarray, n_clusters: int, fast: bool) -> Candidates:
    largest = pairwise_distances(X).max()
    for thousandths in _some(range(1, 401), fast, 25):
        model = DensityPeaks(n_clusters=n_clusters, bandwidth=thousandths / 1000 * largest)
        yield model.fit_predict(X), model


def density_peaks_isolation(X: np.ndarray, n_clusters: int, fast: bool) -> Candidates:
    """Search DP_ik; dissimilarities are multiples of 0.01, so finer bandwidths change nothing."""
    for psi in _some((2, 4, 6, 8, 16, 24, 32), fast, 2):
        for hundredths in _some(range(1, 41), fast, 8):
            model = DensityPeaks(
                n_clusters=n_clusters,
                bandwidth=hundredths / 100,
                density="cutoff",
                metric="isolation",
                psi=psi,
                random_state=SEED,
            )
            yield model.fit_predict(X), model


def dbscan(X: np.ndarray, n_clusters: int, fast: bool) -> Candidates:
    for min_samples, eps, labels in _all_dbscan(pairwise_distances(X), fast):
        yield labels, DBSCAN(eps=eps, min_samples=min_samples)


def mbscan(X: np.ndarray, n_clusters: int, fast: bool) -> Candidates:
    kernel = IsolationKernel(psi=32, n_partitions=200, random_state=SEED).fit(X)
    for min_samples, eps, labels in _all_dbscan(1 - kernel.similarity(X), fast):
        model = MBSCAN(eps=eps, min_samples=min_samples, psi=32, n_partitions=200)
        yield labels, model.set_params(random_state=SEED)


def _all_dbscan(distances: np.ndarray, fast: bool) -> Iterator[tuple[int, float, np.ndarray]]:
    epsilons = distances.max() * np.arange(1, 1000) / 1000
    return dbscan_path(distances, _some(epsilons, fast, 5), _some(MIN_SAMPLES, fast, 7))


def rcc(X: np.ndarray, n_clusters: int, fast: bool) -> Candidates:
    n_neighbours = (*range(1, 21), 25, 30, 40, 50, 75, 100, 150, 200)
    for k in _some(n_neighbours, fast, 8):
        model = RCC(n_neighbors=k).fit(X)
        n_found = None
        for threshold in np.arange(10, 201) / 10:
            labels = model.labels_at(threshold)
            # A larger threshold only joins clusters, so an equal number means equal clusters.
            if labels.max() != n_found:
                n_found = labels.max()
                yield labels, model.set_params(threshold=float(threshold))


def search_of(system: str, data_set: str) -> Search:
    """Return the search of a system; on Ring-G, psKC has the paper's growth rate of 0.26."""
    if (system, data_set) == ("psKC", "Ring-G"):
        return partial(pskc, growth_rate=0.26)
    return SEARCHES[system]


SEARCHES: dict[str, Search] = {
    "psKC": pskc,
    "DP": density_peaks,
    "kernel k-means (Gaussian)": gaussian_kernel_kmeans,
    "kernel k-means (kNN)": knn_kernel_kmeans,
    "SGL": sgl,
    "k-means": kmeans,
    "psKC_g": pskc_gaussian,
    "DBSCAN": dbscan,
    "MBSCAN": mbscan,
    "DP_ik": density_peaks_isolation,
    "RCC": rcc,
}
