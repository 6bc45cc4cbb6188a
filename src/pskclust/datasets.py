"""Generated data sets."""

from __future__ import annotations

import math

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from sklearn.utils import check_random_state

_RING_CENTRE = (4.0, 11.0)
_SPIRAL_CENTRE = (4.0, 2.6)
_NOISE_CORNERS = (-1.0, -2.0), (19.0, 15.5)

# Share of the rows, centre and standard deviation: their densities differ by a factor of 30.
_BLOBS = (
    (0.10, (11.0, 13.0), 0.2),
    (0.10, (15.5, 12.0), 0.6),
    (0.10, (12.0, 8.0), 0.9),
    (0.10, (15.5, 2.5), 1.1),
    (0.06, (9.8, 2.0), 0.3),
)


def make_shapes(
    n_samples: int = 200_000,
    *,
    noise: float = 0.02,
    random_state: int | RandomState | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Generate two rings, two spiral arms and five blobs of different density, with noise.

    Parameters
    ----------
    n_samples : int, default=200_000
        Number of rows.
    noise : float, default=0.02
        Fraction of the rows that are noise, spread evenly.
    random_state : int, RandomState instance or None, default=None
        Pass an int for the same rows every time.

    Returns
    -------
    X : ndarray of float64, shape (n_samples, 2)
        In random order.
    y : ndarray of int64, shape (n_samples,)
        Shape of each row, 0 to 8; -1 is noise.

    Examples
    --------
    >>> from pskclust.datasets import make_shapes
    >>> X, y = make_shapes(1000, random_state=0)
    >>> X.shape, y.max()
    ((1000, 2), np.int64(8))
    """
    if n_samples < 1 or not 0 <= noise <= 1:
        raise ValueError(
            f"n_samples={n_samples} with noise={noise} is not allowed. Use n_samples of 1 or more "
            "and noise from 0 to 1."
        )
    rng = check_random_state(random_state)
    shares = np.array([0.06, 0.17, 0.15, 0.15, *(share for share, _, _ in _BLOBS)])
    y = rng.choice(len(shares), size=n_samples, p=shares / shares.sum())
    y[rng.uniform(size=n_samples) < noise] = -1
    X = rng.uniform(*_NOISE_CORNERS, size=(n_samples, 2))
    sizes = np.bincount(y[y >= 0], minlength=len(shares)).tolist()
    for shape, radius in enumerate((1.0, 3.0)):
        X[y == shape] = _ring(sizes[shape], radius, rng)
    for shape, start in enumerate((0, math.pi), start=2):
        X[y == shape] = _spiral_arm(sizes[shape], start, rng)
    for shape, (_, centre, width) in enumerate(_BLOBS, start=4):
        X[y == shape] = centre + width * rng.standard_normal((sizes[shape], 2))
    return X, y


def _ring(n_samples: int, radius: float, rng: RandomState) -> NDArray[np.float64]:
    angle = rng.uniform(0, 2 * math.pi, n_samples)
    distance = radius + 0.15 * rng.standard_normal(n_samples)
    return _RING_CENTRE + _from_polar(angle, distance)


def _spiral_arm(n_samples: int, start: float, rng: RandomState) -> NDArray[np.float64]:
    # The root spreads rows evenly along an arm that gets longer as it goes round.
    progress = np.sqrt(rng.uniform(0.04, 1, n_samples))
    arm = _SPIRAL_CENTRE + _from_polar(start + 1.2 * math.pi * progress, 3 * progress)
    return arm + 0.12 * rng.standard_normal((n_samples, 2))


def _from_polar(angle: NDArray[np.float64], radius: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
