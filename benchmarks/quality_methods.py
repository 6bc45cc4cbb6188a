"""The methods that are compared on labelled sets, each as a function of rows and what is known."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from sklearn.cluster import DBSCAN, HDBSCAN, KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture

from pskclust import PSKC

Labels = Any
GRID_PSI, GRID_TAU = (16, 32, 64, 128, 256), (0.001, 0.003, 0.01, 0.03, 0.1)
LEAST_SIZES, NEIGHBOURS = (5, 10, 20, 50, 100), (3, 10)
EPSILONS = (0.01, 0.02, 0.03, 0.05, 0.08, 0.12)


def score(y: Labels, labels: Labels) -> float:
    """Return the adjusted Rand index over the rows with a class; 0 means none."""
    known = y > 0
    return float(adjusted_rand_score(y[known], labels[known]))


def _best(y: Labels, candidates: Iterable[Labels]) -> Labels:
    """Return the labels that agree best with the classes."""
    return max(candidates, key=lambda labels: score(y, labels))


def default(X: Any, y: Labels, k: int, seed: int) -> Labels:
    return PSKC(random_state=seed, n_jobs=1).fit_predict(X)


def given_number(X: Any, y: Labels, k: int, seed: int) -> Labels:
    return PSKC(n_clusters=k, random_state=seed, n_jobs=1).fit_predict(X)


def paper_best(X: Any, y: Labels, k: int, seed: int) -> Labels:
    psis = [psi for psi in GRID_PSI if psi <= len(X)]
    return _best(
        y,
        (
            PSKC(psi, tau, random_state=seed, n_jobs=1).fit_predict(X)
            for psi, tau in itertools.product(psis, GRID_TAU)
        ),
    )


def hdbscan(X: Any, y: Labels, k: int, seed: int) -> Labels:
    return HDBSCAN(copy=True).fit_predict(X)


def hdbscan_best(X: Any, y: Labels, k: int, seed: int) -> Labels:
    return _best(
        y,
        (
            HDBSCAN(min_cluster_size=size, min_samples=samples, copy=True).fit_predict(X)
            for size, samples in itertools.product(LEAST_SIZES, NEIGHBOURS)
        ),
    )


def dbscan_best(X: Any, y: Labels, k: int, seed: int) -> Labels:
    return _best(
        y,
        (
            DBSCAN(eps=eps, min_samples=samples).fit_predict(X)
            for eps, samples in itertools.product(EPSILONS, (5, 10))
        ),
    )


def kmeans(X: Any, y: Labels, k: int, seed: int) -> Labels:
    return KMeans(k, n_init=10, random_state=seed).fit_predict(X)


def mixture(X: Any, y: Labels, k: int, seed: int) -> Labels:
    return GaussianMixture(k, n_init=3, random_state=seed).fit_predict(X)


def genie(X: Any, y: Labels, k: int, seed: int) -> Labels:
    import genieclust

    return genieclust.Genie(n_clusters=k).fit_predict(np.asarray(X))


METHODS: dict[str, Callable[[Any, Labels, int, int], Labels]] = {
    "PSKC()": default,
    "PSKC(n_clusters=k)": given_number,
    "psKC, best of 25": paper_best,
    "HDBSCAN()": hdbscan,
    "HDBSCAN, best of 10": hdbscan_best,
    "DBSCAN, best of 12": dbscan_best,
    "KMeans, k given": kmeans,
    "GaussianMixture, k given": mixture,
    "Genie, k given": genie,
}
# Those that a seed changes.
SEEDED = ("PSKC()", "PSKC(n_clusters=k)")
# Those that take too long, or too much memory, for 100,000 rows.
FOR_SMALL_SETS = ("HDBSCAN, best of 10", "DBSCAN, best of 12", "GaussianMixture, k given")
