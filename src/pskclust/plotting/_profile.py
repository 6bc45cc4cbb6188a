"""ProfileDisplay: the sizes of clusters, and the similarities of their members."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .._utils.palette import cluster_colours
from ._axes import grid_of_axes, without_frame
from .fitted_rows import model_of

_MAX_CLUSTERS = 30


class ProfileDisplay:
    """Display of the size of each cluster and the quartiles of its members' similarities.

    At most 30 clusters are drawn, the largest ones, in decreasing order of size.

    Use :meth:`from_estimator` to draw a fitted model.

    Parameters
    ----------
    labels : ndarray of int, shape (n_samples,)
        Cluster of each row; -1 is noise.
    similarities : ndarray of shape (n_samples,)
        Similarity of each row to its own cluster.

    Attributes
    ----------
    axes_ : ndarray of two matplotlib Axes
        Axes of the sizes, and axes of the similarities.
    figure_ : matplotlib Figure
        The figure that holds the axes.

    See Also
    --------
    ClusterDisplay : Draw rows in the colours of their clusters.
    pskclust.report.write_report : Write a page about a clustering.

    Examples
    --------
    >>> from pskclust import PSKC
    >>> from pskclust.plotting import ProfileDisplay
    >>> from sklearn.datasets import make_blobs
    >>> X, _ = make_blobs(300, centers=3, cluster_std=0.5, random_state=1)
    >>> model = PSKC(psi=16, tau=0.05, random_state=0).fit(X)
    >>> display = ProfileDisplay.from_estimator(model)
    >>> [label.get_text() for label in display.axes_[0].get_yticklabels()]
    ['0', '1', '2']
    """

    def __init__(self, *, labels: NDArray[np.int64], similarities: NDArray[np.float64]) -> None:
        self.labels = labels
        self.similarities = similarities

    @classmethod
    def from_estimator(cls, estimator: Any, X: object = None, *, figure: Any = None) -> Self:
        """Draw the clusters of a fitted model.

        Parameters
        ----------
        estimator : PSKC or Pipeline
            A fitted model, or a fitted pipeline that ends in one.
        X : None
            Ignored, so that all displays can be called with the rows as second argument.
        figure : matplotlib Figure or None, default=None
            Figure to draw on; None makes a new one.

        Returns
        -------
        display : ProfileDisplay
            The drawn display.

        Examples
        --------
        >>> from pskclust import PSKC
        >>> from pskclust.plotting import ProfileDisplay
        >>> from sklearn.datasets import make_blobs
        >>> X, _ = make_blobs(300, centers=3, cluster_std=0.5, random_state=1)
        >>> model = PSKC(psi=16, tau=0.05, random_state=0).fit(X)
        >>> ProfileDisplay.from_estimator(model).axes_[0].get_xlabel()
        'rows'
        """
        model = model_of(estimator)
        display = cls(labels=model.labels_, similarities=model.similarities_)
        return display.plot(figure=figure)

    def plot(self, *, figure: Any = None) -> Self:
        """Draw sizes and similarities of clusters, in decreasing order of size.

        Parameters
        ----------
        figure : matplotlib Figure or None, default=None
            Figure to draw on; None makes a new one.

        Returns
        -------
        display : ProfileDisplay
            The drawn display.

        Examples
        --------
        >>> import numpy as np
        >>> from pskclust.plotting import ProfileDisplay
        >>> labels, similarities = np.array([0, 0, 1]), np.array([0.9, 0.8, 0.7])
        >>> display = ProfileDisplay(labels=labels, similarities=similarities).plot()
        >>> [bar.get_width() for bar in display.axes_[0].patches]
        [np.int64(2), np.int64(1)]
        """
        n_clusters = int(self.labels.max(initial=-1)) + 1
        sizes = np.bincount(self.labels[self.labels >= 0], minlength=n_clusters)
        shown = np.argsort(-sizes, kind="stable")[:_MAX_CLUSTERS]
        height = 1.2 + 0.28 * max(1, len(shown))
        self.axes_ = grid_of_axes(figure, (9, height), 1, 2, sharey=True)[0]
        self.figure_ = self.axes_[0].figure
        colours = cluster_colours(n_clusters)[shown]
        self._draw_sizes(sizes[shown], colours)
        self._draw_similarities(shown, colours)
        self.axes_[0].set_yticks(np.arange(len(shown)), [str(cluster) for cluster in shown])
        self.axes_[0].set(ylabel="cluster", ylim=(len(shown) - 0.4, -0.6))
        if not n_clusters:
            self.figure_.suptitle("no clusters", fontsize=11)
        if n_clusters > len(shown):
            title = f"the {len(shown)} largest of {n_clusters:,} clusters"
            self.figure_.suptitle(title, fontsize=11)
        for ax in self.axes_:
            without_frame(ax)
            ax.tick_params(axis="y", length=0)
        return self

    def _draw_sizes(self, sizes: NDArray[np.intp], colours: NDArray[np.float64]) -> None:
        ax = self.axes_[0]
        bars = ax.barh(np.arange(len(sizes)), sizes, color=colours, height=0.72)
        ax.bar_label(bars, [f"{size:,}" for size in sizes], padding=3, fontsize=8)
        # Leave room for the number beside the longest bar.
        ax.set(xlabel="rows", xlim=(0, 1.15 * max(1, sizes.max(initial=1))))
        ax.xaxis.set_major_formatter(lambda value, _: f"{value:,.0f}")
        ax.locator_params(axis="x", nbins=5)

    def _draw_similarities(self, shown: NDArray[np.intp], colours: NDArray[np.float64]) -> None:
        ax = self.axes_[1]
        members = [self.similarities[self.labels == cluster] for cluster in shown]
        if members:
            places = np.arange(len(shown))
            marks = np.array([np.percentile(some, [0, 25, 50, 75, 100]) for some in members]).T
            ax.hlines(places, marks[0], marks[4], color=colours, lw=1.2)
            ax.hlines(places, marks[1], marks[3], color=colours, lw=7)
            ax.plot(marks[2], places, "|", color="black", ms=10, mew=2)
        ax.set(xlabel="similarity of members: range, quartiles, median", xlim=(0, None))
        ax.locator_params(axis="x", nbins=5)
