"""Families of shapes, most of them in the plane: curves, rings, bands and touching clusters."""

from __future__ import annotations

import numpy as np
from numpy.random import Generator, default_rng
from scipy.spatial import cKDTree
from sklearn import datasets

from .drawing import Drawn, classes_of, cluster_sizes, directions, polar, random_n_rows


def shapes(number: int) -> Drawn:
    """Return curved and simple shapes that do not touch, in some sets with noise."""
    rng = default_rng(1000 + number)
    k, n_rows = int(rng.integers(2, 10)), random_n_rows(rng, 300, 9000)
    spread, gap = rng.uniform(0.01, 0.05), rng.uniform(0.06, 0.2)
    sizes = cluster_sizes(rng, n_rows, k, rng.choice([1, 3, 6]))
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
    points, classes = np.concatenate(placed), classes_of([len(rows) for rows in placed])
    n_noise = int(rng.choice([0, 0, 0.03, 0.1, 0.2]) * len(points))
    low, high = points.min(axis=0) - 0.1, points.max(axis=0) + 0.1
    if n_noise:
        points = np.concatenate([points, rng.uniform(low, high, (n_noise, 2))])
        classes = np.append(classes, np.zeros(n_noise, dtype=int))
    return points, classes


def _curve(rng: Generator, kind: str, n_rows: int) -> np.ndarray:
    """Return rows along a curve or in a plane shape, of a width of about 1."""
    u = rng.uniform(0, 1, n_rows)
    if kind == "wave":
        return np.column_stack([u * 2 - 1, 0.25 * np.sin(u * 2 * np.pi * rng.uniform(0.7, 2))])
    if kind == "arc":
        return 0.6 * polar(u * np.pi * rng.uniform(0.6, 1.5))
    if kind == "line":
        return np.column_stack([u * 2 - 1, np.zeros(n_rows)])
    if kind == "spiral":
        angles = 1 + u * 2 * np.pi * 1.2
        return 0.12 * angles[:, np.newaxis] * polar(angles)
    if kind == "disc":
        radii = np.sqrt(u) * rng.uniform(0.15, 0.4)
        return radii[:, np.newaxis] * polar(rng.uniform(0, 2 * np.pi, n_rows))
    if kind == "ring":
        return rng.uniform(0.25, 0.5) * polar(u * 2 * np.pi)
    if kind == "box":
        rows = rng.uniform(-1, 1, (n_rows, 2))
        extent = [rng.uniform(0.2, 0.8), rng.uniform(0.1, 0.3)]
        return rows * extent
    return _letter_z(u)


def _letter_z(u: np.ndarray) -> np.ndarray:
    """Return rows along the letter Z: a bar, a slope, a bar."""
    n_rows, along = len(u), u * 3
    upper = np.column_stack([along - 0.5, np.full(n_rows, 0.35)])
    slope = np.column_stack([1.5 - along, 0.35 - 0.7 * (along - 1)])
    lower = np.column_stack([along - 2.5, np.full(n_rows, -0.35)])
    stroke = along[:, np.newaxis]
    return 0.8 * np.where(stroke < 1, upper, np.where(stroke < 2, slope, lower))


_CURVES = ["wave", "arc", "line", "spiral", "disc", "ring", "box", "z"]


def rings(number: int) -> Drawn:
    """Return nested rings or spheres, a ball in a sphere, moons, links of a chain, or spirals."""
    rng = default_rng(2000 + number)
    n_rows, d = random_n_rows(rng, 150, 3000), int(rng.choice([2, 2, 3]))
    form = (_nested, _nested, _ball_in_sphere, _moons, _chain, _spirals)[number % 6]
    points, classes = form(rng, n_rows, d, number)
    if rng.random() < 0.2:
        n_noise = int(0.05 * len(points))
        low, high = points.min(axis=0), points.max(axis=0)
        points = np.concatenate([points, rng.uniform(low, high, (n_noise, points.shape[1]))])
        classes = np.append(classes, np.zeros(n_noise))
    return points, classes


