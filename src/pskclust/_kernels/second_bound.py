"""A second bound of distances, closer than that of a screen, for few pairs of rows and centres.

A screen splits each row x into its part a along the main directions and a remainder of length r;
for centres, the part is b and the length s. Further directions split the remainders in the same
way, into parts c and e, and remainders of lengths p and q. Then the bound of the screen can be
raised by 2 (r s - c.e - p q).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.extmath import randomized_svd

from .screening import Screen

# The length of the loop over one pair: a multiple of what its vector instructions take at once.
SECOND_NUMBERS, _AT_ONCE = 128, 64
# With more directions, the rounding errors might exceed those of `rows_to_multiply`.
_MAX_DIRECTIONS_PER_COLUMN = 0.5
_POINTS_TO_FIND_DIRECTIONS = 4096
_CHUNK_ROWS = 2048


class SecondBound(NamedTuple):
    """Centres prepared for the second bound."""

    directions: NDArray[np.float64]  # (d, m) orthonormal, first those of the screen; or none
    parts: NDArray[np.float32]  # (u, k) factors of the centres; k is 0 if there are no directions


def make_second_bound(screen: Screen) -> SecondBound:
    """Return the second bound for the centres of a narrow screen."""
    points, first = screen.points, screen.directions
    n_points, n_columns = points.shape
    n_first = first.shape[1]
    most = min(int(_MAX_DIRECTIONS_PER_COLUMN * n_columns) - n_first, SECOND_NUMBERS - 2)
    if not n_first or most < 1:
        return SecondBound(np.empty((n_columns, 0)), np.empty((n_points, 0), dtype=np.float32))
    some = points[:: -(-n_points // _POINTS_TO_FIND_DIRECTIONS)] - screen.shift
    some -= (some @ first) @ first.T
    _, _, found = randomized_svd(some, most, n_iter=1, random_state=0)
    # If points vary in fewer directions, the last ones may not be orthogonal to the first.
    directions = np.linalg.qr(np.hstack([first, found.T]))[0]
    parts = np.empty((n_points, _n_numbers(len(found))), dtype=np.float32)
    for start in range(0, n_points, _CHUNK_ROWS):
        chunk = slice(start, start + _CHUNK_ROWS)
        parts[chunk] = _parts(points[chunk] - screen.shift, directions, n_first)
    return SecondBound(directions, parts)


def rows_for_second_bound(
    points: NDArray[np.float64], screen: Screen, bound: SecondBound
) -> NDArray[np.float32]:
    """Return the factors of rows, (n, k)."""
    if not bound.parts.shape[1]:
        return np.empty((len(points), 0), dtype=np.float32)
    n_first = screen.directions.shape[1]
    parts = _parts(points - screen.shift, bound.directions, n_first)
    # The product of the first remainders is subtracted from the others.
    parts[:, 1] *= -1
    return parts


def _n_numbers(n_further: int) -> int:
    return -(-(n_further + 2) // _AT_ONCE) * _AT_ONCE


def _parts(
    shifted: NDArray[np.float64], directions: NDArray[np.float64], n_first: int
) -> NDArray[np.float32]:
    """Return both remainders, the second one first, and the parts along the further directions.

    Remainders are differences of squares. In float32, their rounding errors would be too large.
    """
    along = shifted @ directions
    squares = along * along
    all_rest2 = np.einsum("ij,ij->i", shifted, shifted) - squares[:, :n_first].sum(axis=1)
    last_rest2 = all_rest2 - squares[:, n_first:].sum(axis=1)
    n_further = directions.shape[1] - n_first
    parts = np.zeros((len(shifted), _n_numbers(n_further)), dtype=np.float32)
    # Rows beyond the range of float32 have infinite errors, so that exact distances decide.
    with np.errstate(over="ignore", invalid="ignore"):
        parts[:, 0] = np.sqrt(np.maximum(last_rest2, 0))
        parts[:, 1] = np.sqrt(np.maximum(all_rest2, 0))
        parts[:, 2 : 2 + n_further] = along[:, n_first:]
    return parts
