"""Measure how often a lone outlier is labelled as noise, for grown and for chosen clusters.

A draw is three blobs of 1,000 rows in all, and one row at least six standard deviations of a blob
away from all others, drawn uniformly in a box around them. The script prints the share of draws in
which this row is noise, the share in which it has the largest outlier score, and the median number
of clusters; `--keep` keeps the table for docs/parameters.md.
"""

from __future__ import annotations

import argparse

import figures
import numpy as np
from sklearn.datasets import make_blobs

from pskclust import PSKC

SPREAD = 0.5
BOX = 30.0
PAIRS = ((16, 0.05), (32, 0.02), (64, 0.01), (64, 0.02))
SETTINGS = ({}, *({"psi": psi, "tau": tau} for psi, tau in PAIRS))
METHODS = ("voronoi", "hypersphere")


def draw(seed):
    """Return three blobs, followed by one row that is far from them."""
    rows, _ = make_blobs(1000, centers=3, cluster_std=SPREAD, random_state=1)
    rng = np.random.RandomState(seed)
    while True:
        outlier = rng.uniform(-BOX, BOX, 2)
        if np.linalg.norm(rows - outlier, axis=1).min() > 6 * SPREAD:
            return np.vstack([rows, outlier])


def measure(setting, method, n_draws):
    """Return how often the outlier is noise, how often it scores highest, and the clusters."""
    models = [
        PSKC(**setting, method=method, random_state=seed).fit(draw(seed)) for seed in range(n_draws)
    ]
    is_noise = [model.labels_[-1] < 0 for model in models]
    is_first = [model.outlier_scores_.argmax() == len(model.labels_) - 1 for model in models]
    return np.mean(is_noise), np.mean(is_first), np.median([model.n_clusters_ for model in models])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draws", type=int, default=50)
    figures.add_option(parser)
    options = parser.parse_args()
    columns = ["fit", "cells", "outlier is noise", "outlier scores highest", "clusters"]
    rows = []
    for setting in SETTINGS:
        call = ", ".join(f"{name}={value}" for name, value in setting.items())
        # Chosen clusters find outliers by distances, whatever the shape of cells.
        for method in METHODS if setting else METHODS[:1]:
            noise, first, number = measure(setting, method, options.draws)
            rows.append([f"`PSKC({call})`", method, f"{noise:.0%}", f"{first:.0%}", f"{number:g}"])
    figures.show("lone outliers", columns, rows, keep=options.keep)


if __name__ == "__main__":
    main()
