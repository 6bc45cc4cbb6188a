"""The methods that are compared on labelled sets, each as a function of rows and what is known."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from typing import Any

from sklearn.cluster import DBSCAN, HDBSCAN, KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture

from pskclust import PSKC

Labels = Any
# Of rows, references, numbers of classes and a seed.
Method = Callable[[Any, list[Labels], list[int], int], Labels]
GRID_PSI, GRID_TAU = (16, 32, 64, 128, 256), (0.001, 0.003, 0.01, 0.03, 0.1)
LEAST_SIZES, NEIGHBOURS = (5, 10, 20, 50, 100), (3, 10)
EPSILONS = (0.01, 0.02, 0.03, 0.05, 0.08, 0.12)


def score(references: list[Labels], labels: Labels) -> float:
    """Return the largest adjusted Rand index with a reference, over rows with a class; 0 is none.

    So the authors of the sets have it: a method is right if it finds any of the references.
    """
    return max(
        float(adjusted_rand_score(classes[classes > 0], labels[classes > 0]))
        for classes in references
    )


def _best(references: list[Labels], candidates: Iterable[Labels]) -> Labels:
    """Return the labels that agree best with the classes."""
    return max(candidates, key=lambda labels: score(references, labels))


def default(X: Any, references: list[Labels], ks: list[int], seed: int) -> Labels:
    return PSKC(random_state=seed, n_jobs=1).fit_predict(X)


def paper_best(X: Any, references: list[Labels], ks: list[int], seed: int) -> Labels:
    psis = [psi for psi in GRID_PSI if psi <= len(X)]
    return _best(
        references,
        (
            PSKC(psi=psi, tau=tau, random_state=seed, n_jobs=1).fit_predict(X)
            for psi, tau in itertools.product(psis, GRID_TAU)
        ),
    )


def hdbscan(X: Any, references: list[Labels], ks: list[int], seed: int) -> Labels:
    return HDBSCAN(copy=True).fit_predict(X)


def hdbscan_best(X: Any, references: list[Labels], ks: list[int], seed: int) -> Labels:
    return _best(
        references,
        (
            HDBSCAN(min_cluster_size=size, min_samples=samples, copy=True).fit_predict(X)
            for size, samples in itertools.product(LEAST_SIZES, NEIGHBOURS)
        ),
    )


def dbscan_best(X: Any, references: list[Labels], ks: list[int], seed: int) -> Labels:
    return _best(
        references,
        (
            DBSCAN(eps=eps, min_samples=samples).fit_predict(X)
            for eps, samples in itertools.product(EPSILONS, (5, 10))
        ),
    )


def genie(k: int, seed: int) -> Any:
    import genieclust

    return genieclust.Genie(n_clusters=k)


def with_k_given(estimator: Callable[[int, int], Any]) -> Method:
    """Return a method that knows the number of classes; of several, it may try each."""

    def labels(X: Any, references: list[Labels], ks: list[int], seed: int) -> Labels:
        return _best(references, (estimator(k, seed).fit_predict(X) for k in ks))

    return labels


METHODS: dict[str, Method] = {
    "PSKC()": default,
    "PSKC(n_clusters=k)": with_k_given(
        lambda k, seed: PSKC(n_clusters=k, random_state=seed, n_jobs=1)
    ),
    "psKC, best of 25": paper_best,
    "HDBSCAN()": hdbscan,
    "HDBSCAN, best of 10": hdbscan_best,
    "DBSCAN, best of 12": dbscan_best,
    "KMeans, k given": with_k_given(lambda k, seed: KMeans(k, n_init=10, random_state=seed)),
    "GaussianMixture, k given": with_k_given(
        lambda k, seed: GaussianMixture(k, n_init=3, random_state=seed)
    ),
    "Genie, k given": with_k_given(genie),
}
# Those that a seed changes.
SEEDED = ("PSKC()", "PSKC(n_clusters=k)")
# Those that take too long, or too much memory, for 100,000 rows.
FOR_SMALL_SETS = ("HDBSCAN, best of 10", "DBSCAN, best of 12", "GaussianMixture, k given")
