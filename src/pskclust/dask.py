"""Point-set kernel clustering on a Dask cluster, with the same labels as in one process."""

from __future__ import annotations

import contextlib
import os
from dataclasses import replace
from functools import partial
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from . import _estimator
from ._cells.on_device import on_device
from ._cells.partition import Partition
from ._dask.cost_model import Plan, plan
from ._data.parameters import Parameters, between, check_parameters
from ._data.rows import FitRows, check_columns
from ._engines.protocol import Engine
from ._fit.pipeline import Fitted
from ._fit.prediction import predict, require_reach
from ._fitted_model import OfRows, OfTop
from ._utils.optional import optional
from ._utils.progress import Report

dask = optional("dask", "pskclust.dask", "dask")
da = optional("dask.array", "pskclust.dask", "dask")
distributed = optional("distributed", "pskclust.dask", "dask")

# These modules import Dask themselves.
from ._dask.data import (  # noqa: E402
    Collection,
    DaskArray,
    DaskColumn,
    DaskData,
    DaskRows,
    check_block,
)
from ._dask.engine import DaskEngine  # noqa: E402
from ._dask.tasks import Tasks, scheduler_is_gone  # noqa: E402

__all__ = ["PSKC", "Plan", "plan"]


class PSKC(_estimator.PSKC):
    """Point-set kernel clustering of Dask arrays and dataframes.

    Labels equal those of :class:`pskclust.PSKC`. The workers keep the cells of their rows.
    During growth, only tables of counts cross the network; their size does not depend on the number
    of rows. If a worker is lost during a fit, other workers compute its blocks again, and the
    labels stay the same.

    `predict`, `similarity`, `score_samples`, `membership` and `transform` return lazy Dask arrays
    for Dask arrays and dataframes, and ndarrays for rows in this process.

    Parameters
    ----------
    **parameters
        Parameters of :class:`pskclust.PSKC`, except `scratch_dir` and `checkpoint`. `n_jobs` is the
        number of threads on each worker; None uses all threads of the worker. `device` is a device
        of each worker: "cuda" is the first GPU that the worker sees.
    client : distributed.Client or None, default=None
        The client of the cluster. None uses the current client.
    timeout : float, default=300
        Seconds that a fit waits for a block, or for the answers of all workers to one request,
        before it raises TimeoutError. Increase it for slow storage or large blocks.

    Attributes
    ----------
    labels_, similarities_, growth_step_, confidences_ : dask arrays, shape (n_samples,)
    probabilities_, outlier_scores_ : dask arrays, shape (n_samples,)
        As in :class:`pskclust.PSKC`, but on the workers, in blocks as long as those of X. The
        labels that ``relabel`` returns are such an array, too.
    Others
        As in :class:`pskclust.PSKC`, in this process.

    See Also
    --------
    pskclust.PSKC : The same clusters in one process.
    pskclust.dask.plan : Estimates the memory and time of a fit.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from pskclust.dask import PSKC
    >>> with Client(processes=False, dashboard_address=None) as client:
    ...     X = da.random.RandomState(0).normal(size=(1000, 2), chunks=(250, 2))
    ...     model = PSKC(random_state=0).fit(X)
    ...     model.labels_.numblocks, model.predict(X[:500]).numblocks
    ((4,), (2,))
    """

    def __init__(
        self,
        *,
        client: Any = None,
        timeout: float = 300,
        **parameters: Any,
    ) -> None:
        super().__init__(**parameters)
        self.client = client
        self.timeout = timeout

    @classmethod
    def _get_param_names(cls) -> list[str]:
        """Return the names of all parameters; scikit-learn would miss those of the base class."""
        return sorted([*_estimator.PSKC._get_param_names(), "client", "timeout"])

    def __sklearn_clone__(self) -> Self:
        """Return an unfitted copy with the same client, because a connection cannot be copied."""
        return type(self)(**self.get_params(deep=False))

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without the client, which is of no use in another process."""
        return {**super().__getstate__(), "client": None}

    def fit(self, X: DaskRows, y: object = None, sample_weight: DaskColumn | None = None) -> Self:
        """Find the clusters of the rows of X.

        Parameters
        ----------
        X : dask array of shape (n_samples, n_features) or dask dataframe
            The rows, in blocks of any length, which may be unknown. Blocks may be empty.
        y : None
            Ignored.
        sample_weight : dask array or series, or array-like, of shape (n_samples,), default=None
            Weights of the rows.

        Returns
        -------
        self : PSKC

        Examples
        --------
        >>> import dask.array as da
        >>> from distributed import Client
        >>> from pskclust.dask import PSKC
        >>> from sklearn.datasets import make_blobs
        >>> X, _ = make_blobs(300, centers=3, random_state=1)
        >>> X = da.from_array(X, chunks=(100, 2))
        >>> client = Client(processes=False, dashboard_address=None)
        >>> type(PSKC(psi=16, tau=0.05, random_state=0).fit(X).labels_).__name__
        'Array'
        >>> client.close()
        """
        self._refuse_what_is_not_for_clusters()
        with contextlib.ExitStack() as self._resources:
            try:
                return super().fit(X, y, sample_weight)
            except Exception as error:
                if self._current_client().status == "running":
                    raise
                raise scheduler_is_gone(error) from error
            finally:
                del self._resources

    # `predict`, `score_samples`, `similarity` and `membership` call these two methods.

    def _for_each_row(self, X: Any, of_rows: OfRows) -> Any:
        if not hasattr(X, "__dask_graph__"):
            return super()._for_each_row(X, of_rows)
        return self._lazily(X, of_rows, np.int64 if of_rows is predict else np.float64)

    def _for_each_cluster(self, X: Any, of_all: OfRows, of_top: OfTop, top_k: int | None) -> Any:
        if not hasattr(X, "__dask_graph__"):
            return super()._for_each_cluster(X, of_all, of_top, top_k)
        check_is_fitted(self)
        if top_k is None:
            return self._lazily(X, of_all, np.float64, self.n_clusters_)
        width = min(top_k, self.n_clusters_)
        largest, clusters = (partial(_top, of_top=of_top, width=width, number=i) for i in (0, 1))
        return (
            self._lazily(X, largest, np.float64, width),
            self._lazily(X, clusters, np.int64, width),
        )

    def _take(self, values: NDArray[Any], numbers: DaskArray) -> DaskArray:
        return numbers.map_blocks(_taken, values, dtype=values.dtype)

    def _counted(self, numbers: DaskArray, n_numbers: int) -> NDArray[np.int64]:
        counts = da.bincount(numbers, minlength=n_numbers + 1)
        found: NDArray[np.int64] = self._current_client().compute(counts).result()[:n_numbers]
        return found

    def to_local(self, *, rows: bool = True) -> _estimator.PSKC:
        """Return this model as a :class:`pskclust.PSKC`.

        Parameters
        ----------
        rows : bool, default=True
            Whether to fetch the results of each row. If not, `labels_`, `similarities_`,
            `growth_step_` and `confidences_` are empty.

        Returns
        -------
        model : pskclust.PSKC
            A model with the same predictions.

        Examples
        --------
        >>> import dask.array as da
        >>> from distributed import Client
        >>> from pskclust.dask import PSKC
        >>> from sklearn.datasets import make_blobs
        >>> X, _ = make_blobs(300, centers=3, random_state=1)
        >>> X = da.from_array(X, chunks=(100, 2))
        >>> client = Client(processes=False, dashboard_address=None)
        >>> model = PSKC(psi=16, tau=0.05, random_state=0).fit(X).to_local()
        >>> type(model.labels_).__name__
        'ndarray'
        >>> client.close()
        """
        fitted = self.fitted_
        result, linkage, whole = fitted.result, fitted.linkage, fitted.seen_whole
        found: list[Any] = [result.labels, result.similarities, result.growth_steps, whole.scores]
        found += [linkage and linkage.confidences, linkage and linkage.parts]
        if rows:
            # An array that the fit does not have is None, and stays None.
            found = self._current_client().gather(self._current_client().compute(found))
        else:
            found = [array if array is None else np.empty(0, array.dtype) for array in found]
        labels, similarities, steps, scores, confidences, parts = found
        result = replace(result, labels=labels, similarities=similarities, growth_steps=steps)
        linkage = linkage and replace(linkage, confidences=confidences, parts=parts)
        parameters = {name: getattr(self, name) for name in _estimator.PSKC._get_param_names()}
        whole = replace(whole, scores=scores)
        local = replace(fitted, result=result, linkage=linkage, whole=whole)
        return _estimator.PSKC.of_fitted(parameters, local)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model, with the results of each row, to one file for :func:`pskclust.load`.

        Parameters
        ----------
        path : str or path-like
            The file, which is replaced if it exists.

        Examples
        --------
        >>> import tempfile
        >>> import pskclust
        >>> import dask.array as da
        >>> from distributed import Client
        >>> from pskclust.dask import PSKC
        >>> from sklearn.datasets import make_blobs
        >>> X, _ = make_blobs(300, centers=3, random_state=1)
        >>> X = da.from_array(X, chunks=(100, 2))
        >>> client = Client(processes=False, dashboard_address=None)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     PSKC(psi=16, tau=0.05, random_state=0).fit(X).save(f"{folder}/model.npz")
        ...     pskclust.load(f"{folder}/model.npz").labels_.shape
        (300,)
        >>> client.close()
        """
        self.to_local().save(path)

    def _refuse_what_is_not_for_clusters(self) -> None:
        check_parameters({"timeout": self.timeout}, {"timeout": (between(0, np.inf),)})
        for name in ("scratch_dir", "checkpoint"):
            if getattr(self, name) is not None:
                raise ValueError(
                    f"{name} does not apply to Dask: workers keep cells in memory, and other "
                    f"workers take over when one is lost. Leave {name} out."
                )

    def _rows(
        self,
        X: DaskRows,
        sample_weight: DaskColumn | None,
        parameters: Parameters,
        report: Report,
    ) -> DaskData:
        collection = Collection.of(X)
        check_columns(self, collection.n_columns, collection.names, reset=True)
        tasks = Tasks(self._current_client(), self.timeout)
        data = DaskData(collection, parameters.metric, tasks)
        self._resources.callback(data.release)
        data.read(sample_weight, parameters.n_partitions)
        return data

    def _engine(
        self, rows: FitRows, partition: Partition, parameters: Parameters, report: Report
    ) -> Engine:
        assert isinstance(rows, DaskData)
        tasks = Tasks(self._current_client(), self.timeout)
        placed = on_device(partition, parameters.device)
        engine = DaskEngine(rows, placed, parameters.n_jobs, tasks, report)
        self._resources.callback(engine.close)
        return engine

    def _current_client(self) -> Any:
        try:
            client = self.client or distributed.get_client()
        except ValueError as error:
            raise ValueError(
                "There is no Dask client. Start one with distributed.Client(), or pass client."
            ) from error
        if client.asynchronous:
            raise ValueError("client is asynchronous. Pass a synchronous client.")
        return client

    def _lazily(self, X: Any, of_rows: OfRows, kind: type, width: int | None = None) -> Any:
        """Return a lazy array of the values that `of_rows` gives for each block of X."""
        collection = Collection.of(X)
        fitted = self.to_local(rows=False).fitted_.on(self.device)
        check_columns(self, collection.n_columns, collection.names, reset=False)
        return collection.array.map_blocks(
            _of_block,
            # One task holds the fit, for the tasks of all blocks.
            fitted=dask.delayed(fitted, traverse=False),
            of_rows=of_rows,
            empty=np.empty((0,) if width is None else (0, width), dtype=kind),
            dtype=kind,
            meta=np.empty((0,) if width is None else (0, 0), dtype=kind),
            drop_axis=[1] if width is None else [],
            chunks=None if width is None else (collection.array.chunks[0], width),
        )


def _top(
    fitted: Fitted, rows: NDArray[Any], n_jobs: int, *, of_top: OfTop, width: int, number: int
) -> NDArray[Any]:
    """Return the largest values of each row (`number` 0), or their clusters (`number` 1)."""
    return of_top(fitted, rows, width, n_jobs)[number]


def _taken(numbers: NDArray[Any], values: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(values[numbers])


def _of_block(block: Any, fitted: Fitted, of_rows: OfRows, empty: NDArray[Any]) -> NDArray[Any]:
    rows = check_block(block, fitted.metric)
    if not len(rows):
        return empty
    if rows.shape[1:] != (fitted.columns.number,):
        raise ValueError(
            f"A block of X has shape {rows.shape}, but the model was fitted to "
            f"{fitted.columns.number} columns. Pass the columns of the fit."
        )
    return of_rows(fitted, require_reach(fitted, rows), 1)
