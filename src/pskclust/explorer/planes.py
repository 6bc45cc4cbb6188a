"""Planes that pictures show, and the positions of rows in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from .raster import EMPTY, Box, Frame, Raster, marks_for, stamp
from .settings import Settings
from .subject import ImageSubject, Subject, TableSubject

_MARGIN = 0.03
_ROWS_FOR_AXES = 20_000
_HOVER_PIXELS = 24
# If a pixel of the picture covers more pixels of the image than this, it shows the most frequent
# cluster of five of them.
_PIXELS_FOR_VOTES = 1.3
_QUARTERS = (0.2, 0.8)


class View(NamedTuple):
    """The plane to draw: "columns" with axes x and y, "pca", or "image"."""

    kind: str
    x: int = 0
    y: int = 1


class Plane(Protocol):
    """The positions of the rows in a plane."""

    names: tuple[str, str]
    box: Box

    def raster(self, frame: Frame) -> Raster:
        """Return the row that each pixel of a frame shows."""

    def nearest(self, frame: Frame, raster: Raster, x: float, y: float) -> int | None:
        """Return the row that is drawn nearest to a pixel, or None if no row is near."""

    def position(self, row: int) -> tuple[float, float] | None:
        """Return the position of a row."""

    def grid(self, frame: Frame, step: int) -> NDArray[np.float64] | None:
        """Return points of the data space at the centres of squares of `step` pixels.

        Return None if places between rows have no values, as in an image.
        """


class PointPlane:
    """Plane with rows as points."""

    def __init__(
        self,
        points: NDArray[np.float64],
        names: tuple[str, str],
        axes: _Axes,
    ) -> None:
        self.names = names
        self._points = points
        self._axes = axes
        low, high = points.min(axis=0), points.max(axis=0)
        margin = np.where(high > low, _MARGIN * (high - low), 0.5)
        self.box = Box(
            *(float(end) for pair in zip(low - margin, high + margin, strict=True) for end in pair)
        )
        # Rows of a file may be sorted, so they are drawn in random order.
        self._order = np.random.RandomState(0).permutation(len(points)).astype(np.int32)

    def raster(self, frame: Frame) -> Raster:
        width, height = frame.width, frame.height
        column, row, inside = self._pixels(frame)
        places = np.where(inside, row * width + column, EMPTY).astype(np.int32)
        shown = self._order[inside[self._order]]
        marks = marks_for(len(shown), frame.scale)
        rows = np.full((height, width), EMPTY, dtype=np.int32)
        strength = np.zeros((height, width), dtype=np.uint8)
        stamp(rows, strength, shown, places[shown], marks)
        if len(marks) == 1 and len(shown):
            counts = np.bincount(places[shown], minlength=width * height).reshape(height, width)
            share = np.log1p(counts) / np.log1p(max(2.0, np.percentile(counts[counts > 0], 99)))
            level = (255 * np.clip(0.45 + 0.55 * share, 0, 1)).astype(np.uint8)
            strength = np.where(counts > 0, level, 0).astype(np.uint8)
        return Raster(rows, strength, places, marks)

    def _pixels(
        self, frame: Frame
    ) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.bool_]]:
        box = frame.box
        across = (self._points[:, 0] - box.left) * (frame.width / (box.right - box.left))
        down = (box.top - self._points[:, 1]) * (frame.height / (box.top - box.bottom))
        inside = (across >= 0) & (across < frame.width) & (down >= 0) & (down < frame.height)
        with np.errstate(invalid="ignore"):
            return across.astype(np.int32), down.astype(np.int32), inside

    def nearest(self, frame: Frame, raster: Raster, x: float, y: float) -> int | None:
        assert raster.places is not None
        reach = int(_HOVER_PIXELS * frame.scale)
        top, left = max(0, int(y) - reach), max(0, int(x) - reach)
        window = raster.rows[top : int(y) + reach + 1, left : int(x) + reach + 1]
        # A pixel shows one row; others in the same pixel are nearly as close.
        rows, columns = np.nonzero(window >= 0)
        if not len(rows):
            return None
        distance2 = (rows + top - y) ** 2 + (columns + left - x) ** 2
        best = int(distance2.argmin())
        return int(window[rows[best], columns[best]]) if distance2[best] <= reach**2 else None

    def position(self, row: int) -> tuple[float, float] | None:
        x, y = self._points[row]
        return float(x), float(y)

    def grid(self, frame: Frame, step: int) -> NDArray[np.float64] | None:
        box = frame.box
        across = (np.arange(0, frame.width, step) + step / 2) / frame.width
        down = (np.arange(0, frame.height, step) + step / 2) / frame.height
        x, y = np.meshgrid(
            box.left + across * (box.right - box.left), box.top - down * (box.top - box.bottom)
        )
        return self._axes.rows(x.ravel(), y.ravel())


class ImagePlane:
    """Plane of the pixels of an image, each with the row of its colour; y increases downwards."""

    def __init__(self, image: ImageSubject) -> None:
        height, width = image.numbers.shape
        self.names = "x", "y"
        self.box = Box(0.0, float(width), float(height), 0.0)
        self._numbers = image.numbers

    def raster(self, frame: Frame) -> Raster:
        rows = self._look_up(frame, 0.5, 0.5)
        strength = np.where(rows >= 0, np.uint8(255), np.uint8(0))
        more = None
        if (frame.box.right - frame.box.left) / frame.width > _PIXELS_FOR_VOTES:
            more = np.stack([self._look_up(frame, x, y) for x in _QUARTERS for y in _QUARTERS])
        return Raster(rows, strength, None, (), more)

    def _look_up(self, frame: Frame, across: float, down: float) -> NDArray[np.int32]:
        """Return the rows at one place within each pixel of a frame."""
        height, width = self._numbers.shape
        box = frame.box
        x = box.left + (np.arange(frame.width) + across) * (box.right - box.left) / frame.width
        y = box.top + (np.arange(frame.height) + down) * (box.bottom - box.top) / frame.height
        columns, lines = np.floor(x).astype(np.int64), np.floor(y).astype(np.int64)
        inside = np.clip(lines, 0, height - 1)[:, None], np.clip(columns, 0, width - 1)
        found = self._numbers[inside]
        found[(lines < 0) | (lines >= height)] = EMPTY
        found[:, (columns < 0) | (columns >= width)] = EMPTY
        return found

    def nearest(self, frame: Frame, raster: Raster, x: float, y: float) -> int | None:
        row = int(raster.rows[int(y), int(x)])
        return None if row < 0 else row

    def position(self, row: int) -> tuple[float, float] | None:
        return None

    def grid(self, frame: Frame, step: int) -> NDArray[np.float64] | None:
        return None


class _Axes(Protocol):
    """Map from positions in a plane to rows, scaled as for the fit."""

    def rows(self, x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]: ...


@dataclass(frozen=True, eq=False)
class _ColumnAxes:
    """Axes of two columns; all other columns are at their medians."""

    subject: Subject
    settings: Settings
    view: View

    def rows(self, x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
        values = _coordinates(self.subject, self.settings)
        some = values[:: max(1, len(values) // _ROWS_FOR_AXES)]
        rows = np.tile(np.median(some, axis=0), (len(x), 1)).astype(np.float64)
        rows[:, self.view.x] = x
        if values.shape[1] > 1:
            rows[:, self.view.y] = y
        return self.subject.prepared(rows, self.settings)


@dataclass(frozen=True, eq=False)
class _PrincipalAxes:
    """Axes of a plane through the mean, along two directions."""

    mean: NDArray[np.float64]
    directions: NDArray[np.float64]  # (2, d)

    def rows(self, x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
        rows: NDArray[np.float64] = self.mean + np.column_stack([x, y]) @ self.directions
        return rows


def make_plane(subject: Subject, settings: Settings, view: View) -> Plane:
    """Return the plane of a view; raise ValueError if the subject has no such view."""
    if view.kind == "image":
        if not isinstance(subject, ImageSubject):
            raise ValueError("a table cannot be viewed as an image.")
        return ImagePlane(subject)
    n_columns = len(subject.columns)
    if view.kind == "pca":
        if n_columns < 3:
            raise ValueError("principal axes need three columns or more.")
        return _principal_plane(subject, settings)
    if view.kind != "columns":
        raise ValueError("view must be columns, pca or image.")
    if not (0 <= view.x < n_columns and 0 <= view.y < max(2, n_columns)):
        raise ValueError(f"vx and vy must be columns from 0 to {n_columns - 1}.")
    names = subject.column_names(settings)
    axes = _ColumnAxes(subject, settings, view)
    values = _coordinates(subject, settings)
    x = values[:, view.x].astype(np.float64)
    if n_columns == 1:
        # A single column gives no second axis, so random heights keep rows apart.
        y = np.random.RandomState(0).uniform(-1, 1, len(x))
        return PointPlane(np.column_stack([x, y]), (names[0], ""), axes)
    y = values[:, view.y].astype(np.float64)
    return PointPlane(np.column_stack([x, y]), (names[view.x], names[view.y]), axes)


def plane_key(settings: Settings, view: View) -> tuple[Any, ...]:
    """Return the settings that a plane depends on, as a cache key."""
    depends = view.kind == "pca"
    return view, settings.scaling if depends else None, settings.color_space


def _coordinates(subject: Subject, settings: Settings) -> NDArray[Any]:
    """Return the rows in original units; for an image, in its colour space."""
    return subject.values if isinstance(subject, TableSubject) else subject.rows(settings)


def _principal_plane(subject: Subject, settings: Settings) -> PointPlane:
    rows = subject.rows(settings)
    some = rows[:: max(1, len(rows) // _ROWS_FOR_AXES)].astype(np.float64)
    mean = some.mean(axis=0)
    _, _, directions = np.linalg.svd(some - mean, full_matrices=False)
    # The sign of a direction is arbitrary, so the largest component is made positive.
    largest = np.abs(directions[:2]).argmax(axis=1)
    axes = directions[:2] * np.sign(directions[[0, 1], largest])[:, None]
    points = (rows - mean) @ axes.T
    return PointPlane(points, ("first axis", "second axis"), _PrincipalAxes(mean, axes))
