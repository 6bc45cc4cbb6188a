"""Distance metrics, as maps of rows to points in Euclidean space.

Each metric orders pairs of rows in the same way as the Euclidean distance between their points, so
the rest of the package uses Euclidean distance only. A new metric needs a name in `METRICS`, a map
in `to_points` and, if it does not allow all rows, a check in `check_metric`.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._utils.callers import stack_level
from .._utils.exceptions import ColumnsWarning

METRICS = ("euclidean", "cosine", "haversine")

_VALUES_SIDE_BY_SIDE = 2048


def to_points(rows: NDArray[Any], metric: str) -> NDArray[np.float64]:
    """Return the points of some rows, in float64; each point depends on its own row only."""
    points = np.ascontiguousarray(rows, dtype=np.float64)
    if metric == "cosine":
        return _on_unit_sphere(points)
    if metric == "haversine":
        return _on_globe(points)
    return points


def n_point_columns(n_columns: int, metric: str) -> int:
    """Return the number of coordinates of a point, for a row with `n_columns` columns."""
    return 3 if metric == "haversine" else n_columns


def column_ranges(rows: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the smallest and the largest value of each column."""
    # NumPy reduces short rows slowly, so several rows are joined into one.
    n_rows, n_columns = rows.shape
    n_joined = max(1, _VALUES_SIDE_BY_SIDE // n_columns)
    n_whole = n_rows - n_rows % n_joined
    low, high = rows[n_whole:], rows[n_whole:]
    if n_whole and rows.flags.c_contiguous:
        wide = rows[:n_whole].reshape(-1, n_joined * n_columns)
        low = np.vstack([low, wide.min(axis=0).reshape(-1, n_columns)])
        high = np.vstack([high, wide.max(axis=0).reshape(-1, n_columns)])
    else:
        low = high = rows
    return low.min(axis=0), high.max(axis=0)


def check_metric(rows: NDArray[Any], metric: str, first_row: int = 0) -> None:
    """Raise ValueError if `metric` is not defined for a row of X.

    `rows` are consecutive rows of X, starting at `first_row`.
    """
    if metric == "cosine":
        _require_directions(rows, first_row)
    elif metric == "haversine":
        _require_degrees(rows, first_row)


def _on_unit_sphere(points: NDArray[np.float64]) -> NDArray[np.float64]:
    # Dividing by the largest component first keeps squares from overflowing or underflowing.
    scaled: NDArray[np.float64] = points / np.abs(points).max(axis=1, keepdims=True)
    squared_norm = np.zeros(len(points))
    for column in scaled.T:
        squared_norm += column * column
    scaled /= np.sqrt(squared_norm)[:, np.newaxis]
    return scaled


def _on_globe(degrees: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return points on the unit sphere, whose distances rank like great-circle distances."""
    latitude, longitude = np.radians(np.ascontiguousarray(degrees.T))
    return np.column_stack(
        [
            np.cos(latitude) * np.cos(longitude),
            np.cos(latitude) * np.sin(longitude),
            np.sin(latitude),
        ]
    )


def _require_directions(rows: NDArray[Any], first_row: int) -> None:
    zero = np.flatnonzero(~rows.any(axis=1))
    if len(zero):
        raise ValueError(
            f"Row {first_row + zero[0]} of X is all zeros and has no direction, which "
            "metric='cosine' needs. Leave such rows out, or fit with metric='euclidean'."
        )


def _require_degrees(rows: NDArray[Any], first_row: int) -> None:
    if rows.shape[1] != 2:
        raise ValueError(
            f"metric='haversine' needs 2 columns, latitude and longitude in degrees; X has "
            f"{rows.shape[1]}. Pass these two columns only."
        )
    for name, column, bound in (("latitude", 0, 90), ("longitude", 1, 360)):
        outside = np.flatnonzero(np.abs(rows[:, column].astype(np.float64)) > bound)
        if len(outside):
            raise ValueError(
                f"Row {first_row + outside[0]} of X has {name} {rows[outside[0], column]}, but "
                f"metric='haversine' takes degrees in [-{bound}, {bound}], latitude first. "
                "Check the order and the unit of the columns."
            )


def require_latitude_first(names: Iterable[str] | None, metric: str) -> None:
    """Raise ValueError if the columns of a fit are named longitude and latitude, in this order."""
    if names is None or metric != "haversine":
        return
    first, *others = (str(name).strip().lower() for name in names)
    if first.startswith(("lon", "lng")) and others and others[0].startswith("lat"):
        longitude, latitude = list(names)[:2]
        raise ValueError(
            f"The columns of X are {longitude!r} and {latitude!r}, but metric='haversine' takes "
            f"the latitude first. Pass the columns in the order {latitude!r}, {longitude!r}."
        )


def warn_if_unlikely(rows: NDArray[Any], metric: str) -> None:
    """Warn if the values are valid for `metric` but probably in another unit.

    Latitudes and longitudes within the range of radians are probably radians. `rows` may be all
    rows, or the smallest and largest values of each column.
    """
    if metric != "haversine":
        return
    if np.abs(rows[:, 0]).max() <= np.pi / 2 and np.abs(rows[:, 1]).max() <= np.pi:
        warnings.warn(
            "All values of X are within the range of radians, but metric='haversine' takes "
            "degrees. Pass numpy.degrees(X) if they are radians.",
            ColumnsWarning,
            stacklevel=stack_level(),
        )
