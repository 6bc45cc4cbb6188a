"""The methods that are timed: ours, and those that users would pick instead."""

from __future__ import annotations

from typing import Any

import numpy as np
from timing import Method


def pskc(X: np.ndarray, psi: int = 128, tau: float = 0.01) -> Any:
    from pskclust import PSKC

    return PSKC(psi=psi, tau=tau, random_state=0).fit(X)


def kmeans(X: np.ndarray, k: int = 15) -> Any:
    from sklearn.cluster import KMeans

    return KMeans(k, n_init=1, random_state=0).fit(X)


def mini_batch_kmeans(X: np.ndarray) -> Any:
    from sklearn.cluster import MiniBatchKMeans

    return MiniBatchKMeans(15, n_init=1, random_state=0).fit(X)


def dbscan(X: np.ndarray) -> Any:
    from sklearn.cluster import DBSCAN

    return DBSCAN(eps=0.1, min_samples=10, n_jobs=-1).fit(X)


def hdbscan(X: np.ndarray) -> Any:
    from sklearn.cluster import HDBSCAN

    return HDBSCAN(min_cluster_size=100, min_samples=10, n_jobs=-1, copy=True).fit(X)


def fast_hdbscan(X: np.ndarray) -> Any:
    from fast_hdbscan import HDBSCAN

    return HDBSCAN(min_cluster_size=100, min_samples=10).fit(X)


METHODS: dict[str, Method] = {
    "pskclust": pskc,
    "KMeans": kmeans,
    "MiniBatchKMeans": mini_batch_kmeans,
    "fast_hdbscan": fast_hdbscan,
    "HDBSCAN": hdbscan,
    "DBSCAN": dbscan,
}
