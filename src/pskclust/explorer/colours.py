"""Colours of clusters and of values, on a light and on a dark page."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from .._utils.palette import cluster_colours, standing_out
from .fits import Fit

THEMES = ("light", "dark")
# Number of distinct colours; if there are more clusters, some share a colour.
N_COLOURS = 27
# The others are darker and lighter shades of these.
N_BASE_COLOURS = 9
_BACKGROUND = {"light": 1.0, "dark": 0.012}
_LEAST_CONTRAST = {"light": 1.9, "dark": 3.0}
# Cividis (Nunez, Anderton and Renslow 2018) at equal steps; it suits colour-blind readers.
_CIVIDIS = (
    *("#00224e", "#123570", "#3b496c", "#575d6d", "#707173"),
    *("#8a8678", "#a59c74", "#c3b369", "#e1cc55", "#fee838"),
)
_NOISE = {"light": "#a3a8b0", "dark": "#6b717c"}
_FAINT = {"light": "#d9dce1", "dark": "#31353d"}
_ROWS_TO_MATCH = 50_000

Rgb = NDArray[np.uint8]


def palette(theme: str) -> Rgb:
    """Return the colours of clusters, (N_COLOURS, 3), which contrast enough with the page."""
    colours = cluster_colours(N_COLOURS)[:-1]
    ground, least = _BACKGROUND[theme], _LEAST_CONTRAST[theme]
    return _to_bytes(255 * np.array([standing_out(one, ground, least) for one in colours]))


def noise_colour(theme: str) -> Rgb:
    return from_hex(_NOISE[theme])


def faint_colour(theme: str) -> Rgb:
    return from_hex(_FAINT[theme])


def ramp(n_levels: int, theme: str) -> Rgb:
    """Return colours for values from low to high, (n_levels, 3)."""
    anchors = np.array([from_hex(colour) for colour in _CIVIDIS], dtype=np.float64)
    # The lowest colours would be invisible on a dark page.
    start = 0.14 if theme == "dark" else 0.0
    at = (start + (1 - start) * np.linspace(0, 1, n_levels)) * (len(anchors) - 1)
    channels = [np.interp(at, np.arange(len(anchors)), channel) for channel in anchors.T]
    return _to_bytes(np.stack(channels, axis=1))


def follow(fit: Fit, before: Fit | None, colours_before: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the colour number of each cluster of a fit, below N_COLOURS.

    A cluster takes the colour of the cluster in the previous fit with which it shares most rows, so
    that a small change to a setting changes few colours. Clusters have different colours as long as
    there are enough, and k clusters have the first k colours or, if there are fewer, some of the
    first N_BASE_COLOURS, which are the easiest to tell apart.
    """
    if before is None or not fit.n_clusters or len(before.labels) != len(fit.labels):
        return np.arange(fit.n_clusters) % N_COLOURS
    step = max(1, len(fit.labels) // _ROWS_TO_MATCH)
    new, old = fit.labels[::step], before.labels[::step]
    both = (new >= 0) & (old >= 0)
    shared = np.zeros((fit.n_clusters, before.n_clusters), dtype=np.int64)
    np.add.at(shared, (new[both], old[both]), 1)
    rows, columns = linear_sum_assignment(-shared)
    colours = np.full(fit.n_clusters, -1)
    n_used = np.zeros(min(N_COLOURS, max(N_BASE_COLOURS, fit.n_clusters)), dtype=np.int64)
    # Of clusters that would have the same colour, the one that shares more rows keeps it.
    for place in np.argsort(-shared[rows, columns], kind="stable"):
        row, column = rows[place], columns[place]
        colour = colours_before[column] % N_COLOURS
        if shared[row, column] and colour < len(n_used) and not n_used[colour]:
            colours[row] = colour
            n_used[colour] += 1
    for cluster in np.flatnonzero(colours < 0):
        colours[cluster] = n_used.argmin()
        n_used[colours[cluster]] += 1
    return colours


def from_hex(colour: str) -> Rgb:
    return np.array([int(colour[place : place + 2], 16) for place in (1, 3, 5)], dtype=np.uint8)


def to_hex(colour: Rgb) -> str:
    red, green, blue = (int(channel) for channel in colour)
    return f"#{red:02x}{green:02x}{blue:02x}"


def _to_bytes(colours: NDArray[np.float64]) -> Rgb:
    return np.asarray(np.rint(colours), dtype=np.uint8)
