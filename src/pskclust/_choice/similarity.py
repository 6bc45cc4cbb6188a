"""Isolation similarity of the rows of a sample, at several psi, from one table of distances."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial.distance import cdist

from .._utils.parallel import one_blas_thread

# With more columns, a matrix product is faster than differences.
_MAX_COLUMNS_FOR_DIFFERENCES = 16
# Up to this psi, the nearest centre is found by scanning all centres; beyond, it is the first of a
# row's nearest neighbours that is a centre.
_MAX_PSI_FOR_SCANS = 64
# Up to this psi, a table of all rows and cells is small, and a product with it takes less time than
# one of two sparse tables. It is made for this number of blocks of rows, one after the other.
_MAX_PSI_FOR_TABLES, _N_BLOCKS = 64, 4
_TINY = 1e-24
_NO_RANK = np.int16(np.iinfo(np.int16).max)

Distances = NDArray[np.float64]  # (n, n) squared
Neighbours = NDArray[np.intp]  # (n, m) row numbers, the nearest first
# (n, n) number of partitionings in which two rows share a cell, in as few bytes as possible
Counts = NDArray[np.unsignedinteger[Any]]


class NestedCells(NamedTuple):
    """Cells of all rows at several psi; a smaller psi uses the first centres of a larger one."""

    centres: NDArray[np.intp]  # (t, largest psi) row numbers
    cells: NDArray[np.int32]  # (n_psi, t, n)
    log_gaps: NDArray[np.float64]  # (n_psi, n) log root mean square distance to the nearest centre


def squared_distances(points: NDArray[np.float64]) -> Distances:
    """Return the squared distance between each pair of rows."""
    if points.shape[1] <= _MAX_COLUMNS_FOR_DIFFERENCES:
        return np.asarray(cdist(points, points, "sqeuclidean"))
    norms = (points * points).sum(axis=1)
    # One thread, so that rounding does not depend on the number of threads.
    with one_blas_thread:
        distances: Distances = norms[:, np.newaxis] + norms - 2 * (points @ points.T)
    np.maximum(distances, 0, out=distances)
    np.fill_diagonal(distances, 0)
    # A matrix product may round copies of a row differently.
    _, first, number = np.unique(points, axis=0, return_index=True, return_inverse=True)
    if len(first) < len(points):
        same = first[number.ravel()]
        distances = distances[np.ix_(same, same)]
    return distances


def nearest_rows(distances: Distances, n_near: int) -> Neighbours:
    """Return the nearest rows of each row, itself included; ties go to the lowest number."""
    n_rows = len(distances)
    if n_near >= n_rows:
        return np.argsort(distances, axis=1, kind="stable")
    farthest = np.partition(distances, n_near - 1, axis=1)[:, n_near - 1]
    is_near = distances <= farthest[:, np.newaxis]
    found, tied = np.flatnonzero(is_near), np.empty(0, dtype=np.intp)
    if len(found) > n_rows * n_near:
        # Other rows are as far as the last one.
        tied = np.flatnonzero(np.count_nonzero(is_near, axis=1) > n_near)
        is_near[tied, n_near:] = False
        is_near[tied, :n_near] = True
        found = np.flatnonzero(is_near)
    places = found.reshape(n_rows, n_near)
    own = distances.ravel()[places]
    order = np.argsort(own, axis=1)
    own = np.take_along_axis(own, order, axis=1)
    near: Neighbours = np.take_along_axis(places, order, axis=1)
    near -= (np.arange(n_rows) * n_rows)[:, np.newaxis]
    # The order of equal distances is arbitrary in the faster sort; their rows are sorted again.
    again = np.union1d(tied, np.flatnonzero((own[:, 1:] == own[:, :-1]).any(axis=1)))
    near[again] = np.argsort(distances[again], axis=1, kind="stable")[:, :n_near]
    return near


def draw_nested_cells(
    distances: Distances,
    near: Neighbours,
    sizes: list[int],
    n_partitions: int,
    rng: RandomState,
) -> NestedCells:
    """Draw partitionings of the rows, and find the cell of each row at each psi in `sizes`."""
    n_rows = len(distances)
    centres = np.empty((n_partitions, sizes[-1]), dtype=np.intp)
    cells = np.empty((len(sizes), n_partitions, n_rows), dtype=np.int32)
    gaps2 = np.zeros((len(sizes), n_rows))
    n_scanned = sum(size <= _MAX_PSI_FOR_SCANS for size in sizes)
    near_distances = np.take_along_axis(distances, near, axis=1)
    has_ties = bool((near_distances[:, 1:] == near_distances[:, :-1]).any())
    around = _Around(near, near_distances, near_distances[:, -1].copy(), has_ties)
    for number in range(n_partitions):
        centres[number] = rng.permutation(n_rows)[: sizes[-1]]
        scanned = _scan(distances, centres[number], sizes[:n_scanned])
        walked = _walk(distances, around, centres[number], sizes[n_scanned:])
        for level, (cell, gap2) in enumerate([*scanned, *walked]):
            cells[level, number] = cell
            gaps2[level] += gap2
    # Relative to the largest distance, so that units do not matter.
    least = _TINY * (float(distances.max()) or 1.0)
    return NestedCells(centres, cells, 0.5 * np.log(gaps2 / n_partitions + least))


_Cell = tuple[NDArray[np.intp], NDArray[np.float64]]


def _scan(distances: Distances, centres: NDArray[np.intp], sizes: list[int]) -> list[_Cell]:
    """Return each row's cell and squared distance to its centre, from a scan of all centres."""
    rows = np.arange(len(distances))
    found: list[_Cell] = []
    first = 0
    for size in sizes:
        block = distances[centres[first:size]]
        cell = block.argmin(axis=0)
        gap2 = block[cell, rows]
        cell = cell + first
        if found:
            closer = gap2 < found[-1][1]
            cell, gap2 = np.where(closer, cell, found[-1][0]), np.where(closer, gap2, found[-1][1])
        found.append((cell, gap2))
        first = size
    return found


