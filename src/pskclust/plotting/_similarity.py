"""SimilarityDisplay: the similarity to clusters (Definition 1 of the paper) over a range."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .._utils.palette import cluster_colours
from ._axes import as_text, axes_for, without_frame
from .fitted_rows import AnyRows, FittedRows, earlier_steps

_STEPS_1D, _STEPS_2D = 1000, 150
_MAX_ROWS, _MAX_NAMES = 5_000, 12


class SimilarityDisplay:
    """Display of the similarity to clusters over the range of one or two columns.

    For one column, it draws a line for each cluster; for two columns, contours of the similarity to
    the most similar cluster.

    Use :meth:`from_estimator` to draw a fitted model.

    Parameters
    ----------
    grid : tuple of one or two ndarray
        Coordinates of the grid along each column.
    similarities : ndarray of shape (len(grid[0]), n_clusters) or (len(grid[1]), len(grid[0]))
        Similarity to each cluster over one column, or to the most similar cluster over two
        columns.
    X : ndarray of shape (n_samples, n_features)
        Rows to mark in the picture.
    names : sequence of str
        Names of the columns.
    tau : float or None, default=None
        Similarity, 0 to 1, at or below which rows are noise; drawn as a dashed line. None draws no
        line.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the picture.
    figure_ : matplotlib Figure
        The figure that holds the axes.

    See Also
    --------
    ClusterDisplay : Draw rows in the colours of their clusters.
    pskclust.PSKC.similarity : Compute the similarity of rows to clusters.

    Examples
    --------
    >>> from pskclust import PSKC
    >>> from pskclust.datasets import make_varied_densities
    >>> from pskclust.plotting import SimilarityDisplay
    >>> X, _ = make_varied_densities(300, random_state=0)
    >>> model = PSKC(psi=16, tau=0.1, random_state=0).fit(X)
    >>> display = SimilarityDisplay.from_estimator(model, X)
    >>> display.similarities.shape == (1000, model.n_clusters_)
    True
    >>> display.ax_.get_ylabel()
    'similarity to each cluster'
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
        X: AnyRows,
        *,
        feature_names: Sequence[str] | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw the similarities of a fitted model.

        Parameters
        ----------
        estimator : PSKC or Pipeline
            A model, or a pipeline that ends in one, fitted to one or two columns.
        X : array-like of shape (n_samples, n_features)
            Rows that set the range of the picture, such as those of the fit.
        feature_names : sequence of str or None, default=None
            Names of the columns. None uses the names from the fit, or numbers the columns.
        ax : matplotlib Axes or None, default=None
            Axes to draw on; None makes a new figure.

        Returns
        -------
        display : SimilarityDisplay
            The drawn display.

        Raises
        ------
        ValueError
            If the model was fitted to more than two columns, or X has another number of columns.

        Examples
        --------
        >>> from pskclust import PSKC
        >>> from pskclust.datasets import make_varied_densities
        >>> from pskclust.plotting import SimilarityDisplay
        >>> X, _ = make_varied_densities(300, random_state=0)
        >>> model = PSKC(psi=16, tau=0.1, random_state=0).fit(X)
        >>> SimilarityDisplay.from_estimator(model, X, feature_names=["size"]).ax_.get_xlabel()
        'size'
        """
        model, rows, names, before = FittedRows.of(estimator, X, feature_names, any_rows=True)
        steps = earlier_steps(estimator)
        if steps is not None and feature_names is None and before is not None:
            # The columns kept their names, but not their values.
            done = " and ".join(type(step).__name__ for _, step in steps.steps)
            names = [f"{name} (after {done})" for name in names]
        rows, n_columns = np.asarray(rows, dtype=np.float64), rows.shape[1]
        if n_columns > 2:
            raise ValueError(
                f"SimilarityDisplay draws one or two columns, but the model was fitted to "
                f"{n_columns} columns. Use ClusterDisplay for more columns."
            )
        low, high = rows.min(axis=0), rows.max(axis=0)
        margin = np.where(high > low, 0.08 * (high - low), 0.5)
        n_steps = _STEPS_1D if n_columns == 1 else _STEPS_2D
        grid = tuple(np.linspace(low - margin, high + margin, n_steps).T)
        points = np.stack(np.meshgrid(*grid), axis=-1)
        found = _similarities(model, points)
        display = cls(
            grid=grid,
            similarities=found,
            X=rows,
            names=names,
            tau=_noise_threshold(model),
        )
        return display.plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw lines over one column, or contours over two.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes to draw on; None makes a new figure.

        Returns
        -------
        display : SimilarityDisplay
            The drawn display.

        Examples
        --------
        >>> import numpy as np
        >>> from pskclust.plotting import SimilarityDisplay
        >>> line, rows = np.linspace(0, 1, 5), np.array([[0.2], [0.7]])
        >>> display = SimilarityDisplay(
        ...     grid=(line,), similarities=np.column_stack([1 - line, line]), X=rows, names=["x"]
        ... )
        >>> [line.get_label() for line in display.plot().ax_.lines[:2]]
        ['cluster 0', 'cluster 1']
        """
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
        # Draw a tick under the axis for each row.
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
        from matplotlib.ticker import MaxNLocator

        levels = np.linspace(0, max(float(self.similarities.max()), 1e-9), 13)
        filled = self.ax_.contourf(*self.grid, self.similarities, levels=levels, cmap="cividis")
        bar = self.figure_.colorbar(
            filled,
            ax=self.ax_,
            label="similarity to the most similar cluster",
            ticks=MaxNLocator(6),
            format="%.3g",
        )
        if self.tau is not None and self.similarities.min() < self.tau < self.similarities.max():
            line = {"colors": "white", "linestyles": "--", "linewidths": 1.2}
            self.ax_.contour(*self.grid, self.similarities, levels=[self.tau], **line)
            bar.ax.axhline(self.tau, color="white", ls="--", lw=1.2)
        self.ax_.plot(*self._some_rows().T, ".", color="white", ms=2, alpha=0.5, mew=0)
        self.ax_.set(xlabel=as_text(self.names[0]), ylabel=as_text(self.names[1]))

    def _some_rows(self) -> NDArray[np.float64]:
        """Return every k-th row, at most `_MAX_ROWS` rows in all."""
        return self.X[:: -(-len(self.X) // _MAX_ROWS)]


def _noise_threshold(model: Any) -> float | None:
    """Return tau if it decides which rows are noise, else None."""
    # Linked clusters, and all clusters with noise="nearest", accept any similarity above 0.
    linked = getattr(model, "merge_tree_", None) is not None
    nearest = getattr(model, "noise", "keep") == "nearest"
    return None if linked or nearest else float(model.tau_)


def _similarities(model: Any, points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the similarity to each cluster along a line, or the highest over a grid."""
    flat = points.reshape(-1, points.shape[-1])
    with warnings.catch_warnings():
        # The points of a grid have no column names, which scikit-learn warns about.
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        if points.shape[-1] == 1:
            each: NDArray[np.float64] = model.similarity(flat)
            return each
        # The similarities to all clusters may not fit into memory.
        highest, _ = model.similarity(flat, top_k=1)
    return np.asarray(highest.max(axis=1, initial=0)).reshape(points.shape[:-1])
