"""Boxes around rows, and bounds on the distances of centres to the points of a box.

The functions here become part of compiled loops that name this file in `compiled_with`.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import numpy as np

from .compiling import compiled_into, compiled_within
from .neighbour_blocks import BLOCK

EPSILON = np.finfo(np.float64).eps
# Products of smaller values lose digits to underflow.
SMALLEST = 1e-290


@compiled_into
def find_boxes(
    points,  # IN   (n_blocks, d, 64)
    first,  # IN   blocks from here
    last,  # IN   to here
    start,  # IN   where the boxes of the first block goes
    low,  # OUT  (n_boxes + 1, d) of each block; the last one is the box of all of them
    high,  # OUT  (n_boxes + 1, d)
):
    whole = len(low) - 1
    for column in range(points.shape[1]):
        low[whole, column], high[whole, column] = np.inf, -np.inf
        for block in range(first, last):
            smallest = largest = points[block, column, 0]
            for place in range(1, BLOCK):
                smallest = min(smallest, points[block, column, place])
                largest = max(largest, points[block, column, place])
            low[start + block - first, column] = smallest
            high[start + block - first, column] = largest
            low[whole, column] = min(low[whole, column], smallest)
            high[whole, column] = max(high[whole, column], largest)


@compiled_within
def bound_gains(
    low,  # IN   (n_boxes, d)
    high,  # IN   (n_boxes, d)
    box,  # IN   which box
    centres,  # IN   (d, psi)
    n_centres,  # IN   how many there are
    bounds,  # OUT  (2, psi) in the second row, below 0 for a centre that is nowhere nearest
):
    """Compute how much nearer each centre can be to a point of the box than one given centre.

    That one is the centre whose largest distance to the box is smallest. The difference of the
    squared distances to two centres is linear in the point, so its largest value in the box is a
    sum over columns.
    """
    n_columns = centres.shape[0]
    for number in range(n_centres):
        bounds[0, number] = 0.0
        bounds[1, number] = 0.0
    for column in range(n_columns):
        lowest, highest = low[box, column], high[box, column]
        for number in range(n_centres):
            value = centres[column, number]
            outside = max(highest - value, value - lowest)
            bounds[0, number] += outside * outside
    best = 0
    for number in range(1, n_centres):
        if bounds[0, number] < bounds[0, best]:
            best = number
    for column in range(n_columns):
        lowest, highest, own = low[box, column], high[box, column], centres[column, best]
        for number in range(n_centres):
            value = centres[column, number]
            point = highest if value > own else lowest
            bounds[1, number] += (value - own) * ((point - own) + (point - value))
    # The margin covers the rounding errors of this sum and of the exact distances.
    margin = 4 * (n_columns + 8) * EPSILON
    for number in range(n_centres):
        bounds[1, number] += margin * (bounds[0, number] + bounds[0, best]) + SMALLEST
