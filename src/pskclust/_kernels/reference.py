"""Kernels in plain NumPy: the specification that faster kernels must match bit for bit."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .screening import Screen, Screened

Cells = NDArray[np.unsignedinteger[Any]]

# Largest size of the dense counts of all clusters for a chunk of rows.
_LARGEST_DENSE_BYTES = 1 << 22


def squared_distances(
    points: NDArray[np.float64],  # IN   (m, d)
    centres: NDArray[np.float64],  # IN   (psi, d)
    difference: NDArray[np.float64],  # TMP  (m, psi)
    distance2: NDArray[np.float64],  # OUT  (m, psi)
) -> None:
    """Compute squared distances, summed in column order, so that rounding is always the same."""
    np.subtract.outer(points[:, 0], centres[:, 0], out=difference)
    np.multiply(difference, difference, out=distance2)
    for point_values, centre_values in zip(points.T[1:], centres.T[1:], strict=True):
        np.subtract.outer(point_values, centre_values, out=difference)
        np.multiply(difference, difference, out=difference)
        np.add(distance2, difference, out=distance2)


def column_order_distances(
    points: NDArray[np.float64],  # IN   (m, d)
    others: NDArray[np.float64],  # IN   (n, d)
    numbers: NDArray[np.intp],  # IN   (m, k) numbers of others
) -> NDArray[np.float64]:
    """Return the squared distance from each point to k others, summed in column order, (m, k)."""
    distance2 = np.zeros(numbers.shape)
    for point_values, other_values in zip(points.T, others.T, strict=True):
        difference = point_values[:, np.newaxis] - other_values[numbers]
        difference *= difference
        distance2 += difference
    return distance2


def nearest_centres(
    points: NDArray[np.float64],  # IN   (m, d)
    centres: NDArray[np.float64],  # IN   (psi, d)
    scratch: NDArray[np.float64],  # TMP  (2, m, psi)
    cells: Cells,  # OUT  (m,)
) -> None:
    """Find the Voronoi cell of each point; ties go to the first centre."""
    difference, distance2 = scratch
    squared_distances(points, centres, difference, distance2)
    cells[...] = distance2.argmin(axis=1)


def settle_cells(
    points: NDArray[np.float64],  # IN   (m, d)
    screen: Screen,  # IN   of u centres, over all columns
    screened: Screened,  # IN   result of screening the points
    cells: Cells,  # OUT  (m, t)
) -> None:
    """Find nearest centres; exact distances decide if the screen leaves several candidates."""
    # A row for each centre, because picking rows is much faster than picking columns.
    bound2 = np.ascontiguousarray(screened.bound2.T)
    for column, own in zip(cells.T, screen.centres, strict=True):
        own2 = bound2[own]
        column[...] = own2.argmin(axis=0)
        limit = own2.min(axis=0) + 2 * screened.error
        unsure = np.flatnonzero(np.count_nonzero(~(own2 > limit), axis=0) > 1)
        if len(unsure):
            settled = np.empty(len(unsure), dtype=cells.dtype)
            scratch = np.empty((2, len(unsure), len(own)))
            nearest_centres(points[unsure], screen.points[own], scratch, settled)
            column[unsure] = settled


def nearest_balls(
    points: NDArray[np.float64],  # IN   (m, d)
    centres: NDArray[np.float64],  # IN   (psi, d)
    radius2: NDArray[np.float64],  # IN   (psi,)
    scratch: NDArray[np.float64],  # TMP  (2, m, psi)
    cells: Cells,  # OUT  (m,) psi where no ball holds the point
) -> None:
    """Find the ball that holds each point; of several, the one with the nearest centre."""
    difference, distance2 = scratch
    squared_distances(points, centres, difference, distance2)
    distance2[distance2 > radius2] = np.inf
    nearest = distance2.argmin(axis=1)
    nearest[np.isinf(distance2.min(axis=1))] = len(centres)
    cells[...] = nearest


def tree_leaves(
    points: NDArray[np.float64],  # IN   (m, d)
    feature: NDArray[np.int32],  # IN   (nodes,) column compared at a node; -1 at a leaf
    threshold: NDArray[np.float64],  # IN   (nodes,) smaller values go to the next node
    target: NDArray[np.int32],  # IN   (nodes,) others go here; at a leaf, its cell
    cells: Cells,  # OUT  (m,)
) -> None:
    """Find the leaf of each point in one tree."""
    node = np.zeros(len(points), dtype=np.int32)
    inner = np.arange(len(points))
    while True:
        inner = inner[feature[node[inner]] >= 0]
        if not len(inner):
            break
        at = node[inner]
        below = points[inner, feature[at]] < threshold[at]
        node[inner] = np.where(below, at + 1, target[at])
    cells[...] = target[node]


def count_cells(
    cells: Cells,  # IN   (m, t)
    units: NDArray[np.int64],  # IN   (m,)
    counts: NDArray[np.int64],  # OUT  (t, n_cells), added to
) -> None:
    """Add each row's weight to the counts of its cells."""
    places = _places_in_table(cells, counts)
    weights = np.repeat(units, cells.shape[1])
    # bincount sums in float64, which is exact because the total weight is limited.
    flat = np.bincount(places.ravel(), weights=weights, minlength=counts.size)
    counts += flat.astype(np.int64).reshape(counts.shape)


