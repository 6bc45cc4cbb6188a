"""Colours of clusters, which colour-blind readers can distinguish; noise is grey."""

from __future__ import annotations

import colorsys

import numpy as np
from numpy.typing import NDArray

NOISE_COLOUR = (0.72, 0.72, 0.72)

# Okabe and Ito's colours without black and without yellow, which vanishes on white, then three
# of Tol's.
_BASE = (
    *("#0072b2", "#e69f00", "#009e73", "#d55e00", "#56b4e9", "#cc79a7"),
    *("#882255", "#999933", "#332288"),
)
# Further clusters get the same colours darker, then lighter.
_LIGHTNESS = (1.0, 0.6, 1.35)
# White and black contrast equally with this luminance.
_MIDDLE_LUMINANCE = 0.179


def cluster_colours(n_clusters: int) -> NDArray[np.float64]:
    """Return the colour of each cluster and, as the last one, that of noise.

    All displays, reports and the explorer use these colours. Index them by labels: label -1 selects
    the last colour. Colours repeat from the 28th cluster on.

    Parameters
    ----------
    n_clusters : int
        Number of clusters, 0 or more.

    Returns
    -------
    colours : ndarray of float64, shape (n_clusters + 1, 3)
        Red, green and blue from 0 to 1.

    See Also
    --------
    pskclust.plotting.ClusterDisplay : Draw rows in the colours of their clusters.

    Examples
    --------
    >>> from pskclust.plotting import cluster_colours
    >>> colours = cluster_colours(3)
    >>> colours.shape
    (4, 3)
    >>> labels = [0, 2, -1]
    >>> colours[labels][-1].tolist()
    [0.72, 0.72, 0.72]
    """
    many = len(_BASE) * len(_LIGHTNESS)
    numbers = np.arange(n_clusters) % many
    colours = [
        _with_lightness(_BASE[number % len(_BASE)], _LIGHTNESS[number // len(_BASE)])
        for number in numbers
    ]
    return np.array([*colours, NOISE_COLOUR])


def standing_out(
    colour: NDArray[np.float64], ground: float, least_contrast: float
) -> NDArray[np.float64]:
    """Return a colour, lightened or darkened until it has `least_contrast` with a background.

    `ground` is the luminance of the background.
    """
    towards = 1.0 if ground < _MIDDLE_LUMINANCE else 0.0
    for share in np.linspace(0, 1, 21):
        mixed: NDArray[np.float64] = (1 - share) * colour + share * towards
        if contrast(luminance(mixed), ground) >= least_contrast:
            return mixed
    return mixed


def luminance(colour: NDArray[np.float64]) -> float:
    """Return the relative luminance, as the web content accessibility guidelines define it."""
    linear = np.where(colour <= 0.03928, colour / 12.92, ((colour + 0.055) / 1.055) ** 2.4)
    return float(linear @ (0.2126, 0.7152, 0.0722))


def contrast(one: float, other: float) -> float:
    """Return the contrast of two luminances, from 1 to 21."""
    lighter, darker = max(one, other), min(one, other)
    return (lighter + 0.05) / (darker + 0.05)


def _with_lightness(colour: str, factor: float) -> tuple[float, float, float]:
    red, green, blue = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    hue, lightness, saturation = colorsys.rgb_to_hls(red, green, blue)
    return colorsys.hls_to_rgb(hue, min(0.85, lightness * factor), saturation)
