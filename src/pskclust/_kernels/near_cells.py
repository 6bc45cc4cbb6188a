"""Compiled loops that find the cells of rows from lists of the centres near each row.

A product in float32 bounds the distance of each row and centre from below. Centres whose bounds are
within a limit of the row are listed. If the limit proves too small, the row is listed again with a
limit that is certain to suffice.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import numpy as np

from . import compiled as distances
from . import panel_vectors, vector_code
from .compiled import largest, may_be_nearest, settle_row, squared_distance
from .compiling import compiled_loosely, compiled_with, compiled_within
from .panel_vectors import PANEL_CENTRES, TILE_ROWS, lowest_bit, multiply_tile

# Centres are looked at in this many groups, by their bounds.
N_PARTS = 5

compiled = compiled_with(distances, panel_vectors, vector_code)


@compiled
def list_near(
    rows,  # IN   (m, k) float32, where m is a multiple of 6
    panels,  # IN   (p, k, 64) float32 centres by columns, the last panel filled up
    n_points,  # IN   number of centres
    limits,  # IN   (m,) float32
    sums,  # TMP  (6, 64) float32
    hits,  # TMP  (6,) int64
    found,  # OUT  (m, most) int32 centres whose bounds are within the limit
    found2,  # OUT  (m, most) float32 their bounds
    n_found,  # OUT  (m,) number of such centres, even if the list is too short for them
):
    """List the centres near each row."""
    n_found[:] = 0
    for panel in range(len(panels)):
        # All rows are multiplied by a panel while it is in the cache.
        for first in range(0, len(rows), TILE_ROWS):
            multiply_tile(rows, first, panels, panel, limits, sums, hits)
            for place in range(TILE_ROWS):
                bits = hits[place]
                while bits != 0:
                    centre = lowest_bit(bits)
                    bits &= bits - 1
                    if panel * PANEL_CENTRES + centre >= n_points:
                        break
                    row = first + place
                    number = n_found[row]
                    n_found[row] += 1
                    if number < found.shape[1]:
                        found[row, number] = panel * PANEL_CENTRES + centre
                        found2[row, number] = sums[place, centre]


@compiled
def settle_near(
    points,  # IN   (m, d)
    screen,  # IN   of u centres
    screened,  # IN   result of screening the points
    further,  # IN   (m, k) float32 factors of the rows for the second bound
    further_of_centres,  # IN   (u, k) float32 those of the centres; k is 0 without second bound
    near,  # IN   (m,) float64 centres with bounds up to this limit are probably nearest
    limits,  # INOUT (m,) float32 limit of the list of each row, then the limit that it needs
    found,  # TMP  (m, most) int32 from `list_near`
    found2,  # TMP  (m, most) float32 from `list_near`
    n_found,  # IN   (m,) from `list_near`
    closest,  # TMP  (t,) float32
    chosen,  # TMP  (most,) int32
    chosen2,  # TMP  (most,) float32
    n_candidates,  # TMP  (t,) int64
    exact2,  # TMP  (t,) float64
    cells,  # OUT  (m, t)
    settled,  # OUT  (m,) whether the list was long enough, so that the cells are known
):
    """Find nearest centres: first by bounds, then by rounded distances, then by exact ones."""
    for row in range(len(points)):
        margin = 2 * screened.error[row]
        n_listed = min(n_found[row], found.shape[1])
        closest[:] = np.inf
        if margin == np.inf:
            # Distances are not known: all centres remain.
            for place in range(n_listed):
                chosen[place], chosen2[place] = found[row, place], 0.0
            n_chosen = n_listed
        else:
            n_chosen = choose_near(
                screen,
                screened,
                (further, further_of_centres),
                row,
                near[row],
                found[row],
                found2[row],
                n_listed,
                closest,
                chosen,
                chosen2,
            )
        needed = largest(closest) + margin
        settled[row] = needed <= limits[row] and n_listed == n_found[row]
        if settled[row]:
            settle_row(
                points,
                row,
                screen,
                closest,
                margin,
                chosen[:n_chosen],
                chosen2,
                n_candidates,
                exact2,
                cells,
            )
        else:
            # Rounding to float32 may not lower the limit.
            limits[row] = needed + abs(needed) * 1e-6


@compiled_within
def choose_near(
    screen,
    screened,
    further,  # IN   factors of the rows and those of the centres for the second bound
    row,  # IN   which row
    near,  # IN   centres with bounds up to this limit are probably nearest
    found,  # TMP  (most,) the list of the row
    found2,  # TMP  (most,) their bounds
    n_left,  # IN   number of centres in the list
    closest,  # INOUT (t,) smallest squared distance in each partitioning
    chosen,  # OUT  (most,) centres whose distance was computed
    chosen2,  # OUT  (most,) their squared distances
):
    """Compute the distances to listed centres that may be nearest; return their number."""
    margin = 2 * screened.error[row]
    n_chosen = 0
    least = smallest(found2, n_left)
    # Centres with the smallest bounds come first, so that most others can be skipped.
    for part in range(1, N_PARTS + 1):
        most = largest(closest) + margin
        upto = most
        if part < N_PARTS:
            upto = min(most, least + (near - least) * part / (N_PARTS - 1))
        n_kept = 0
        for place in range(n_left):
            distance2, point = found2[place], found[place]
            if distance2 > upto:
                # Later parts look at those that may still be near.
                found2[n_kept], found[n_kept] = distance2, point
                n_kept += int(distance2 <= most)
                continue
            if not may_be_nearest(screen, point, distance2 - margin, closest):
                continue
            if further[0].shape[1]:
                distance2 -= np.float32(2) * product(further[0], row, further[1], point)
                if not may_be_nearest(screen, point, distance2 - margin, closest):
                    continue
            if screen.shifted.shape[1]:
                distance2 = squared_distance(screened, row, screen, point)
            chosen[n_chosen], chosen2[n_chosen] = point, distance2
            n_chosen += 1
            for use in range(screen.use_start[point], screen.use_start[point + 1]):
                i = screen.use_partitionings[use]
                closest[i] = min(closest[i], distance2)
        n_left = n_kept
    return n_chosen


@compiled_loosely
def product(rows, row, others, other):
    """Return the inner product of two rows, up to rounding errors."""
    total = np.float32(0)
    for k in range(rows.shape[1]):
        total += rows[row, k] * others[other, k]
    return total


@compiled_within
def smallest(values, n_values):
    """Return the smallest of the first values."""
    result = np.float64(np.inf)
    for place in range(n_values):
        result = min(result, values[place])
    return result
