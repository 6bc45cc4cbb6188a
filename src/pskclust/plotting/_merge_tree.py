"""The merge tree of a linked clustering, as a dendrogram."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import dendrogram
from sklearn.utils.validation import check_is_fitted

from .._utils.palette import cluster_colours
from ._axes import axes_for

# With more parts, their numbers would run into each other.
_MAX_NUMBERED_PARTS = 40


class MergeTreeDisplay:
    """The merge tree of a linked clustering: parts at the bottom, joins of unlike ones on top.

    Make one with :meth:`from_estimator`.

    Parameters
    ----------
    linkage_matrix : ndarray of shape (n_parts - 1, 4)
        As `scipy.cluster.hierarchy` has it.
    links : ndarray of int, shape (n_parts,)
        Cluster of each part, -1 for none.

    Attributes
    ----------
    ax_ : matplotlib Axes
    figure_ : matplotlib Figure
    """

    def __init__(self, *, linkage_matrix: NDArray[np.float64], links: NDArray[np.int64]) -> None:
        self.linkage_matrix = linkage_matrix
        self.links = links

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> Self:
        """Draw the merge tree of a fitted estimator.

        Parameters
        ----------
        estimator : PSKC
            Fitted, with linked clusters of two parts or more.
        ax : matplotlib Axes, default=None
            New ones if None.

        Returns
        -------
        display : MergeTreeDisplay
        """
        check_is_fitted(estimator)
        tree = estimator.merge_tree_
        if tree is None:
            raise ValueError(
                "The model has no merge tree: its clusters are not linked. Fit it with "
                "psi and tau left open."
            )
        if len(tree) < 2:
            raise ValueError(f"The merge tree has {len(tree)} parts: there is nothing to draw.")
        display = cls(linkage_matrix=tree.to_scipy(), links=estimator.fitted_.linkage.links)
        return display.plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw the tree: branches within a cluster in its colour, those between in grey."""
        self.ax_ = axes_for(ax, figsize=(8, 4))
        self.figure_ = self.ax_.figure
        n_parts = len(self.links)
        colours = cluster_colours(int(self.links.max(initial=-1)) + 1)
        clusters = self._clusters_of_sets()
        dendrogram(
            self.linkage_matrix,
            ax=self.ax_,
            no_labels=n_parts > _MAX_NUMBERED_PARTS,
            link_color_func=lambda node: _hexadecimal(colours[clusters[node]]),
        )
        n_clusters = len(np.unique(self.links[self.links >= 0]))
        self.ax_.set(
            ylabel="-log10 of similarity", title=f"{n_parts} parts in {n_clusters} clusters"
        )
        if n_parts <= _MAX_NUMBERED_PARTS:
            self.ax_.set_xlabel("part")
        return self

    def _clusters_of_sets(self) -> NDArray[np.int64]:
        """Return the cluster of each part and of each join; -1 for a join of several clusters."""
        clusters = np.append(self.links, np.full(len(self.linkage_matrix), -1))
        for join, (first, second) in enumerate(self.linkage_matrix[:, :2].astype(int)):
            if clusters[first] == clusters[second]:
                clusters[len(self.links) + join] = clusters[first]
        return clusters


def _hexadecimal(colour: NDArray[np.float64]) -> str:
    """Return a colour as SciPy takes it."""
    return "#" + "".join(f"{round(255 * value):02x}" for value in colour)
