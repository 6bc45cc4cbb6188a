"""Generate sets with known clusters, of kinds that are rare in collections.

    points, classes = draw("shapes", 3)  # rows and classes of set number 3 of a family

A family has any number of sets, and a set depends only on its number. Classes start at 1; 0 is
noise. The families repliclust and pyclugen need their packages (see `missing`); all others need
only scikit-learn. Sets have 14 to 9,000 rows and 2 to 500 columns.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
import types
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.random import Generator, default_rng
from scipy.spatial import cKDTree
from sklearn import datasets

Drawn = tuple[np.ndarray, np.ndarray]


class Family(NamedTuple):
    """A kind of generated sets."""

    draw: Callable[[int], Drawn]  # rows and classes of a set by its number
    n_sets: int  # number of sets that the fit uses
    package: str = "sklearn"  # package that the family needs


def draw(family: str, number: int) -> Drawn:
    """Return the rows of a set in random order, as float32, and their classes."""
    points, classes = FAMILIES[family].draw(number)
    order = np.random.RandomState(0).permutation(len(points))
    return points[order].astype(np.float32), np.asarray(classes)[order].astype(np.int16)


def missing() -> list[str]:
    """Return the families whose package is not installed."""
    return [
        name for name, family in FAMILIES.items() if not importlib.util.find_spec(family.package)
    ]


# Numbers of rows and sizes of clusters.


def _n_rows(rng: Generator, low: float = 80, high: float = 3000) -> int:
    """Return a random number of rows, uniform on a logarithmic scale."""
    return int(np.exp(rng.uniform(np.log(low), np.log(high))))


def _sizes(rng: Generator, n_rows: int, n_clusters: int, ratio: float) -> np.ndarray:
    """Return random sizes of clusters that differ by a factor of up to `ratio`."""
    shares = np.ones(n_clusters)
    if ratio > 1:
        shares = np.exp(rng.uniform(0, np.log(ratio + 1e-9), n_clusters))
    return np.maximum(6, np.round(n_rows * shares / shares.sum()).astype(int))


def _classes(sizes: Any) -> np.ndarray:
    return np.repeat(np.arange(1, len(sizes) + 1), sizes)


def _directions(rng: Generator, n_rows: int, n_columns: int) -> np.ndarray:
    vectors = rng.normal(size=(n_rows, n_columns))
    return vectors / np.sqrt((vectors * vectors).sum(axis=1))[:, np.newaxis]


def _polar(angles: np.ndarray) -> np.ndarray:
    return np.column_stack([np.cos(angles), np.sin(angles)])


# Clusters of different shapes.


def blobs(number: int) -> Drawn:
    """Return round clusters, as scikit-learn's make_blobs draws them; they may overlap."""
    rng = default_rng(number)
    k, d = int(rng.integers(2, 16)), int(rng.choice([2, 2, 2, 3, 5, 10]))
    n_rows = max(_n_rows(rng, 100, 3000), 12 * k)
    centres = rng.uniform(-10, 10, (k, d))
    spread = float(rng.choice([0.5, 0.8, 1, 1, 1, 1.3]))
    sizes = _sizes(rng, n_rows, k, rng.choice([1, 1, 3]))
    spreads = spread * np.exp(rng.normal(0, rng.choice([0, 0, 0.3]), k))
    parts = [centres[j] + spreads[j] * rng.normal(size=(sizes[j], d)) for j in range(k)]
    return np.concatenate(parts), _classes(sizes)


