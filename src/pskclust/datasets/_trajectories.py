"""Generator of trajectories: groups of positions along five kinds of routes."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from .._data.parameters import NOT_NEGATIVE, check_parameters, whole

# A route maps fractions of its length, (m,), to positions, (m, 2).
Route = Callable[[NDArray[np.float64]], NDArray[np.float64]]

_POINTS = 40, 160
# Standard deviation of the centre of a trajectory, and of the logarithm of its size.
_SHIFT = 0.1
# Number of positions from which the mean and the spread of a route are computed.
_FINE = 10_000


def make_trajectories(
    n_trajectories: int = 250,
    *,
    noise: float = 0.08,
    random_state: int | RandomState | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Generate trajectories of five kinds: circle, figure eight, spiral, zigzag and cross.

    All routes have the same mean and standard deviation in both columns, so that only their shapes
    tell the kinds apart. Each trajectory has 40 to 160 positions at random times, and is shifted
    and scaled a little.

    Parameters
    ----------
    n_trajectories : int, default=250
        Number of trajectories, 1 or more. All kinds are about equally frequent.
    noise : float, default=0.08
        Standard deviation of the noise that is added to each position, 0 or more. The standard
        deviation of a route is 1 in each column.
    random_state : int, RandomState instance or None, default=None
        Source of the random positions. Pass an int for the same rows every time.

    Returns
    -------
    X : ndarray of float64, shape (n_samples, 2)
        The positions, trajectory by trajectory and in order of time.
    groups : ndarray of int64, shape (n_samples,)
        Number of the trajectory of each position, counted from 0.
    y : ndarray of int64, shape (n_trajectories,)
        Kind of each trajectory, 0 to 4, in the order above.

    See Also
    --------
    pskclust.GroupPSKC : Cluster groups of rows, such as trajectories.

    Examples
    --------
    >>> from pskclust.datasets import make_trajectories
    >>> X, groups, y = make_trajectories(10, random_state=0)
    >>> X.shape, groups.shape, y.shape
    ((1045, 2), (1045,), (10,))
    """
    check_parameters(
        {"n_trajectories": n_trajectories, "noise": noise},
        {"n_trajectories": (whole(1),), "noise": (NOT_NEGATIVE,)},
    )
    rng = check_random_state(random_state)
    y = rng.permutation(np.arange(n_trajectories) % len(_ROUTES))
    sizes = rng.randint(_POINTS[0], _POINTS[1] + 1, size=n_trajectories)
    shapes = [_standardised(route) for route in _ROUTES]
    parts = [
        _trajectory(shapes[kind], size, noise, rng) for kind, size in zip(y, sizes, strict=True)
    ]
    return np.concatenate(parts), np.repeat(np.arange(n_trajectories), sizes), y


def _trajectory(route: Route, n_points: int, noise: float, rng: RandomState) -> NDArray[np.float64]:
    size = math.exp(_SHIFT * rng.standard_normal())
    place = _SHIFT * rng.standard_normal(2)
    positions = size * route(np.sort(rng.uniform(size=n_points))) + place
    positions += noise * rng.standard_normal((n_points, 2))
    return positions


def _standardised(route: Route) -> Route:
    """Return the route, shifted and scaled to mean 0 and standard deviation 1 in each column."""
    whole_way = route(np.arange(_FINE) / _FINE)
    mean, spread = whole_way.mean(axis=0), whole_way.std(axis=0)
    return lambda way: (route(way) - mean) / spread


def _circle(way: NDArray[np.float64]) -> NDArray[np.float64]:
    return _turning(way, 1)


def _eight(way: NDArray[np.float64]) -> NDArray[np.float64]:
    angle = 2 * math.pi * way
    return np.column_stack([np.sin(angle), np.sin(2 * angle)])


def _spiral(way: NDArray[np.float64]) -> NDArray[np.float64]:
    # Turns get longer towards the outside; the square root spreads positions evenly.
    positions = _turning(way, 3)
    positions *= np.sqrt(way)[:, np.newaxis]
    return positions


def _zigzag(way: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.column_stack([way, np.abs(2 * (2.5 * way % 1) - 1)])


def _cross(way: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return positions on a path that runs out and back along each of four arms."""
    arm, progress = np.divmod(4 * way, 1)
    positions = _turning(arm, 0.25)
    positions *= (1 - np.abs(2 * progress - 1))[:, np.newaxis]
    return positions


def _turning(way: NDArray[np.float64], n_turns: float) -> NDArray[np.float64]:
    angle = 2 * math.pi * n_turns * way
    return np.column_stack([np.cos(angle), np.sin(angle)])


_ROUTES: tuple[Route, ...] = (_circle, _eight, _spiral, _zigzag, _cross)
