"""Compiled loops that find nearest centres for a block of rows, by products in float32.

Rows and centres are shifted by a point among the rows, so that float32 represents them well. If
the distances of the two nearest centres differ by less than the rounding errors, exact distances
decide. So the cells are exactly those of `reference.nearest_centres`.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import numpy as np

from .compiling import compiled_into, compiled_loosely, compiled_within
from .neighbour_blocks import BLOCK
from .vectors import CENTRES_AT_A_TIME, ROWS_AT_A_TIME, compare_with_four

# Sum of a centre that only pads the list, so that it is never nearest.
NEVER = np.float32(3e38)
# Squares and products of lengths within these limits neither overflow nor underflow in float32.
_SHORTEST, _LONGEST = 1e-12, 1e18
_HALF_ULP = 2.0**-24
# Up to this many rows of a block are settled one by one; more are settled together.
FEW_ROWS = 6


@compiled_into
def shift_rows(
    points,  # IN   (n_blocks, d, 64)
    block,  # IN   which block
    middle,  # IN   (d,)
    shifted,  # OUT  (d, 64) the rows minus the middle
    lengths2,  # TMP  (64,)
):
    """Subtract a point from the rows of a block; return the largest distance to the point."""
    for place in range(BLOCK):
        lengths2[place] = 0.0
    for column in range(points.shape[1]):
        for place in range(BLOCK):
            value = points[block, column, place] - middle[column]
            shifted[column, place] = value
            lengths2[place] += value * value
    farthest2 = 0.0
    for place in range(BLOCK):
        # Once the result is NaN, it stays NaN.
        if lengths2[place] > farthest2 or lengths2[place] != lengths2[place]:
            farthest2 = lengths2[place]
    return np.sqrt(farthest2)


@compiled_loosely
def shift_centres(
    columns,  # IN   (d, psi) coordinates of centres
    middle,  # IN   (d,)
    n_centres,  # IN   number of centres
    shifted,  # OUT  (d, psi + 1) the middle minus each centre
    halves,  # OUT  (psi + 1,) half of the squared lengths of `shifted`
    lengths2,  # TMP  (psi,)
):
    """Subtract each centre from the middle; return the largest distance to the middle."""
    for number in range(n_centres):
        lengths2[number] = 0.0
    for column in range(len(middle)):
        for number in range(n_centres):
            value = middle[column] - columns[column, number]
            shifted[column, number] = value
            lengths2[number] += value * value
    farthest2 = 0.0
    for number in range(n_centres):
        halves[number] = 0.5 * lengths2[number]
        farthest2 = max(farthest2, lengths2[number])
    return np.sqrt(farthest2)


@compiled_into
def compare(
    rows,  # IN   (d, 64)
    centres,  # IN   (psi + 1, d) shifted and negated
    halves,  # IN   (psi + 1,) half of their squared lengths
    kept,  # IN   (psi + padding,) which centres to compare with
    n_kept,  # IN   number of kept centres
    smallest,  # OUT  (2, 64) the smallest and the second smallest sum of each row
    nearest,  # OUT  (64,) index in `kept` of the centre with the smallest sum
):
    """Find the nearest centre of each row, up to rounding errors."""
    for place in range(BLOCK):
        smallest[0, place], smallest[1, place] = np.inf, np.inf
        nearest[place] = 0
    for start in range(0, n_kept, CENTRES_AT_A_TIME):
        for first in range(0, BLOCK, ROWS_AT_A_TIME):
            compare_with_four(rows, first, centres, halves, kept, start, smallest, nearest)


@compiled_into
def n_within(smallest, margin):
    """Return the number of rows whose two smallest sums differ by at most a margin."""
    count = np.int32(0)
    for place in range(BLOCK):
        count += np.int32(not smallest[1, place] > smallest[0, place] + margin)
    return count


@compiled_within
def margin_of_error(n_columns, reach):
    """Return the difference beyond which two sums rank like the exact distances.

    Let X and Z be the lengths of row and centre, and u the unit roundoff. A sum differs from its
    exact value by at most u (Z^2 / 2 + X Z) ((1.01 d + 2) + 2), because of d + 1 additions and the
    rounding of each factor and of the half. That is at most u (X + Z)^2 (1.01 d + 5) / 2. Two sums
    are compared, which doubles the error. The larger constants in the code also cover the rounding
    of exact distances in float64 and of the sum with the margin.
    """
    if not _SHORTEST < reach < _LONGEST:
        return np.float32(np.inf)
    return np.float32(_HALF_ULP * (1.02 * n_columns + 16) * reach * reach)


@compiled_loosely
def sum_for_row(rows, place, centres, centre, half):
    """Return the sum that `compare` uses for a row and a centre, up to rounding errors."""
    total = half
    for k in range(centres.shape[1]):
        total += rows[k, place] * centres[centre, k]
    return total


@compiled_into
def settle_row(
    points,  # IN   (n_blocks, d, 64)
    block,  # IN   which block
    place,  # IN   which row of it
    centres,  # IN   (u, d)
    candidates,  # IN   (psi,) their indices, in the order of centres in the partitioning
    n_candidates,  # IN   number of candidates
    sums,  # IN   (psi,) the sum of each candidate
    limit,  # IN   candidates with a larger sum cannot be nearest
):
    """Return the index of the nearest candidate by exact distances; ties go to the first."""
    best, best2 = np.int32(0), np.inf
    for a in range(n_candidates):
        if sums[a] > limit:
            continue
        total = 0.0
        for column in range(points.shape[1]):
            apart = points[block, column, place] - centres[candidates[a], column]
            total += apart * apart
        if total < best2:
            best, best2 = np.int32(a), total
    return best


@compiled_into
def settle_block(
    points,  # IN   (n_blocks, d, 64)
    block,  # IN   which block
    centres,  # IN   (u, d)
    candidates,  # IN   (psi,) their indices, in the order of centres in the partitioning
    n_candidates,  # IN   number of candidates
    distances2,  # TMP  (2, 64)
    nearest,  # OUT  (64,) index of the nearest candidate
):
    """Find the nearest candidate of each row of a block by exact distances."""
    for place in range(BLOCK):
        distances2[1, place] = np.inf
    for a in range(n_candidates):
        for place in range(BLOCK):
            distances2[0, place] = 0.0
        for column in range(points.shape[1]):
            value = centres[candidates[a], column]
            for place in range(BLOCK):
                apart = points[block, column, place] - value
                distances2[0, place] += apart * apart
        for place in range(BLOCK):
            closer = distances2[0, place] < distances2[1, place]
            nearest[place] = np.int32(a) if closer else nearest[place]
            distances2[1, place] = distances2[0, place] if closer else distances2[1, place]
