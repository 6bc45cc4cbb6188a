"""Generators of two-dimensional and one-dimensional data."""

from __future__ import annotations

import math

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from .._data.parameters import check_parameters, whole

_RING_CENTRE = (4.0, 11.0)
_SPIRAL_CENTRE = (4.0, 2.6)
_NOISE_CORNERS = (-1.0, -2.0), (19.0, 15.5)

# Fraction of rows, centre and standard deviation of each blob; densities differ by a factor of up
# to 30.
_BLOBS = (
    (0.10, (11.0, 13.0), 0.2),
    (0.10, (15.5, 12.0), 0.6),
    (0.10, (12.0, 8.0), 0.9),
    (0.10, (15.5, 2.5), 1.1),
    (0.06, (9.8, 2.0), 0.3),
)

# Fractions of rows; inner and outer radii of the rings; centres and standard deviations of the
# Gaussians.
_RING_G_SHARES = (0.2, 0.2, 0.3, 0.3)
_RING_G_RADII = (0.6, 1.0), (2.0, 2.4)
_RING_G_GAUSSIANS = ((4.4, 1.0), 0.2), ((5.0, -0.8), 0.5)

# The two dense clusters are 13 times as dense as the sparse one, and their centres are three
# standard deviations apart.
_VARIED_SHARES = (0.4, 0.4, 0.2)
_VARIED_CENTRES = np.array([0.0, 0.45, 4.0])
_VARIED_WIDTHS = np.array([0.15, 0.15, 1.0])


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
        Number of rows, 1 or more.
    noise : float, default=0.02
        Expected fraction of noise rows, 0 to 1. Noise is uniform over the whole range.
    random_state : int, RandomState instance or None, default=None
        Source of the random rows. Pass an int for the same rows every time.

    Returns
    -------
    X : ndarray of float64, shape (n_samples, 2)
        The rows, in random order.
    y : ndarray of int64, shape (n_samples,)
        Shape of each row: 0 and 1 are the rings, 2 and 3 the spiral arms, 4 to 8 the blobs, -1 is
        noise.

    See Also
    --------
    make_ring_g : Generate two rings and two Gaussians.
    make_varied_densities : Generate clusters of different density in one dimension.

    Examples
    --------
    >>> import numpy as np
    >>> from pskclust.datasets import make_shapes
    >>> X, y = make_shapes(1000, random_state=0)
    >>> X.shape
    (1000, 2)
    >>> np.bincount(y + 1)
    array([ 23,  54, 173, 168, 150,  88, 102,  73, 103,  66])
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


def make_ring_g(
    n_samples: int = 1500, *, random_state: int | RandomState | None = None
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Generate two concentric uniform rings and two Gaussians of different density.

    The rows imitate the set Ring-G of the paper, which was never published. The layout was chosen
    so that psKC finds the four clusters with the paper's parameters for Ring-G. A good result on
    this set is therefore not evidence for psKC.

    Parameters
    ----------
    n_samples : int, default=1500
        Number of rows, 1 or more.
    random_state : int, RandomState instance or None, default=None
        Source of the random rows. Pass an int for the same rows every time.

    Returns
    -------
    X : ndarray of float64, shape (n_samples, 2)
        The rows, in random order.
    y : ndarray of int64, shape (n_samples,)
        Cluster of each row: 0 is the inner ring, 1 the outer ring, 2 the dense Gaussian, 3 the
        sparse Gaussian.

    See Also
    --------
    load_paper_set : Read the sets of the paper that were published.
    make_shapes : Generate rings, spiral arms and blobs with noise.

    Examples
    --------
    >>> import numpy as np
    >>> from pskclust.datasets import make_ring_g
    >>> X, y = make_ring_g(random_state=0)
    >>> X.shape, np.bincount(y).tolist()
    ((1500, 2), [302, 315, 427, 456])
    """
    check_parameters({"n_samples": n_samples}, {"n_samples": (whole(1),)})
    rng = check_random_state(random_state)
    y = rng.choice(len(_RING_G_SHARES), size=n_samples, p=_RING_G_SHARES)
    sizes = np.bincount(y, minlength=len(_RING_G_SHARES)).tolist()
    X = np.empty((n_samples, 2))
    for cluster, radii in enumerate(_RING_G_RADII):
        X[y == cluster] = _uniform_ring(sizes[cluster], *radii, rng)
    for cluster, (centre, width) in enumerate(_RING_G_GAUSSIANS, start=2):
        X[y == cluster] = centre + width * rng.standard_normal((sizes[cluster], 2))
    return X, y


def make_varied_densities(
    n_samples: int = 1500, *, random_state: int | RandomState | None = None
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Generate two dense clusters close together and a sparse one, in one dimension.

    The rows imitate the data of the paper's Figure 1, which was never published.

    Parameters
    ----------
    n_samples : int, default=1500
        Number of rows, 1 or more.
    random_state : int, RandomState instance or None, default=None
        Source of the random rows. Pass an int for the same rows every time.

    Returns
    -------
    X : ndarray of float64, shape (n_samples, 1)
        The rows, in random order.
    y : ndarray of int64, shape (n_samples,)
        Cluster of each row: 0 and 1 are the dense clusters, 2 is the sparse one.

    See Also
    --------
    make_shapes : Generate clusters of different shape and density in two dimensions.
    pskclust.plotting.SimilarityDisplay : Draw the similarity to clusters over one or two columns.

    Examples
    --------
    >>> import numpy as np
    >>> from pskclust.datasets import make_varied_densities
    >>> X, y = make_varied_densities(300, random_state=0)
    >>> X.shape, np.bincount(y).tolist()
    ((300, 1), [118, 123, 59])
    """
    check_parameters({"n_samples": n_samples}, {"n_samples": (whole(1),)})
    rng = check_random_state(random_state)
    y = rng.choice(len(_VARIED_SHARES), size=n_samples, p=_VARIED_SHARES)
    X = _VARIED_CENTRES[y] + _VARIED_WIDTHS[y] * rng.standard_normal(n_samples)
    return X[:, np.newaxis], y


def _ring(n_samples: int, radius: float, rng: RandomState) -> NDArray[np.float64]:
    angle = rng.uniform(0, 2 * math.pi, n_samples)
    distance = radius + 0.15 * rng.standard_normal(n_samples)
    return _RING_CENTRE + _from_polar(angle, distance)


def _uniform_ring(
    n_samples: int, inner: float, outer: float, rng: RandomState
) -> NDArray[np.float64]:
    angle = rng.uniform(0, 2 * math.pi, n_samples)
    # The area within a radius grows with its square, so squared radii are drawn uniformly.
    distance = np.sqrt(rng.uniform(inner**2, outer**2, n_samples))
    return _from_polar(angle, distance)


def _spiral_arm(n_samples: int, start: float, rng: RandomState) -> NDArray[np.float64]:
    # Turns get longer towards the outside; the square root spreads rows evenly along the arm.
    progress = np.sqrt(rng.uniform(0.04, 1, n_samples))
    arm = _SPIRAL_CENTRE + _from_polar(start + 1.2 * math.pi * progress, 3 * progress)
    return arm + 0.12 * rng.standard_normal((n_samples, 2))


def _from_polar(angle: NDArray[np.float64], radius: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])
