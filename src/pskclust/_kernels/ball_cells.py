"""Compiled loops that find the cells of neighbour blocks with many columns.

A ball around the rows of a block excludes most centres. BLAS multiplies the rows of blocks that
have nearly the same remaining centres by these centres, in float32. If two of the resulting sums
differ by less than the rounding errors, exact distances decide. So the cells are exactly those of
`reference.nearest_centres`.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import numpy as np

from . import block_products
from .block_products import margin_of_error, n_within
from .compiling import compiled, compiled_into, compiled_loosely, compiled_with
from .neighbour_blocks import BLOCK


@compiled
def shift_points(
    points,  # IN   (u, d)
    chosen,  # IN   (m,) indices of points
    middle,  # IN   (d,)
    shifted,  # OUT  (m, d) float32, the middle minus each chosen point
    lengths2,  # OUT  (m,) their squared distances, not rounded to float32
):
    """Write the middle minus each chosen point, and the squared lengths of the differences."""
    for place in range(len(chosen)):
        lengths2[place] = shift_point(points, chosen[place], middle, shifted, place)


@compiled_loosely
def shift_point(points, point, middle, shifted, to):
    """Subtract one point from the middle; return their squared distance."""
    length2 = 0.0
    for column in range(len(middle)):
        value = middle[column] - points[point, column]
        shifted[to, column] = value
        length2 += value * value
    return length2


@compiled
def mark_possible(
    away2,  # IN   (n_blocks, u) squared distances from middles to centres, up to rounding errors
    errors,  # IN   (n_blocks,) bounds on these errors
    radii,  # IN   (n_blocks,) radii of the balls around the middles
    numbers,  # IN   (t, psi) index of each centre
    possible,  # INOUT (n_blocks, u) all False on entry, then True for centres that may be nearest
):
    """Mark the centres that may be nearest to a row of each block.

    Let m be the middle of a ball, r its radius and y the centre nearest to m. A centre z with
    |m - z| > |m - y| + 2 r is farther than y from every point of the ball. The limit is slightly
    larger, so that this holds for computed distances, too.
    """
    n_partitions, psi = numbers.shape
    for block in range(len(away2)):
        for i in range(n_partitions):
            least2 = np.inf
            for number in range(psi):
                least2 = min(least2, np.float64(away2[block, numbers[i, number]]))
            limit = np.sqrt(max(least2, 0.0) + errors[block]) + 2 * radii[block]
            limit2 = limit * limit * (1 + 1e-9) + errors[block]
            for number in range(psi):
                # This comparison does not exclude a centre whose distance is NaN.
                if not away2[block, numbers[i, number]] > limit2:
                    possible[block, numbers[i, number]] = True


@compiled_with(block_products)
def choose_nearest(
    points,  # IN   (n_blocks * 64, d)
    rows,  # IN   (k * 64,) indices of the rows whose cells are found
    products,  # IN   (m, k * 64) of the centres that may be nearest with these rows
    halves,  # IN   (m,) float32 half of the squared lengths of these centres
    reach,  # IN   sum of the largest lengths of a row and a centre
    centres,  # IN   (u, d) the distinct centres
    places,  # IN   (u,) index of each centre in `halves`, or -1
    numbers,  # IN   (t, psi) index of each centre in `centres`
    start,  # IN   first partitioning
    stop,  # IN   end of the partitionings
    possible,  # TMP  (psi,) the centres of a partitioning that may be nearest
    near,  # TMP  (psi + 1,) those that may be nearest to one row
    smallest,  # TMP  (2, 64) float32 the smallest and the second smallest sum of each row
    nearest,  # TMP  (64,) each row's nearest centre
    cells,  # OUT  (n_blocks, t, 64)
):
    """Find the nearest centres of some rows, in some partitionings."""
    margin = margin_of_error(points.shape[1], reach)
    for i in range(start, stop):
        own, n_possible = numbers[i], 0
        for number in range(len(own)):
            possible[n_possible] = number
            n_possible += places[own[number]] >= 0
        for column in range(0, len(rows), BLOCK):
            compare_sums(
                products, column, halves, places, own, possible, n_possible, smallest, nearest
            )
            for place in range(BLOCK if n_within(smallest, margin) else 0):
                limit = smallest[0, place] + margin
                if smallest[1, place] > limit:
                    continue
                n_near = 0
                for a in range(n_possible):
                    at = places[own[possible[a]]]
                    near[n_near] = possible[a]
                    n_near += not halves[at] - products[at, column + place] > limit
                row = rows[column + place]
                nearest[place] = settle_row(points, row, centres, own, near, n_near)
            for place in range(BLOCK):
                row = rows[column + place]
                cells[row // BLOCK, i, row % BLOCK] = nearest[place]


@compiled_into
def compare_sums(
    products,  # IN   (m, k * 64)
    column,  # IN   column of the first of 64 rows
    halves,  # IN   (m,)
    places,  # IN   (u,)
    own,  # IN   (psi,) index of each centre of the partitioning
    possible,  # IN   (psi,)
    n_possible,  # IN   number of centres that may be nearest
    smallest,  # OUT  (2, 64)
    nearest,  # OUT  (64,)
):
    """Find the nearest centre of each of 64 rows, up to rounding errors.

    Half the squared distance, less half the squared length of the row, is half the squared length
    of the centre, less the product. These sums are compared.
    """
    for place in range(BLOCK):
        smallest[0, place], smallest[1, place] = np.inf, np.inf
        nearest[place] = possible[0]
    for a in range(n_possible):
        at = places[own[possible[a]]]
        for place in range(BLOCK):
            value, least = halves[at] - products[at, column + place], smallest[0, place]
            closer = value < least
            smallest[1, place] = min(smallest[1, place], least if closer else value)
            smallest[0, place] = value if closer else least
            nearest[place] = possible[a] if closer else nearest[place]


@compiled_into
def settle_row(
    points,  # IN   (n_blocks * 64, d)
    row,  # IN   which row
    centres,  # IN   (u, d)
    own,  # IN   (psi,) index of each centre of the partitioning
    near,  # INOUT (psi + 1,) centres that may be nearest, in ascending order
    n_near,  # IN   their number
):
    """Return the nearest centre by exact distances; ties go to the first.

    Usually two centres are left. Computing two distances at a time is faster, because the
    additions of one need not wait for those of the other.
    """
    near[n_near] = near[0]
    best, best2 = near[0], np.inf
    for a in range(0, n_near, 2):
        first, second = own[near[a]], own[near[a + 1]]
        first2 = second2 = 0.0
        for column in range(points.shape[1]):
            apart = points[row, column] - centres[first, column]
            first2 += apart * apart
            apart = points[row, column] - centres[second, column]
            second2 += apart * apart
        if first2 < best2:
            best, best2 = near[a], first2
        if second2 < best2:
            best, best2 = near[a + 1], second2
    return best
