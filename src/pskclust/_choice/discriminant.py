"""Separation of the two sides of a split along the line that separates them best.

The line is Fisher's discriminant. It is found from half of the rows and evaluated on the rest, so
that a direction that separates rows by chance does not count.
"""

from __future__ import annotations

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

from .borders import Floats, Nodes

# Principal axes beyond these hardly separate clusters, and the cost grows with their square.
MAX_AXES = 16
# Places along the line, where the means of the sides are at -1 and 1. The valley is looked for
# between -0.75 and 0.75, and the peak of each side in its own half.
_PLACES = np.linspace(-1.5, 1.5, 13)
_LEFT, _RIGHT, _MIDDLE = slice(0, 7), slice(6, 13), slice(3, 10)
_WIDEST, _MOST_APART, _DEEPEST = 1.0, 12.0, 6.0
_TINY = 1e-12


def principal_axes(points: Floats) -> Floats:
    """Return rows, on their principal axes if d exceeds `MAX_AXES`, scaled to unit spread."""
    centred = points - points.mean(axis=0)
    if centred.shape[1] > MAX_AXES:
        vectors = np.linalg.eigh(centred.T @ centred)[1]
        centred = centred @ vectors[:, ::-1][:, :MAX_AXES]
    spread = float(np.sqrt((centred * centred).mean()))
    return np.asarray(centred / (spread or 1.0))


def separations(
    points: Floats, within: NDArray[np.bool_], one: Nodes, other: Nodes
) -> tuple[Floats, Floats]:
    """Return the distance between the two sides of each split, and the dip in density there.

    The distance is the difference of the means divided by the standard deviation within the sides.
    The dip is the log ratio of the lower of the two peaks of the smoothed density to the lowest
    density between the means. Both are (s,).
    """
    sides = within[:, one].astype(np.float64), within[:, other].astype(np.float64)
    along = _along_lines(points, *sides)
    sizes = [np.maximum(side.sum(axis=0), 1) for side in sides]
    means = [(along * side).sum(axis=0) / size for side, size in zip(sides, sizes, strict=True)]
    squares = [
        ((along - middle) ** 2 * side).sum(axis=0)
        for side, middle in zip(sides, means, strict=True)
    ]
    n_rows = sizes[0] + sizes[1]
    spread = np.sqrt((squares[0] + squares[1]) / n_rows + _TINY)
    apart = np.clip((means[1] - means[0]) / spread, -2, _MOST_APART)
    return apart, _dip(along, sides[0] + sides[1], n_rows, spread)


def _along_lines(points: Floats, one: Floats, other: Floats) -> Floats:
    """Return the positions of rows along the line of each split, found from other rows, (n, s)."""
    n_rows, n_axes = points.shape
    products = (points[:, :, np.newaxis] * points[:, np.newaxis]).reshape(n_rows, -1)
    along = np.zeros(one.shape)
    # A random half, because sides may alternate from row to row.
    is_first = RandomState(0).permutation(n_rows) < n_rows // 2
    for given in (is_first, ~is_first):
        sides = one[given], other[given]
        sizes = [np.maximum(side.sum(axis=0), _TINY) for side in sides]
        means = [
            (side.T @ points[given]) / size[:, np.newaxis]
            for side, size in zip(sides, sizes, strict=True)
        ]
        scatter = ((sides[0] + sides[1]).T @ products[given]).reshape(-1, n_axes, n_axes)
        for size, middle in zip(sizes, means, strict=True):
            outer = middle[:, :, np.newaxis] * middle[:, np.newaxis]
            scatter = scatter - size[:, np.newaxis, np.newaxis] * outer
        line, offset = _discriminants(scatter, sizes[0] + sizes[1], *means)
        along[~given] = points[~given] @ line.T - offset
    return along


def _discriminants(
    scatter: Floats, n_rows: Floats, one: Floats, other: Floats
) -> tuple[Floats, Floats]:
    """Return the direction (s, a) and the offset (s,) of a line for each split.

    The means of the two sides are at -1 and 1 on the line.

    With few rows, the scatter is shrunk towards that of a round cloud.
    """
    n_axes = one.shape[1]
    scatter = scatter / n_rows[:, np.newaxis, np.newaxis]
    variance = np.trace(scatter, axis1=1, axis2=2) / n_axes
    share = np.clip(n_axes / np.maximum(n_rows, 1), 0.01, 0.9)
    scatter = (1 - share)[:, np.newaxis, np.newaxis] * scatter
    scatter += (share * variance + _TINY)[:, np.newaxis, np.newaxis] * np.eye(n_axes)
    apart = other - one
    line = np.linalg.solve(scatter, apart[:, :, np.newaxis])[:, :, 0]
    line /= np.maximum((line * apart).sum(axis=1) / 2, _TINY)[:, np.newaxis]
    return np.asarray(line), np.asarray(((one + other) / 2 * line).sum(axis=1))


def _dip(along: Floats, inside: Floats, n_rows: Floats, spread: Floats) -> Floats:
    width = 1.06 * np.minimum(spread, _WIDEST) * np.maximum(n_rows, 2) ** -0.2 + 1e-3
    # Only rows on either side count: most splits divide few rows.
    is_inside = inside.T > 0
    counts = is_inside.sum(axis=1)
    present = np.flatnonzero(counts)
    starts = np.cumsum(counts[present]) - counts[present]
    position = along.T[is_inside]
    width = np.repeat(width, counts)
    densities = np.zeros((len(_PLACES), len(counts)))
    for number, place in enumerate(_PLACES):
        weights = position - place
        weights /= width
        weights *= weights
        weights *= -0.5
        np.exp(weights, out=weights)
        densities[number, present] = np.add.reduceat(weights, starts)
    peak = np.minimum(densities[_LEFT].max(axis=0), densities[_RIGHT].max(axis=0))
    # One row is added everywhere, so that a gap between few rows is not infinitely deep.
    depth = np.log(peak + 1) - np.log(densities[_MIDDLE].min(axis=0) + 1)
    return np.asarray(np.clip(depth, 0, _DEEPEST))
