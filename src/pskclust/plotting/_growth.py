"""Clusters as they grow from their seeds."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._palette import NOISE_COLOUR, cluster_colours
from ._axes import axes_for, check_same_rows, to_plane


class GrowthDisplay:
    """How far a cluster had grown after some steps: members in colour, rows left in grey.

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
        cls, estimator: Any, X: ArrayLike, *, cluster: int = 0, n_panels: int = 6
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
            Number of moments between the seed and the grown cluster.

        Returns
        -------
        display : GrowthDisplay
        """
        plane = to_plane(estimator, X)
        check_same_rows(estimator, len(plane.points))
        if not 0 <= cluster < estimator.n_clusters_:
            raise ValueError(
                f"cluster={cluster} is not there. The model has clusters 0 to "
                f"{estimator.n_clusters_ - 1}."
            )
        display = cls(
            points=plane.points,
            labels=estimator.labels_,
            growth_steps=estimator.growth_step_,
            seeds=estimator.seeds_,
            names=plane.names,
        )
        return display.plot(cluster=cluster, n_panels=n_panels)

    def plot(self, *, cluster: int = 0, n_panels: int = 6) -> Self:
        """Draw the panels on a new figure."""
        columns = min(3, n_panels)
        rows = -(-n_panels // columns)
        size = (3.6 * columns, 3 * rows)
        self.axes_ = np.atleast_1d(axes_for(None, nrows=rows, ncols=columns, figsize=size))
        self.figure_ = self.axes_.flat[0].figure
        last = int(self.growth_steps[self.labels == cluster].max(initial=1))
        for ax in self.axes_.flat:
            ax.set(xticks=[], yticks=[])
        moments = np.unique(np.linspace(1, last, n_panels).round().astype(int))
        for ax, step in zip(self.axes_.flat, moments, strict=False):
            self.draw_moment(ax, cluster, int(step))
        for ax in self.axes_.flat[len(moments) :]:
            ax.axis("off")
        return self

    def draw_moment(self, ax: Any, cluster: int, step: int) -> None:
        """Draw, on given axes, the clusters before this one and it after some steps."""
        grown = (self.labels >= 0) & (self.labels < cluster)
        growing = (self.labels == cluster) & (self.growth_steps <= step)
        left = ~grown & ~growing
        colours = cluster_colours(int(self.labels.max(initial=-1)) + 1)
        size = float(np.clip(8_000 / max(1, len(self.points)), 0.5, 12))
        ax.scatter(*self.points[left].T, color=NOISE_COLOUR, s=size, linewidths=0)
        for some in (grown, growing):
            ax.scatter(*self.points[some].T, c=colours[self.labels[some]], s=size, linewidths=0)
        ax.plot(*self.points[self.seeds[: cluster + 1]].T, "x", color="black", ms=7, mew=1.6)
        ax.set_title(f"cluster {cluster}, step {step}: {growing.sum():,} rows", fontsize=9)
