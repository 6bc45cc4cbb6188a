"""The kernels for all cells in one array, compiled; signatures are those of the NumPy ones."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import numpy as np

from ._compiling import compiled

# How many points are passed between two looks at how far the farthest nearest centre is.
_WALK = 256


@compiled
def count_cells(cells, units, counts):
    """Add each row's weight to the counts of its cells."""
    for row in range(len(cells)):
        for i in range(cells.shape[1]):
            counts[i, cells[row, i]] += units[row]


@compiled
def score_cells(cells, counts, scores):
    """Sum the counts of each row's cells."""
    for row in range(len(cells)):
        score = 0
        for i in range(cells.shape[1]):
            score += counts[i, cells[row, i]]
        scores[row] = score


@compiled
def settle_cells(points, screen, distance2, error, cells):
    """Find nearest centres; of those that the screen leaves, by exact distances.

    Each row walks over the different points. Most are farther than the nearest centre that is
    known in any partitioning, and cost one comparison.
    """
    n_partitions, psi = screen.centres.shape
    closest = np.empty(n_partitions, dtype=distance2.dtype)
    exact2 = np.empty(n_partitions)
    for row in range(len(points)):
        closest[:] = np.inf
        walk_to_closest(screen, distance2, row, closest)
        margin = 2 * error[row]
        limit = closest.max() + margin
        cells[row] = 0
        exact2[:] = np.nan
        # Not a number, where float32 does not reach, is beyond no limit.
        for point in range(distance2.shape[1]):
            if distance2[row, point] > limit:
                continue
            point2 = np.nan
            for place in range(screen.uses_start[point], screen.uses_start[point + 1]):
                i, number = divmod(screen.uses[place], psi)
                if distance2[row, point] > closest[i] + margin:
                    continue
                if np.isnan(point2):
                    point2 = exact_distance2(points, row, screen.points, point)
                nearer = not point2 >= exact2[i]
                if nearer or (point2 == exact2[i] and number < cells[row, i]):
                    exact2[i] = point2
                    cells[row, i] = number


@compiled
def walk_to_closest(screen, distance2, row, closest):
    """Fill the smallest screened distance of a row in each partitioning."""
    psi = screen.centres.shape[1]
    n_points = distance2.shape[1]
    for first in range(0, n_points, _WALK):
        farthest = closest.max()
        for point in range(first, min(first + _WALK, n_points)):
            if distance2[row, point] >= farthest:
                continue
            for place in range(screen.uses_start[point], screen.uses_start[point + 1]):
                i = screen.uses[place] // psi
                closest[i] = min(closest[i], distance2[row, point])


@compiled
def exact_distance2(points, row, others, other):
    """Sum the squared differences in feature order."""
    total = 0.0
    for column in range(points.shape[1]):
        apart = points[row, column] - others[other, column]
        total += apart * apart
    return total
