"""Generated data sets and parameters, and the oracle's answer to a fitted estimator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from pskclust._cells.methods import draw_partition
from pskclust._data.rows import Data
from pskclust._data.weights import check_weights
from tests.helpers import naive

METHODS = ("voronoi", "hypersphere", "tree")


@dataclass
class Case:
    """A fit: rows, weights and parameters."""

    X: np.ndarray
    weights: np.ndarray | None
    parameters: dict[str, Any]

    @property
    def data(self):
        resolution = self.parameters["n_partitions"]
        return Data(self.X, "euclidean", check_weights(self.weights, len(self.X), resolution))

    @property
    def partition(self):
        """The partition that PSKC draws."""
        names = ("method", "n_partitions", "psi", "replace")
        rng = np.random.RandomState(self.parameters["random_state"])
        return draw_partition(self.data, *(self.parameters[name] for name in names), rng)

    @property
    def repeated(self):
        return self.X if self.weights is None else np.repeat(self.X, self.weights, axis=0)


@st.composite
def rows(draw, max_rows=30):
    """Rows of every kind: floats, small integers full of ties, and copies of a few rows."""
    n_rows, n_columns = draw(st.integers(2, max_rows)), draw(st.integers(1, 4))
    rng = np.random.RandomState(draw(st.integers(0, 2**16)))
    kind = draw(st.sampled_from(["floats", "ties", "copies", "clusters"]))
    if kind == "ties":
        return rng.randint(0, 4, (n_rows, n_columns)).astype(float)
    X = rng.randn(n_rows, n_columns)
    if kind == "copies":
        return X[rng.randint(0, draw(st.integers(1, n_rows)), n_rows)]
    if kind == "clusters":
        X += 6 * rng.randint(0, 3, (n_rows, 1))
    return X


@st.composite
def cases(draw, weighted=False, methods=METHODS):
    """A data set with parameters that are allowed for it."""
    X = draw(rows())
    weights = None
    if weighted:
        weights = np.array(draw(st.lists(st.integers(0, 4), min_size=len(X), max_size=len(X))))
        weights[draw(st.integers(0, len(X) - 1))] += 2
    n_slots = len(X) if weights is None else int(weights.sum())
    replace = draw(st.booleans())
    parameters = {
        "psi": draw(st.integers(2, n_slots + 5 if replace else n_slots)),
        "tau": draw(st.sampled_from([0.003, 0.01, 0.05, 0.1, 0.2, 0.4, 0.8])),
        "growth_rate": draw(st.sampled_from([0.03, 0.1, 0.26, 0.5, 0.9])),
        "n_partitions": draw(st.integers(1, 8)),
        "method": draw(st.sampled_from(methods)),
        "replace": replace,
        "refine": draw(st.booleans()),
        "min_cluster_size": draw(
            st.sampled_from([None, None, *(size for size in (2, 3, 6) if size <= n_slots)])
        ),
        "noise": draw(st.sampled_from(["keep", "nearest"])),
        "n_jobs": draw(st.sampled_from([1, 2])),
        "random_state": draw(st.integers(0, 2**16)),
    }
    return Case(X, weights, parameters)


def naive_cells(kernel, X):
    """Return the cells of rows by plain loops, given a fitted kernel."""
    return naive_cells_of(kernel._partition, X)


def naive_cells_of(partition, X):
    """Return the cells of rows by plain loops, given a partition."""
    if partition.method == "tree":
        trees = list(zip(partition.feature, partition.threshold, partition.target, strict=True))
        return [tuple(naive.tree_cell(x, *tree) for tree in trees) for x in X]
    cell = {"voronoi": naive.voronoi_cell, "hypersphere": naive.hypersphere_cell}[partition.method]
    samples = [partition.points[centres].tolist() for centres in partition.centres]
    return [tuple(cell(x, sample) for sample in samples) for x in X.tolist()]


def naive_pskc(model, X, **options):
    """Return the oracle's clustering of rows, with a fitted model's parameters and kernel."""
    cells = naive_cells(model.kernel_, X)
    return naive_pskc_of(cells, model.get_params(), **options)


def naive_pskc_of(cells, parameters, **options):
    """Return the oracle's clustering of rows, given their cells and the parameters of a fit."""
    return naive.pskc(
        cells,
        parameters["tau"],
        parameters["growth_rate"],
        refined=parameters["refine"],
        min_cluster_size=parameters["min_cluster_size"],
        noise=parameters["noise"],
        **options,
    )