class _Around(NamedTuple):
    """The rows around each row, the nearest first."""

    near: Neighbours
    distances: Distances  # (n, m) squared
    farthest: NDArray[np.float64]  # (n,) the last of these
    has_ties: bool


def _walk(
    distances: Distances, around: _Around, centres: NDArray[np.intp], sizes: list[int]
) -> list[_Cell]:
    """Return the same as `_scan`, from the nearest centre among each row's neighbours."""
    if not sizes:
        return []
    near, near_distances, farthest, has_ties = around
    starts = np.arange(0, near.size, near.shape[1])
    rank = np.full(len(distances), _NO_RANK)
    rank[centres] = np.arange(len(centres))
    # Row numbers are in range; without a check, they are looked up faster.
    ranks = rank.take(near, mode="clip")
    found: list[_Cell] = []
    for size in sizes:
        is_centre = ranks < size
        places = starts + is_centre.argmax(axis=1)
        gap2, first = near_distances.take(places), ranks.take(places)
        cell = first.astype(np.intp)
        if has_ties:
            as_near = is_centre & (near_distances == gap2[:, np.newaxis])
            cell = np.where(as_near, ranks, _NO_RANK).min(axis=1).astype(np.intp)
        # Centres that are not among the neighbours may be as near as the last one.
        is_missed = (first >= size) | (gap2 == farthest)
        missed = np.flatnonzero(is_missed)
        if len(missed):
            block = distances[np.ix_(centres[:size], missed)]
            cell[missed] = block.argmin(axis=0)
            gap2[missed] = block.min(axis=0)
        found.append((cell, gap2))
    return found


def shared_cells(cells: NDArray[np.int32], psi: int) -> Counts:
    """Return the number of cells that each pair of rows shares; `cells` is (t, n)."""
    features = _one_hot(cells, psi)
    if psi > _MAX_PSI_FOR_TABLES:
        return np.asarray((features @ features.T).toarray())
    n_partitions, n_rows = cells.shape
    counts: Counts = np.empty((n_rows, n_rows), dtype=features.dtype)
    columns = cells + (np.arange(n_partitions) * psi)[:, np.newaxis]
    for block in np.array_split(np.arange(n_rows), min(_N_BLOCKS, n_rows)):
        first, end = block[0], block[-1] + 1
        table = np.zeros((n_partitions * psi, len(block)), dtype=features.dtype)
        table[columns[:, block], np.arange(len(block))] = 1
        counts[:end, first:end] = features[:end] @ table
        # Both rows of a pair share equally many cells.
        counts[first:end, :first] = counts[:first, first:end].T
    return counts


def cells_shared_with(cells: NDArray[np.int32], psi: int, rows: NDArray[np.intp]) -> Counts:
    """Return the number of cells that each of r rows shares with all n rows, (r, n)."""
    features = _one_hot(cells, psi)
    return np.asarray((features[rows] @ features.T).toarray())


def cells_shared_with_clusters(
    cells: NDArray[np.int32], psi: int, labels: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the number of cells that each row shares with the rows of each cluster, (n, k)."""
    features = _one_hot(cells, psi).astype(np.float64)
    members = np.zeros((len(labels), int(labels.max()) + 1))
    members[np.arange(len(labels)), labels] = 1
    # Sums of whole numbers are exact in any order.
    return np.asarray(features @ (features.T @ members))


def _one_hot(cells: NDArray[np.int32], psi: int) -> sparse.csr_array:
    """Return a table of n rows and t * psi columns, with 1 for each cell that a row is in."""
    n_partitions, n_rows = cells.shape
    columns = (cells + (np.arange(n_partitions) * psi)[:, np.newaxis]).T.ravel()
    # No count exceeds the number of partitionings.
    ones = np.ones(cells.size, dtype=np.min_scalar_type(n_partitions))
    starts = np.arange(0, cells.size + 1, n_partitions)
    return sparse.csr_array((ones, columns, starts), shape=(n_rows, n_partitions * psi))
