"""FittedModel: the methods of an estimator that use the result of its fit."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ._cells.voronoi import VoronoiPartition
from ._data.parameters import CLUSTERING_RULES, check_parameters, whole
from ._data.rows import check_columns, check_rows, check_values
from ._data.scaling import Preparation
from ._data.sources import numbered
from ._fit import prediction
from ._fit.in_process import Rows
from ._fit.pipeline import Fitted
from ._model_io.container import write_model
from ._model_io.state import SavedModel, to_parts
from ._rows_of_fit import RowsOfFit
from ._utils.callers import stack_level
from .tables.streaming import row_blocks

# A value for each row and cluster; or the largest values of each row, and their clusters.
Values = NDArray[np.float64]
Ranked = tuple[NDArray[np.float64], NDArray[np.int64]]
# Function of a fit, some rows and a number of threads that returns an array.
OfRows = Callable[[Fitted, NDArray[Any], int | None], NDArray[Any]]
# The same with `top_k` as third argument: returns the largest values and their clusters.
OfTop = Callable[[Fitted, NDArray[Any], int, int | None], tuple[NDArray[Any], NDArray[Any]]]


# Mixins are bases here, because `set_output` wraps `transform` only in the class defining it.
class FittedModel(RowsOfFit, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Methods of a fitted estimator: predictions, similarities, scores, layers, model files."""

    n_jobs: int | None
    device: str | None

    def predict(self, X: Rows) -> NDArray[np.int64]:
        """Return the cluster of each row, -1 for noise.

        For grown clusters, this is the most similar cluster if the similarity exceeds `tau_`. For
        chosen and linked clusters, it is the cluster with the most members in the row's cells.
        Rows that lie far from the sample of a choice, or in a uniform background, are noise.
        With ``noise="nearest"``, only rows that share no cell with any cluster are noise. The
        notes of :class:`PSKC` compare the result with `labels_`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path or RowBlocks
            New rows, from any source that `fit` accepts. In a file, the columns of the fit are
            found by name. A data frame must have these columns only, in the same order.

        Returns
        -------
        labels : ndarray of int64, shape (n_samples,)

        Examples
        --------
        >>> from pskclust import PSKC
        >>> from sklearn.datasets import make_blobs
        >>> X, _ = make_blobs(300, centers=3, cluster_std=0.5, random_state=1)
        >>> model = PSKC(random_state=0).fit(X)
        >>> bool((model.predict(X[:5] + 0.01) == model.labels_[:5]).all())
        True
        """
        return self._for_each_row(X, prediction.predict)

    def score_samples(self, X: Rows) -> NDArray[np.float64]:
        """Return the score of each row: high for typical rows, low for outliers.

        The score is high where fitted rows are dense: it is minus the logarithm of the typical
        distance between neighbouring fitted rows around the row. Each partitioning gives an
        estimate of this logarithm, log(size) + log(n / m) / n_features, where m of all n fitted
        rows are in the row's cell, and size is the distance from the cell's centre to the nearest
        other centre. The score is minus the mean of the estimates. Rows that ``predict`` labels as
        noise score lower than all others. Time is linear in the number of rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path or RowBlocks
            Any rows, from any source that `fit` accepts.

        Returns
        -------
        scores : ndarray of float64, shape (n_samples,)

        See Also
        --------
        PSKC : `outlier_scores_` ranks the rows of the fit in the opposite order, from 0 to 1.

        Notes
        -----
        Voronoi cells at the border of the data are unbounded. A row far outside the data scores
        like the rows at the border, unless the noise rule of a choice labels it as noise. With
        ``method="hypersphere"``, cells are bounded, and a row outside all balls has the lowest
        score.

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
        """Return the value of `of_rows` for each row of X, from any source that `fit` accepts."""
        preparation = getattr(self, "preparation_", None)
        fills = preparation is not None and preparation.missing == "mean"
        blocks = row_blocks(X, self._known_columns(), keep_gaps=fills)
        if blocks is None:
            rows = self._rows_to_place(X)
            return of_rows(self._placing, rows, self.n_jobs)
        check_is_fitted(self)
        check_columns(self, blocks.n_columns, blocks.names, reset=False)
        found = []
        for first_row, block in numbered(blocks):
            if preparation is not None and blocks.names is not None:
                block = preparation.apply(block, blocks.names)
            way = None if preparation is None else preparation.way_around_gaps
            rows = check_values(block, self._fitted.metric, self._known_columns(), first_row, way)
            prediction.require_reach(self._fitted, rows)
            found.append(of_rows(self._placing, rows, self.n_jobs))
        return np.concatenate(found)

    def _for_each_cluster(
        self, X: ArrayLike, of_all: OfRows, of_top: OfTop, top_k: int | None
    ) -> NDArray[Any] | tuple[NDArray[Any], NDArray[Any]]:
        """Return each row's values for all clusters, or its `top_k` largest and their clusters."""
        rows = self._rows_to_place(X)
        if top_k is None:
            return of_all(self._placing, rows, self.n_jobs)
        check_parameters({"top_k": top_k}, {"top_k": (whole(1),)})
        return of_top(self._placing, rows, int(top_k), self.n_jobs)

    @property
    def _placing(self) -> Fitted:
        """The result of the fit, for labelling new rows on the device of this model."""
        check_parameters({"device": self.device}, {"device": CLUSTERING_RULES["device"]})
        return self._fitted.on(self.device)

    def _known_columns(self) -> list[str] | None:
        """Return the columns of a file that the model uses, None for all of them."""
        if hasattr(self, "preparation_"):
            return list(self.preparation_.columns)
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else list(names)

    @overload
    def similarity(self, X: ArrayLike, top_k: None = None) -> Values: ...
    @overload
    def similarity(self, X: ArrayLike, top_k: int) -> Ranked: ...
    def similarity(self, X: ArrayLike, top_k: int | None = None) -> Values | Ranked:
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
            The clusters of these similarities. Returned only with `top_k`.

        See Also
        --------
        membership : Share of each cluster among the fitted rows in a row's cells.

        Examples
        --------
        >>> from pskclust import PSKC
        >>> from sklearn.datasets import make_blobs
        >>> X, _ = make_blobs(300, centers=3, cluster_std=0.5, random_state=1)
        >>> model = PSKC(random_state=0).fit(X)
        >>> similarities, clusters = model.similarity(X, top_k=1)
        >>> bool((clusters[:, 0] == model.labels_).all())
        True
        """
        return self._for_each_cluster(X, prediction.similarity, prediction.top_similarities, top_k)

    @overload
    def membership(self, X: ArrayLike, top_k: None = None) -> Values: ...
    @overload
    def membership(self, X: ArrayLike, top_k: int) -> Ranked: ...
    def membership(self, X: ArrayLike, top_k: int | None = None) -> Values | Ranked:
        """Return the membership of each row in every cluster, or its largest memberships.

        A membership is the share of a cluster among the fitted rows in a row's cells, 0 to 1. The
        memberships of a row sum to 1 minus the share of noise. All are 0 for a row without a cell,
        and for rows that a choice labels as noise: distant outliers and uniform background.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        top_k : int or None, default=None
            Return only the `top_k` largest memberships of each row, or all if there are fewer.

        Returns
        -------
        memberships : ndarray of float64, shape (n_samples, n_clusters_)
            With `top_k`, of shape (n_samples, top_k), the largest membership first.
        clusters : ndarray of int64, shape (n_samples, top_k)
            The clusters of these memberships. Returned only with `top_k`.

        See Also
        --------
        similarity : Mean fraction of a cluster's members that share a cell with a row.

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

    def transform(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the similarity of each row to every cluster, as ``similarity(X)`` does.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        similarities : ndarray of float64, shape (n_samples, n_clusters_)

        Examples
        --------
        >>> from pskclust import PSKC
        >>> from sklearn.datasets import make_blobs
        >>> X, _ = make_blobs(300, centers=3, cluster_std=0.5, random_state=1)
        >>> PSKC(random_state=0).fit(X).transform(X).shape
        (300, 3)
        """
        return self.similarity(X)

    def _rows_to_place(self, X: Any) -> NDArray[Any]:
        check_is_fitted(self)
        preparation = getattr(self, "preparation_", None)
        if preparation is None:
            rows = check_rows(self, X, self._fitted.metric)
        elif hasattr(X, "columns"):
            # Named columns are those of the original table, before its preparation.
            prepared = preparation.apply(X)
            rows = self._checked(prepared, preparation)
        else:
            rows = self._checked(X, preparation)
            self._warn_if_unscaled(rows, preparation)
        return prediction.require_reach(self._fitted, rows)

    def _checked(self, X: ArrayLike, preparation: Preparation) -> NDArray[Any]:
        return check_rows(
            self,
            X,
            self._fitted.metric,
            names=preparation.columns,
            around_gaps=preparation.way_around_gaps,
        )

    def _warn_if_unscaled(self, rows: NDArray[Any], preparation: Preparation) -> None:
        partition = self._fitted.partition
        if isinstance(partition, VoronoiPartition) and preparation.looks_unscaled(
            rows, partition.points
        ):
            warnings.warn(
                f"The model was fitted to scaled columns ({preparation.scaling}), and X does not "
                "seem to be scaled. Pass a table with the columns of the fit, or "
                "model.preparation_.apply(X).",
                UserWarning,
                stacklevel=stack_level(),
            )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to one file, for :func:`pskclust.load`.

        The file contains arrays and JSON, and no pickle. The arrays include the centres of cells
        and the sample of a choice, which are rows of the fit, and labels and scores of all rows:
        share a model only with those who may see its data. The file does not contain
        `callback`, a `random_state` that is not an int, or parameters that apply only to this
        machine: `device`, `scratch_dir` and `checkpoint`. These are None in a loaded model.

        Parameters
        ----------
        path : str or path-like
            The file, which is replaced if it exists.

        Examples
        --------
        >>> import tempfile
        >>> import pskclust
        >>> from sklearn.datasets import make_blobs
        >>> X, _ = make_blobs(300, centers=3, cluster_std=0.5, random_state=1)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     pskclust.PSKC(random_state=0).fit(X).save(f"{folder}/model.npz")
        ...     pskclust.load(f"{folder}/model.npz").n_clusters_
        3
        """
        check_is_fitted(self)
        preparation = getattr(self, "preparation_", None)
        saved = SavedModel(self.get_params(deep=False), self._fitted, preparation)
        write_model(path, *to_parts(saved))
