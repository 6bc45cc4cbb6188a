"""The kernels in plain NumPy: the specification that every faster kernel must match to the bit."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Cells = NDArray[np.unsignedinteger[Any]]


def squared_distances(
    points: NDArray[np.float64],  # IN   (m, d)
    centres: NDArray[np.float64],  # IN   (psi, d)
    difference: NDArray[np.float64],  # TMP  (m, psi)
    distance2: NDArray[np.float64],  # OUT  (m, psi)
) -> None:
    """Sum the squared differences in feature order, so that each sum has one possible value."""
    distance2[...] = 0
    for point_values, centre_values in zip(points.T, centres.T, strict=True):
        np.subtract.outer(point_values, centre_values, out=difference)
        np.multiply(difference, difference, out=difference)
        np.add(distance2, difference, out=distance2)


def nearest_centres(
    points: NDArray[np.float64],  # IN   (m, d)
    centres: NDArray[np.float64],  # IN   (psi, d)
    scratch: NDArray[np.float64],  # TMP  (2, m, psi)
    cells: Cells,  # OUT  (m,)
) -> None:
    """Find the Voronoi cell of each point; of centres at the same distance the first one wins."""
    difference, distance2 = scratch
    squared_distances(points, centres, difference, distance2)
    cells[...] = distance2.argmin(axis=1)


class Screen(NamedTuple):
    """Points made ready for matrix products, which tell far centres from near ones."""

    points: NDArray[np.float64]  # (u, d)
    shift: NDArray[np.float64]  # (d,) taken from all coordinates, so that products stay small
    columns: NDArray[np.floating[Any]]  # (d, u) the points less the shift, float32 or float64
    squares: NDArray[np.floating[Any]]  # (u,) their squared lengths
    longest: float  # their largest length
    centres: NDArray[np.intp]  # (t, psi) which of them is which centre
    uses: NDArray[np.intp]  # (t * psi,) flat numbers of the centres, point by point
    uses_start: NDArray[np.intp]  # (u + 1,) where those of a point start


def make_screen(points: NDArray[np.float64], centres: NDArray[np.intp], narrow: bool) -> Screen:
    """Return the screen of centres, for products in float64 or, if `narrow`, in float32.

    float32 is half the work for a wider margin of error; it is used only if it holds the squares.
    """
    shift = points.mean(axis=0)
    shifted = points - shift
    squares = np.einsum("ij,ij->i", shifted, shifted)
    longest = float(np.sqrt(squares.max()))
    dtype: Any = np.float32 if narrow and 1e-15 < longest < 1e15 else np.float64
    columns = np.ascontiguousarray(shifted.T, dtype=dtype)
    uses = np.argsort(centres, axis=None, kind="stable")
    uses_start = np.searchsorted(centres.ravel()[uses], np.arange(len(points) + 1))
    squares = squares.astype(dtype)
    return Screen(points, shift, columns, squares, longest, centres, uses, uses_start)


def screened_distances(
    points: NDArray[np.float64],  # IN   (m, d)
    screen: Screen,  # IN   of u points
    distance2: NDArray[np.floating[Any]],  # OUT  (m, u) squared distances, rounded otherwise
    error: NDArray[np.float64],  # OUT  (m,) how far they can be from `squared_distances`
) -> None:
    """Compute squared distances by one matrix product, and a bound on their error.

    With all roundings of both ways, of coordinates, lengths, products, sums and the shift, each
    distance differs by less than 8 (d + 8) u (||x|| + ||z||)^2 from the other way's, where u is
    the unit roundoff of the product.
    """
    shifted = points - screen.shift
    squares = np.einsum("ij,ij->i", shifted, shifted)
    # Points too far away for float32 get no distance and no bound, and are settled exactly.
    with np.errstate(over="ignore", invalid="ignore"):
        np.matmul(shifted.astype(distance2.dtype, copy=False), screen.columns, out=distance2)
        distance2 *= -2
        distance2 += screen.squares
        distance2 += squares.astype(distance2.dtype)[:, np.newaxis]
    roundoff = np.finfo(distance2.dtype).eps / 2
    reach = np.sqrt(squares) + screen.longest
    with np.errstate(over="ignore"):
        np.multiply(reach * reach, 8 * (points.shape[1] + 8) * roundoff, out=error)
    # At the edges of float64 products over- and underflow: everything is settled exactly.
    error[(reach < 1e-140) | (reach > 1e150)] = np.inf


def settle_cells(
    points: NDArray[np.float64],  # IN   (m, d)
    screen: Screen,  # IN   of u points
    distance2: NDArray[np.floating[Any]],  # IN   (m, u) screened
    error: NDArray[np.float64],  # IN   (m,)
    cells: Cells,  # OUT  (m, t)
) -> None:
    """Find nearest centres; where the screen leaves more than one, by exact distances."""
    for column, own in zip(cells.T, screen.centres, strict=True):
        own2 = distance2.take(own, axis=1)
        column[...] = own2.argmin(axis=1)
        limit = own2.min(axis=1) + 2 * error
        unsure = np.flatnonzero(np.count_nonzero(~(own2 > limit[:, np.newaxis]), axis=1) > 1)
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
    """Find, of the balls that hold each point, the one with the nearest centre."""
    difference, distance2 = scratch
    squared_distances(points, centres, difference, distance2)
    distance2[distance2 > radius2] = np.inf
    nearest = distance2.argmin(axis=1)
    nearest[np.isinf(distance2.min(axis=1))] = len(centres)
    cells[...] = nearest


def tree_leaves(
    points: NDArray[np.float64],  # IN   (m, d)
    feature: NDArray[np.int32],  # IN   (nodes,) column compared at a node; -1 at a leaf
    threshold: NDArray[np.float64],  # IN   (nodes,) below it, go to the next node
    target: NDArray[np.int32],  # IN   (nodes,) else, go here; at a leaf, its number
    cells: Cells,  # OUT  (m,)
) -> None:
    """Send each point down one tree to the number of its leaf."""
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
    # bincount sums in float64, which is exact: weights are kept small enough for that.
    flat = np.bincount(places.ravel(), weights=weights, minlength=counts.size)
    counts += flat.astype(np.int64).reshape(counts.shape)


def score_cells(
    cells: Cells,  # IN   (m, t)
    counts: NDArray[np.int64],  # IN   (t, n_cells)
    scores: NDArray[np.int64],  # OUT  (m,)
) -> None:
    """Sum the counts of each row's cells: t times |G| times its similarity to G."""
    counts.ravel().take(_places_in_table(cells, counts)).sum(axis=1, out=scores)


def _places_in_table(cells: Cells, counts: NDArray[np.int64]) -> NDArray[np.intp]:
    """Return where the count of each cell stands in the flat table, (m, t)."""
    n_partitions, n_cells = counts.shape
    starts = np.arange(0, n_partitions * n_cells, n_cells, dtype=np.intp)
    return starts + cells.astype(np.intp)


def count_shared_cells(
    left: Cells,  # IN   (m, t)
    right: Cells,  # IN   (n, t)
    no_cell: int | None,  # IN   the number that nobody shares
    shared: NDArray[np.int64],  # OUT  (m, n)
) -> None:
    """Count the partitionings in which two rows have the same cell."""
    shared[...] = 0
    for left_cells, right_cells in zip(left.T, right.T, strict=True):
        same = np.equal.outer(left_cells, right_cells)
        if no_cell is not None:
            same &= right_cells != no_cell
        shared += same
