"""Points in the colours of their clusters, drawn as marks if they are few, else as pixels."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._utils.palette import cluster_colours

# More points than this are counted into pixels, which is fast even for millions of points.
MAX_MARKS = 20_000
_PIXELS, _LARGE_PIXELS = (900, 700), (225, 175)
_MIN_SHARE_FILLED = 0.03


class Limits(NamedTuple):
    """Lower left and upper right corners of a picture, in data coordinates."""

    low: NDArray[np.float64]
    high: NDArray[np.float64]

    @classmethod
    def of(cls, points: NDArray[np.float64]) -> Limits:
        """Return the corners of the bounding box of the points, with a margin."""
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
    """Draw points on axes, with members of clusters on top of noise."""
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
    # In square points, the unit of mark sizes. Marks shrink if several axes share a figure.
    area = float(np.prod(ax.get_window_extent().size)) * (72 / ax.figure.dpi) ** 2
    size = float(np.clip(0.15 * area / max(1, len(points)), 1.5, 22))
    for some, drawn_size in ((noise, 0.6 * size), (~noise, size)):
        if some.any():
            ax.scatter(*points[some].T, c=colours[labels[some]], s=drawn_size, linewidths=0)


def pixels_of_clusters(
    points: NDArray[np.float64], labels: NDArray[np.int64], limits: Limits, n_clusters: int
) -> NDArray[np.float64]:
    """Return an RGBA picture, (height, width, 4), of rows counted into pixels.

    Each pixel has the colour of the cluster, or noise, with the most rows in it. Pixels with more
    rows are more opaque.
    """
    image = _counted_into_pixels(points, labels, limits, n_clusters, _PIXELS)
    if np.mean(image[..., 3] > 0) >= _MIN_SHARE_FILLED:
        return image
    # With small pixels, narrow clusters that are far apart would be invisible.
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
    # There are n_clusters + 1 kinds of rows; noise is the last one.
    kind = np.where(labels[inside] < 0, n_clusters, labels[inside])
    keys, counts = np.unique(pixel * (n_clusters + 1) + kind, return_counts=True)
    pixels, kinds = np.divmod(keys, n_clusters + 1)
    totals = np.bincount(pixels, weights=counts, minlength=width * height)
    # Later kinds overwrite earlier ones, so the most frequent kind of a pixel is written last.
    by_count = np.argsort(counts, kind="stable")
    winner = np.full(width * height, n_clusters)
    winner[pixels[by_count]] = kinds[by_count]
    image = np.zeros((width * height, 4))
    image[:, :3] = cluster_colours(n_clusters)[winner]
    filled = totals > 0
    image[filled, 3] = 0.35 + 0.65 * np.log1p(totals[filled]) / np.log1p(totals.max(initial=1))
    return image.reshape(height, width, 4)
