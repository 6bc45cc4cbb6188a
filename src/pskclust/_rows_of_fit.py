"""RowsOfFit: scores and layers of the rows that a model was fitted to."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ._choice.layers import Layer
from ._data.parameters import check_parameters, is_whole, whole
from ._fit import prediction
from ._fit.pipeline import Fitted
from ._utils.wording import counted


class RowsOfFit:
    """Attributes and methods for the rows of a fit: probabilities, outlier scores, layers."""

    _fitted: Fitted

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_fitted")

    @property
    def fitted_(self) -> Fitted:
        """The outcome of the fit as one object, for code that builds on it."""
        check_is_fitted(self)
        return self._fitted

    @property
    def probabilities_(self) -> Any:
        """Membership strength of each row, 0 to 1; 0 for noise, as in HDBSCAN.

        The strength is the similarity of the row to its cluster, divided by that of the cluster's
        most similar member.

        See Also
        --------
        membership : Shares of all clusters, also for new rows.

        Examples
        --------
        >>> from pskclust import PSKC
        >>> from sklearn.datasets import make_blobs
        >>> X, _ = make_blobs(300, centers=3, cluster_std=0.5, random_state=1)
        >>> model = PSKC(random_state=0).fit(X)
        >>> bool(model.probabilities_[model.seeds_[0]] == 1)
        True
        """
        result, peaks = self.fitted_.result, self.fitted_.seen_whole.peaks
        # A member may be outside all hyperspheres: it gets the similarity of one shared cell.
        least = 1 / (result.clusters.resolution * result.clusters.masses)
        similarities = np.maximum(
            result.similarities, self._take(np.append(least, 0.0), result.labels)
        )
        peaks = np.append(np.maximum(peaks, least), 1.0)
        # A row of weight 0 is not a member, and may be more similar than all members.
        return (similarities / self._take(peaks, result.labels)).clip(0, 1)

    @property
    def outlier_scores_(self) -> Any:
        """Outlier score of each row: 0 to 0.5 for members of clusters, 0.5 to 1 for noise.

        See Also
        --------
        score_samples : Scores of any rows, in the opposite order: high for typical rows.

        Examples
        --------
        >>> import numpy as np
        >>> from pskclust import PSKC
        >>> from sklearn.datasets import make_blobs
        >>> X, _ = make_blobs(300, centers=3, cluster_std=0.5, random_state=1)
        >>> model = PSKC(random_state=0).fit(np.vstack([X, [[40.0, 40.0]]]))
        >>> int(model.outlier_scores_.argmax())
        300
        """
        fitted = self.fitted_
        scores, labels = fitted.seen_whole.scores, fitted.result.labels
        # Rounding may lead slightly beyond 0 and 1.
        return prediction.outlier_scores(fitted, scores, labels).clip(0, 1)

    @property
    def layers_(self) -> tuple[Layer, ...]:
        """Clusterings of the same rows from coarse to fine, each with its evidence.

        A layer is a cut whose splits are, on average, more likely real than not. There is at most
        one for each band of numbers of clusters (2 to 3, 4 to 7, 8 to 15, ...). If only the chosen
        cut is supported, it is the only layer. The second choice in `auto_` may be a cut of another
        tree and need not be a layer. ``relabel(n_clusters=k)`` also returns other cuts.

        See Also
        --------
        relabel : The labels of a layer, without a new fit.

        Examples
        --------
        >>> from pskclust import PSKC
        >>> from pskclust.datasets import make_shapes
        >>> X, _ = make_shapes(2000, random_state=0)
        >>> model = PSKC(random_state=0).fit(X)
        >>> [layer.n_clusters for layer in model.layers_]
        [2, 7, 9]
        >>> [int(model.relabel(layer=number).max()) + 1 for number in range(3)]
        [2, 7, 9]
        """
        linkage = self.fitted_.linkage
        choice = None if linkage is None else linkage.choice
        # Model files of earlier versions have the choice without layers.
        return self.fitted_.hierarchy.layers(choice.layers if choice else ())

    def relabel(self, n_clusters: int | None = None, *, layer: int | None = None) -> Any:
        """Return labels of the rows of the fit for another number of clusters, without a new fit.

        The labels are a cut of one tree: each cluster of a finer cut lies within a cluster of a
        coarser cut, and the cut into `n_clusters_` clusters is `labels_`. Noise stays noise. The
        model does not change. ``PSKC(n_clusters=k)`` chooses among the cuts of several trees, so
        its clusters may differ.

        The labels are those of the rows of the fit. ``ClusterDisplay.from_estimator(model, X,
        labels=...)`` draws them. ``predict`` and reports use the clusters of `labels_`.

        For chosen clusters, the tree is `merge_tree_`, and `n_clusters` is at most 16, or the
        number of the finest layer if that is larger. The tree of a small sample may have fewer
        parts; the error for a larger number names the limit. For grown clusters, the tree links the
        clusters of the fit, so `n_clusters` is at most `n_clusters_`. Clusters that share no cell
        are joined in the order of the distances between their centres, the nearest first.

        Parameters
        ----------
        n_clusters : int or None
            Number of clusters.
        layer : int or None
            Index into `layers_`: 0 is the coarsest layer, -1 the finest. Give either `n_clusters`
            or `layer`.

        Returns
        -------
        labels : ndarray of int64, shape (n_samples,)
            Clusters are numbered from 0; -1 is noise.

        See Also
        --------
        layers_ : Numbers of clusters that the tree supports, with their evidence.

        Examples
        --------
        >>> from pskclust import PSKC
        >>> from sklearn.datasets import make_blobs
        >>> X, _ = make_blobs(300, centers=3, cluster_std=0.5, random_state=1)
        >>> model = PSKC(random_state=0).fit(X)
        >>> model.relabel(n_clusters=2).max() + 1
        np.int64(2)
        >>> [layer.n_clusters for layer in model.layers_]
        [3]
        """
        check_is_fitted(self)
        if (n_clusters is None) == (layer is None):
            raise ValueError("relabel takes n_clusters or layer. Give one of the two.")
        if layer is not None:
            n_clusters = self._layer(layer).n_clusters
        check_parameters({"n_clusters": n_clusters}, {"n_clusters": (whole(1),)})
        number, (parts, sizes) = int(n_clusters or 1), self._parts()
        n_most = int(np.count_nonzero(sizes))
        if not n_most:
            raise ValueError("The fit has no clusters to relabel: all rows are noise.")
        if number > n_most:
            raise ValueError(
                f"n_clusters={number} is more than the {counted(n_most, 'part')} of this fit. "
                f"Use n_clusters <= {n_most}, or fit again with n_clusters={number}."
            )
        return self._take(self.fitted_.hierarchy.labels_of_parts(number, sizes), parts)

    def _layer(self, number: int) -> Layer:
        layers = self.layers_
        if not is_whole(number):
            raise TypeError(
                f"layer={number!r} is not an index. Pass a whole number, such as layer=0 for the "
                "coarsest layer or layer=-1 for the finest."
            )
        if not -len(layers) <= number < len(layers):
            raise ValueError(
                f"layer={number} is out of range: layers_ has {counted(len(layers), 'layer')}. Use "
                "layer=0 for the coarsest layer or layer=-1 for the finest."
            )
        return layers[number]

    def _parts(self) -> tuple[Any, NDArray[np.int64]]:
        """Return the part of the tree that each row is in, and the number of rows in each part.

        Noise rows have -1, or the number of parts, in place of a part.
        """
        result, linkage = self.fitted_.result, self.fitted_.linkage
        if linkage is None or linkage.parts is None:
            return result.labels, result.sizes
        return linkage.parts, self._counted(linkage.parts, linkage.n_parts)

    # ``pskclust.dask.PSKC`` overrides these two methods: its rows' values are Dask arrays.

    def _take(self, values: NDArray[Any], numbers: Any) -> Any:
        """Return the entry of `values` for each row, given the index of the entry."""
        return values[numbers]

    def _counted(self, numbers: Any, n_numbers: int) -> NDArray[np.int64]:
        """Return how often each of the numbers 0 to `n_numbers` - 1 occurs."""
        counts: NDArray[np.int64] = np.bincount(numbers, minlength=n_numbers + 1)[:n_numbers]
        return counts
