"""Families of round clusters: apart or overlapping, uneven, heavy-tailed, many, two, or bent."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator, default_rng

from .drawing import Drawn, classes_of, cluster_sizes, random_n_rows


def blobs(number: int) -> Drawn:
    """Return round clusters, as scikit-learn's make_blobs draws them; they may overlap."""
    rng = default_rng(number)
    k, d = int(rng.integers(2, 16)), int(rng.choice([2, 2, 2, 3, 5, 10]))
    n_rows = max(random_n_rows(rng, 100, 3000), 12 * k)
    centres = rng.uniform(-10, 10, (k, d))
    spread = float(rng.choice([0.5, 0.8, 1, 1, 1, 1.3]))
    sizes = cluster_sizes(rng, n_rows, k, rng.choice([1, 1, 3]))
    spreads = spread * np.exp(rng.normal(0, rng.choice([0, 0, 0.3]), k))
    parts = [centres[j] + spreads[j] * rng.normal(size=(sizes[j], d)) for j in range(k)]
    return np.concatenate(parts), classes_of(sizes)


def uneven(number: int) -> Drawn:
    """Return clusters whose sizes differ by a factor of up to 60, and whose densities differ."""
    rng = default_rng(4000 + number)
    n_rows, k = random_n_rows(rng, 200, 5000), int(rng.integers(2, 9))
    d = int(rng.choice([2, 2, 3, 5, 8]))
    sizes = cluster_sizes(rng, n_rows, k, rng.choice([10, 30, 60]))
    spreads = np.exp(rng.uniform(0, np.log(rng.choice([1, 4, 10])), k))
    centres: list[np.ndarray] = []
    extent, tries = 6 * spreads.mean(), 0
    while len(centres) < k:
        centre, own = rng.uniform(-extent, extent, d), spreads[len(centres)]
        tries += 1
        if tries > 200:
            extent, tries = extent * 1.3, 0
        if all(
            np.sqrt(((centre - other) ** 2).sum()) > rng.uniform(2.2, 3) * (own + spread)
            for other, spread in zip(centres, spreads, strict=False)
        ):
            centres.append(centre)
    parts = []
    for j in range(k):
        shape = sizes[j], d
        rows = rng.normal(size=shape) if rng.random() < 0.7 else rng.uniform(-1.7, 1.7, shape)
        parts.append(centres[j] + spreads[j] * rows)
    return np.concatenate(parts), classes_of(sizes)


def heavy(number: int) -> Drawn:
    """Return clusters with heavy tails: Student's t with 3 degrees of freedom."""
    rng = default_rng(5000 + number)
    n_rows, k = random_n_rows(rng, 200, 3000), int(rng.integers(2, 9))
    d = int(rng.choice([2, 3, 5, 10]))
    sizes = cluster_sizes(rng, n_rows, k, rng.choice([1, 3]))
    centres = rng.normal(size=(k, d)) * rng.uniform(6, 12) / d**0.25
    parts = [centres[j] + _student(rng, sizes[j], d, 3) for j in range(k)]
    return np.concatenate(parts), classes_of(sizes)


def _student(rng: Generator, n_rows: int, d: int, freedom: int, scale: int = 3) -> np.ndarray:
    rows = rng.normal(size=(n_rows, d))
    return rows / np.sqrt(rng.chisquare(freedom, n_rows) / scale)[:, np.newaxis]


def grid(number: int) -> Drawn:
    """Return 15 to 60 small clusters with a least distance between their centres."""
    rng = default_rng(8000 + number)
    k = int(rng.integers(15, 61))
    n_rows, d = k * int(rng.integers(15, 70)), int(rng.choice([2, 2, 3, 8]))
    apart, tries = rng.uniform(0.5, 1.0) * 2 / (k ** (1 / d)), 0
    centres: list[np.ndarray] = []
    while len(centres) < k:
        centre = rng.uniform(-1, 1, d)
        tries += 1
        if tries > 2000:
            apart, tries = apart * 0.9, 0
        if all(np.sqrt(((centre - other) ** 2).sum()) > apart for other in centres):
            centres.append(centre)
    sizes = cluster_sizes(rng, n_rows, k, rng.choice([1, 2]))
    spread = apart / rng.uniform(3.2, 7)
    parts = [centres[j] + spread * rng.normal(size=(sizes[j], d)) for j in range(k)]
    return np.concatenate(parts), classes_of(sizes)


def pairs(number: int) -> Drawn:
    """Return two normal clusters in 2 to 128 columns that touch or overlap a little."""
    rng = default_rng(22_000 + number)
    d = int(rng.choice([2, 2, 3, 4, 8, 16, 32, 64, 128]))
    n_rows = random_n_rows(rng, 100, 3000)
    sizes = cluster_sizes(rng, n_rows, 2, rng.choice([1, 1, 4, 10]))
    apart = rng.uniform(3, 7) * rng.choice([1, 1, d**0.25])
    direction = rng.normal(size=d)
    direction *= apart / np.sqrt((direction * direction).sum())
    spreads = np.exp(rng.choice([0, 0, 0.5]) * rng.normal(size=2))
    shapes = np.exp(rng.choice([0, 0.4]) * rng.normal(size=(2, d)))
    parts = [
        j * direction + spreads[j] * shapes[j] * rng.normal(size=(sizes[j], d)) for j in range(2)
    ]
    return np.concatenate(parts), classes_of(sizes)


def warped(number: int) -> Drawn:
    """Return round clusters, bent by a random smooth map."""
    rng = default_rng(21_000 + number)
    k, d = int(rng.integers(2, 16)), int(rng.choice([2, 2, 3, 5, 8, 12]))
    n_rows = max(random_n_rows(rng, 150, 3000), 20 * k)
    sizes = cluster_sizes(rng, n_rows, k, rng.choice([1, 3, 8]))
    centres = rng.uniform(-1, 1, (k, d)) * k ** (1 / d)
    spread = rng.uniform(0.12, 0.3)
    spreads = spread * np.exp(rng.normal(0, rng.choice([0, 0.4]), (k, d)))
    parts = [centres[j] + spreads[j] * rng.normal(size=(sizes[j], d)) for j in range(k)]
    points = np.concatenate(parts)
    for _ in range(int(rng.integers(1, 3))):
        points = _bent(rng, points)
    return points, classes_of(sizes)


def _bent(rng: Generator, points: np.ndarray) -> np.ndarray:
    """Return points moved by a random sum of waves that does not fold space too much."""
    d = points.shape[1]
    waves = rng.normal(size=(d, 12)) * rng.uniform(0.4, 1.2)
    moved = np.sin(points @ waves + rng.uniform(0, 2 * np.pi, 12)) @ rng.normal(size=(12, d))
    return points + rng.uniform(0.1, 0.35) * moved
