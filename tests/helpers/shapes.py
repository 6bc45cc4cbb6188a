"""Data whose clusters nobody could mistake."""

from __future__ import annotations

import numpy as np
from sklearn.datasets import make_blobs, make_circles, make_moons


def three_blobs():
    """Return the rows of three well-separated blobs, 300 of them."""
    X, _ = make_blobs(300, centers=3, cluster_std=0.5, random_state=1)
    return X


def far_blobs(n_clusters, n_columns=2, n_each=40, seed=0):
    """Return round clusters at least twelve widths apart, in mixed order, and their numbers."""
    rng = np.random.RandomState(seed)
    places = np.array(np.unravel_index(rng.permutation(16)[:n_clusters], (4, 4))).T
    centres = np.zeros((n_clusters, n_columns))
    centres[:, :2] = 12 * places
    y = rng.permutation(np.arange(n_clusters * n_each) % n_clusters)
    width = min(1.0, 2 / np.sqrt(n_columns))
    return centres[y] + width * rng.randn(len(y), n_columns), y


CLEAR = {
    "three blobs": far_blobs(3),
    "six blobs": far_blobs(6),
    "moons": make_moons(300, noise=0.04, random_state=0),
    "circles": make_circles(400, factor=0.4, noise=0.03, random_state=0),
}