def _curve(rng: Generator, kind: str, n_rows: int) -> np.ndarray:
    """Return rows along a curve or in a plane shape, of a width of about 1."""
    u = rng.uniform(0, 1, n_rows)
    if kind == "wave":
        return np.column_stack([u * 2 - 1, 0.25 * np.sin(u * 2 * np.pi * rng.uniform(0.7, 2))])
    if kind == "arc":
        return 0.6 * _polar(u * np.pi * rng.uniform(0.6, 1.5))
    if kind == "line":
        return np.column_stack([u * 2 - 1, np.zeros(n_rows)])
    if kind == "spiral":
        angles = 1 + u * 2 * np.pi * 1.2
        return 0.12 * angles[:, np.newaxis] * _polar(angles)
    if kind == "disc":
        radii = np.sqrt(u) * rng.uniform(0.15, 0.4)
        return radii[:, np.newaxis] * _polar(rng.uniform(0, 2 * np.pi, n_rows))
    if kind == "ring":
        return rng.uniform(0.25, 0.5) * _polar(u * 2 * np.pi)
    if kind == "box":
        rows = rng.uniform(-1, 1, (n_rows, 2))
        extent = [rng.uniform(0.2, 0.8), rng.uniform(0.1, 0.3)]
        return rows * extent
    # The letter Z: a bar, a slope, a bar.
    along = u * 3
    upper = np.column_stack([along - 0.5, np.full(n_rows, 0.35)])
    slope = np.column_stack([1.5 - along, 0.35 - 0.7 * (along - 1)])
    lower = np.column_stack([along - 2.5, np.full(n_rows, -0.35)])
    stroke = along[:, np.newaxis]
    return 0.8 * np.where(stroke < 1, upper, np.where(stroke < 2, slope, lower))


_CURVES = ["wave", "arc", "line", "spiral", "disc", "ring", "box", "z"]


def shapes(number: int) -> Drawn:
    """Return curved and simple shapes that do not touch, in some sets with noise."""
    rng = default_rng(1000 + number)
    k, n_rows = int(rng.integers(2, 10)), _n_rows(rng, 300, 9000)
    spread, gap = rng.uniform(0.01, 0.05), rng.uniform(0.06, 0.2)
    sizes = _sizes(rng, n_rows, k, rng.choice([1, 3, 6]))
    extent = np.sqrt(k) * rng.uniform(0.55, 0.9)
    placed: list[np.ndarray] = []
    for _ in range(600):
        if len(placed) == k:
            break
        kind = rng.choice(_CURVES)
        rows = _curve(rng, kind, sizes[len(placed)])
        turn = rng.uniform(0, 2 * np.pi)
        turned = rows @ np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
        rows = turned * rng.uniform(0.6, 1.1) + rng.uniform(-extent, extent, 2)
        if rng.random() < 0.5:
            rows = rows + spread * rng.normal(size=rows.shape)
        else:
            rows = rows + spread * 1.7 * rng.uniform(-1, 1, rows.shape)
        if placed and cKDTree(np.concatenate(placed)).query(rows)[0].min() < gap:
            continue
        placed.append(rows)
    points, classes = np.concatenate(placed), _classes([len(rows) for rows in placed])
    n_noise = int(rng.choice([0, 0, 0.03, 0.1, 0.2]) * len(points))
    low, high = points.min(axis=0) - 0.1, points.max(axis=0) + 0.1
    if n_noise:
        points = np.concatenate([points, rng.uniform(low, high, (n_noise, 2))])
        classes = np.append(classes, np.zeros(n_noise, dtype=int))
    return points, classes


def rings(number: int) -> Drawn:
    """Return nested rings or spheres, a ball in a sphere, moons, links of a chain, or spirals."""
    rng = default_rng(2000 + number)
    n_rows, d = _n_rows(rng, 150, 3000), int(rng.choice([2, 2, 3]))
    form = (_nested, _nested, _ball_in_sphere, _moons, _chain, _spirals)[number % 6]
    points, classes = form(rng, n_rows, d, number)
    if rng.random() < 0.2:
        n_noise = int(0.05 * len(points))
        low, high = points.min(axis=0), points.max(axis=0)
        points = np.concatenate([points, rng.uniform(low, high, (n_noise, points.shape[1]))])
        classes = np.append(classes, np.zeros(n_noise))
    return points, classes


def _sphere(rng: Generator, n_rows: int, d: int, radius: float, spread: float) -> np.ndarray:
    directions = _directions(rng, n_rows, d)
    return directions * (radius + spread * rng.normal(size=n_rows))[:, np.newaxis]


