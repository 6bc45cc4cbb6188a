"""Clusters as points in a plane."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._utils.palette import NOISE_COLOUR, cluster_colours
from ._axes import as_text, axes_for, mark_seeds, seed_name
from ._points import Limits, draw_points
from .projection import project

_MAX_NAMES = 12


class ClusterDisplay:
    """Points in the colours of their clusters, noise in grey, a cross for a row of each cluster.

    The cross is the row that a cluster grew from, or the most similar row of a linked cluster.

    Make one with :meth:`from_estimator`.

    Parameters
    ----------
    points : ndarray of shape (n_samples, 2)
    labels : ndarray of int, shape (n_samples,)
        -1 is noise.
    seeds : ndarray of int or None, default=None
        Rows to mark.
    seed_name : str, default="seed"
        Legend of the rows that are marked.
    names : tuple of two str, default=("", "")
        Names of the axes.

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
        seed_name: str = "seed",
        names: tuple[str, str] = ("", ""),
    ) -> None:
        self.points = points
        self.labels = labels
        self.seeds = seeds
        self.seed_name = seed_name
        self.names = names

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        *,
        feature_names: Sequence[str] | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw the clusters of a fitted estimator.

        Parameters
        ----------
        estimator : PSKC
            Fitted.
        X : array-like of shape (n_samples, n_features)
            The rows of the fit. Two columns are drawn as they are, more along their first two
            principal axes.
        feature_names : sequence of str or None, default=None
            Names of the columns; those of the fit if None.
        ax : matplotlib Axes or None, default=None
            Where to draw; a new figure if None.

        Returns
        -------
        display : ClusterDisplay
        """
        plane = project(estimator, X, feature_names)
        display = cls(
            points=plane.points,
            labels=estimator.labels_,
            seeds=getattr(estimator, "seeds_", None),
            seed_name=seed_name(estimator),
            names=plane.names,
        )
        return display.plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw on axes, or on new ones."""
        self.ax_ = axes_for(ax, figsize=(8, 6))
        self.figure_ = self.ax_.figure
        n_clusters = int(self.labels.max(initial=-1)) + 1
        draw_points(self.ax_, self.points, self.labels, n_clusters, Limits.of(self.points))
        if self.seeds is not None and len(self.seeds):
            mark_seeds(self.ax_, self.points[self.seeds])
        self.ax_.set(xlabel=as_text(self.names[0]), ylabel=as_text(self.names[1]))
        noise = np.mean(self.labels < 0)
        clusters = "1 cluster" if n_clusters == 1 else f"{n_clusters:,} clusters"
        self.ax_.set_title(f"{clusters}, {noise:.1%} noise")
        self._name_clusters(n_clusters)
        return self

    def _name_clusters(self, n_clusters: int) -> None:
        """Name the largest clusters beside the picture."""
        from matplotlib.lines import Line2D

        colours = cluster_colours(n_clusters)
        sizes = np.bincount(self.labels[self.labels >= 0], minlength=n_clusters)
        named = np.argsort(-sizes, kind="stable")[:_MAX_NAMES]
        marks = [_mark(Line2D, colours[number], f"{number}: {sizes[number]:,}") for number in named]
        if n_clusters > _MAX_NAMES:
            rest = int(sizes.sum() - sizes[named].sum())
            marks.append(_mark(Line2D, "none", f"{n_clusters - _MAX_NAMES:,} more: {rest:,}"))
        if (self.labels < 0).any():
            marks.append(_mark(Line2D, NOISE_COLOUR, f"noise: {(self.labels < 0).sum():,}"))
        if self.seeds is not None and len(self.seeds):
            marks.append(_mark(Line2D, "black", self.seed_name, "x"))
        if marks:
            self.ax_.legend(
                handles=marks,
                loc="upper left",
                bbox_to_anchor=(1.0, 1.0),
                frameon=False,
                fontsize=9,
                title="cluster: rows",
                title_fontsize=9,
                alignment="left",
                handletextpad=0.2,
            )


def _mark(line: Any, colour: Any, name: str, marker: str = "o") -> Any:
    return line([], [], marker=marker, linestyle="", color=colour, label=name, markersize=6)
