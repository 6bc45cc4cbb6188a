"""Families of signals: small pictures and time series."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator, default_rng
from scipy.ndimage import gaussian_filter, map_coordinates

from .drawing import Drawn, classes_of, cluster_sizes, random_n_rows


def pictures(number: int) -> Drawn:
    """Return small grey pictures: each class is a random drawing, slightly shifted and bent."""
    rng = default_rng(24_000 + number)
    k, side = int(rng.integers(3, 13)), int(rng.choice([8, 8, 10, 14, 20]))
    n_rows = max(random_n_rows(rng, 200, 2500), 25 * k)
    sizes = cluster_sizes(rng, n_rows, k, rng.choice([1, 1, 4]))
    strength, noise = rng.uniform(0.4, 1.2), rng.uniform(0.0, 0.15)
    grid = np.stack(np.meshgrid(np.arange(side), np.arange(side), indexing="ij"))
    parts = []
    for size in sizes:
        drawing = _drawing(rng, side)
        rows = np.empty((size, side * side))
        for row in rows:
            bend = gaussian_filter(rng.normal(size=(2, side, side)), (0, side / 4, side / 4))
            bend *= strength * side / 10 / max(bend.std(), 1e-9)
            shift = 0.5 * strength * rng.normal(size=(2, 1, 1))
            row[:] = map_coordinates(drawing, grid + bend + shift, order=1).ravel()
        parts.append(rows)
    points = np.concatenate(parts)
    points = points + noise * rng.normal(size=points.shape)
    return np.round(16 * np.clip(points, 0, 1)), classes_of(sizes)


def _drawing(rng: Generator, side: int) -> np.ndarray:
    """Return a picture of a few connected strokes."""
    picture = np.zeros((side, side))
    place = rng.uniform(0.2, 0.8, 2)
    for _ in range(int(rng.integers(2, 5))):
        target = rng.uniform(0.15, 0.85, 2)
        for step in np.linspace(0, 1, 4 * side):
            row, column = ((place + step * (target - place)) * side).astype(int)
            picture[row, column] = 1
        place = target
    blurred = gaussian_filter(picture, side / 16 + 0.3)
    return blurred / blurred.max()


def curves(number: int) -> Drawn:
    """Return time series: each class is a random curve, shifted, stretched and noisy."""
    rng = default_rng(25_000 + number)
    k, length = int(rng.integers(2, 11)), int(rng.choice([40, 80, 150, 300]))
    n_rows = max(random_n_rows(rng, 80, 1500), 12 * k)
    sizes = cluster_sizes(rng, n_rows, k, rng.choice([1, 1, 4]))
    shift, noise = rng.uniform(0, 0.06), rng.uniform(0.05, 0.6)
    walk = rng.uniform(0, 0.6)
    parts = []
    for size in sizes:
        curve = _RandomCurve(rng)
        times = np.linspace(0, 1, length) * rng.uniform(0.9, 1.1, (size, 1))
        rows = curve(times + shift * rng.normal(size=(size, 1)))
        rows = rows * np.exp(0.15 * rng.normal(size=(size, 1)))
        rows = rows + noise * rng.normal(size=rows.shape)
        steps = rng.normal(size=rows.shape) * walk / np.sqrt(length)
        parts.append(rows + np.cumsum(steps, axis=1))
    points = np.concatenate(parts)
    if rng.random() < 0.6:
        points = points - points.mean(axis=1, keepdims=True)
        points = points / np.maximum(points.std(axis=1, keepdims=True), 1e-9)
    return points, classes_of(sizes)


class _RandomCurve:
    """A sum of a few waves and bumps."""

    def __init__(self, rng: Generator) -> None:
        self._waves = rng.normal(size=(3, 3)) * [1, 0.8, 2]
        self._bumps = rng.uniform(0, 1, (3, 3))

    def __call__(self, times: np.ndarray) -> np.ndarray:
        total = np.zeros_like(times)
        for number, (height, phase, speed) in enumerate(self._waves, start=1):
            total += height / number * np.sin(2 * np.pi * (number + 0.2 * speed) * times + phase)
        for place, width, height in self._bumps:
            width = 0.02 + 0.1 * width
            total += 4 * (height - 0.5) * np.exp(-0.5 * ((times - place) / width) ** 2)
        return total