def _nested(rng: Generator, n_rows: int, d: int, _: int) -> Drawn:
    k = int(rng.integers(2, 5)) if d == 2 else 2
    radii = np.cumsum(rng.uniform(0.8, 1.3, k)) - 0.5
    # All rings are equally dense, or have equally many rows.
    shares = radii ** (d - 1) if rng.random() < 0.6 else np.ones(k)
    sizes = np.maximum(20, (n_rows * shares / shares.sum()).astype(int))
    spread = rng.uniform(0.02, 0.13)
    parts = [
        _sphere(rng, size, d, radius, spread) for size, radius in zip(sizes, radii, strict=True)
    ]
    return np.concatenate(parts), _classes(sizes)


def _ball_in_sphere(rng: Generator, n_rows: int, d: int, _: int) -> Drawn:
    half = n_rows // 2
    ball = rng.normal(size=(half, d)) * 0.3
    around = _sphere(rng, n_rows - half, d, rng.uniform(1.3, 2.5), 0.1)
    return np.concatenate([ball, around]), _classes([half, n_rows - half])


def _moons(rng: Generator, n_rows: int, d: int, number: int) -> Drawn:
    points, classes = datasets.make_moons(
        n_rows, noise=rng.uniform(0.02, 0.13), random_state=number
    )
    return points, classes + 1


def _chain(rng: Generator, n_rows: int, d: int, _: int) -> Drawn:
    angles, half = rng.uniform(0, 2 * np.pi, n_rows), n_rows // 2
    spread = rng.uniform(0.05, 0.15)
    cosines, sines, zeros = np.cos(angles), np.sin(angles), np.zeros(n_rows)
    flat = np.column_stack([cosines, sines, zeros])[:half]
    upright = np.column_stack([1 + cosines, zeros, sines])[half:]
    points = np.concatenate([flat, upright]) + spread * rng.normal(size=(n_rows, 3))
    return points, _classes([half, n_rows - half])


