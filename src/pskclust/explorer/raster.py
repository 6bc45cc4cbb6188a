"""Rasters: the row that each pixel of a picture shows.

A picture shows one row in each pixel. That row depends on the plane, on the part of it that is
shown and on the size of the picture, but not on the clusters. So a raster is computed once, and
every setting, mode and growth step is drawn in time proportional to the number of pixels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

EMPTY = -1
# Largest number of shown rows, and the radius of their marks in pixels.
_RADII = ((300, 4.2), (1_200, 3.2), (4_000, 2.4), (12_000, 1.7), (50_000, 1.0))


class Box(NamedTuple):
    """A part of a plane."""

    left: float
    right: float
    bottom: float
    top: float


class Frame(NamedTuple):
    """The part of a plane that a picture shows, and the size of the picture in pixels."""

    box: Box
    width: int
    height: int
    scale: float = 1.0  # pixels of the screen per pixel of the page


@dataclass(frozen=True, eq=False)
class Raster:
    """The row and the strength of each pixel."""

    rows: NDArray[np.int32]  # (height, width), EMPTY without a row
    strength: NDArray[np.uint8]  # (height, width)
    places: NDArray[np.int32] | None  # (n,) pixel of each row, EMPTY outside
    marks: tuple[tuple[int, int, int], ...]  # (row, column, strength) around a row's pixel
    more_rows: NDArray[np.int32] | None = None  # (4, height, width) at other places in a pixel

    def over(self, chosen: NDArray[np.bool_]) -> Raster:
        """Return the raster with some rows drawn over all others."""
        if self.places is None:
            return self
        rows, strength = self.rows.copy(), self.strength.copy()
        members = np.flatnonzero(chosen & (self.places >= 0)).astype(np.int32)
        stamp(rows, strength, members, self.places[members], self.marks)
        return Raster(rows, strength, self.places, self.marks)


def marks_for(n_shown: int, scale: float) -> tuple[tuple[int, int, int], ...]:
    """Return the pixels of a round mark, the faintest first; more rows get smaller marks."""
    radius = next((radius for most, radius in _RADII if n_shown <= most), 0.0) * scale
    reach = int(np.ceil(radius))
    marks = []
    for row in range(-reach, reach + 1):
        for column in range(-reach, reach + 1):
            cover = np.clip(radius + 0.5 - np.hypot(row, column), 0, 1)
            if cover > 0 or row == column == 0:
                marks.append((row, column, max(1, int(255 * max(cover, row == column == 0)))))
    return tuple(sorted(marks, key=lambda mark: mark[2]))


def stamp(
    rows: NDArray[np.int32],
    strength: NDArray[np.uint8],
    members: NDArray[np.int32],
    places: NDArray[np.int32],
    marks: tuple[tuple[int, int, int], ...],
) -> None:
    """Draw marks around the pixels of rows; middles are drawn over the edges of other marks."""
    height, width = rows.shape
    if len(marks) == 1:
        rows.ravel()[places] = members
        strength.ravel()[places] = marks[0][2]
        return
    line, column = np.divmod(places, width)
    for down, across, level in marks:
        y, x = line + down, column + across
        inside = (y >= 0) & (y < height) & (x >= 0) & (x < width)
        rows[y[inside], x[inside]] = members[inside]
        strength[y[inside], x[inside]] = level