def _sphere(rng: Generator, n_rows: int, d: int, radius: float, spread: float) -> np.ndarray:
    vectors = directions(rng, n_rows, d)
    return vectors * (radius + spread * rng.normal(size=n_rows))[:, np.newaxis]


def _nested(rng: Generator, n_rows: int, d: int, _: int) -> Drawn:
    """Return nested rings or spheres that are equally dense or have equally many rows."""
    k = int(rng.integers(2, 5)) if d == 2 else 2
    radii = np.cumsum(rng.uniform(0.8, 1.3, k)) - 0.5
    shares = radii ** (d - 1) if rng.random() < 0.6 else np.ones(k)
    sizes = np.maximum(20, (n_rows * shares / shares.sum()).astype(int))
    spread = rng.uniform(0.02, 0.13)
    parts = [
        _sphere(rng, size, d, radius, spread) for size, radius in zip(sizes, radii, strict=True)
    ]
    return np.concatenate(parts), classes_of(sizes)


def _ball_in_sphere(rng: Generator, n_rows: int, d: int, _: int) -> Drawn:
    half = n_rows // 2
    ball = rng.normal(size=(half, d)) * 0.3
    around = _sphere(rng, n_rows - half, d, rng.uniform(1.3, 2.5), 0.1)
    return np.concatenate([ball, around]), classes_of([half, n_rows - half])


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
    return points, classes_of([half, n_rows - half])


