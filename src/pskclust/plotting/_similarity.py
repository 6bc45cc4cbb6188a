"""The similarity distribution of the paper's Definition 1: K-hat over a range of points."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from .._utils.palette import cluster_colours
from ._axes import as_text, axes_for, without_frame
from .projection import column_names

_STEPS_1D, _STEPS_2D = 1000, 150
_MAX_ROWS, _MAX_NAMES = 5_000, 12


class SimilarityDisplay:
    """The similarity to the most similar cluster, over a range of one or two columns.

    Make one with :meth:`from_estimator`.

    Parameters
    ----------
    grid : tuple of ndarray
        The coordinates of each column.
    similarities : ndarray of shape (len(grid[0]), n_clusters) or (len(grid[1]), len(grid[0]))
        To each cluster over one column; to the most similar one over two.
    X : ndarray of shape (n_samples, n_features)
        Rows to show with it.
    names : sequence of str
    tau : float or None, default=None
        At or below this similarity, rows are noise; None draws no line.

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
        tau: float | None = None,
    ) -> None:
        self.grid = grid
        self.similarities = similarities
        self.X = X
        self.names = names
        self.tau = tau

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: ArrayLike,
        *,
        feature_names: Sequence[str] | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw the similarity distribution of a fitted estimator.

        Parameters
        ----------
        estimator : PSKC
            Fitted to one or two columns.
        X : array-like of shape (n_samples, n_features)
            Rows whose range is drawn.
        feature_names : sequence of str or None, default=None
            Names of the columns; those of the fit if None.
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
        found = _similarities(estimator, points)
        display = cls(
            grid=grid,
            similarities=found,
            X=rows,
            names=column_names(estimator, feature_names),
            tau=_noise_threshold(estimator),
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
                label=f"cluster {cluster}" if cluster < _MAX_NAMES else None,
                lw=1.8,
            )
        if self.tau is not None:
            self.ax_.axhline(self.tau, color="0.35", ls="--", lw=1, label=f"tau = {self.tau:.3g}")
        some = self._some_rows()[:, 0]
        # Ticks under the axis, in its own units.
        self.ax_.plot(
            some,
            np.full(len(some), -0.025),
            "|",
            color="0.4",
            ms=9,
            alpha=0.35,
            transform=self.ax_.get_xaxis_transform(),
            clip_on=False,
        )
        self.ax_.tick_params(axis="x", pad=12)
        self.ax_.set(xlabel=as_text(self.names[0]), ylabel="similarity to each cluster")
        self.ax_.set_ylim(0, None)
        without_frame(self.ax_)
        self.ax_.legend(
            frameon=False, loc="upper left", bbox_to_anchor=(1, 1), title=self._how_many(n_clusters)
        )

    def _how_many(self, n_clusters: int) -> str | None:
        return f"{n_clusters:,} clusters" if n_clusters > _MAX_NAMES else None

    def _draw_contours(self) -> None:
        levels = np.linspace(0, max(float(self.similarities.max()), 1e-9), 13)
        filled = self.ax_.contourf(*self.grid, self.similarities, levels=levels, cmap="cividis")
        bar = self.figure_.colorbar(
            filled, ax=self.ax_, label="similarity to the most similar cluster", format="%.3g"
        )
        if self.tau is not None and self.similarities.min() < self.tau < self.similarities.max():
            line = {"colors": "white", "linestyles": "--", "linewidths": 1.2}
            self.ax_.contour(*self.grid, self.similarities, levels=[self.tau], **line)
            bar.ax.axhline(self.tau, color="white", ls="--", lw=1.2)
        self.ax_.plot(*self._some_rows().T, ".", color="white", ms=2, alpha=0.5, mew=0)
        self.ax_.set(xlabel=as_text(self.names[0]), ylabel=as_text(self.names[1]))

    def _some_rows(self) -> NDArray[np.float64]:
        """Return some of the rows, as many in every part, if there are too many to be seen."""
        return self.X[:: -(-len(self.X) // _MAX_ROWS)]


def _noise_threshold(estimator: Any) -> float | None:
    """Return tau where it decides which rows are noise."""
    # Linked clusters, and all with noise="nearest", take rows at any similarity above 0.
    linked = getattr(estimator, "merge_tree_", None) is not None
    nearest = getattr(estimator, "noise", "keep") == "nearest"
    return None if linked or nearest else float(estimator.tau_)


def _similarities(estimator: Any, points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the similarities of a line of points to all clusters, of a grid to the highest."""
    flat = points.reshape(-1, points.shape[-1])
    with warnings.catch_warnings():
        # The points of a grid have no column names, and need none.
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        if points.shape[-1] == 1:
            each: NDArray[np.float64] = estimator.similarity(flat)
            return each
        # Of all clusters at all points there may be too many to hold.
        highest, _ = estimator.similarity(flat, top_k=1)
    return np.asarray(highest.max(axis=1, initial=0)).reshape(points.shape[:-1])
