"""Compare the noise rows of ``PSKC()`` and of HDBSCAN on shapes with uniform background.

    python benchmarks/choice/noise.py [--rows 1000 5000] [--draws 2]

The sets are blobs, rings and winding shapes in 2 to 10 columns with 0, 5, 20 and 50% uniform
background. The script prints the F1 of the noise rows; without a background, it prints the share of
rows labelled as noise instead.
"""

from __future__ import annotations

import argparse
from itertools import product

import numpy as np
from sklearn.cluster import HDBSCAN
from sklearn.datasets import make_blobs
from sklearn.metrics import f1_score

from pskclust import PSKC

SHARES = (0.0, 0.05, 0.2, 0.5)
COLUMNS = (2, 3, 5, 10)


def blobs(n_rows: int, n_columns: int, rng: np.random.RandomState) -> np.ndarray:
    centres = rng.uniform(-8, 8, (rng.randint(3, 8), n_columns))
    spreads = rng.uniform(0.4, 1.0, len(centres))
    return make_blobs(n_rows, centers=centres, cluster_std=spreads, random_state=rng)[0]


def rings(n_rows: int, n_columns: int, rng: np.random.RandomState) -> np.ndarray:
    ring = rng.randint(0, 2, n_rows)
    angle = rng.uniform(0, 2 * np.pi, n_rows)
    radius = (1.0 + 1.5 * ring) * (1 + 0.04 * rng.randn(n_rows))
    plane = np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
    return in_columns(plane, n_columns, rng)


def winding(n_rows: int, n_columns: int, rng: np.random.RandomState) -> np.ndarray:
    arm, along = rng.randint(0, 2, n_rows), rng.uniform(0.5, 3.0, n_rows)
    angle = 2.2 * along + np.pi * arm
    plane = np.column_stack([along * np.cos(angle), along * np.sin(angle)])
    return in_columns(plane + 0.05 * rng.randn(n_rows, 2), n_columns, rng)


def in_columns(plane: np.ndarray, n_columns: int, rng: np.random.RandomState) -> np.ndarray:
    """Return plane shapes rotated into more columns, with a small spread in all of them."""
    if n_columns == 2:
        return plane
    wide = np.hstack([plane, 0.05 * rng.randn(len(plane), n_columns - 2)])
    turn, _ = np.linalg.qr(rng.randn(n_columns, n_columns))
    return wide @ turn


SHAPES = {"blobs": blobs, "rings": rings, "winding": winding}


def with_background(
    X: np.ndarray, share: float, rng: np.random.RandomState
) -> tuple[np.ndarray, np.ndarray]:
    """Return rows with a uniform background in a slightly larger box, and which are noise."""
    n_noise = round(share / (1 - share) * len(X))
    low, high = X.min(axis=0), X.max(axis=0)
    margin = 0.05 * (high - low)
    noise = rng.uniform(low - margin, high + margin, (n_noise, X.shape[1]))
    return np.vstack([X, noise]), np.arange(len(X) + n_noise) >= len(X)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000, 5_000])
    parser.add_argument("--draws", type=int, default=2)
    settings = parser.parse_args()
    print("rows    shape    share  columns   PSKC()  HDBSCAN   (F1; share called noise at 0%)")
    figures: dict[bool, list[tuple[float, float]]] = {True: [], False: []}
    for n_rows, name, share, n_columns in product(settings.rows, SHAPES, SHARES, COLUMNS):
        pairs = []
        for draw in range(settings.draws):
            rng = np.random.RandomState(1000 * draw + n_columns)
            X = SHAPES[name](round(n_rows * (1 - share)), n_columns, rng)
            X, is_noise = with_background(X, share, rng)
            found = (
                PSKC(random_state=draw).fit(X).labels_ < 0,
                HDBSCAN(min_cluster_size=15, copy=True).fit(X).labels_ < 0,
            )
            score = np.mean if share == 0 else lambda noise, y=is_noise: f1_score(y, noise)
            pairs.append([float(score(noise)) for noise in found])
        ours, theirs = np.mean(pairs, axis=0)
        figures[share > 0].append((ours, theirs))
        print(f"{n_rows:6d}  {name:8s} {share:4.2f}  {n_columns:6d}  {ours:8.3f} {theirs:8.3f}")
    for noisy, words in ((True, "mean F1"), (False, "mean share called noise at 0%")):
        ours, theirs = np.mean(figures[noisy], axis=0)
        print(f"{words}: PSKC() {ours:.3f}, HDBSCAN {theirs:.3f}")


if __name__ == "__main__":
    main()
