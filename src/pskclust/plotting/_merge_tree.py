"""MergeTreeDisplay: the merge tree of a clustering as a dendrogram."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import dendrogram

from .._utils.palette import cluster_colours
from .._utils.wording import counted
from ._axes import axes_for
from .fitted_rows import model_of

# With more parts, their numbers would be too small to read.
_MAX_NUMBERED_PARTS = 20
# Height of joins without similarity in `MergeTree.to_scipy`.
_NO_SIMILARITY = 6.0
# Where `dendrogram` puts the leaves of a tree on the axis.
_FIRST_LEAF, _LEAF_STEP = 5.0, 10.0


class MergeTreeDisplay:
    """Display of the merge tree of chosen or linked clusters, as a dendrogram.

    The parts that were joined are at the bottom. Branches that meet higher up are less
    similar; those that meet at height 6 share no cell. Branches within a cluster have the colour
    of the cluster; branches that join clusters are grey.

    Use :meth:`from_estimator` to draw a fitted model.

    Parameters
    ----------
    linkage_matrix : ndarray of shape (n_parts - 1, 4)
        The tree in the format of `scipy.cluster.hierarchy`.
    links : ndarray of int, shape (n_parts,)
        Cluster of each part; -1 for parts in no cluster.

    Attributes
    ----------
    ax_ : matplotlib Axes
        Axes of the tree.
    figure_ : matplotlib Figure
        The figure that holds the axes.

    See Also
    --------
    AutoDisplay : Draw the candidates of a choice.
    scipy.cluster.hierarchy.dendrogram : Draw any merge tree.

    Examples
    --------
    >>> from pskclust import PSKC
    >>> from pskclust.plotting import MergeTreeDisplay
    >>> from sklearn.datasets import make_blobs
    >>> X, _ = make_blobs(300, centers=3, cluster_std=0.5, random_state=1)
    >>> model = PSKC(psi=16, tau=0.05, n_clusters=2, random_state=0).fit(X)
    >>> MergeTreeDisplay.from_estimator(model).ax_.get_title()
    '3 parts in 2 clusters'
    """

    def __init__(self, *, linkage_matrix: NDArray[np.float64], links: NDArray[np.int64]) -> None:
        self.linkage_matrix = linkage_matrix
        self.links = links

    @classmethod
    def from_estimator(cls, estimator: Any, X: object = None, *, ax: Any = None) -> Self:
        """Draw the merge tree of a fitted model.

        Parameters
        ----------
        estimator : PSKC or Pipeline
            A model, or a pipeline that ends in one, fitted without `tau`, or with `n_clusters`.
        X : None
            Ignored, so that all displays can be called with the rows as second argument.
        ax : matplotlib Axes or None, default=None
            Axes to draw on; None makes a new figure.

        Returns
        -------
        display : MergeTreeDisplay
            The drawn display.

        Raises
        ------
        ValueError
            If the model has no merge tree, or its tree has fewer than two parts.

        Examples
        --------
        >>> from pskclust import PSKC
        >>> from pskclust.plotting import MergeTreeDisplay
        >>> from sklearn.datasets import make_blobs
        >>> X, _ = make_blobs(300, centers=3, cluster_std=0.5, random_state=1)
        >>> model = PSKC(psi=16, tau=0.05, n_clusters=2, random_state=0).fit(X)
        >>> MergeTreeDisplay.from_estimator(model).ax_.get_ylabel()
        '-log10 of similarity'
        """
        model = model_of(estimator)
        tree = model.merge_tree_
        if tree is None:
            raise ValueError(
                "The model has no merge tree: its clusters grew and were not linked. Fit it "
                "without tau, or with n_clusters."
            )
        if len(tree) < 2:
            raise ValueError(
                f"The merge tree has fewer than two parts ({len(tree)}): nothing to draw."
            )
        display = cls(linkage_matrix=tree.to_scipy(), links=model.fitted_.linkage.links)
        return display.plot(ax=ax)

    def plot(self, *, ax: Any = None) -> Self:
        """Draw the tree.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            Axes to draw on; None makes a new figure.

        Returns
        -------
        display : MergeTreeDisplay
            The drawn display.

        Examples
        --------
        >>> import numpy as np
        >>> from pskclust.plotting import MergeTreeDisplay
        >>> tree = np.array([[0.0, 1.0, 0.5, 2.0], [2.0, 3.0, 2.0, 3.0]])
        >>> display = MergeTreeDisplay(linkage_matrix=tree, links=np.array([0, 0, 1]))
        >>> display.plot().ax_.get_title()
        '3 parts in 2 clusters'
        """
        self.ax_ = axes_for(ax, figsize=(8, 4))
        self.figure_ = self.ax_.figure
        n_parts = len(self.links)
        colours = cluster_colours(int(self.links.max(initial=-1)) + 1)
        clusters = self._clusters_of_sets()
        drawn = dendrogram(
            self.linkage_matrix,
            ax=self.ax_,
            no_labels=n_parts > _MAX_NUMBERED_PARTS,
            link_color_func=lambda node: _hexadecimal(colours[clusters[node]]),
        )
        self._colour_single_parts(drawn, colours)
        n_clusters = len(np.unique(self.links[self.links >= 0]))
        words = f"{counted(n_parts, 'part')} in {counted(n_clusters, 'cluster')}"
        self.ax_.set(ylabel="-log10 of similarity", title=words)
        if self.linkage_matrix[:, 2].max() >= _NO_SIMILARITY:
            self.ax_.set_ylabel(f"-log10 of similarity ({_NO_SIMILARITY:g}: no cell is shared)")
        if n_parts <= _MAX_NUMBERED_PARTS:
            self.ax_.set_xlabel("part")
        return self

    def _colour_single_parts(self, drawn: Mapping[str, Any], colours: NDArray[np.float64]) -> None:
        """Draw the branch of each cluster that is a single part in the colour of the cluster.

        `dendrogram` draws such a branch as part of a join, which is grey.
        """
        n_parts = np.bincount(self.links[self.links >= 0])
        for xs, heights in zip(drawn["icoord"], drawn["dcoord"], strict=True):
            for end, top in ((0, 1), (3, 2)):
                if heights[end] > 0:
                    continue
                part = drawn["leaves"][round((xs[end] - _FIRST_LEAF) / _LEAF_STEP)]
                cluster = self.links[part]
                if cluster >= 0 and n_parts[cluster] == 1:
                    self.ax_.plot([xs[end]] * 2, [0, heights[top]], color=colours[cluster])

    def _clusters_of_sets(self) -> NDArray[np.int64]:
        """Return the cluster of each part and of each join; -1 for a join of different clusters."""
        clusters = np.append(self.links, np.full(len(self.linkage_matrix), -1))
        for join, (first, second) in enumerate(self.linkage_matrix[:, :2].astype(int)):
            if clusters[first] == clusters[second]:
                clusters[len(self.links) + join] = clusters[first]
        return clusters


def _hexadecimal(colour: NDArray[np.float64]) -> str:
    """Return a colour as a hexadecimal string."""
    return "#" + "".join(f"{round(255 * value):02x}" for value in colour)
