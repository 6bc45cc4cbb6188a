"""Points in the colours of their clusters: few as marks, many as pixels."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._utils.palette import cluster_colours

# More points are counted into pixels, which takes no longer for millions.
MAX_MARKS = 20_000
_PIXELS, _LARGE_PIXELS = (900, 700), (225, 175)
_MIN_SHARE_FILLED = 0.03


class Limits(NamedTuple):
    """The lower left and the upper right corner of a picture."""

    low: NDArray[np.float64]
    high: NDArray[np.float64]

    @classmethod
    def of(cls, points: NDArray[np.float64]) -> Limits:
        """Return the corners of the points, with a margin."""
        low, high = points.min(axis=0), points.max(axis=0)
        margin = np.where(high > low, 0.03 * (high - low), 0.5)
        return cls(low - margin, high + margin)


def draw_points(
    ax: Any,
    points: NDArray[np.float64],
    labels: NDArray[np.int64],
    n_clusters: int,
    limits: Limits,
) -> None:
    """Draw points on axes, clusters over noise."""
    if len(points) > MAX_MARKS:
        image = pixels_of_clusters(points, labels, limits, n_clusters)
        extent = (limits.low[0], limits.high[0], limits.low[1], limits.high[1])
        ax.imshow(image, extent=extent, origin="lower", aspect="auto", interpolation="none")
    else:
        _draw_marks(ax, points, labels, n_clusters)
    ax.set(xlim=(limits.low[0], limits.high[0]), ylim=(limits.low[1], limits.high[1]))


def _draw_marks(
    ax: Any, points: NDArray[np.float64], labels: NDArray[np.int64], n_clusters: int
) -> None:
    colours = cluster_colours(n_clusters)
    noise = labels < 0
    # In square points; axes are about 5 inches wide, several on a figure less.
    area = float(np.prod(ax.get_window_extent().size)) * (72 / ax.figure.dpi) ** 2
    size = float(np.clip(0.15 * area / max(1, len(points)), 1.5, 22))
    for some, drawn_size in ((noise, 0.6 * size), (~noise, size)):
        if some.any():
            ax.scatter(*points[some].T, c=colours[labels[some]], s=drawn_size, linewidths=0)


def pixels_of_clusters(
    points: NDArray[np.float64], labels: NDArray[np.int64], limits: Limits, n_clusters: int
) -> NDArray[np.float64]:
    """Return a picture, (height, width, 4): each pixel has the colour of most of its rows.

    Pixels with more rows are more opaque.
    """
    image = _counted_into_pixels(points, labels, limits, n_clusters, _PIXELS)
    if np.mean(image[..., 3] > 0) >= _MIN_SHARE_FILLED:
        return image
    # Narrow clusters that are far apart would be invisible in small pixels.
    return _counted_into_pixels(points, labels, limits, n_clusters, _LARGE_PIXELS)


def _counted_into_pixels(
    points: NDArray[np.float64],
    labels: NDArray[np.int64],
    limits: Limits,
    n_clusters: int,
    size: tuple[int, int],
) -> NDArray[np.float64]:
    width, height = size
    shares = (points - limits.low) / (limits.high - limits.low)
    inside = ((shares >= 0) & (shares < 1)).all(axis=1)
    column, row = (shares[inside] * (width, height)).astype(np.int64).T
    pixel = row * width + column
    # Noise is the last of n_clusters + 1 kinds.
    kind = np.where(labels[inside] < 0, n_clusters, labels[inside])
    keys, counts = np.unique(pixel * (n_clusters + 1) + kind, return_counts=True)
    pixels, kinds = np.divmod(keys, n_clusters + 1)
    totals = np.bincount(pixels, weights=counts, minlength=width * height)
    # The last kind that is written to a pixel stays, so the most frequent one is last.
    by_count = np.argsort(counts, kind="stable")
    winner = np.full(width * height, n_clusters)
    winner[pixels[by_count]] = kinds[by_count]
    image = np.zeros((width * height, 4))
    image[:, :3] = cluster_colours(n_clusters)[winner]
    filled = totals > 0
    image[filled, 3] = 0.35 + 0.65 * np.log1p(totals[filled]) / np.log1p(totals.max(initial=1))
    return image.reshape(height, width, 4)
