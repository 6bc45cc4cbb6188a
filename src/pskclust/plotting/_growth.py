"""Clusters as they grow from their seeds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._axes import as_text, grid_of_axes, mark_seeds
from ._points import Limits, draw_points
from .projection import project

_MAX_ROWS = 100_000


class GrowthDisplay:
    """Clusters after some steps of growth: members in colour, other rows in grey.

    Make one with :meth:`from_estimator`.

    Parameters
    ----------
    points : ndarray of shape (n_samples, 2)
    labels : ndarray of int, shape (n_samples,)
    growth_steps : ndarray of int, shape (n_samples,)
        The step in which each row joined; -1 for noise.
    seeds : ndarray of int, shape (n_clusters,)
    names : tuple of two str, default=("", "")

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes
    figure_ : matplotlib Figure
    """

    def __init__(
        self,
        *,
        points: NDArray[np.float64],
        labels: NDArray[np.int64],
        growth_steps: NDArray[np.int32],
        seeds: NDArray[np.int64],
        names: tuple[str, str] = ("", ""),
    ) -> None:
        self.points = points
        self.labels = labels
        self.growth_steps = growth_steps
        self.seeds = seeds
        self.names = names

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        *,
        cluster: int = 0,
        n_panels: int = 6,
        feature_names: Sequence[str] | None = None,
        figure: Any = None,
    ) -> Self:
        """Draw the growth of one cluster of a fitted estimator, in several panels.

        Parameters
        ----------
        estimator : PSKC
            Fitted. Rows that refinement moved are shown in the cluster they ended in.
        X : array-like of shape (n_samples, n_features)
            The rows of the fit.
        cluster : int, default=0
        n_panels : int, default=6
            Number of moments between the seed and the grown cluster, fewer if it took fewer
            steps.
        feature_names : sequence of str or None, default=None
            Names of the columns; those of the fit if None.
        figure : matplotlib Figure or None, default=None
            Where to draw; a new one if None.

        Returns
        -------
        display : GrowthDisplay
        """
        plane = project(estimator, X, feature_names)
        if estimator.growth_step_ is None:
            raise ValueError(
                "The clusters were chosen on a sample: they did not grow on these rows. Give psi "
                "and tau to PSKC to see clusters grow."
            )
        display = cls(
            points=plane.points,
            labels=estimator.labels_,
            growth_steps=estimator.growth_step_,
            seeds=estimator.seeds_,
            names=plane.names,
        )
        return display.plot(cluster=cluster, n_panels=n_panels, figure=figure)

    def plot(self, *, cluster: int = 0, n_panels: int = 6, figure: Any = None) -> Self:
        """Draw the panels on a figure, or on a new one."""
        if not 0 <= cluster < len(self.seeds):
            there = f"clusters 0 to {len(self.seeds) - 1}" if len(self.seeds) else "no cluster"
            raise ValueError(f"cluster={cluster} is not there. The model has {there}.")
        last = int(self.growth_steps[self.labels == cluster].max(initial=1))
        moments = np.unique(np.linspace(1, last, n_panels).round().astype(int))
        n_columns = min(3, len(moments))
        n_rows = -(-len(moments) // n_columns)
        size = (3.6 * n_columns, 3 * n_rows)
        self.axes_ = grid_of_axes(figure, size, n_rows, n_columns, sharex=True, sharey=True)
        self.figure_ = self.axes_[0, 0].figure
        limits = Limits.of(self.points)
        for ax, step in zip(self.axes_.flat, moments, strict=False):
            self._draw_moment(ax, cluster, int(step), limits)
        for ax in self.axes_.flat[len(moments) :]:
            ax.axis("off")
        for ax in self.axes_[:, 0]:
            ax.set_ylabel(as_text(self.names[1]))
        for ax in self.axes_[-1]:
            ax.set_xlabel(as_text(self.names[0]))
        return self

    def _draw_moment(self, ax: Any, cluster: int, step: int, limits: Limits) -> None:
        """Draw the clusters before this one, and it after some steps."""
        growing = (self.labels == cluster) & (self.growth_steps <= step)
        # Of the many rows that are there some are drawn, as many in every part.
        some = slice(None, None, -(-len(self.points) // _MAX_ROWS))
        labels = np.where((self.labels < cluster) | growing, self.labels, -1)[some]
        draw_points(ax, self.points[some], labels, len(self.seeds), limits)
        mark_seeds(ax, self.points[self.seeds[: cluster + 1]])
        ax.set(xticks=[], yticks=[])
        ax.set_title(f"cluster {cluster}, step {step}: {growing.sum():,} rows", fontsize=10)
