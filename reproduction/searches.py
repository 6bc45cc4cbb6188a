"""The eleven systems of the paper, each searched over the paper's own parameter ranges.

A search yields candidates: labels and the parameters that give them. Where one computation serves
many parameters it is done once, so that the whole range fits into minutes: DBSCAN's clusters for
all eps are the cuts of one tree, RCC's for all thresholds those of one optimisation.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.sparse.csgraph import minimum_spanning_tree
from sklearn.cluster import DBSCAN, KMeans
from sklearn.metrics import pairwise_distances

from pskclust import PSKC, IsolationKernel
from pskclust.baselines import MBSCAN, RCC, SGL, DensityPeaks, KernelKMeans

Candidates = Iterator[tuple[np.ndarray, Any]]
SEED = 42
MIN_SAMPLES = range(2, 31)


def _some(values: Any, fast: bool, step: int) -> Any:
    """Return all values, or every `step`-th where it is to be fast."""
    return values[::step] if fast else values


def pskc(X: np.ndarray, n_clusters: int, fast: bool) -> Candidates:
    for psi in (55, 70, 128, 256, 512, 1024):
        for tau in _some((0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 800), fast, 2):
            for growth_rate in (0.1, 0.26):
                model = PSKC(psi, tau * 1e-4, growth_rate, replace=True, random_state=SEED)
                yield model.fit_predict(X), model


def pskc_gaussian(X: np.ndarray, n_clusters: int, fast: bool) -> Candidates:
    """Growth rates below 1e-4 take over 20,000 steps a cluster, and change nothing any more."""
    for exponent in _some(range(1, 17), fast, 3):
        for growth_rate in (0.1, 0.01) if fast else (0.1, 0.01, 0.001, 0.0001):
            model = PSKC(tau=0.1, growth_rate=growth_rate, kernel="gaussian", gamma=2.0**exponent)
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
    for share in _some(range(1, 100), fast, 16):
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
    for thousandths in _some(range(1, 401), fast, 20):
        model = DensityPeaks(n_clusters=n_clusters, bandwidth=thousandths / 1000 * largest)
        yield model.fit_predict(X), model


def density_peaks_isolation(X: np.ndarray, n_clusters: int, fast: bool) -> Candidates:
    """Dissimilarities are whole numbers over t = 100: bandwidths between them change nothing."""
    for psi in _some((2, 4, 6, 8, 16, 24, 32), fast, 2):
        for hundredths in _some(range(1, 41), fast, 4):
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
    distances = pairwise_distances(X)
    epsilons = distances.max() * np.arange(1, 1000) / 1000
    for min_samples, eps, labels in dbscan_path(distances, epsilons, fast):
        yield labels, DBSCAN(eps=eps, min_samples=min_samples)


def mbscan(X: np.ndarray, n_clusters: int, fast: bool) -> Candidates:
    kernel = IsolationKernel(32, 200, random_state=SEED).fit(X)
    distances = 1 - kernel.similarity(X)
    epsilons = distances.max() * np.arange(1, 1000) / 1000
    for min_samples, eps, labels in dbscan_path(distances, epsilons, fast):
        model = MBSCAN(eps=eps, min_samples=min_samples, psi=32, n_partitions=200)
        yield labels, model.set_params(random_state=SEED)


def rcc(X: np.ndarray, n_clusters: int, fast: bool) -> Candidates:
    n_neighbours = [k for k in range(1, 201) if k < len(X)]
    for k in _some(n_neighbours, fast, 25):
        model = RCC(n_neighbors=k).fit(X)
        for threshold in np.arange(10, 201) / 10:
            yield model.labels_at(threshold), model.set_params(threshold=threshold)


def dbscan_path(
    distances: np.ndarray, epsilons: np.ndarray, fast: bool
) -> Iterator[tuple[int, float, np.ndarray]]:
    """Yield DBSCAN's labels for all eps and numbers of neighbours, but for repetitions.

    Core rows within eps of each other are the parts into which a spanning tree of mutual
    reachability falls when its longer edges are cut. A border row goes to its nearest core row;
    scikit-learn gives it to the first found, which can differ for rows between two clusters.
    """
    nearest = np.sort(distances, axis=1)
    for min_samples in _some(MIN_SAMPLES, fast, 7):
        core = nearest[:, min_samples - 1]
        reach = np.maximum(np.maximum(distances, core), core[:, np.newaxis])
        # The sparse routine takes zeros for missing edges.
        tree = minimum_spanning_tree(np.maximum(reach, 1e-300)).tocoo()
        seen = None
        for eps in _some(epsilons, fast, 5):
            labels = _cut(distances, core, tree, eps)
            if seen is not None and np.array_equal(labels, seen):
                continue
            seen = labels
            yield min_samples, float(eps), labels
            if labels.max(initial=-1) == 0 and labels.min() == 0:
                break  # one cluster of all rows stays that


def _cut(distances: np.ndarray, core: np.ndarray, tree: Any, eps: float) -> np.ndarray:
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    short = tree.data <= eps
    n_rows = len(core)
    graph = coo_array((tree.data[short], (tree.row[short], tree.col[short])), (n_rows, n_rows))
    _, parts = connected_components(graph, directed=False)
    is_core = core <= eps
    labels = np.full(n_rows, -1)
    if not is_core.any():
        return labels
    _, labels[is_core] = np.unique(parts[is_core], return_inverse=True)
    border = np.flatnonzero(~is_core)
    core_rows = np.flatnonzero(is_core)
    to_core = distances[np.ix_(border, core_rows)]
    reached = to_core.min(axis=1, initial=np.inf) <= eps
    labels[border[reached]] = labels[core_rows[to_core[reached].argmin(axis=1)]]
    return labels


SEARCHES: dict[str, Callable[[np.ndarray, int, bool], Candidates]] = {
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
