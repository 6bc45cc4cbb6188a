"""Draw numbers of rows, sizes of clusters and directions, for all families of sets."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator

Drawn = tuple[np.ndarray, np.ndarray]


def random_n_rows(rng: Generator, low: float = 80, high: float = 3000) -> int:
    """Return a random number of rows, uniform on a logarithmic scale."""
    return int(np.exp(rng.uniform(np.log(low), np.log(high))))


def cluster_sizes(rng: Generator, n_rows: int, n_clusters: int, ratio: float) -> np.ndarray:
    """Return random sizes of clusters that differ by a factor of up to `ratio`."""
    shares = np.ones(n_clusters)
    if ratio > 1:
        shares = np.exp(rng.uniform(0, np.log(ratio + 1e-9), n_clusters))
    return np.maximum(6, np.round(n_rows * shares / shares.sum()).astype(int))


def classes_of(sizes: Any) -> np.ndarray:
    """Return the classes, 1, 2, ..., of rows that are sorted by cluster."""
    return np.repeat(np.arange(1, len(sizes) + 1), sizes)


def directions(rng: Generator, n_rows: int, n_columns: int) -> np.ndarray:
    """Return random unit vectors, uniform on the sphere."""
    vectors = rng.normal(size=(n_rows, n_columns))
    return vectors / np.sqrt((vectors * vectors).sum(axis=1))[:, np.newaxis]


def polar(angles: np.ndarray) -> np.ndarray:
    """Return the points of the unit circle at some angles."""
    return np.column_stack([np.cos(angles), np.sin(angles)])
