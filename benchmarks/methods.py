"""The methods that are timed: psKC, and those that users would pick instead.

Each function imports its method when it is called, so that a process loads no other method.
"""

from __future__ import annotations

import importlib.util
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from timing import Method

# faiss and EVoC are designed for embeddings.
MIN_COLUMNS_OF_EMBEDDINGS = 64


class Peer(NamedTuple):
    """A method to time, the package that it needs, and its fewest columns."""

    fit: Method
    package: str = "sklearn"
    min_columns: int = 1


def pskc(X: np.ndarray, psi: int = 128, tau: float = 0.01) -> Any:
    from pskclust import PSKC

    return PSKC(psi=psi, tau=tau, random_state=0).fit(X)


def pskc_default(X: np.ndarray) -> Any:
    from pskclust import PSKC

    return PSKC(random_state=0).fit(X)


def kmeans(X: np.ndarray, k: int = 15) -> Any:
    from sklearn.cluster import KMeans

    return KMeans(k, n_init=1, random_state=0).fit(X)


def mini_batch_kmeans(X: np.ndarray, k: int) -> Any:
    from sklearn.cluster import MiniBatchKMeans

    return MiniBatchKMeans(k, n_init=1, random_state=0).fit(X)


def hdbscan(X: np.ndarray, min_cluster_size: int) -> Any:
    from sklearn.cluster import HDBSCAN

    return HDBSCAN(min_cluster_size=min_cluster_size, min_samples=10, n_jobs=-1, copy=True).fit(X)


def fast_hdbscan(X: np.ndarray, min_cluster_size: int) -> Any:
    from fast_hdbscan import HDBSCAN

    return HDBSCAN(min_cluster_size=min_cluster_size, min_samples=10).fit(X)


def plscan(X: np.ndarray) -> Any:
    from fast_plscan import PLSCAN

    return PLSCAN().fit(X)


def classix(X: np.ndarray) -> Any:
    from classix import CLASSIX

    return CLASSIX(radius=0.1, minPts=10, verbose=0).fit(X)


def evoc(X: np.ndarray) -> Any:
    from evoc import EVoC

    return EVoC(random_state=0).fit(X)


def ikpykit(X: np.ndarray, psi: int, tau: float) -> Any:
    from ikpykit.cluster import PSKC

    return PSKC(100, psi, "anne", tau, 0.1, random_state=0).fit(X)


class FaissKMeans:
    """k-means of faiss with the attribute `labels_` of scikit-learn."""

    def __init__(self, X: np.ndarray, k: int) -> None:
        import faiss

        rows = np.ascontiguousarray(X, dtype=np.float32)
        model = faiss.Kmeans(rows.shape[1], k, seed=1, max_points_per_centroid=len(rows))
        model.train(rows)
        self.labels_ = model.index.search(rows, 1)[1][:, 0]


def methods(
    n_columns: int, *, psi: int, tau: float, k: int, min_cluster_size: int = 100
) -> dict[str, Method]:
    """Return the methods by name: those whose package is installed and that suit `n_columns`."""
    peers = {
        "pskclust": Peer(partial(pskc, psi=psi, tau=tau)),
        "PSKC()": Peer(pskc_default),
        "KMeans": Peer(partial(kmeans, k=k)),
        "MiniBatchKMeans": Peer(partial(mini_batch_kmeans, k=k)),
        "faiss k-means": Peer(partial(FaissKMeans, k=k), "faiss", MIN_COLUMNS_OF_EMBEDDINGS),
        "fast_hdbscan": Peer(
            partial(fast_hdbscan, min_cluster_size=min_cluster_size), "fast_hdbscan"
        ),
        "fast-plscan": Peer(plscan, "fast_plscan"),
        "HDBSCAN": Peer(partial(hdbscan, min_cluster_size=min_cluster_size)),
        "CLASSIX": Peer(classix, "classix"),
        "EVoC": Peer(evoc, "evoc", MIN_COLUMNS_OF_EMBEDDINGS),
        "ikpykit PSKC": Peer(partial(ikpykit, psi=psi, tau=tau), "ikpykit"),
    }
    return {
        name: peer.fit
        for name, peer in peers.items()
        if n_columns >= peer.min_columns and importlib.util.find_spec(peer.package)
    }
