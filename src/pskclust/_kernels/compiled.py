"""Compiled kernels for cells in one array, with the signatures of the NumPy kernels."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import numpy as np

from .compiling import compiled, compiled_loosely, compiled_with_arrays, compiled_within

# Number of points between two updates of the limit on distances, the largest nearest distance.
_WALK = 2048
# Points are skipped in groups of this size if no point of a group is near.
_GROUP = 64
# Number of bounds from which a limit above the bounds of nearest centres is estimated.
_SAMPLE = 1024


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
def score_clusters(cells, starts, clusters, counts, scores):
    """Sum each cluster's counts in each row's cells."""
    n_cells = (len(starts) - 1) // cells.shape[1]
    for row in range(len(cells)):
        scores[row] = 0
        for i in range(cells.shape[1]):
            cell = i * n_cells + cells[row, i]
            for place in range(starts[cell], starts[cell + 1]):
                scores[row, clusters[place]] += counts[place]


@compiled
def list_members(
    cells,  # IN   (n, t)
    n_cells,  # IN   number of cells of each partitioning
    starts,  # INOUT (t * n_cells + 1,) zeros on entry, then the start of each cell's rows
    members,  # OUT  (n * t,) the rows of each cell
):
    """List the rows of each cell."""
    n_rows, n_partitions = cells.shape
    for i in range(n_partitions):
        # The start of a cell is stored one entry later: filling the list advances it to the end of
        # the cell, which is the start of the next cell.
        for row in range(n_rows):
            starts[i * n_cells + cells[row, i] + 1] += 1
        end = i * n_rows
        for cell in range(i * n_cells + 1, (i + 1) * n_cells + 1):
            count = starts[cell]
            starts[cell] = end
            end += count
        for row in range(n_rows):
            cell = i * n_cells + cells[row, i] + 1
            members[starts[cell]] = row
            starts[cell] += 1


@compiled
def add_to_scores(
    cells,  # IN   (m, t) of rows that join a set
    units,  # IN   (m,) their weights
    psi,  # IN   number of cells of each partitioning; cell psi means no cell
    starts,  # IN   (t * n_cells + 1,) from `list_members`
    members,  # IN   (n * t,) from `list_members`
    scores,  # INOUT (n,) of all rows against the set
):
    """After rows join a set, raise the scores of all rows that share cells with them."""
    n_cells = (len(starts) - 1) // cells.shape[1]
    for row in range(len(cells)):
        for i in range(cells.shape[1]):
            if cells[row, i] >= psi:
                continue
            cell = i * n_cells + cells[row, i]
            for place in range(starts[cell], starts[cell + 1]):
                scores[members[place]] += units[row]


@compiled_with_arrays
def settle_cells(points, screen, screened, cells):
    """Find nearest centres: first by bounds, then by rounded distances, then by exact ones."""
    n_points, n_partitions = len(screen.points), len(screen.centres)
    closest = np.empty(n_partitions, dtype=screened.bound2.dtype)
    found = np.empty(n_points, dtype=np.int32)
    found2 = np.empty(n_points, dtype=screened.bound2.dtype)
    n_candidates = np.empty(n_partitions, dtype=np.int64)
    exact2 = np.empty(n_partitions)
    for row in range(len(points)):
        margin = 2 * screened.error[row]
        closest[:] = np.inf
        n_found = 0
        if margin == np.inf:
            for point in range(n_points):
                found[point], found2[point] = point, 0.0
            n_found = n_points
        else:
            # Points that are probably nearest come first, so that most others can be skipped.
            near = bound_of_nearest(screened.bound2, row, screen.centres.shape)
            for above, upto in ((-np.inf, near), (near, np.inf)):
                n_found = find_distances(
                    screen, screened, row, above, upto, closest, found, found2, n_found
                )
        settle_row(
            points,
            row,
            screen,
            closest,
            margin,
            found[:n_found],
            found2,
            n_candidates,
            exact2,
            cells,
        )


@compiled_within
def bound_of_nearest(bound2, row, shape):
    """Estimate a limit above the bounds of the nearest centres, but below most other bounds."""
    n_partitions, psi = shape
    n_points = bound2.shape[1]
    n_wanted = 2 * n_points / psi * (1 + np.log(n_partitions))
    if n_wanted > n_points / 4:
        return np.inf
    some = bound2[row, :: max(1, n_points // _SAMPLE)]
    place = int(n_wanted / n_points * len(some))
    return float(np.partition(some, place)[place])


@compiled_within
def find_distances(
    screen,
    screened,
    row,  # IN   which row
    above,  # IN   consider only points with a bound above this limit
    upto,  # IN   and not above this limit
    closest,  # INOUT (t,) smallest squared distance in each partitioning
    found,  # OUT  (u,) points whose distance was computed
    found2,  # OUT  (u,) their squared distances
    n_found,  # IN   number of such points so far
):
    """Compute the distances to points that may be nearest centres; return the new `n_found`."""
    n_points = len(screen.points)
    margin = 2 * screened.error[row]
    for start in range(0, n_points, _WALK):
        limit = min(upto, closest.max() + margin)
        for first in range(start, min(start + _WALK, n_points), _GROUP):
            last = min(first + _GROUP, n_points)
            if not any_between(screened.bound2[row, first:last], above, limit):
                continue
            for point in range(first, last):
                distance2 = screened.bound2[row, point]
                if distance2 > limit or distance2 <= above:
                    continue
                if not may_be_nearest(screen, point, distance2 - margin, closest):
                    continue
                if screen.shifted.shape[1]:
                    distance2 = squared_distance(screened, row, screen, point)
                found[n_found], found2[n_found] = point, distance2
                n_found += 1
                for use in range(screen.use_start[point], screen.use_start[point + 1]):
                    i = screen.use_partitionings[use]
                    closest[i] = min(closest[i], distance2)
    return n_found


@compiled_within
def any_between(bounds, above, upto):
    """Return whether any bound is above `above` and at most `upto`; the loop has no branches."""
    hit = np.int32(0)
    for place in range(len(bounds)):
        hit |= np.int32(bounds[place] > above) & np.int32(bounds[place] <= upto)
    return hit


@compiled_within
def may_be_nearest(screen, point, least2, closest):
    """Return whether a point may be the nearest centre in any partitioning."""
    for use in range(screen.use_start[point], screen.use_start[point + 1]):
        if least2 <= closest[screen.use_partitionings[use]]:
            return True
    return False


@compiled_loosely
def squared_distance(screened, row, screen, point):
    """Return the squared distance from a row to a point of the screen, up to rounding errors."""
    product = np.float32(0)
    for column in range(screen.shifted.shape[1]):
        product += screened.shifted[row, column] * screen.shifted[point, column]
    return screened.squares[row] + screen.squares[point] - np.float32(2) * product


@compiled_within
def settle_row(
    points,  # IN   (m, d)
    row,  # IN   which row
    screen,
    closest,  # IN   (t,) smallest squared distance in each partitioning
    margin,  # IN   how much larger the nearest centre's rounded squared distance can be
    found,  # IN   points that may be nearest centres
    found2,  # IN   their squared distances
    n_candidates,  # TMP  (t,)
    exact2,  # TMP  (t,)
    cells,  # OUT  (m, t)
):
    """Find a row's nearest centre in each partitioning, by exact distances if several remain."""
    n_candidates[:] = 0
    for place in range(len(found)):
        point = found[place]
        for use in range(screen.use_start[point], screen.use_start[point + 1]):
            i = screen.use_partitionings[use]
            if found2[place] - margin <= closest[i]:
                n_candidates[i] += 1
                cells[row, i] = screen.use_numbers[use]
    if largest(n_candidates) == 1:
        return
    exact2[:] = np.inf
    for place in range(len(found)):
        point = found[place]
        point2 = np.nan
        for use in range(screen.use_start[point], screen.use_start[point + 1]):
            i, number = screen.use_partitionings[use], screen.use_numbers[use]
            if n_candidates[i] == 1 or found2[place] - margin > closest[i]:
                continue
            if np.isnan(point2):
                point2 = exact_distance2(points, row, screen.points, point)
            if point2 < exact2[i] or (point2 == exact2[i] and number < cells[row, i]):
                exact2[i] = point2
                cells[row, i] = number


@compiled_within
def largest(values):
    """Return the largest of some values, without the reference counting of `values.max()`."""
    result = values[0]
    for place in range(1, len(values)):
        result = max(result, values[place])
    return result


@compiled_within
def exact_distance2(points, row, others, other):
    """Return the squared distance between two points, summed in column order as in `reference`."""
    total = 0.0
    for column in range(points.shape[1]):
        apart = points[row, column] - others[other, column]
        total += apart * apart
    return total
