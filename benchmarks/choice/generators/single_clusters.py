"""Families of single clusters, and of few rows."""

from __future__ import annotations

import numpy as np
from numpy.random import default_rng

from .drawing import Drawn, classes_of, cluster_sizes, directions, polar, random_n_rows


def one(number: int) -> Drawn:
    """Return a single cluster: normal, uniform, ring, line, heavy-tailed, ball or skewed."""
    rng = default_rng(6000 + number)
    n_rows, d = random_n_rows(rng, 100, 5000), int(rng.choice([2, 2, 3, 5, 10, 20, 50]))
    form = number % 6
    if form == 0:
        rows = rng.normal(size=(n_rows, d)) @ np.diag(np.exp(rng.uniform(-0.7, 0.7, d)))
    elif form == 1:
        rows = rng.uniform(size=(n_rows, d))
    elif form == 2:
        rows = np.zeros((n_rows, d))
        rows[:, :2] = polar(rng.uniform(0, 2 * np.pi, n_rows))
        spread = rng.uniform(0.02, 0.15)
        rows += spread * rng.normal(size=rows.shape) / np.sqrt(max(1, d / 4))
    elif form == 3:
        rows = rng.uniform(size=(n_rows, 1)) * rng.normal(size=d)
        rows = rows + rng.uniform(0.005, 0.05) * rng.normal(size=(n_rows, d))
    elif form == 4:
        normal = rng.normal(size=(n_rows, d))
        freedom = rng.choice([2, 3, 5])
        rows = normal / np.sqrt(rng.chisquare(freedom, n_rows) / 3)[:, np.newaxis]
    else:
        vectors = directions(rng, n_rows, d)
        if rng.random() < 0.5:
            rows = vectors * (rng.uniform(size=n_rows) ** (1 / d))[:, np.newaxis]
        else:
            rows = rng.exponential(size=(n_rows, d))
    return rows, np.ones(n_rows)


def few(number: int) -> Drawn:
    """Return 14 to 79 rows: one cluster in every second set, otherwise two to five round ones."""
    rng = default_rng(15_000 + number)
    n_rows, d = random_n_rows(rng, 14, 79), int(rng.choice([2, 2, 3, 5, 10]))
    if number % 2:
        rows = rng.normal(size=(n_rows, d)) if rng.random() < 0.6 else rng.uniform(size=(n_rows, d))
        return rows, np.ones(n_rows)
    k = int(rng.integers(2, max(3, min(6, n_rows // 8))))
    sizes = cluster_sizes(rng, n_rows, k, rng.choice([1, 3]))
    centres = rng.uniform(1.5, 4) * rng.normal(size=(k, d)) * np.sqrt(2)
    return np.concatenate(
        [centres[j] + rng.normal(size=(sizes[j], d)) for j in range(k)]
    ), classes_of(sizes)
