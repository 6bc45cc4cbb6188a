"""Colours of a report on a dark page."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._utils.optional import optional
from .._utils.palette import luminance, standing_out

# The background of pictures: --card in page.css.
_GROUND = np.array([0x1D, 0x21, 0x26]) / 255
# Large enough for colours to stand out from the lighter --whole in page.css as well.
_LEAST_CONTRAST = 5.0
# A colour is grey if its channels differ by less than this.
_GREY = 0.12
# Lightness of greys on a white page, from ink to background, and of the same greys on a dark page.
_LIGHT = (0.0, 0.5, 0.72, 0.8, 0.9, 1.0)
_DARK = (0.92, 0.66, 0.5, 0.4, 0.25, 0.13)


def on_dark(colour: ArrayLike) -> NDArray[np.float64]:
    """Return the colour to use on a dark page in place of a colour made for a white page.

    Greys are inverted, hues are kept. `colour` is red, green and blue from 0 to 1; further channels
    are kept.
    """
    channels = np.array(colour, dtype=np.float64)
    rgb = channels[:3]
    if np.ptp(rgb) < _GREY:
        white = rgb.min() >= 1
        channels[:3] = _GROUND if white else np.interp(rgb.mean(), _LIGHT, _DARK)
    else:
        channels[:3] = standing_out(rgb, luminance(_GROUND), _LEAST_CONTRAST)
    return channels


def colour_style(colour: ArrayLike) -> str:
    """Return the style of an element, with its colours on a light and on a dark page."""
    return f"--light:{_hex(np.asarray(colour))};--dark:{_hex(on_dark(colour))}"


def darken(figure: Any) -> None:
    """Recolour a figure that was drawn for a white page, to show it on a dark page.

    Heat maps and contours keep their colours, as do the lines drawn over them.
    """
    collections = optional("matplotlib.collections", "pskclust.report", "plot")
    lines = optional("matplotlib.lines", "pskclust.report", "plot")
    patches = optional("matplotlib.patches", "pskclust.report", "plot")
    texts = optional("matplotlib.text", "pskclust.report", "plot")
    kept = {part for ax in figure.axes if _has_map(ax) for part in (*ax.lines, *ax.collections)}
    for part in figure.findobj():
        if part in kept:
            continue
        if isinstance(part, texts.Text):
            part.set_color(_changed(part.get_color()))
        elif isinstance(part, lines.Line2D):
            part.set(
                color=_changed(part.get_color()),
                markeredgecolor=_changed(part.get_markeredgecolor()),
                markerfacecolor=_changed(part.get_markerfacecolor()),
            )
        elif isinstance(part, collections.Collection | patches.Patch):
            part.set(
                facecolor=_changed(part.get_facecolor()), edgecolor=_changed(part.get_edgecolor())
            )


def _hex(colour: NDArray[np.float64]) -> str:
    return "#" + "".join(f"{round(255 * float(channel)):02x}" for channel in colour)


def _has_map(ax: Any) -> bool:
    """Return whether colours on these axes stand for values, as in a contour plot or colour bar."""
    return bool(ax.images) or any(part.get_array() is not None for part in ax.collections)


def _changed(colours: Any) -> Any:
    rgba = optional("matplotlib.colors", "pskclust.report", "plot").to_rgba_array(colours)
    different, places = np.unique(rgba, axis=0, return_inverse=True)
    if not len(rgba):
        return colours
    changed = np.array([on_dark(colour) for colour in different])[np.ravel(places)]
    return changed if len(changed) > 1 else tuple(changed[0])
