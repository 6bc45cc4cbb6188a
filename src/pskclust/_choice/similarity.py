"""Isolation similarity of the rows of a sample, at several psi, from one table of distances."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from scipy import sparse
from scipy.spatial.distance import cdist

from .._utils.parallel import one_blas_thread, rows_per_chunk

# With more columns, a matrix product is faster than differences.
_MAX_COLUMNS_FOR_DIFFERENCES = 16
# Up to this psi, a table of all rows and cells is small, and a product with it takes less time than
# one of two sparse tables. It is made for this number of blocks of rows, one after the other.
_MAX_PSI_FOR_TABLES, _N_BLOCKS = 64, 4
# One row in 8 is near a row: so many that a centre is nearly always among them. A place among them
# fits into one byte.
_ROWS_PER_NEAR, _FEWEST_NEAR, _MOST_NEAR = 8, 64, 250
_TINY = 1e-24
_NO_NUMBER = np.int32(np.iinfo(np.int32).max)

Distances = NDArray[np.float64]  # (n, n) squared
Neighbours = NDArray[np.intp]  # (n, m) row numbers, the nearest first
Centres = NDArray[np.intp]  # (t, psi) row numbers
Places = NDArray[np.unsignedinteger[Any]]
# (n, n) number of partitionings in which two rows share a cell, in as few bytes as possible
Counts = NDArray[np.unsignedinteger[Any]]


class NestedCells(NamedTuple):
    """Cells of all rows at several psi; a smaller psi uses the first centres of a larger one."""

    centres: Centres  # (t, largest psi)
    cells: NDArray[np.int32]  # (n_psi, t, n)


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


def nearest_of(points: NDArray[np.float64], others: NDArray[np.float64]) -> NDArray[np.intp]:
    """Return the number of the nearest of the other rows for each row; ties go to the lowest."""
    if points.shape[1] <= _MAX_COLUMNS_FOR_DIFFERENCES:
        return np.asarray(cdist(points, others, "sqeuclidean").argmin(axis=1))
    with one_blas_thread:
        distances = (others * others).sum(axis=1) - 2 * (points @ others.T)
    return np.asarray(distances.argmin(axis=1))


def n_near_for(n_rows: int) -> int:
    """Return the number of nearest rows of each row that makes `draw_nested_cells` fast."""
    return min(n_rows, max(_FEWEST_NEAR, min(n_rows // _ROWS_PER_NEAR, _MOST_NEAR)))


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
    centres = draw_centres(len(distances), sizes[-1], n_partitions, rng)
    return NestedCells(centres, cells_of_centres(distances, near, sizes, centres))


def draw_centres(n_rows: int, psi: int, n_partitions: int, rng: RandomState) -> Centres:
    """Draw the centres of partitionings into `psi` cells."""
    return np.array([rng.permutation(n_rows)[:psi] for _ in range(n_partitions)])


def cells_of_centres(
    distances: Distances, near: Neighbours, sizes: list[int], centres: Centres
) -> NDArray[np.int32]:
    """Return the cell of each row at each psi in `sizes`, ascending, (n_psi, t, n)."""
    around = _Around.of(distances, near)
    cells = np.empty((len(sizes), len(centres), len(distances)), dtype=np.int32)
    numbers = np.full(cells.shape[1:], _NO_NUMBER)
    starts = (np.arange(len(numbers)) * len(distances))[:, np.newaxis]
    np.put(numbers, starts + centres, np.arange(centres.shape[1], dtype=np.int32))
    for psi, places, own in zip(sizes, _nearest(around, centres, sizes), cells, strict=True):
        centre = around.at(near, places)
        centre += starts
        numbers.take(centre, out=own, mode="clip")
        _settle_ties(own, around, places, numbers)
        _settle_far(own, distances, centres[:, :psi], places >= around.places[:, -1])
    return cells


def log_gaps(
    distances: Distances, centres: Centres, cells: NDArray[np.int32], largest: float
) -> NDArray[np.float64]:
    """Return the log root mean square distance of each row to its nearest centre, (n,).

    `cells` are the cells of the rows, (t, n), and `largest` is the largest of all distances.
    """
    n_rows, gaps2 = len(distances), np.empty(len(distances))
    n_pieces = -(-n_rows // rows_per_chunk(len(cells)))
    for some in np.array_split(np.arange(n_rows), n_pieces):
        nearest = np.take_along_axis(centres, cells[:, some], axis=1)
        # All distances from one row are looked up before those from the next, which are far away
        # in memory. Those of a partitioning are then added to those of the ones before.
        places = nearest.T + (some * n_rows)[:, np.newaxis]
        gaps2[some] = np.ascontiguousarray(distances.ravel().take(places).T).sum(axis=0)
    # Relative to the largest distance, so that units do not matter.
    least = _TINY * (largest or 1.0)
    answer: NDArray[np.float64] = 0.5 * np.log(gaps2 / len(cells) + least)
    return answer


class _Around(NamedTuple):
    """The rows around each row, the nearest first, in places from 0.

    Rows at the same distance share the first of their places. Places are stored in as few bytes as
    possible, because looking them up takes most of the time.
    """

    near: Neighbours
    starts: NDArray[np.intp]  # (n,) the first place of each row in a flat table
    places: Places  # (n, m)
    is_tied: NDArray[np.bool_] | None  # (n, m) whether rows share the place; None if no row does
    place_of: Places  # (n, n) place of each row (first axis) around each row; m if not near

    @classmethod
    def of(cls, distances: Distances, near: Neighbours) -> _Around:
        n_rows, n_near = near.shape
        gaps2 = np.take_along_axis(distances, near, axis=1)
        places = np.tile(np.arange(n_near, dtype=np.min_scalar_type(n_near)), (n_rows, 1))
        is_same = gaps2[:, 1:] == gaps2[:, :-1]
        is_tied = None
        if is_same.any():
            places[:, 1:][is_same] = 0
            np.maximum.accumulate(places, axis=1, out=places)
            is_tied = np.zeros(near.shape, dtype=bool)
            is_tied[:, :-1] = is_same
        place_of = np.full((n_rows, n_rows), n_near, dtype=places.dtype)
        place_of[near, np.arange(n_rows)[:, np.newaxis]] = places
        return cls(near, np.arange(n_rows) * n_near, places, is_tied, place_of)

    def at(self, values: NDArray[Any], places: Places) -> NDArray[Any]:
        """Return the values, (n, m), of the rows at these places, (t, n)."""
        last = values.shape[1] - 1
        lines = np.minimum(places, last, dtype=np.intp)
        lines += self.starts
        found: NDArray[Any] = values.ravel().take(lines)
        return found


def _nearest(around: _Around, centres: Centres, sizes: list[int]) -> Places:
    """Return the place of the nearest centre around each row, (n_psi, t, n); m if none is near."""
    shape = len(sizes), len(centres), len(around.near)
    places = np.empty(shape, dtype=around.places.dtype)
    for number, own in enumerate(centres):
        for level, (first, size) in enumerate(zip([0, *sizes], sizes, strict=False)):
            # Row numbers are in range; without a check, they are looked up faster.
            some = around.place_of.take(own[first:size], axis=0, mode="clip")
            some.min(axis=0, out=places[level, number])
    for before, own in pairwise(places):
        np.minimum(before, own, out=own)
    return places


def _settle_ties(
    cells: NDArray[np.int32],
    around: _Around,
    places: Places,
    numbers: NDArray[np.int32],
) -> None:
    """Find the first of several centres that are equally near; change `cells` in place.

    `numbers` are those of the centres, (t, n), and larger for all other rows.
    """
    if around.is_tied is None:
        return
    for own, some in _pieces(around.at(around.is_tied, places), around.near.shape[1]):
        is_there = around.places[some] == places[own, some][:, np.newaxis]
        found = numbers[own[:, np.newaxis], around.near[some]]
        cells[own, some] = np.where(is_there, found, _NO_NUMBER).min(axis=1)


def _settle_far(
    cells: NDArray[np.int32],
    distances: Distances,
    centres: Centres,
    is_far: NDArray[np.bool_],
) -> None:
    """Find the nearest of all centres for some of the rows; change `cells` in place.

    These rows have no centre among the rows around them, or only among the last ones, and centres
    that are not around them may be equally near.
    """
    for own, some in _pieces(is_far, centres.shape[1]):
        places = centres[own] + (some * len(distances))[:, np.newaxis]
        cells[own, some] = distances.ravel().take(places).argmin(axis=1)


def _pieces(mask: NDArray[np.bool_], width: int) -> Iterator[tuple[NDArray[np.intp], ...]]:
    """Yield both indices of the true entries of a table, in chunks that suit lines of `width`."""
    found, size = np.flatnonzero(mask), rows_per_chunk(width)
    for start in range(0, len(found), size):
        yield np.divmod(found[start : start + size], mask.shape[1])


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