def _spirals(rng: Generator, n_rows: int, d: int, _: int) -> Drawn:
    k = int(rng.integers(2, 4))
    along = rng.uniform(0, 1, (k, n_rows // k))
    angles = np.sqrt(along) * 2 * np.pi * rng.uniform(0.7, 1.4) + 0.6
    arms = [angles[j][:, np.newaxis] * polar(angles[j] + 2 * np.pi * j / k) for j in range(k)]
    points = np.concatenate(arms)
    spread = rng.uniform(0.02, 0.2)
    return points + spread * rng.normal(size=points.shape), classes_of([n_rows // k] * k)


def bands(number: int) -> Drawn:
    """Return long parallel clusters, rotated at random."""
    rng = default_rng(3000 + number)
    n_rows, k = random_n_rows(rng, 200, 4000), int(rng.integers(2, 6))
    d = int(rng.choice([2, 2, 2, 3, 5]))
    sizes = cluster_sizes(rng, n_rows, k, rng.choice([1, 4]))
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
    return np.concatenate(parts) @ turn, classes_of(sizes)


def touching(number: int) -> Drawn:
    """Return clusters in the plane that touch and differ in density, or surround each other."""
    rng = default_rng(23_000 + number)
    n_rows = random_n_rows(rng, 200, 3000)
    form = (_dense_in_sparse, _halves, _open_ring, _uneven_moons, _crossing, _zigzag)[number % 6]
    points, sizes = form(rng, n_rows)
    turn = np.linalg.qr(rng.normal(size=(2, 2)))[0]
    stretch = np.diag([1, rng.uniform(0.5, 1)])
    return points @ turn @ stretch, classes_of(sizes)


def _parts(parts: list[np.ndarray]) -> tuple[np.ndarray, list[int]]:
    return np.concatenate(parts), [len(part) for part in parts]


def _dense_in_sparse(rng: Generator, n_rows: int) -> tuple[np.ndarray, list[int]]:
    k = int(rng.integers(1, 5))
    angles = np.arange(k) * 2 * np.pi / k + rng.uniform(0, 1)
    centres = rng.uniform(0.4, 0.9) * polar(angles) * (k > 1)
    n_sparse = int(n_rows * rng.uniform(0.25, 0.6))
    around = rng.uniform(-1.8, 1.8, (4 * n_sparse, 2))
    radius = rng.uniform(0.15, 0.28)
    gaps = np.sqrt(((around[:, np.newaxis] - centres) ** 2).sum(axis=2)).min(axis=1)
    around = around[gaps > radius * rng.uniform(1.0, 1.6)][:n_sparse]
    sizes = cluster_sizes(rng, n_rows - n_sparse, k, 2)
    discs = [
        centre + radius * np.sqrt(rng.uniform(0, 1, (size, 1))) * polar(rng.uniform(0, 7, size))
        for centre, size in zip(centres, sizes, strict=True)
    ]
    return _parts([around, *discs])


def _halves(rng: Generator, n_rows: int) -> tuple[np.ndarray, list[int]]:
    k, gap = int(rng.integers(2, 5)), rng.uniform(0.05, 0.3)
    sizes = cluster_sizes(rng, n_rows, k, rng.choice([2, 6]))
    rows = [rng.uniform(0, 1, (size, 2)) * [1, rng.uniform(0.6, 3)] for size in sizes]
    return _parts([row + np.array([j * (1 + gap), 0]) for j, row in enumerate(rows)])


def _open_ring(rng: Generator, n_rows: int) -> tuple[np.ndarray, list[int]]:
    k = int(rng.integers(1, 4))
    sizes = cluster_sizes(rng, n_rows, k + 1, 2)
    opening = rng.uniform(0.0, 0.35)
    angles = rng.uniform(opening, 1 - opening * rng.random(), sizes[0]) * 2 * np.pi
    ring = polar(angles) * (1 + rng.uniform(0.02, 0.08) * rng.normal(size=(sizes[0], 1)))
    middles = np.column_stack([np.linspace(-0.45, 0.45, k) * (k > 1), np.zeros(k)])
    spread = rng.uniform(0.06, 0.14)
    inner = [
        middle + spread * rng.normal(size=(size, 2))
        for middle, size in zip(middles, sizes[1:], strict=True)
    ]
    return _parts([ring, *inner])


def _uneven_moons(rng: Generator, n_rows: int) -> tuple[np.ndarray, list[int]]:
    share = rng.uniform(0.12, 0.5)
    sizes = [max(20, int(share * n_rows)), max(20, int((1 - share) * n_rows))]
    angles = [rng.uniform(0, np.pi, size) for size in sizes]
    upper = polar(angles[0])
    lower = [1 + rng.uniform(-0.2, 0.2), rng.uniform(0.2, 0.6)] - polar(angles[1])
    spread = rng.uniform(0.04, 0.12)
    return _parts([part + spread * rng.normal(size=part.shape) for part in (upper, lower)])


def _crossing(rng: Generator, n_rows: int) -> tuple[np.ndarray, list[int]]:
    """Return arms that leave a middle without rows in it, like those of a star."""
    k = int(rng.integers(3, 7))
    sizes = cluster_sizes(rng, n_rows, k, 2)
    start, width = rng.uniform(0.2, 0.5), rng.uniform(0.02, 0.06)
    arms = []
    for j, size in enumerate(sizes):
        along = rng.uniform(start, 1.6, size)
        across = width * rng.normal(size=size)
        axis = polar(np.array([2 * np.pi * j / k]))[0]
        arms.append(along[:, np.newaxis] * axis + across[:, np.newaxis] * [-axis[1], axis[0]])
    return _parts(arms)


def _zigzag(rng: Generator, n_rows: int) -> tuple[np.ndarray, list[int]]:
    """Return long strokes side by side, straight or bent like a V."""
    k = int(rng.integers(2, 6))
    sizes = cluster_sizes(rng, n_rows, k, 3)
    bend, gap, spread = rng.uniform(0, 1), rng.uniform(0.25, 0.6), rng.uniform(0.02, 0.07)
    strokes = []
    for j, size in enumerate(sizes):
        along = rng.uniform(-1, 1, size)
        stroke = np.column_stack([along, bend * np.abs(along) + gap * j])
        strokes.append(stroke + spread * rng.normal(size=stroke.shape))
    return _parts(strokes)


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