def _spirals(rng: Generator, n_rows: int, d: int, _: int) -> Drawn:
    k = int(rng.integers(2, 4))
    along = rng.uniform(0, 1, (k, n_rows // k))
    angles = np.sqrt(along) * 2 * np.pi * rng.uniform(0.7, 1.4) + 0.6
    arms = [angles[j][:, np.newaxis] * _polar(angles[j] + 2 * np.pi * j / k) for j in range(k)]
    points = np.concatenate(arms)
    spread = rng.uniform(0.02, 0.2)
    return points + spread * rng.normal(size=points.shape), _classes([n_rows // k] * k)


def bands(number: int) -> Drawn:
    """Return long parallel clusters, rotated at random."""
    rng = default_rng(3000 + number)
    n_rows, k = _n_rows(rng, 200, 4000), int(rng.integers(2, 6))
    d = int(rng.choice([2, 2, 2, 3, 5]))
    sizes = _sizes(rng, n_rows, k, rng.choice([1, 4]))
    apart, normal = rng.uniform(5, 9), rng.random() < 0.6
    parts = []
    for j in range(k):
        shape = sizes[j], d
        rows = rng.normal(size=shape) if normal else rng.uniform(-1.73, 1.73, shape)
        rows[:, 0] *= rng.uniform(4, 15)
        rows[:, 1] += apart * j * (1 if normal else 0.75)
        rows[:, 0] += rng.uniform(-5, 5)
        parts.append(rows)
    turn = np.linalg.qr(rng.normal(size=(d, d)))[0]
    return np.concatenate(parts) @ turn, _classes(sizes)


def uneven(number: int) -> Drawn:
    """Return clusters whose sizes differ by a factor of up to 60, and whose densities differ."""
    rng = default_rng(4000 + number)
    n_rows, k = _n_rows(rng, 200, 5000), int(rng.integers(2, 9))
    d = int(rng.choice([2, 2, 3, 5, 8]))
    sizes = _sizes(rng, n_rows, k, rng.choice([10, 30, 60]))
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
    return np.concatenate(parts), _classes(sizes)


def heavy(number: int) -> Drawn:
    """Return clusters with heavy tails: Student's t with 3 degrees of freedom."""
    rng = default_rng(5000 + number)
    n_rows, k = _n_rows(rng, 200, 3000), int(rng.integers(2, 9))
    d = int(rng.choice([2, 3, 5, 10]))
    sizes = _sizes(rng, n_rows, k, rng.choice([1, 3]))
    centres = rng.normal(size=(k, d)) * rng.uniform(6, 12) / d**0.25
    parts = [centres[j] + _student(rng, sizes[j], d, 3) for j in range(k)]
    return np.concatenate(parts), _classes(sizes)


def _student(rng: Generator, n_rows: int, d: int, freedom: int, scale: int = 3) -> np.ndarray:
    rows = rng.normal(size=(n_rows, d))
    return rows / np.sqrt(rng.chisquare(freedom, n_rows) / scale)[:, np.newaxis]


def one(number: int) -> Drawn:
    """Return a single cluster: normal, uniform, ring, line, heavy-tailed, ball or skewed."""
    rng = default_rng(6000 + number)
    n_rows, d = _n_rows(rng, 100, 5000), int(rng.choice([2, 2, 3, 5, 10, 20, 50]))
    form = number % 6
    if form == 0:
        rows = rng.normal(size=(n_rows, d)) @ np.diag(np.exp(rng.uniform(-0.7, 0.7, d)))
    elif form == 1:
        rows = rng.uniform(size=(n_rows, d))
    elif form == 2:
        rows = np.zeros((n_rows, d))
        rows[:, :2] = _polar(rng.uniform(0, 2 * np.pi, n_rows))
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
        directions = _directions(rng, n_rows, d)
        if rng.random() < 0.5:
            rows = directions * (rng.uniform(size=n_rows) ** (1 / d))[:, np.newaxis]
        else:
            rows = rng.exponential(size=(n_rows, d))
    return rows, np.ones(n_rows)


def few(number: int) -> Drawn:
    """Return 14 to 79 rows: one cluster in every second set, otherwise two to five round ones."""
    rng = default_rng(15_000 + number)
    n_rows, d = _n_rows(rng, 14, 79), int(rng.choice([2, 2, 3, 5, 10]))
    if number % 2:
        rows = rng.normal(size=(n_rows, d)) if rng.random() < 0.6 else rng.uniform(size=(n_rows, d))
        return rows, np.ones(n_rows)
    k = int(rng.integers(2, max(3, min(6, n_rows // 8))))
    sizes = _sizes(rng, n_rows, k, rng.choice([1, 3]))
    centres = rng.uniform(1.5, 4) * rng.normal(size=(k, d)) * np.sqrt(2)
    return np.concatenate(
        [centres[j] + rng.normal(size=(sizes[j], d)) for j in range(k)]
    ), _classes(sizes)


def subspace(number: int) -> Drawn:
    """Return clusters in a few dimensions, projected to 20 to 500 noisy columns."""
    rng = default_rng(7000 + number)
    n_rows, k = _n_rows(rng, 100, 3000), int(rng.integers(2, 16))
    n_rows = max(n_rows, 10 * k)
    d, n_latent = int(np.exp(rng.uniform(np.log(20), np.log(500)))), int(rng.integers(2, 15))
    sizes = _sizes(rng, n_rows, k, rng.choice([1, 3, 8]))
    mixing = rng.normal(size=(n_latent, d)) / np.sqrt(n_latent)
    centres = rng.normal(size=(k, n_latent)) * rng.uniform(1.5, 3.5)
    parts = []
    for j in range(k):
        latent = rng.normal(size=(sizes[j], n_latent)) * np.exp(rng.normal(0, 0.3, n_latent))
        parts.append((centres[j] + latent) @ mixing)
    points = np.concatenate(parts)
    points = points + rng.uniform(0.1, 1) * rng.normal(size=points.shape)
    return (np.tanh(points) if rng.random() < 0.3 else points), _classes(sizes)


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
    sizes = _sizes(rng, n_rows, k, rng.choice([1, 2]))
    spread = apart / rng.uniform(3.2, 7)
    parts = [centres[j] + spread * rng.normal(size=(sizes[j], d)) for j in range(k)]
    return np.concatenate(parts), _classes(sizes)


def toy(number: int) -> Drawn:
    """Return one of the six sets of scikit-learn's comparison of clusterings, with other seeds."""
    rng = default_rng(9000 + number)
    n_rows, form = int(rng.choice([300, 500, 1000, 1500])), number % 6
    if form == 0:
        X, y = datasets.make_circles(n_rows, factor=0.5, noise=0.05, random_state=number)
    elif form == 1:
        X, y = datasets.make_moons(n_rows, noise=0.05, random_state=number)
    elif form == 2:
        spreads = [1, 2.5, 0.5]
        X, y = datasets.make_blobs(n_rows, cluster_std=spreads, random_state=170 + number)
    elif form == 3:
        X, y = datasets.make_blobs(n_rows, random_state=170 + number)
        X = X @ np.array([[0.6, -0.6], [-0.4, 0.8]])
    elif form == 4:
        X, y = datasets.make_blobs(n_rows, random_state=8 + number)
    else:
        X, y = rng.random((n_rows, 2)), np.zeros(n_rows)
    return X, y + 1


def mixed(number: int) -> Drawn:
    """Return tables: latent factors behind plain, skewed, rounded and binary columns."""
    rng = default_rng(11000 + number)
    n_rows, k = _n_rows(rng, 100, 3000), int(rng.integers(2, 11))
    n_rows, d = max(n_rows, 15 * k), int(rng.choice([4, 6, 8, 12, 18, 30, 60]))
    sizes = _sizes(rng, n_rows, k, rng.choice([1, 3, 8]))
    n_latent = max(2, min(d, int(rng.integers(2, 8))))
    apart = rng.uniform(2, 4.5)
    parts = []
    for j in range(k):
        shear = rng.normal(size=(n_latent, n_latent))
        shear /= np.sqrt((shear * shear).sum(axis=0))
        rows = rng.normal(size=(sizes[j], n_latent)) @ (0.5 * np.eye(n_latent) + 0.5 * shear)
        parts.append(rows + apart * rng.normal(size=n_latent) / np.sqrt(n_latent) * 1.6)
    latent = np.concatenate(parts)
    mixing = rng.normal(size=(n_latent, d))
    mixing *= rng.random((n_latent, d)) < max(0.4, 1.5 / n_latent)
    rows = latent @ mixing + rng.uniform(0.2, 1) * rng.normal(size=(len(latent), d))
    form = rng.random(d)
    rest = np.where(form < 0.4, np.round(rows), np.where(form < 0.5, rows > 0.3, rows))
    return np.where(form < 0.15, np.exp(0.6 * rows), rest), _classes(sizes)


def topics(number: int) -> Drawn:
    """Return unit vectors like embeddings of texts: topics, with a large common component."""
    rng = default_rng(12000 + number)
    n_rows, k = _n_rows(rng, 400, 3000), int(rng.integers(3, 21))
    d = int(rng.choice([64, 128, 256, 384]))
    sizes = _sizes(rng, n_rows, k, rng.choice([1, 5, 30]))
    n_latent = int(rng.integers(10, 40))
    basis, centres = rng.normal(size=(n_latent, d)), rng.normal(size=(k, n_latent))
    common = rng.normal(size=d) * rng.uniform(0, 1) * np.sqrt(n_latent)
    parts = []
    for j in range(k):
        topic = rng.uniform(0.5, 1.2, (sizes[j], 1)) * centres[j]
        own = rng.uniform(0.7, 1.3) * rng.normal(size=(sizes[j], n_latent))
        parts.append((topic + own) @ basis)
    rows = np.concatenate(parts) + common
    rows = rows + rng.uniform(0.3, 1) * np.sqrt(n_latent) * rng.normal(size=rows.shape)
    return rows / np.sqrt((rows * rows).sum(axis=1))[:, np.newaxis], _classes(sizes)


# Generators from other packages.


def pyclugen_set(number: int) -> Drawn:
    """Return clusters along lines, drawn by pyclugen."""
    import pyclugen

    rng = default_rng(60000 + number)
    d, k = int(rng.choice([2, 2, 2, 3, 5])), int(rng.choice([2, 3, 4, 5, 6, 8, 10, 12]))
    n_rows = _n_rows(rng, 200, 4000)
    drawn = pyclugen.clugen(
        d,
        k,
        n_rows,
        rng.normal(size=d),
        float(rng.choice([0, np.pi / 8, np.pi / 4, np.pi / 2])),
        np.full(d, float(rng.choice([5, 6, 7.5, 10, 15]))),
        float(rng.choice([5, 10, 15])),
        float(rng.choice([0, 0.5, 1, 2])),
        float(rng.choice([0.25, 0.5, 1, 2, 4])),
        proj_dist_fn=str(rng.choice(["norm", "unif"])),
        point_dist_fn=str(rng.choice(["n-1", "n"])),
        rng=rng,
    )
    return drawn.points, drawn.clusters + 1


_OVERLAPS = [(1e-5, 1e-4), (1e-3, 1e-2), (1e-2, 5e-2), (0.1, 0.2)]
_DISTRIBUTIONS: list[list[Any]] = [
    ["normal"],
    ["normal", "exponential"],
    ["normal", "exponential", "gamma", "weibull", "lognormal", "uniform"],
    ["uniform", "beta"],
    [("standard_t", {"df": 2})],
    [("standard_t", {"df": 3}), "lognormal", "pareto"],
    ["f"],
]


def repliclust_set(number: int) -> Drawn:
    """Return ellipsoids of several distributions with a given overlap, drawn by repliclust."""
    repliclust = _repliclust()
    rng = default_rng(50000 + number)
    repliclust.set_seed(50000 + number)
    k = int(rng.choice([2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 30]))
    d = int(rng.choice([2, 2, 3, 5, 6, 8, 10, 12, 20]))
    n_rows = max(_n_rows(rng, 150, 4000), 20 * k)
    low, high = _OVERLAPS[rng.choice(4, p=[0.3, 0.35, 0.25, 0.1])]
    distributions = _DISTRIBUTIONS[rng.integers(7)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        archetype = repliclust.Archetype(
            n_clusters=k,
            dim=d,
            n_samples=n_rows,
            max_overlap=high,
            min_overlap=low,
            aspect_ref=float(rng.choice([1, 1.5, 3, 5, 8])),
            aspect_maxmin=float(rng.choice([1, 1.5, 3])),
            imbalance_ratio=float(rng.choice([1, 2, 5, 10, 20])),
            radius_maxmin=float(rng.choice([1, 2, 3, 6])),
            distributions=distributions,
        )
        points, classes = archetype.synthesize(quiet=True)[:2]
        if rng.random() < 0.15:
            points = repliclust.wrap_around_sphere(points)
    return points, classes + 1


# Packages that repliclust imports, but does not need to draw sets.
_NOT_NEEDED = ("dotenv", "openai", "matplotlib", "matplotlib.pyplot", "torch", "tqdm", "umap")


class _StandIn(types.ModuleType):
    """A module in which every name is a class that does nothing."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {"__init__": lambda *_, **__: None, "Module": object})


def _repliclust() -> Any:
    """Import repliclust, with stand-ins for missing packages that it does not need."""
    if "repliclust" in sys.modules:
        return sys.modules["repliclust"]
    absent = [name for name in _NOT_NEEDED if not _is_there(name)]
    sys.modules.update({name: _StandIn(name) for name in absent})
    try:
        return importlib.import_module("repliclust")
    finally:
        for name in absent:
            del sys.modules[name]


def _is_there(name: str) -> bool:
    try:
        importlib.import_module(name)
    except ImportError:
        return False
    return True


FAMILIES = {
    "blobs": Family(blobs, 40),
    "shapes": Family(shapes, 40),
    "rings": Family(rings, 36),
    "bands": Family(bands, 20),
    "uneven": Family(uneven, 30),
    "heavy": Family(heavy, 15),
    "one": Family(one, 150),
    "few": Family(few, 80),
    "subspace": Family(subspace, 30),
    "grid": Family(grid, 15),
    "toy": Family(toy, 30),
    "mixed": Family(mixed, 40),
    "topics": Family(topics, 15),
    "pyclugen": Family(pyclugen_set, 30, "pyclugen"),
    "repliclust": Family(repliclust_set, 70, "repliclust"),
}
