"""ClusterDisplay: rows as points in a plane, coloured by cluster."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._utils.palette import NOISE_COLOUR, cluster_colours
from ._axes import as_text, axes_for, mark_seeds, seed_name
from ._points import Limits, draw_points
from .fitted_rows import AnyRows, FittedRows
from .projection import RANDOM_HEIGHT, Projection

_MAX_NAMES = 12


class ClusterDisplay:
    """Display of rows in the colours of their clusters, with noise in grey.

    A cross marks the seed of each cluster, or the row most similar to a chosen or linked cluster.
    More than 20,000 rows are drawn as pixels, each in the colour of the cluster with the most rows
    in it.

    Use :meth:`from_estimator` to draw a fitted model.

    Parameters
    ----------
    points : ndarray of shape (n_samples, 2)
        Coordinates of each row.
    labels : ndarray of int, shape (n_samples,)
        Cluster of each row; -1 is noise.
    seeds : ndarray of int or None, default=None
        Numbers of the rows to mark with a cross; None marks none.
    seed_name : str, default="seed"
        Legend entry for the crosses.
    names : tuple of two str, default=("", "")
        Names of the axes.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the picture.
    figure_ : matplotlib Figure
        The figure that holds the axes.

    See Also
    --------
    GrowthDisplay : Draw the growth of one cluster.
    ProfileDisplay : Draw sizes and similarities of clusters.
    cluster_colours : Return the colours of clusters.

    Examples
    --------
    >>> from pskclust import PSKC
    >>> from pskclust.plotting import ClusterDisplay
    >>> from sklearn.datasets import make_blobs
    >>> X, _ = make_blobs(300, centers=3, cluster_std=0.5, random_state=1)
    >>> model = PSKC(psi=16, tau=0.05, random_state=0).fit(X)
    >>> ClusterDisplay.from_estimator(model, X).ax_.get_title()
    '3 clusters, 0.0% noise'
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
        X: AnyRows,
        *,
        labels: ArrayLike | None = None,
        feature_names: Sequence[str] | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw the clusters of a fitted model, or other labels of the same rows.

        Parameters
        ----------
        estimator : PSKC or Pipeline
            A fitted model, or a fitted pipeline that ends in one.
        X : array-like of shape (n_samples, n_features), path or RowBlocks
            The rows passed to `fit`. Two columns are drawn as they are, even if a pipeline scales
            them; more columns are projected onto their first two principal axes. With
            metric="haversine", the longitude is the horizontal axis.
        labels : array-like of int, shape (n_samples,), or None, default=None
            Labels to draw, such as those of ``model.relabel(n_clusters=5)``; -1 is noise. None
            draws `labels_`. Seeds are marked only for `labels_`.
        feature_names : sequence of str or None, default=None
            Names of the columns. None uses the names from the fit, or numbers the columns.
        ax : matplotlib Axes or None, default=None
            Axes to draw on; None makes a new figure.

        Returns
        -------
        display : ClusterDisplay
            The drawn display.

        Examples
        --------
        >>> from pskclust import PSKC
        >>> from pskclust.plotting import ClusterDisplay
        >>> from sklearn.datasets import make_blobs
        >>> X, _ = make_blobs(300, centers=3, cluster_std=0.5, random_state=1)
        >>> model = PSKC(psi=16, tau=0.05, random_state=0).fit(X)
        >>> display = ClusterDisplay.from_estimator(model, X, feature_names=["width", "height"])
        >>> display.ax_.get_xlabel()
        'width'
        """
        model, rows, names, _ = FittedRows.drawn(estimator, X, feature_names)
        plane = Projection.of(rows, names, getattr(model, "metric", "euclidean"))
        display = cls(
            points=plane.points,
            labels=model.labels_ if labels is None else _checked(labels, len(rows)),
            seeds=getattr(model, "seeds_", None) if labels is None else None,
            seed_name=seed_name(model),
            names=plane.names,
        )
        return display.plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw the points.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes to draw on; None makes a new figure.

        Returns
        -------
        display : ClusterDisplay
            The drawn display.

        Examples
        --------
        >>> import numpy as np
        >>> from pskclust.plotting import ClusterDisplay
        >>> points = np.array([[0.0, 0.0], [0.1, 0.0], [5.0, 5.0]])
        >>> ClusterDisplay(points=points, labels=np.array([0, 0, -1])).plot().ax_.get_title()
        '1 cluster, 33.3% noise'
        """
        self.ax_ = axes_for(ax, figsize=(8, 6))
        self.figure_ = self.ax_.figure
        n_clusters = int(self.labels.max(initial=-1)) + 1
        draw_points(self.ax_, self.points, self.labels, n_clusters, Limits.of(self.points))
        if self.seeds is not None and len(self.seeds):
            mark_seeds(self.ax_, self.points[self.seeds])
        self.ax_.set(xlabel=as_text(self.names[0]), ylabel=as_text(self.names[1]))
        if self.names[1] == RANDOM_HEIGHT:
            self.ax_.set_yticks([])
        noise = np.mean(self.labels < 0)
        clusters = "1 cluster" if n_clusters == 1 else f"{n_clusters:,} clusters"
        self.ax_.set_title(f"{clusters}, {noise:.1%} noise")
        self._name_clusters(n_clusters)
        return self

    def _name_clusters(self, n_clusters: int) -> None:
        """Draw a legend with the largest clusters beside the picture."""
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


def _checked(labels: ArrayLike, n_rows: int) -> NDArray[np.int64]:
    found = np.asarray(labels)
    if found.shape != (n_rows,) or found.dtype.kind not in "iu":
        raise ValueError(
            f"labels is of type {found.dtype} and shape {found.shape}. Pass a whole number for "
            f"each of the {n_rows} rows."
        )
    return found.astype(np.int64)


def _mark(line: Any, colour: Any, name: str, marker: str = "o") -> Any:
    return line([], [], marker=marker, linestyle="", color=colour, label=name, markersize=6)
