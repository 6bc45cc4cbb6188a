"""Clusters as points in a plane."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._palette import NOISE_COLOUR, cluster_colours
from ._axes import axes_for, check_same_rows, to_plane

# More points than that are counted into pixels, which takes no longer for millions of them.
_MAX_MARKS = 20_000
_PIXELS = (900, 700)
_MAX_NAMES = 12


class ClusterDisplay:
    """Points in the colours of their clusters, noise in grey, seeds as crosses.

    Make one with :meth:`from_estimator`.

    Parameters
    ----------
    points : ndarray of shape (n_samples, 2)
    labels : ndarray of int, shape (n_samples,)
        -1 is noise.
    seeds : ndarray of int or None, default=None
        Rows to mark.
    names : tuple of two str, default=("", "")
        What the axes are.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    """

    def __init__(
        self,
        *,
        points: NDArray[np.float64],
        labels: NDArray[np.int64],
        seeds: NDArray[np.int64] | None = None,
        names: tuple[str, str] = ("", ""),
    ) -> None:
        self.points = points
        self.labels = labels
        self.seeds = seeds
        self.names = names

    @classmethod
    def from_estimator(cls, estimator: Any, X: ArrayLike, *, ax: Any = None) -> Self:
        """Draw the clusters of a fitted estimator.

        Parameters
        ----------
        estimator : PSKC
            Fitted.
        X : array-like of shape (n_samples, n_features)
            The rows of the fit. Two columns are drawn as they are, more along their first two
            principal axes.
        ax : matplotlib Axes or None, default=None
            Where to draw; a new figure if None.

        Returns
        -------
        display : ClusterDisplay
        """
        plane = to_plane(estimator, X)
        check_same_rows(estimator, len(plane.points))
        display = cls(
            points=plane.points,
            labels=estimator.labels_,
            seeds=getattr(estimator, "seeds_", None),
            names=plane.names,
        )
        return display.plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw on axes, or on new ones."""
        self.ax_ = axes_for(ax, figsize=(8, 6))
        self.figure_ = self.ax_.figure
        n_clusters = int(self.labels.max(initial=-1)) + 1
        if len(self.points) > _MAX_MARKS:
            self._draw_pixels(n_clusters)
        else:
            self._draw_marks(n_clusters)
        if self.seeds is not None and len(self.seeds):
            self.ax_.plot(*self.points[self.seeds].T, "x", color="black", ms=7, mew=1.6)
        self.ax_.set(xlabel=self.names[0], ylabel=self.names[1])
        n_noise = int((self.labels < 0).sum())
        self.ax_.set_title(f"{n_clusters} clusters, {n_noise / max(1, len(self.labels)):.1%} noise")
        self._name_clusters(n_clusters)
        return self

    def _draw_marks(self, n_clusters: int) -> None:
        colours = cluster_colours(n_clusters)
        noise = self.labels < 0
        size = float(np.clip(20_000 / max(1, len(self.points)), 2, 25))
        # Noise first, so that it does not hide clusters.
        for some, drawn_size in ((noise, size / 2), (~noise, size)):
            if some.any():
                self.ax_.scatter(
                    *self.points[some].T, c=colours[self.labels[some]], s=drawn_size, linewidths=0
                )

    def _draw_pixels(self, n_clusters: int) -> None:
        low, high = self.points.min(axis=0), self.points.max(axis=0)
        margin = np.where(high > low, 0.02 * (high - low), 0.5)
        low, high = low - margin, high + margin
        image = pixels_of_clusters(self.points, self.labels, low, high, n_clusters)
        extent = (low[0], high[0], low[1], high[1])
        self.ax_.imshow(image, extent=extent, origin="lower", aspect="auto", interpolation="none")

    def _name_clusters(self, n_clusters: int) -> None:
        """Name the largest clusters beside the picture."""
        from matplotlib.lines import Line2D

        colours = cluster_colours(n_clusters)
        sizes = np.bincount(self.labels[self.labels >= 0], minlength=n_clusters)
        named = np.argsort(-sizes, kind="stable")[:_MAX_NAMES]
        marks = [
            _mark(Line2D, colours[cluster], f"{cluster}: {sizes[cluster]:,}") for cluster in named
        ]
        if n_clusters > _MAX_NAMES:
            marks.append(_mark(Line2D, (1, 1, 1), f"and {n_clusters - _MAX_NAMES} more"))
        if (self.labels < 0).any():
            marks.append(_mark(Line2D, NOISE_COLOUR, f"noise: {(self.labels < 0).sum():,}"))
        if marks:
            self.ax_.legend(
                handles=marks,
                loc="upper left",
                bbox_to_anchor=(1.0, 1.0),
                frameon=False,
                fontsize=8,
                title="cluster: rows",
                title_fontsize=8,
            )


def _mark(line: Any, colour: Any, name: str) -> Any:
    return line([], [], marker="o", linestyle="", color=colour, label=name, markersize=5)


def pixels_of_clusters(
    points: NDArray[np.float64],
    labels: NDArray[np.int64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    n_clusters: int,
) -> NDArray[np.float64]:
    """Return a picture, (height, width, 4): each pixel in the colour of most of its rows.

    The more rows, the more opaque it is.
    """
    width, height = _PIXELS
    shares = (points - low) / (high - low)
    inside = ((shares >= 0) & (shares < 1)).all(axis=1)
    column, row = (shares[inside] * (width, height)).astype(np.int64).T
    pixel = row * width + column
    # Noise is the last of n_clusters + 1 kinds.
    kind = np.where(labels[inside] < 0, n_clusters, labels[inside])
    keys, counts = np.unique(pixel * (n_clusters + 1) + kind, return_counts=True)
    pixels, kinds = np.divmod(keys, n_clusters + 1)
    totals = np.bincount(pixels, weights=counts, minlength=width * height)
    # The kind that comes last for a pixel wins, so the most frequent one must.
    by_count = np.argsort(counts, kind="stable")
    winner = np.full(width * height, n_clusters)
    winner[pixels[by_count]] = kinds[by_count]
    image = np.zeros((width * height, 4))
    image[:, :3] = cluster_colours(n_clusters)[winner]
    filled = totals > 0
    image[filled, 3] = 0.35 + 0.65 * np.log1p(totals[filled]) / np.log1p(totals.max())
    return image.reshape(height, width, 4)
