"""Compare outlier scores with those of IsolationForest and LOF, on three kinds of labelled sets.

Each set has clusters of about 2,000 rows in all, and 3% outliers, drawn uniformly in a box around
the clusters; every seed draws new sets. IsolationForest and LOF have their defaults. The script
prints a table of the mean ROC AUC; `--keep` keeps it for docs/coming-from-hdbscan.md.
"""

from __future__ import annotations

import argparse

import figures
import numpy as np
from sklearn.datasets import make_moons
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import LocalOutlierFactor

from pskclust import PSKC

SHARE = 0.03


def blobs(rng):
    """Return three round clusters of different density, and the margin of the box."""
    places = [((0, 0), 0.3), ((4, 1), 0.8), ((1, 5), 0.5)]
    return np.vstack([rng.normal(middle, spread, (700, 2)) for middle, spread in places]), 1.0


def moons(rng):
    """Return two interleaved half circles, with many outliers between them, and the margin."""
    X, _ = make_moons(2000, noise=0.06, random_state=rng)
    return X, 0.5


def eight_columns(rng):
    """Return four long clusters in eight columns, and the margin."""
    shapes = [rng.normal(size=(8, 8)) * 0.5 for _ in range(4)]
    return np.vstack(
        [rng.normal(size=(500, 8)) @ one + rng.uniform(-6, 6, 8) for one in shapes]
    ), 0.0


SETS = {"blobs": blobs, "moons": moons, "eight columns": eight_columns}


def with_outliers(make, seed):
    """Return rows in random order, and 1 for each outlier, 0 for other rows."""
    rng = np.random.RandomState(seed)
    X, margin = make(rng)
    n_outliers = int(SHARE * len(X))
    outliers = rng.uniform(X.min(axis=0) - margin, X.max(axis=0) + margin, (n_outliers, X.shape[1]))
    order = rng.permutation(len(X) + n_outliers)
    return np.vstack([X, outliers])[order], (order >= len(X)).astype(int)


METHODS = {
    "`PSKC()`": lambda X, seed: PSKC(random_state=seed).fit(X).outlier_scores_,
    "`PSKC(psi=128, tau=0.01)`": lambda X, seed: (
        PSKC(psi=128, tau=0.01, random_state=seed).fit(X).outlier_scores_
    ),
    "IsolationForest": lambda X, seed: -IsolationForest(random_state=seed).fit(X).score_samples(X),
    "LocalOutlierFactor": lambda X, seed: -LocalOutlierFactor().fit(X).negative_outlier_factor_,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=5)
    figures.add_option(parser)
    options = parser.parse_args()
    rows = []
    data = {
        name: [with_outliers(make, seed) for seed in range(options.seeds)]
        for name, make in SETS.items()
    }
    for method, score in METHODS.items():
        means = [
            np.mean([roc_auc_score(y, score(X, seed)) for seed, (X, y) in enumerate(some)])
            for some in data.values()
        ]
        rows.append([method, *(f"{mean:.3f}" for mean in [*means, np.mean(means)])])
    figures.show("outlier scores", ["method", *SETS, "mean"], rows, keep=options.keep)


if __name__ == "__main__":
    main()
