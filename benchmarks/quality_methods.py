"""The methods compared on labelled sets, each a function of a task and a seed."""

from __future__ import annotations

import itertools
import json
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.cluster import HDBSCAN, KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture
from sklearn.neighbors import kneighbors_graph

from pskclust import PSKC
from pskclust._choice import draws, pooling
from pskclust._choice.scoring import Weights

Labels = Any
LEFT_OUT = Path(__file__).parent / "choice/left_out.json"
LEAST_SIZES, NEIGHBOURS = (5, 10, 20, 50, 100), (3, 10)
_N_NEIGHBOURS = 15


@dataclass(frozen=True, eq=False)
class Task:
    """Rows to cluster, with their classes and family; only some methods may use the classes."""

    points: np.ndarray
    references: list[Labels]
    family: str

    @property
    def numbers(self) -> list[int]:
        """The distinct numbers of classes of the references, in the order of the references."""
        found = [len(np.unique(classes[classes > 0])) for classes in self.references]
        return list(dict.fromkeys(found))

    def score(self, labels: Labels) -> float:
        """Return the largest adjusted Rand index with any reference, over rows with a class.

        The authors of the sets recommend this: a method is right if it finds any reference.
        """
        return max(
            float(adjusted_rand_score(classes[classes > 0], labels[classes > 0]))
            for classes in self.references
        )

    def best(self, candidates: Iterable[Labels]) -> Labels:
        """Return the labels that agree best with the classes."""
        return max(candidates, key=self.score)


# Takes a task and a seed.
Method = Callable[[Task, int], Labels]


def default(task: Task, seed: int) -> Labels:
    """Return the labels of PSKC(), with numbers fitted without the family of the set."""
    with fitted_without(task.family):
        return PSKC(random_state=seed, n_jobs=1).fit_predict(task.points)


@contextmanager
def fitted_without(family: str) -> Iterator[None]:
    """Make PSKC() choose, within a block, by the numbers fitted to all families but one."""
    content = json.loads(LEFT_OUT.read_text())
    weights, usual = Weights.of(content[family]), draws.fitted_weights
    for module in (draws, pooling):
        module.fitted_weights = lambda: weights
    try:
        yield
    finally:
        for module in (draws, pooling):
            module.fitted_weights = usual


def hdbscan(task: Task, seed: int) -> Labels:
    return HDBSCAN(copy=True).fit_predict(task.points)


def hdbscan_best(task: Task, seed: int) -> Labels:
    return task.best(
        HDBSCAN(min_cluster_size=size, min_samples=samples, copy=True).fit_predict(task.points)
        for size, samples in itertools.product(LEAST_SIZES, NEIGHBOURS)
    )


def plscan(task: Task, seed: int) -> Labels:
    from fast_plscan import PLSCAN

    return PLSCAN().fit_predict(task.points)


def finch_best(task: Task, seed: int) -> Labels:
    from finch import FINCH

    partitions = FINCH(task.points.astype(np.float32), verbose=False)[0]
    return task.best(partitions.T)


def evoc(task: Task, seed: int) -> Labels:
    from evoc import EVoC

    return EVoC(random_state=seed).fit_predict(task.points.astype(np.float32))


def leiden(task: Task, seed: int) -> Labels:
    import igraph
    import leidenalg

    n_rows = len(task.points)
    near = kneighbors_graph(task.points, min(_N_NEIGHBOURS, n_rows - 1))
    edges = near.maximum(near.T).tocoo()
    once = edges.row < edges.col
    graph = igraph.Graph(n_rows, np.column_stack([edges.row[once], edges.col[once]]))
    found = leidenalg.find_partition(graph, leidenalg.ModularityVertexPartition, seed=seed)
    return np.array(found.membership)


def genie(k: int, seed: int) -> Any:
    import genieclust

    return genieclust.Genie(n_clusters=k)


def with_k_given(estimator: Callable[[int, int], Any]) -> Method:
    """Return a method that is given k; if references differ in k, the best result counts."""

    def labels(task: Task, seed: int) -> Labels:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return task.best(estimator(k, seed).fit_predict(task.points) for k in task.numbers)

    return labels


METHODS: dict[str, Method] = {
    "PSKC()": default,
    "HDBSCAN()": hdbscan,
    "PLSCAN()": plscan,
    "15 neighbours + Leiden": leiden,
    "FINCH, best level": finch_best,
    "HDBSCAN, best of 10": hdbscan_best,
    "Genie, k given": with_k_given(genie),
    "KMeans, k given": with_k_given(lambda k, seed: KMeans(k, n_init=10, random_state=seed)),
    "GaussianMixture, k given": with_k_given(
        lambda k, seed: GaussianMixture(k, n_init=3, random_state=seed)
    ),
    "EVoC()": evoc,
}
# Methods that are run with two seeds.
SEEDED = ("PSKC()",)
