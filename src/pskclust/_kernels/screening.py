"""Matrix products that separate near centres from far ones, for data with four columns or more.

A product gives a lower bound of each squared distance, with a limit on its rounding error. If the
data varies in few directions, the products use only these. Let a and b be the components of a row x
and a centre z along these directions, and r and s the lengths of the remainders. Then the squared
distance of x and z is at least |x|^2 + |z|^2 - 2 (a.b + r s). Few exact distances remain to be
computed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.extmath import randomized_svd

# With fewer columns or points, all columns are multiplied.
_MIN_COLUMNS_TO_ROTATE, _MIN_POINTS_TO_ROTATE = 32, 1000
# Directions are added until they hold the wanted share of the squared lengths or their number
# reaches a maximum. If they hold less than the needed share, all columns are used instead.
_MAX_DIRECTIONS_PER_COLUMN, _MAX_DIRECTIONS = 0.25, 128
_ENERGY_WANTED, _ENERGY_NEEDED = 0.9, 0.7
_POINTS_TO_FIND_DIRECTIONS = 4096
_CHUNK_ROWS = 2048


class Screen(NamedTuple):
    """Centres prepared for matrix products."""

    points: NDArray[np.float64]  # (u, d) the distinct centres
    shift: NDArray[np.float64]  # (d,) subtracted from all points, so that products stay small
    directions: NDArray[np.float64]  # (d, m) orthonormal; m is 0 if all columns are multiplied
    factors: NDArray[np.floating[Any]]  # (m + 3 or d + 2, u) right factor of the product
    shifted: NDArray[np.floating[Any]]  # (u, d) the points minus the shift; (u, 0) if m is 0
    squares: NDArray[np.floating[Any]]  # (u,) their squared lengths
    longest: float  # the largest length of a point minus the shift
    centres: NDArray[np.intp]  # (t, psi) index of each centre in `points`
    use_start: NDArray[np.intp]  # (u + 1,) start of the uses of each point as a centre
    use_partitionings: NDArray[np.int32]  # (t * psi,) partitioning of each use
    use_numbers: NDArray[np.int32]  # (t * psi,) number of the centre in that partitioning


class Screened(NamedTuple):
    """The result of screening rows."""

    bound2: NDArray[np.floating[Any]]  # (n, u) lower bounds of squared distances, up to rounding
    error: NDArray[np.float64]  # (n,) largest error of bounds and distances
    shifted: NDArray[np.floating[Any]]  # (n, d) the rows minus the shift; (n, 0) if m is 0
    squares: NDArray[np.floating[Any]]  # (n,) their squared lengths


class Multiplied(NamedTuple):
    """Rows prepared for multiplication by the factors of a screen."""

    rows: NDArray[np.floating[Any]]  # (n, m + 3 or d + 2) left factor of the product
    error: NDArray[np.float64]  # (n,) largest error of bounds and distances
    shifted: NDArray[np.floating[Any]]  # (n, d) the rows minus the shift; (n, 0) if m is 0
    squares: NDArray[np.floating[Any]]  # (n,) their squared lengths


def make_screen(
    points: NDArray[np.float64],
    centres: NDArray[np.intp],
    narrow: bool,
    all_columns: bool = False,
) -> Screen:
    """Return the screen of centres for products in float64, or for faster products if `narrow`.

    Narrow products use float32, with larger errors, if the squared lengths fit into float32. If the
    points vary in few directions, the products use only these, unless `all_columns` is set.
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


def screen_bytes(points: NDArray[np.float64], n_centres: int) -> int:
    """Return the size of a narrow screen in bytes."""
    n_points, n_columns = points.shape
    n_directions = min(int(_MAX_DIRECTIONS_PER_COLUMN * n_columns), _MAX_DIRECTIONS)
    return int(4 * n_points * (n_columns + n_directions) + 48 * n_centres)


def _chunks(n_points: int) -> list[slice]:
    return [slice(start, start + _CHUNK_ROWS) for start in range(0, n_points, _CHUNK_ROWS)]


def screen_points(
    points: NDArray[np.float64], screen: Screen, bound2: NDArray[np.floating[Any]]
) -> Screened:
    """Screen rows: fill `bound2`, (n, u), with lower bounds of squared distances to the centres."""
    made = rows_to_multiply(points, screen)
    with np.errstate(over="ignore", invalid="ignore"):
        np.matmul(made.rows, screen.factors, out=bound2)
    return Screened(bound2, made.error, made.shifted, made.squares)


def rows_to_multiply(points: NDArray[np.float64], screen: Screen) -> Multiplied:
    """Return the left factor of the product with a screen, and each row's largest bound error.

    For a row x and a centre z, let R = ||x|| + ||z||, and let u be the unit roundoff of the
    product. To first order, the error of a sum of k products is at most (k + 6) u R^2, including
    the rounding of factors and result. If the product has all d columns, the error of a distance
    is (d / 2 + 4) u R^2, because ||x|| ||z|| is at most R^2 / 4. In float64, the rounding of the
    shift adds 4 u R^2, and that of `squared_distances` adds (d + 2) u R^2. The returned error
    exceeds all of these.
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
    # If products may overflow or underflow, the error is infinite, so exact distances decide.
    farthest = 1e18 if dtype == np.float32 else 1e150
    error[(reach < 1e-140) | (reach > farthest)] = np.inf
    return Multiplied(rows, error, narrow, narrow_squares)


def _parts(
    shifted: NDArray[np.float64], squares: NDArray[np.float64], directions: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return each row's coordinates along the directions, and the length of its remainder."""
    if not directions.shape[1]:
        return shifted
    along = shifted @ directions
    rest2 = squares - np.einsum("ij,ij->i", along, along)
    return np.column_stack([along, np.sqrt(np.maximum(rest2, 0))])


def _directions(points: NDArray[np.float64], shift: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the main directions of variation, or none if they explain too little of it."""
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
