"""How large clusters are, and how similar their members are to them."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from .._palette import cluster_colours
from ._axes import axes_for

_MAX_CLUSTERS = 30


class ProfileDisplay:
    """A bar for the size of each cluster, and beside it the quartiles of its similarities.

    Make one with :meth:`from_estimator`.

    Parameters
    ----------
    labels : ndarray of int, shape (n_samples,)
    similarities : ndarray of shape (n_samples,)
        Of each row to its own cluster.

    Attributes
    ----------
    axes_ : ndarray of two matplotlib Axes
    figure_ : matplotlib Figure
    """

    def __init__(self, *, labels: NDArray[np.int64], similarities: NDArray[np.float64]) -> None:
        self.labels = labels
        self.similarities = similarities

    @classmethod
    def from_estimator(cls, estimator: Any) -> Self:
        """Draw the profile of a fitted estimator.

        Parameters
        ----------
        estimator : PSKC
            Fitted.

        Returns
        -------
        display : ProfileDisplay
        """
        check_is_fitted(estimator)
        return cls(labels=estimator.labels_, similarities=estimator.similarities_).plot()

    def plot(self) -> Self:
        """Draw on a new figure, the largest cluster first."""
        n_clusters = int(self.labels.max(initial=-1)) + 1
        sizes = np.bincount(self.labels[self.labels >= 0], minlength=n_clusters)
        shown = np.argsort(-sizes, kind="stable")[:_MAX_CLUSTERS]
        height = 1.2 + 0.28 * max(1, len(shown))
        self.axes_ = axes_for(None, ncols=2, sharey=True, figsize=(9, height))
        self.figure_ = self.axes_[0].figure
        colours = cluster_colours(n_clusters)[shown]
        places = np.arange(len(shown))
        self.axes_[0].barh(places, sizes[shown], color=colours)
        members = [self.similarities[self.labels == cluster] for cluster in shown]
        if members:
            quartiles = np.array([np.percentile(some, [25, 50, 75]) for some in members])
            self.axes_[1].hlines(places, quartiles[:, 0], quartiles[:, 2], color=colours, lw=5)
            self.axes_[1].plot(quartiles[:, 1], places, "|", color="black", ms=9, mew=2)
        self.axes_[0].set_yticks(places, [str(cluster) for cluster in shown])
        self.axes_[0].invert_yaxis()
        self.axes_[0].set(xlabel="rows", ylabel="cluster")
        self.axes_[1].set(xlabel="similarity of members to it: quartiles", xlim=(0, None))
        if n_clusters > len(shown):
            self.figure_.suptitle(f"the {len(shown)} largest of {n_clusters} clusters", fontsize=10)
        for ax in self.axes_:
            ax.spines[["top", "right"]].set_visible(False)
        return self
