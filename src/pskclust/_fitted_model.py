"""FittedModel: the methods of an estimator that work by the outcome of its fit."""

from __future__ import annotations

import os
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ._data.parameters import CLUSTERING_RULES, check_parameters, whole
from ._data.rows import check_columns, check_rows, check_values
from ._data.sources import numbered
from ._fit import prediction
from ._fit.in_process import Rows
from ._fit.pipeline import Fitted
from ._model_io.container import write_model
from ._model_io.state import SavedModel, to_parts
from .tables.streaming import row_blocks


# Mixins stand here, since `set_output` serves a `transform` of a class that has them.
class FittedModel(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Predictions for new rows, similarities to clusters, model files."""

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
        blocks = row_blocks(X, self._known_columns())
        if blocks is None:
            rows = self._rows_to_place(X)
            return prediction.predict(self._placing, rows, self.n_jobs)
        check_is_fitted(self)
        check_columns(self, blocks.n_columns, blocks.names, reset=False)
        labels = np.empty(blocks.n_rows, dtype=np.int64)
        for first_row, block in numbered(blocks):
            if hasattr(self, "preparation_") and blocks.names is not None:
                block = self.preparation_.apply(block, blocks.names)
            rows = check_values(block, self._fitted.metric, first_row=first_row)
            prediction.require_reach(self._fitted, rows)
            own = slice(first_row, first_row + len(rows))
            labels[own] = prediction.predict(self._placing, rows, self.n_jobs)
        return labels

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
        rows = self._rows_to_place(X)
        if top_k is None:
            return prediction.similarity(self._placing, rows, self.n_jobs)
        check_parameters({"top_k": top_k}, {"top_k": (whole(1),)})
        return prediction.top_similarities(self._placing, rows, int(top_k), self.n_jobs)

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
