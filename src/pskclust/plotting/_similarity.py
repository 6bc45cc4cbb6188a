"""The similarity distribution of the paper's Definition 1: K-hat over a range of points."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from .._palette import cluster_colours
from ._axes import axes_for

_STEPS_1D, _STEPS_2D = 1000, 200


class SimilarityDisplay:
    """The similarity to the most similar cluster, over a range of one or two columns.

    Make one with :meth:`from_estimator`.

    Parameters
    ----------
    grid : tuple of ndarray
        The coordinates of each column.
    similarities : ndarray of shape (len(grid[0]), n_clusters) or (len(y), len(x), n_clusters)
    X : ndarray of shape (n_samples, n_features)
        Rows to show with it.
    names : sequence of str

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    """

    def __init__(
        self,
        *,
        grid: tuple[NDArray[np.float64], ...],
        similarities: NDArray[np.float64],
        X: NDArray[np.float64],
        names: list[str],
    ) -> None:
        self.grid = grid
        self.similarities = similarities
        self.X = X
        self.names = names

    @classmethod
    def from_estimator(cls, estimator: Any, X: ArrayLike, *, ax: Any = None) -> Self:
        """Draw the similarity distribution of a fitted estimator.

        Parameters
        ----------
        estimator : PSKC
            Fitted to one or two columns.
        X : array-like of shape (n_samples, n_features)
            Rows whose range is drawn.
        ax : matplotlib Axes or None, default=None

        Returns
        -------
        display : SimilarityDisplay
        """
        check_is_fitted(estimator)
        rows = np.asarray(X, dtype=np.float64)
        n_columns = estimator.n_features_in_
        if n_columns > 2 or rows.ndim != 2 or rows.shape[1] != n_columns:
            raise ValueError(
                f"The similarity distribution is drawn over one or two columns; X has shape "
                f"{rows.shape} and the model {n_columns} columns."
            )
        low, high = rows.min(axis=0), rows.max(axis=0)
        margin = np.where(high > low, 0.08 * (high - low), 0.5)
        n_steps = _STEPS_1D if n_columns == 1 else _STEPS_2D
        grid = tuple(np.linspace(low - margin, high + margin, n_steps).T)
        points = np.stack(np.meshgrid(*grid), axis=-1)
        found = estimator.similarity(points.reshape(-1, n_columns))
        names = list(getattr(estimator, "feature_names_in_", []))
        display = cls(
            grid=grid,
            similarities=found.reshape(*points.shape[:-1], -1),
            X=rows,
            names=names or [f"column {number}" for number in range(n_columns)],
        )
        return display.plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw on axes, or on new ones."""
        self.ax_ = axes_for(ax, figsize=(8, 5))
        self.figure_ = self.ax_.figure
        (self._draw_lines if len(self.grid) == 1 else self._draw_contours)()
        return self

    def _draw_lines(self) -> None:
        n_clusters = self.similarities.shape[1]
        colours = cluster_colours(n_clusters)
        for cluster in range(n_clusters):
            self.ax_.plot(
                self.grid[0],
                self.similarities[:, cluster],
                color=colours[cluster],
                label=f"cluster {cluster}",
            )
        self.ax_.plot(self.X[:, 0], np.zeros(len(self.X)), "|", color="0.5", ms=8, alpha=0.3)
        self.ax_.set(xlabel=self.names[0], ylabel="similarity to each cluster", ylim=(0, None))
        if 0 < n_clusters <= 12:
            self.ax_.legend(frameon=False)

    def _draw_contours(self) -> None:
        highest = self.similarities.max(axis=2, initial=0)
        filled = self.ax_.contourf(*self.grid, highest, levels=12, cmap="cividis")
        self.figure_.colorbar(filled, ax=self.ax_, label="similarity to the most similar cluster")
        if len(self.X) <= 20_000:
            self.ax_.plot(*self.X.T, ".", color="white", ms=1.5, alpha=0.5)
        self.ax_.set(xlabel=self.names[0], ylabel=self.names[1])
