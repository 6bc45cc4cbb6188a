"""Cells of nested Voronoi partitions, compiled.

The smaller ones have the first centres of the largest, and all have centres among the same few
rows. A partition's nearest centre is most often among the nearest of all centres: these are gone
through from near to far, and each is the answer of the partitions it is in that have none yet.
The few partitions that are left are searched one by one.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import numpy as np

from .compiling import compiled, compiled_within

# So many distances tell how far the nearest centres are.
_N_LOOKED_AT = 256


@compiled
def cells_of_nested(
    points,  # IN   (n, d)
    first,  # IN   of the rows to look at
    last,  # IN   of the rows to look at, and one more
    columns,  # IN   (d, u) the different centres
    centres,  # IN   (t, psi) which of them is which centre of each partitioning
    sizes,  # IN   (s,) ascending, the last one psi
    starts,  # IN   (u + 1,) where the places of a centre start
    places,  # IN   (t * psi, 3) partitioning, number in it, and the first size with that number
    n_near,  # IN   about how many of the nearest centres to go through
    cells,  # OUT  (s, n, t)
):
    """Find the cell of each point among the first centres, as many as each size says."""
    n_different, n_sizes = columns.shape[1], len(sizes)
    distances2 = np.empty(n_different)
    near = np.empty(n_different, dtype=np.int64)
    near2 = np.empty(n_different)
    # The sizes from this one on have their answer, by partitioning.
    found = np.empty(len(centres), dtype=np.int64)
    # The latest tie in which a size got its answer.
    ties = np.zeros((len(centres), n_sizes), dtype=np.int64)
    n_ties = 0
    for row in range(first, last):
        measure(points[row], columns, distances2)
        n_found = select(distances2, n_near, near, near2)
        order = np.argsort(near2[:n_found])
        found[:] = n_sizes
        start = 0
        while start < n_found:
            stop = start + 1
            while stop < n_found and near2[order[stop]] == near2[order[start]]:
                stop += 1
            if stop == start + 1:
                centre = near[order[start]]
                for place in range(starts[centre], starts[centre + 1]):
                    i, size = places[place, 0], places[place, 2]
                    if size < found[i]:
                        for answered in range(size, found[i]):
                            cells[answered, row, i] = places[place, 1]
                        found[i] = size
            else:
                n_ties += 1
                for tied in order[start:stop]:
                    for place in range(starts[near[tied]], starts[near[tied] + 1]):
                        i = places[place, 0]
                        number, size = places[place, 1], places[place, 2]
                        answer_tied(number, size, found[i], ties[i], n_ties, cells[:, row, i])
                        found[i] = min(found[i], size)
            start = stop
        for i in range(len(centres)):
            if found[i] > 0:
                search(distances2, centres[i], sizes[: found[i]], cells[:, row, i])


@compiled_within
def measure(point, columns, distances2):
    distances2[:] = 0.0
    for column in range(len(columns)):
        for number in range(len(distances2)):
            difference = point[column] - columns[column, number]
            distances2[number] += difference * difference


@compiled_within
def select(distances2, n_near, near, near2):
    """List the centres up to the distance that so many, more or less, are within."""
    step = max(1, len(distances2) // _N_LOOKED_AT)
    some = np.sort(distances2[::step])
    limit = some[min(n_near // step, len(some) - 1)]
    n_found = 0
    for number in range(len(distances2)):
        near[n_found], near2[n_found] = number, distances2[number]
        n_found += distances2[number] <= limit
    return n_found


@compiled_within
def answer_tied(number, size, found, ties, tie, cells):
    """Take a centre as the answer, also instead of a later one that is just as near."""
    for answered in range(size, len(cells)):
        if answered < found or (ties[answered] == tie and number < cells[answered]):
            cells[answered], ties[answered] = number, tie


@compiled_within
def search(distances2, centres, sizes, cells):
    size, nearest, nearest2 = 0, 0, np.inf
    for number in range(sizes[-1]):
        if distances2[centres[number]] < nearest2:
            nearest, nearest2 = number, distances2[centres[number]]
        if number + 1 == sizes[size]:
            cells[size] = nearest
            size += 1
