"""Pictures of fits, with a cache of planes and rasters for all sessions."""

from __future__ import annotations

import threading
from typing import Any

from .fits import Kept
from .picture import Drawing, Picture, draw, original
from .planes import Plane, View, make_plane, plane_key
from .raster import Frame, Raster
from .settings import Settings
from .subject import ImageSubject, Subject

_PLANES_BYTES = 256 << 20
_RASTERS_BYTES = 256 << 20
_PLANE_BYTES_PER_ROW = 20


class Pictures:
    """Pictures of the fits of one subject."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._planes: Kept[tuple[Any, ...], Plane] = Kept(_PLANES_BYTES)
        self._rasters: Kept[tuple[Any, ...], Raster] = Kept(_RASTERS_BYTES)
        # A second request for the same new view waits for the first and uses its result.
        self._lock = threading.Lock()

    def plane(self, settings: Settings, view: View) -> Plane:
        key = plane_key(settings, view)
        with self._lock:
            plane = self._planes.get(key)
            if plane is None:
                plane = make_plane(self._subject, settings, view)
                self._planes.put(key, plane, _PLANE_BYTES_PER_ROW * self._subject.n_explored)
        return plane

    def raster(self, settings: Settings, view: View, frame: Frame) -> tuple[Plane, Raster]:
        plane = self.plane(settings, view)
        key = (*plane_key(settings, view), frame)
        with self._lock:
            raster = self._rasters.get(key)
            if raster is None:
                raster = plane.raster(frame)
                n_places = 0 if raster.places is None else len(raster.places)
                self._rasters.put(key, raster, 5 * raster.rows.size + 4 * n_places)
        return plane, raster

    def draw(self, drawing: Drawing, view: View, frame: Frame) -> Picture:
        """Return a picture of a fit."""
        plane, raster = self.raster(drawing.fit.settings, view, frame)
        return draw(drawing, plane, raster, frame, self._subject)

    def original(self, frame: Frame) -> Picture:
        """Return a picture of the original image."""
        if not isinstance(self._subject, ImageSubject):
            raise ValueError("a table has no original image.")
        return Picture(original(self._subject, frame))

    def nearest(
        self, settings: Settings, view: View, frame: Frame, x: float, y: float
    ) -> tuple[Plane, int | None]:
        """Return the plane, and the row drawn nearest to a pixel, or None if no row is near."""
        plane, raster = self.raster(settings, view, frame)
        if not (0 <= x < frame.width and 0 <= y < frame.height):
            return plane, None
        return plane, plane.nearest(frame, raster, x, y)