def score_cells(
    cells: Cells,  # IN   (m, t)
    counts: NDArray[np.int64],  # IN   (t, n_cells)
    scores: NDArray[np.int64],  # OUT  (m,)
) -> None:
    """Sum the counts of a set G in each row's cells: t |G| times the row's similarity to G."""
    counts.ravel().take(_places_in_table(cells, counts)).sum(axis=1, out=scores)


def score_clusters(
    cells: Cells,  # IN   (m, t)
    starts: NDArray[np.integer[Any]],  # IN   (t * n_cells + 1,) start of each cell's clusters
    clusters: NDArray[np.integer[Any]],  # IN   clusters with members in each cell
    counts: NDArray[np.int64],  # IN   mass of these members
    scores: NDArray[np.int64],  # OUT  (m, k)
) -> None:
    """Sum each cluster's counts in each row's cells."""
    n_cells = (len(starts) - 1) // cells.shape[1]
    shape = len(starts) - 1, scores.shape[1]
    by_cell: Any = sparse.csr_array((counts, clusters, starts), shape=shape)
    if 8 * math.prod(shape) <= _LARGEST_DENSE_BYTES:
        scores[...] = one_hot(cells, n_cells) @ by_cell.toarray()
    else:
        scores[...] = (one_hot(cells, n_cells) @ by_cell).toarray()


def one_hot(cells: Cells, stride: int, no_cell: int | None = None) -> sparse.csr_array:
    """Return the feature map of rows: a 1 in column i * stride + cell for each partitioning i."""
    n_rows, n_partitions = cells.shape
    # Many functions for sparse matrices accept 32-bit indices only.
    index_type = sparse.get_index_dtype(maxval=max(n_partitions * stride, cells.size))
    columns = cells + np.arange(0, n_partitions * stride, stride, dtype=index_type)
    if no_cell is None:
        row_ends = np.arange(0, n_rows * n_partitions + 1, n_partitions, dtype=index_type)
        columns = columns.ravel()
    else:
        present = cells != no_cell
        row_ends = np.concatenate([[0], np.cumsum(present.sum(axis=1))]).astype(index_type)
        columns = columns[present]
    ones = np.ones(len(columns), dtype=np.int64)
    return sparse.csr_array((ones, columns, row_ends), shape=(n_rows, n_partitions * stride))


def _places_in_table(cells: Cells, counts: NDArray[np.int64]) -> NDArray[np.intp]:
    """Return the index of each cell in the flat table, (m, t)."""
    n_partitions, n_cells = counts.shape
    starts = np.arange(0, n_partitions * n_cells, n_cells, dtype=np.intp)
    return starts + cells.astype(np.intp)


def count_shared_cells(
    left: Cells,  # IN   (m, t)
    right: Cells,  # IN   (n, t)
    no_cell: int | None,  # IN   cell number of rows without a cell, which is never shared
    shared: NDArray[np.integer[Any]],  # OUT  (m, n) of a type that can hold t
) -> None:
    """Count the partitionings in which two rows share a cell, for each pair of rows.

    Counting is much faster if the cells of a partitioning are contiguous and `shared` is narrow.
    """
    shared[...] = 0
    for left_cells, right_cells in zip(left.T, right.T, strict=True):
        same = np.equal.outer(left_cells, right_cells)
        if no_cell is not None:
            same &= right_cells != no_cell
        shared += same
