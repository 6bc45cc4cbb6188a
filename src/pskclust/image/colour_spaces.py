"""Colour spaces, in which distances measure differences between colours."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._utils.optional import optional

COLOUR_SPACES = ("lab", "rgb", "hsv")


def to_space(colours: NDArray[Any], space: str) -> NDArray[np.float64]:
    """Return RGB colours, (m, 3), as points of a colour space, with values up to about 100."""
    color = optional("skimage.color", "pskclust.image", "image")
    shares: NDArray[np.float64] = colours / np.iinfo(colours.dtype).max
    if space == "rgb":
        return 100 * shares
    if space == "lab":
        lab: NDArray[np.float64] = color.rgb2lab(shares[np.newaxis])[0]
        return lab
    hue, saturation, value = color.rgb2hsv(shares[np.newaxis])[0].T
    angle = 2 * np.pi * hue
    circle = saturation * np.cos(angle), saturation * np.sin(angle)
    hsv: NDArray[np.float64] = 100 * np.column_stack([*circle, value])
    return hsv
