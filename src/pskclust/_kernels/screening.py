"""Matrix products that tell far centres from near ones, in middle and high dimension.

A product gives a bound below each squared distance, and how wrong rounding can make it. Where the
data varies in few directions, products are over those alone: with a and b for the parts of two
points along them, r and s for the lengths of the rest of them, the squared distance of x and z is
at least |x|^2 + |z|^2 - 2 (a.b + r s), and few distances need to be computed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.extmath import randomized_svd

# Fewer columns, or fewer points, are multiplied as they are.
_MIN_COLUMNS_TO_ROTATE, _MIN_POINTS_TO_ROTATE = 32, 1000
# Directions are used if so few of the columns' number hold so much of the squared lengths.
_MAX_DIRECTIONS_PER_COLUMN, _MAX_DIRECTIONS = 0.25, 128
_ENERGY_WANTED, _ENERGY_NEEDED = 0.9, 0.7
_POINTS_TO_FIND_DIRECTIONS = 4096
_CHUNK_ROWS = 2048


class Screen(NamedTuple):
    """Centres made ready for matrix products."""

    points: NDArray[np.float64]  # (u, d) the different centres
    shift: NDArray[np.float64]  # (d,) taken from all coordinates, so that products stay small
    directions: NDArray[np.float64]  # (d, m) orthonormal; m is 0 where all columns are multiplied
    factors: NDArray[np.floating[Any]]  # (m + 3 or d + 2, u) what rows are multiplied by
    shifted: NDArray[np.floating[Any]]  # (u, d) the points less the shift; (u, 0) if m is 0
    squares: NDArray[np.floating[Any]]  # (u,) their squared lengths
    longest: float  # the largest length
    centres: NDArray[np.intp]  # (t, psi) which of the points is which centre
    use_start: NDArray[np.intp]  # (u + 1,) where the uses of a point as a centre start
    use_partitionings: NDArray[np.int32]  # (t * psi,) in which partitioning,
    use_numbers: NDArray[np.int32]  # (t * psi,) and as which centre there


class Screened(NamedTuple):
    """The result of screening rows."""

    bound2: NDArray[np.floating[Any]]  # (n, u) below the squared distances, but for rounding
    error: NDArray[np.float64]  # (n,) how far bounds and distances can be from exact ones
    shifted: NDArray[np.floating[Any]]  # (n, d) the rows less the shift; (n, 0) if m is 0
    squares: NDArray[np.floating[Any]]  # (n,) their squared lengths


class Multiplied(NamedTuple):
    """Rows made ready for the product with the factors of a screen."""

    rows: NDArray[np.floating[Any]]  # (n, m + 3 or d + 2) what factors are multiplied by
    error: NDArray[np.float64]  # (n,) how far bounds and distances can be from exact ones
    shifted: NDArray[np.floating[Any]]  # (n, d) the rows less the shift; (n, 0) if m is 0
    squares: NDArray[np.floating[Any]]  # (n,) their squared lengths


def make_screen(
    points: NDArray[np.float64],
    centres: NDArray[np.intp],
    narrow: bool,
    all_columns: bool = False,
) -> Screen:
    """Return the screen of centres, for products in float64 or, if `narrow`, for faster ones.

    Those are in float32, if it holds the squares, at the price of a wider margin of error, and
    over few directions if the points vary in few, unless `all_columns` are to be multiplied.
    """
    n_points, n_columns = points.shape
    shift = points.mean(axis=0)
    squares = np.empty(n_points)
    for chunk in _chunks(n_points):
        shifted = points[chunk] - shift
        squares[chunk] = np.einsum("ij,ij->i", shifted, shifted)
    longest = float(np.sqrt(squares.max()))
    fast = narrow and 1e-15 < longest < 1e15
    dtype: Any = np.float32 if fast else np.float64
    rotated = fast and not all_columns
    directions = _directions(points, shift) if rotated else np.empty((n_columns, 0))
    n_directions = directions.shape[1]
    factors = np.ones((n_directions + 3 if n_directions else n_columns + 2, n_points), dtype)
    factors[-2] = squares
    narrow_points = np.empty((n_points, n_columns if n_directions else 0), dtype)
    for chunk in _chunks(n_points):
        shifted = points[chunk] - shift
        factors[:-2, chunk] = -2 * _parts(shifted, squares[chunk], directions).T
        if n_directions:
            narrow_points[chunk] = shifted
    uses = np.argsort(centres, axis=None, kind="stable")
    partitionings, numbers = np.divmod(uses, centres.shape[1])
    return Screen(
        points,
        shift,
        directions,
        factors,
        narrow_points,
        squares.astype(dtype),
        longest,
        centres,
        np.searchsorted(centres.ravel()[uses], np.arange(n_points + 1)),
        partitionings.astype(np.int32),
        numbers.astype(np.int32),
    )


def _chunks(n_points: int) -> list[slice]:
    return [slice(start, start + _CHUNK_ROWS) for start in range(0, n_points, _CHUNK_ROWS)]


def screen_points(
    points: NDArray[np.float64], screen: Screen, bound2: NDArray[np.floating[Any]]
) -> Screened:
    """Fill `bound2`, (n, u), with bounds below squared distances to the points of a screen."""
    made = rows_to_multiply(points, screen)
    with np.errstate(over="ignore", invalid="ignore"):
        np.matmul(made.rows, screen.factors, out=bound2)
    return Screened(bound2, made.error, made.shifted, made.squares)


def rows_to_multiply(points: NDArray[np.float64], screen: Screen) -> Multiplied:
    """Return what the factors of a screen are multiplied by, and how wrong products can be.

    To first order, with R = ||x|| + ||z|| and u the unit roundoff of the product, a sum of k
    products is wrong by at most (k + 6) u R^2 with its roundings to begin and to end with; a
    distance from the product of all d columns is by (d / 2 + 4) u R^2, since ||x|| ||z|| is at
    most R^2 / 4. In float64 there are the roundings of the shift, 4 u R^2, and of
    `squared_distances`, (d + 2) u R^2, too. The bounds in the code are above all of these.
    """
    dtype = screen.factors.dtype
    shifted = points - screen.shift
    squares = np.einsum("ij,ij->i", shifted, shifted)
    parts = _parts(shifted, squares, screen.directions)
    with np.errstate(over="ignore", invalid="ignore"):
        rows = np.column_stack([parts, np.ones(len(points)), squares]).astype(dtype, copy=False)
        narrow = shifted[:, : screen.shifted.shape[1]].astype(dtype)
        narrow_squares = squares.astype(dtype)
        n_roundings = points.shape[1] / 2 if screen.directions.size else 2 * points.shape[1]
        reach = np.sqrt(squares) + screen.longest
        error = reach * reach * ((n_roundings + 32) * np.finfo(dtype).eps / 2)
    # At the edges of what numbers can be, products over- and underflow: all is settled exactly.
    farthest = 1e18 if dtype == np.float32 else 1e150
    error[(reach < 1e-140) | (reach > farthest)] = np.inf
    return Multiplied(rows, error, narrow, narrow_squares)


def _parts(
    shifted: NDArray[np.float64], squares: NDArray[np.float64], directions: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the coordinates along the directions, and the length of the rest."""
    if not directions.shape[1]:
        return shifted
    along = shifted @ directions
    rest2 = squares - np.einsum("ij,ij->i", along, along)
    return np.column_stack([along, np.sqrt(np.maximum(rest2, 0))])


def _directions(points: NDArray[np.float64], shift: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the directions in which points vary most, if few hold most of the squared lengths."""
    n_points, n_columns = points.shape
    none = np.empty((n_columns, 0))
    if n_columns < _MIN_COLUMNS_TO_ROTATE or n_points < _MIN_POINTS_TO_ROTATE:
        return none
    some = points[:: -(-n_points // _POINTS_TO_FIND_DIRECTIONS)] - shift
    most = min(int(_MAX_DIRECTIONS_PER_COLUMN * n_columns), _MAX_DIRECTIONS)
    _, lengths, directions = randomized_svd(some, most, n_iter=2, random_state=0)
    energy = np.cumsum(lengths**2) / np.einsum("ij,ij->", some, some)
    if energy[-1] < _ENERGY_NEEDED:
        return none
    n_directions = min(most, 1 + int(np.searchsorted(energy, _ENERGY_WANTED)))
    return np.ascontiguousarray(directions[:n_directions].T)
