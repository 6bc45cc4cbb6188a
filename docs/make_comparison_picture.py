"""Draw the picture of docs/comparison.md: python docs/make_comparison_picture.py [--folder FOLDER]

Each method is drawn at the setting that agrees best with the classes, of a few that are tried.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import matplotlib as mpl
import numpy as np
from sklearn.base import BaseEstimator
from sklearn.cluster import DBSCAN, HDBSCAN, KMeans
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

mpl.use("agg")
import matplotlib.pyplot as plt
from make_pictures import save_figure

from pskclust import PSKC
from pskclust.datasets import make_ring_g, make_shapes
from pskclust.plotting import cluster_colours

N_ROWS = 1_500


def data_sets() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    deviations = [1.0, 2.5, 0.5]
    blobs = make_blobs(N_ROWS, cluster_std=deviations, random_state=170)
    touching = make_blobs(
        N_ROWS, centers=[(0, 0), (3.4, 0), (1.7, 3)], cluster_std=1.0, random_state=0
    )
    return {
        "rings, spirals and blobs": make_shapes(2 * N_ROWS, random_state=0),
        "moons": make_moons(N_ROWS, noise=0.08, random_state=0),
        "rings and Gaussians": make_ring_g(N_ROWS, random_state=0),
        "blobs of three densities": blobs,
        "blobs that touch": touching,
    }


def settings(n_classes: int) -> dict[str, Iterator[BaseEstimator]]:
    """Return sixteen settings of each method, and one of k-means, which is given k."""
    eps = np.geomspace(0.03, 0.6, 8)
    sizes = (5, 10, 15, 25, 40, 60, 90, 140)
    psis, factors = (16, 32, 64, 96), (0.3, 0.6, 1.0, 1.5)
    return {
        "psKC": (
            PSKC(psi=psi, tau=factor / psi, min_cluster_size=25, random_state=0)
            for psi in psis
            for factor in factors
        ),
        "HDBSCAN": (
            HDBSCAN(min_cluster_size=size, min_samples=samples, copy=True)
            for size in sizes
            for samples in (5, 15)
        ),
        "DBSCAN": (DBSCAN(eps=each, min_samples=samples) for each in eps for samples in (5, 15)),
        "k-means, k given": (KMeans(n_classes, n_init=10, random_state=0) for _ in range(1)),
    }


def best(
    estimators: Iterator[BaseEstimator], X: np.ndarray, y: np.ndarray
) -> tuple[float, np.ndarray]:
    """Return the score and the labels of the setting that agrees best with the classes."""
    labelled = y >= 0
    found = [estimator.fit_predict(X) for estimator in estimators]
    scores = [adjusted_rand_score(y[labelled], labels[labelled]) for labels in found]
    number = int(np.argmax(scores))
    return scores[number], found[number]


def draw(folder: Path) -> None:
    sets = data_sets()
    figure, axes = plt.subplots(len(sets), 4, figsize=(9.4, 9.6), layout="constrained")
    for row, (name, (X, y)) in zip(axes, sets.items(), strict=True):
        scaled = StandardScaler().fit_transform(X)
        for each, (method, tried) in zip(row, settings(y.max() + 1).items(), strict=True):
            score, labels = best(tried, scaled, y)
            print(f"{name}: {method} {score:.3f}")
            each.scatter(*X.T, s=1.2, c=cluster_colours(labels.max() + 1)[labels], linewidths=0)
            each.set(xticks=[], yticks=[])
            each.set_xlabel(f"ARI {score:.2f}", fontsize=9, labelpad=2)
        row[0].set_ylabel(name, fontsize=9)
    for each, method in zip(axes[0], settings(1), strict=True):
        each.set_title(method, fontsize=10)
    save_figure(figure, folder / "comparison.png")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--folder", type=Path, default=Path(__file__).parent / "pictures")
    draw(parser.parse_args().folder)
