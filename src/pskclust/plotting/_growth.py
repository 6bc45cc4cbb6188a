"""GrowthDisplay: a cluster after several steps of growth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ._axes import as_text, grid_of_axes, mark_seeds
from ._points import Limits, draw_points
from .fitted_rows import AnyRows, FittedRows
from .projection import Projection

_MAX_ROWS = 100_000


class GrowthDisplay:
    """Display of a cluster after several steps of growth: members in colour, other rows in grey.

    Use :meth:`from_estimator` to draw a fitted model.

    Parameters
    ----------
    points : ndarray of shape (n_samples, 2)
        Coordinates of each row.
    labels : ndarray of int, shape (n_samples,)
        Cluster of each row; -1 is noise.
    growth_steps : ndarray of int, shape (n_samples,)
        Step in which each row joined its cluster; -1 for rows that did not join during growth.
    seeds : ndarray of int, shape (n_clusters,)
        Number of the row from which each cluster grew.
    names : tuple of two str, default=("", "")
        Names of the axes.

    Attributes
    ----------
    axes_ : ndarray of matplotlib Axes
        Axes of the panels, as an array of rows and columns.
    figure_ : matplotlib Figure
        The figure that holds the axes.

    See Also
    --------
    ClusterDisplay : Draw all clusters at the end of the fit.
    SimilarityDisplay : Draw the similarity to clusters over one or two columns.

    Examples
    --------
    >>> from pskclust import PSKC
    >>> from pskclust.plotting import GrowthDisplay
    >>> from sklearn.datasets import make_blobs
    >>> X, _ = make_blobs(300, centers=3, cluster_std=0.5, random_state=1)
    >>> model = PSKC(psi=16, tau=0.05, random_state=0).fit(X)
    >>> display = GrowthDisplay.from_estimator(model, X, n_panels=2)
    >>> [ax.get_title() for ax in display.axes_.flat]
    ['cluster 0, step 1: 4 rows', 'cluster 0, step 17: 100 rows']
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
        X: AnyRows,
        *,
        cluster: int | None = None,
        n_panels: int = 6,
        feature_names: Sequence[str] | None = None,
        figure: Any = None,
    ) -> Self:
        """Draw the growth of one cluster of a fitted model, in several panels.

        Parameters
        ----------
        estimator : PSKC or Pipeline
            A model, or a pipeline that ends in one, fitted with `psi` and `tau`. Rows that
            refinement moved are shown in their final cluster.
        X : array-like of shape (n_samples, n_features), path or RowBlocks
            The rows passed to `fit`.
        cluster : int or None, default=None
            Number of the cluster, 0 to n_clusters_ - 1; None draws the largest cluster.
        n_panels : int, default=6
            Largest number of panels from the first step to the full cluster, 1 or more. There are
            fewer panels if the cluster grew in fewer steps.
        feature_names : sequence of str or None, default=None
            Names of the columns. None uses the names from the fit, or numbers the columns.
        figure : matplotlib Figure or None, default=None
            Figure to draw on; None makes a new one.

        Returns
        -------
        display : GrowthDisplay
            The drawn display.

        Raises
        ------
        ValueError
            If the clusters were chosen and did not grow, or `cluster` does not exist.

        Examples
        --------
        >>> from pskclust import PSKC
        >>> from pskclust.plotting import GrowthDisplay
        >>> from sklearn.datasets import make_blobs
        >>> X, _ = make_blobs(300, centers=3, cluster_std=0.5, random_state=1)
        >>> model = PSKC(psi=16, tau=0.05, random_state=0).fit(X)
        >>> GrowthDisplay.from_estimator(model, X, cluster=1).axes_.shape
        (2, 3)
        """
        model, rows, names, _ = FittedRows.drawn(estimator, X, feature_names)
        if model.growth_step_ is None:
            raise ValueError(
                "GrowthDisplay draws clusters that grew, but the clusters of this model were "
                "chosen. Fit it with psi and tau."
            )
        plane = Projection.of(rows, names, getattr(model, "metric", "euclidean"))
        display = cls(
            points=plane.points,
            labels=model.labels_,
            growth_steps=model.growth_step_,
            seeds=model.seeds_,
            names=plane.names,
        )
        return display.plot(cluster=cluster, n_panels=n_panels, figure=figure)

    def plot(self, *, cluster: int | None = None, n_panels: int = 6, figure: Any = None) -> Self:
        """Draw the growth of one cluster.

        Parameters
        ----------
        cluster : int or None, default=None
            Number of the cluster, from 0; None draws the largest cluster.
        n_panels : int, default=6
            Largest number of panels, 1 or more.
        figure : matplotlib Figure or None, default=None
            Figure to draw on; None makes a new one.

        Returns
        -------
        display : GrowthDisplay
            The drawn display.

        Examples
        --------
        >>> from pskclust import PSKC
        >>> from pskclust.plotting import GrowthDisplay
        >>> from sklearn.datasets import make_blobs
        >>> X, _ = make_blobs(300, centers=3, cluster_std=0.5, random_state=1)
        >>> model = PSKC(psi=16, tau=0.05, random_state=0).fit(X)
        >>> display = GrowthDisplay.from_estimator(model, X)
        >>> display.plot(cluster=2, n_panels=3).axes_.shape
        (1, 3)
        """
        if cluster is None:
            cluster = self._largest()
        if not 0 <= cluster < len(self.seeds):
            there = f"clusters 0 to {len(self.seeds) - 1}" if len(self.seeds) else "no cluster"
            raise ValueError(f"cluster={cluster} does not exist. The model has {there}.")
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

    def _largest(self) -> int:
        """Return the number of the largest cluster, the first of several; 0 without clusters."""
        sizes = np.bincount(self.labels[self.labels >= 0], minlength=1)
        return int(sizes.argmax())

    def _draw_moment(self, ax: Any, cluster: int, step: int, limits: Limits) -> None:
        """Draw all earlier clusters, and `cluster` after `step` steps of growth."""
        growing = (self.labels == cluster) & (self.growth_steps <= step)
        # If there are more than `_MAX_ROWS` rows, only every k-th row is drawn.
        some = slice(None, None, -(-len(self.points) // _MAX_ROWS))
        labels = np.where((self.labels < cluster) | growing, self.labels, -1)[some]
        draw_points(ax, self.points[some], labels, len(self.seeds), limits)
        mark_seeds(ax, self.points[self.seeds[: cluster + 1]])
        ax.set(xticks=[], yticks=[])
        ax.set_title(f"cluster {cluster}, step {step}: {growing.sum():,} rows", fontsize=10)
