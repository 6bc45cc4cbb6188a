"""Cluster rings, spirals and blobs, print the clusters, and draw them.

python examples/demo.py [--rows N] [--picture FILE]
"""

from __future__ import annotations

import argparse
import time

import matplotlib

matplotlib.use("agg")

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import adjusted_rand_score

from pskclust import PSKC
from pskclust.datasets import make_shapes

MIN_ROWS = 2_000
NOISE_COLOUR = "0.75"
# Paul Tol's muted scheme, whose colours colour-blind readers can distinguish.
COLOURS = (
    "#332288",
    "#88CCEE",
    "#44AA99",
    "#117733",
    "#999933",
    "#DDCC77",
    "#CC6677",
    "#882255",
    "#AA4499",
)


def main() -> None:
    options = parse_options()
    X, y = make_shapes(options.rows, random_state=0)
    model = PSKC(random_state=0)
    started = time.perf_counter()
    model.fit(X)
    seconds = time.perf_counter() - started
    print(summary(model, y, seconds))
    draw(model, X, options.picture)
    print(f"\nThe picture is in {options.picture}")


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--picture", default="demo.png")
    options = parser.parse_args()
    if options.rows < MIN_ROWS:
        parser.error(f"--rows {options.rows} is too few for nine shapes: use {MIN_ROWS} or more")
    return options


def summary(model: PSKC, y: np.ndarray, seconds: float) -> str:
    background, noise = y < 0, model.labels_ < 0
    n_left_out = np.count_nonzero(background & noise)
    agreement = adjusted_rand_score(y[~background], model.labels_[~background])
    lines = [
        "",
        f"{'cluster':>7}  {'rows':>7}  {'share':>6}  {'confidence':>10}",
        *(
            f"{cluster:>7}  {size:>7,}  {size / len(y):>6.1%}  "
            f"{model.confidences_[model.labels_ == cluster].mean():>10.1%}"
            for cluster, size in enumerate(model.cluster_sizes_)
        ),
        f"{'noise':>7}  {noise.sum():>7,}  {noise.mean():>6.1%}",
        "",
        f"PSKC() found {model.n_clusters_} clusters in {len(y):,} rows, without parameters:",
        f"{model.auto_.reason}.",
        "",
        f"agreement with the 9 shapes  {agreement:.3f} (adjusted Rand index, without background)",
        f"background rows left out     {n_left_out:,} of {background.sum():,}",
        f"rows of shapes left out      {noise.sum() - n_left_out:,} of {(~background).sum():,}",
        f"seconds                      {seconds:.1f}",
    ]
    return "\n".join(lines)


def draw(model: PSKC, X: np.ndarray, path: str) -> None:
    figure, axes = plt.subplots(figsize=(8, 7), layout="constrained")
    noise = model.labels_ < 0
    axes.scatter(*X[noise].T, s=1, color=NOISE_COLOUR, linewidths=0, rasterized=True)
    for cluster in range(model.n_clusters_):
        members = X[model.labels_ == cluster]
        colour = COLOURS[cluster % len(COLOURS)]
        axes.scatter(*members.T, s=1, color=colour, linewidths=0, alpha=0.5, rasterized=True)
    axes.set_title(f"{model.n_clusters_} clusters in {len(X):,} rows")
    axes.set_aspect("equal")
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    main()
