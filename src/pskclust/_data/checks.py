"""Checks of rows, psi and method before a fit starts its work."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .distance_metrics import column_ranges


def check_distances(rows: NDArray[Any]) -> None:
    """Raise ValueError if a squared distance between rows could overflow, or if all underflow."""
    check_overflow(rows)
    check_underflow(rows)


def check_overflow(rows: NDArray[Any], *others: NDArray[Any]) -> None:
    """Raise ValueError if squared distances between rows, including `others`, could overflow."""
    low, high = _box(rows, *others)
    with np.errstate(over="ignore", under="ignore"):
        spread = high - low
        squared_diameter = np.square(spread).sum()
    if not np.isfinite(squared_diameter):
        widest = int(np.argmax(spread))
        raise ValueError(
            f"Column {widest} of X runs from {low[widest]:g} to {high[widest]:g}: squared "
            "distances overflow. Scale X down, say with sklearn.preprocessing.StandardScaler."
        )


def check_underflow(points: NDArray[Any]) -> None:
    """Raise ValueError if all squared distances between these points underflow."""
    low, high = _box(points)
    with np.errstate(over="ignore", under="ignore"):
        widest = (high - low).max()
        vanishes = widest > 0 and widest**2 < np.finfo(np.float64).tiny
    if vanishes:
        raise ValueError(
            f"No column of X has a range above {widest:g}: squared distances underflow. "
            "Scale X up, say with sklearn.preprocessing.StandardScaler."
        )


def _box(*several: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the smallest and the largest value of each column."""
    ranges = [column_ranges(rows) for rows in several]
    low = np.min([smallest for smallest, _ in ranges], axis=0).astype(np.float64)
    high = np.max([largest for _, largest in ranges], axis=0).astype(np.float64)
    return low, high


def check_psi(psi: int, n_slots: int, replace: bool, *, weighted: bool) -> None:
    """Raise ValueError if fewer than `psi` centres can be drawn without replacement."""
    if replace or psi <= n_slots:
        return
    rows = "total weight" if weighted else "rows of X"
    raise ValueError(
        f"psi={psi} is more than the {n_slots} {rows}. Use psi <= {n_slots}, or replace=True to "
        "draw centres with replacement."
    )


def check_method_of_device(device: str, method: str) -> None:
    """Raise ValueError if `method` cannot use a device, which computes matrix products only."""
    if method != "voronoi":
        raise ValueError(
            f"device={device!r} works with method='voronoi' only, not with method={method!r}. Use "
            "method='voronoi', or leave device out."
        )
