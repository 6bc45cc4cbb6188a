"""FittedModel: the methods of an estimator that work by the outcome of its fit."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ._choice.layers import Layer
from ._data.parameters import CLUSTERING_RULES, check_parameters, whole
from ._data.rows import check_columns, check_rows, check_values
from ._data.sources import numbered
from ._fit import prediction
from ._fit.in_process import Rows
from ._fit.pipeline import Fitted
from ._model_io.container import write_model
from ._model_io.state import SavedModel, to_parts
from .tables.streaming import row_blocks

# Returns an array for some rows, given the fit, the rows and a number of threads.
OfRows = Callable[[Fitted, NDArray[Any], int | None], NDArray[Any]]
# Returns the largest values of rows and the clusters that they are of, given their number, too.
OfTop = Callable[[Fitted, NDArray[Any], int, int | None], tuple[NDArray[Any], NDArray[Any]]]


# Mixins stand here, since `set_output` serves a `transform` of a class that has them.
class FittedModel(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Predictions for new rows, similarities to clusters, scores, layers, model files."""

    _fitted: Fitted
    n_jobs: int | None
    device: str | None

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_fitted")

    @property
    def fitted_(self) -> Fitted:
        """The outcome of the fit in one piece, for code that builds on it."""
        check_is_fitted(self)
        return self._fitted

    def predict(self, X: Rows) -> NDArray[np.int64]:
        """Return the most similar cluster of each row if that similarity exceeds tau, else -1.

        With ``noise="nearest"``, return the most similar cluster whatever the similarity, and -1
        only where it is 0. The notes of the class say how this relates to `labels_`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path or RowBlocks
            Whatever `fit` takes.

        Returns
        -------
        labels : ndarray of int64, shape (n_samples,)
        """
        return self._for_each_row(X, prediction.predict)

    def score_samples(self, X: Rows) -> NDArray[np.float64]:
        """Return how usual each row is among the rows of the fit: the larger, the more usual.

        The score is minus the log of the typical distance between rows of the fit around a row.
        It is a mean over the partitionings: of the log of the size of the row's cell (the distance
        of its centre to the nearest other one) plus 1 / n_features times the log of n / m, where m
        of all n rows of the fit are in the cell. So it is the row's similarity to the whole set,
        for the size of its cells. Rows that ``predict`` calls noise score less than all others: by
        as much as two scores can differ. Takes time linear in the number of rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path or RowBlocks
            Whatever `fit` takes.

        Returns
        -------
        scores : ndarray of float64, shape (n_samples,)

        See Also
        --------
        PSKC : `outlier_scores_` are these scores for the rows of the fit, turned round.

        Notes
        -----
        Voronoi cells at the border of the data have no end. A row far outside scores as rows at
        the border do, unless it is noise by the rule of a choice, or ``method="hypersphere"``
        bounds the cells: outside all balls, the score is the least of all.

        Examples
        --------
        >>> from pskclust import PSKC
        >>> from sklearn.datasets import make_blobs
        >>> X, _ = make_blobs(300, centers=3, cluster_std=0.5, random_state=1)
        >>> model = PSKC(random_state=0).fit(X)
        >>> usual, far = model.score_samples([X[0], [40.0, 40.0]])
        >>> bool(usual > far)
        True
        """
        return self._for_each_row(X, prediction.score_samples)

    def _for_each_row(self, X: Rows, of_rows: OfRows) -> NDArray[Any]:
        """Return a value for each row of whatever `fit` takes."""
        blocks = row_blocks(X, self._known_columns())
        if blocks is None:
            rows = self._rows_to_place(X)
            return of_rows(self._placing, rows, self.n_jobs)
        check_is_fitted(self)
        check_columns(self, blocks.n_columns, blocks.names, reset=False)
        found = []
        for first_row, block in numbered(blocks):
            if hasattr(self, "preparation_") and blocks.names is not None:
                block = self.preparation_.apply(block, blocks.names)
            rows = check_values(block, self._fitted.metric, first_row=first_row)
            prediction.require_reach(self._fitted, rows)
            found.append(of_rows(self._placing, rows, self.n_jobs))
        return np.concatenate(found)

    def _for_each_cluster(
        self, X: ArrayLike, of_all: OfRows, of_top: OfTop, top_k: int | None
    ) -> NDArray[Any] | tuple[NDArray[Any], NDArray[Any]]:
        """Return a value of each row for every cluster, or the largest and their clusters."""
        rows = self._rows_to_place(X)
        if top_k is None:
            return of_all(self._placing, rows, self.n_jobs)
        check_parameters({"top_k": top_k}, {"top_k": (whole(1),)})
        return of_top(self._placing, rows, int(top_k), self.n_jobs)

    @property
    def _placing(self) -> Fitted:
        """The outcome of the fit as new rows are placed by it, on the device of this model."""
        check_parameters({"device": self.device}, {"device": CLUSTERING_RULES["device"]})
        return self._fitted.on(self.device)

    def _known_columns(self) -> list[str] | None:
        """Return the columns of a file that are to be placed, None for all of them."""
        if hasattr(self, "preparation_"):
            return list(self.preparation_.columns)
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else list(names)

    @overload
    def similarity(self, X: ArrayLike, top_k: None = None) -> NDArray[np.float64]: ...

    @overload
    def similarity(
        self, X: ArrayLike, top_k: int
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]: ...

    def similarity(
        self, X: ArrayLike, top_k: int | None = None
    ) -> NDArray[np.float64] | tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return the similarity K-hat of each row to every cluster, or to the most similar ones.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        top_k : int or None, default=None
            Return only the `top_k` most similar clusters of each row, or all if there are fewer.

        Returns
        -------
        similarities : ndarray of float64, shape (n_samples, n_clusters_)
            With `top_k`, of shape (n_samples, top_k), the most similar cluster first.
        clusters : ndarray of int64, shape (n_samples, top_k)
            Which clusters they are. Only with `top_k`.
        """
        return self._for_each_cluster(X, prediction.similarity, prediction.top_similarities, top_k)

    @overload
    def membership(self, X: ArrayLike, top_k: None = None) -> NDArray[np.float64]: ...

    @overload
    def membership(
        self, X: ArrayLike, top_k: int
    ) -> tuple[NDArray[np.float64], NDArray[np.int64]]: ...

    def membership(
        self, X: ArrayLike, top_k: int | None = None
    ) -> NDArray[np.float64] | tuple[NDArray[np.float64], NDArray[np.int64]]:
        """Return how much each row belongs to every cluster, or to the foremost ones.

        Of all rows of the fit in the cells of a row, that is the share that belongs to a cluster,
        0 to 1. The shares of all clusters sum to 1, less the share of noise; all are 0 for a row
        without a cell.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        top_k : int or None, default=None
            Return only the `top_k` largest memberships of each row, or all if there are fewer.

        Returns
        -------
        memberships : ndarray of float64, shape (n_samples, n_clusters_)
            With `top_k`, of shape (n_samples, top_k), the largest first.
        clusters : ndarray of int64, shape (n_samples, top_k)
            Which clusters they are in. Only with `top_k`.

        Examples
        --------
        >>> from pskclust import PSKC
        >>> from sklearn.datasets import make_blobs
        >>> X, _ = make_blobs(300, centers=3, cluster_std=0.5, random_state=1)
        >>> model = PSKC(random_state=0).fit(X)
        >>> model.membership(X[:2]).shape
        (2, 3)
        >>> shares, clusters = model.membership(X[:2], top_k=1)
        >>> bool((clusters[:, 0] == model.labels_[:2]).all())
        True
        """
        return self._for_each_cluster(X, prediction.membership, prediction.top_memberships, top_k)

    @property
    def probabilities_(self) -> Any:
        """Similarity of each row to its cluster over that of its most similar member, 0 to 1."""
        result, peaks = self.fitted_.result, self.fitted_.seen_whole.peaks
        # Of hyperspheres, a member may be in none: it is as similar as one shared cell makes it.
        least = 1 / (result.clusters.resolution * result.clusters.masses)
        similarities = np.maximum(
            result.similarities, self._take(np.append(least, 0.0), result.labels)
        )
        peaks = np.append(np.maximum(peaks, least), 1.0)
        # A row of weight 0 is no member, and may be more similar than all of them.
        return (similarities / self._take(peaks, result.labels)).clip(0, 1)

    @property
    def outlier_scores_(self) -> Any:
        """How unusual each row is, 0 to 1, and above 0.5 for noise."""
        fitted = self.fitted_
        scores, labels = fitted.seen_whole.scores, fitted.result.labels
        # Rounding may lead a little beyond.
        return prediction.outlier_scores(fitted, scores, labels).clip(0, 1)

    @property
    def layers_(self) -> tuple[Layer, ...]:
        """Clusterings of the same rows from coarse to fine."""
        linkage = self.fitted_.linkage
        choice = None if linkage is None else linkage.choice
        # Files of earlier versions know the choice, but no layers.
        return self.fitted_.hierarchy.layers(choice.layers if choice else ())

    def relabel(self, *, n_clusters: int | None = None, layer: int | None = None) -> Any:
        """Return labels of the rows of the fit for another number of clusters, without a new fit.

        They are a cut of one tree: clusters of a finer cut are within those of a coarser one, and
        the cut into `n_clusters_` is `labels_`. Noise stays noise. The model stays as it is.

        Where clusters were chosen, the tree is `merge_tree_`, cut into at most 16 parts, or as many
        as the finest layer has. Where they grew, the clusters of the fit are linked, so that there
        can be fewer of them but not more. Clusters that share no cell are joined by the distance of
        their middles.

        Parameters
        ----------
        n_clusters : int or None
            Number of clusters.
        layer : int or None
            Place in `layers_`, 0 for the coarsest and -1 for the finest. Give one of the two.

        Returns
        -------
        labels : ndarray of int64, shape (n_samples,)
            Clusters are numbered from 0; -1 is noise.

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
        n_most = np.count_nonzero(sizes)
        if number > n_most:
            raise ValueError(
                f"n_clusters={number} is more than the {n_most} parts that this fit has. "
                f"Use n_clusters <= {n_most}, or fit again with n_clusters={number}."
            )
        return self._take(self.fitted_.hierarchy.labels_of_parts(number, sizes), parts)

    def _layer(self, number: int) -> Layer:
        layers = self.layers_
        if not -len(layers) <= number < len(layers):
            raise ValueError(f"layer={number} is not one of {len(layers)} layers. See layers_.")
        return layers[number]

    def _parts(self) -> tuple[Any, NDArray[np.int64]]:
        """Return the part of the tree of each row, and the number of rows of each part.

        Noise has the part -1, or the number after the last.
        """
        result, linkage = self.fitted_.result, self.fitted_.linkage
        if linkage is None or linkage.parts is None:
            return result.labels, result.sizes
        return linkage.parts, self._counted(linkage.parts, linkage.n_parts)

    # Values of rows, which ``pskclust.dask.PSKC`` has on a cluster.

    def _take(self, values: NDArray[Any], numbers: Any) -> Any:
        """Return the value at each of some numbers, of which there is one a row."""
        return values[numbers]

    def _counted(self, numbers: Any, n_numbers: int) -> NDArray[np.int64]:
        """Return how many rows have each number."""
        counts: NDArray[np.int64] = np.bincount(numbers, minlength=n_numbers + 1)[:n_numbers]
        return counts

    def transform(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the similarity of each row to every cluster, as ``similarity(X)`` does.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        similarities : ndarray of float64, shape (n_samples, n_clusters_)
        """
        return self.similarity(X)

    def _rows_to_place(self, X: Any) -> NDArray[Any]:
        check_is_fitted(self)
        if hasattr(self, "preparation_") and hasattr(X, "columns"):
            # Its names tell that these are columns of a table, as the fit found them.
            X = self.preparation_.apply(X)
        rows = check_rows(self, X, self._fitted.metric)
        return prediction.require_reach(self._fitted, rows)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to one file, for :func:`pskclust.load`.

        Everything is kept but a `callback`, a `random_state` that is not a number, and what is of
        this machine only: `device`, `scratch_dir` and `checkpoint`, which are None in a model that
        is loaded. The file holds arrays and JSON, no pickle; it is safe to load from anybody.

        Parameters
        ----------
        path : str or path-like
        """
        check_is_fitted(self)
        preparation = getattr(self, "preparation_", None)
        saved = SavedModel(self.get_params(deep=False), self._fitted, preparation)
        write_model(path, *to_parts(saved))
