"""Boxes around rows, and bounds on the distances between centres and the points of a box.

The functions here are inlined into compiled loops, which name this file in `compiled_with`.
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
    first,  # IN   first block
    last,  # IN   end of the blocks
    start,  # IN   index of the box of the first block
    low,  # OUT  (n_boxes + 1, d) lower corners of the boxes; the last box holds all blocks
    high,  # OUT  (n_boxes + 1, d) upper corners
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
    n_centres,  # IN   number of centres
    bounds,  # OUT  (2, psi) second row: below 0 for a centre nearest to no point of the box
):
    """Bound how much nearer each centre can be to points of a box than a reference centre is.

    The reference is the centre whose largest distance to points of the box is smallest. The
    difference of the squared distances to two centres is linear in the point, so its largest value
    in the box is a sum over columns.
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
