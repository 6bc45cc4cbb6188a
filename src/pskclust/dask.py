"""Point-set kernel clustering on a Dask cluster: rows stay where they are, labels are the same."""

from __future__ import annotations

import contextlib
import functools
import operator
import os
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from . import _estimator
from ._cells.count_tables import ClusterTables
from ._cells.partition import Partition
from ._dask.cost_model import Plan, plan
from ._data.parameters import between, check_parameters
from ._data.rows import check_columns
from ._pskc.assignment import Tally, tally
from ._utils.optional import optional
from ._utils.progress import Report, ignore

dask = optional("dask", "pskclust.dask", "dask")
da = optional("dask.array", "pskclust.dask", "dask")
distributed = optional("distributed", "pskclust.dask", "dask")

# Which need Dask themselves.
from ._dask.data import Collection, DaskData, check_block  # noqa: E402
from ._dask.engine import DaskEngine  # noqa: E402
from ._dask.tasks import Tasks  # noqa: E402

__all__ = ["PSKC", "Plan", "plan"]

_ROW_ATTRIBUTES = ("labels_", "similarities_", "growth_step_", "confidences_")


class PSKC(_estimator.PSKC):
    """Point-set kernel clustering of Dask arrays and dataframes.

    Takes all parameters of :class:`pskclust.PSKC`, and gives the same labels. The cells of the
    rows are held by the workers that have the rows; what goes over the network are tables of
    counts, whose size does not depend on the number of rows.

    If a worker is lost during a fit, its blocks are made and encoded again by the others and the
    fit goes on to the same labels.

    Parameters
    ----------
    **parameters
        As of :class:`pskclust.PSKC`, but for ``kernel="gaussian"``, `scratch_dir` and
        `checkpoint`. `n_jobs` is the number of threads on each worker; None is as many as the
        worker has.
    client : distributed.Client or None, default=None
        The cluster to work on; the current client if None.
    timeout : float, default=300
        Seconds that a round, or a block, may take at the most. A fit that waits longer ends with
        a TimeoutError.

    Attributes
    ----------
    labels_, similarities_, growth_step_, confidences_ : dask arrays, shape (n_samples,)
        As of :class:`pskclust.PSKC`, in blocks as long as those of X, on the workers.
    Others
        As of :class:`pskclust.PSKC`, in this process.

    Examples
    --------
    >>> import dask.array as da
    >>> from distributed import Client
    >>> from pskclust.dask import PSKC
    >>> with Client(processes=False, dashboard_address=None) as client:
    ...     X = da.random.RandomState(0).normal(size=(1000, 2), chunks=(250, 2))
    ...     model = PSKC(random_state=0).fit(X)
    ...     model.labels_.numblocks
    (4,)
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
        """Return the names of all parameters, which scikit-learn reads off a signature."""
        return sorted([*_estimator.PSKC._get_param_names(), "client", "timeout"])

    def __sklearn_clone__(self) -> Self:
        """Return an unfitted copy with the same client: there is only one connection."""
        return type(self)(**self.get_params(deep=False))

    def __getstate__(self) -> dict[str, Any]:
        """Leave the client out, which means nothing to another process."""
        return {**super().__getstate__(), "client": None}

    def fit(self, X: Any, y: object = None, sample_weight: Any = None) -> Self:
        """Find the clusters of the rows of X.

        Parameters
        ----------
        X : dask array of shape (n_samples, n_features) or dask dataframe
            In blocks of any length, known or not, some of them empty if need be.
        y : None
            Ignored.
        sample_weight : dask array or series, or array-like, of shape (n_samples,), default=None

        Returns
        -------
        self : PSKC
        """
        self._refuse_what_is_not_for_clusters()
        with contextlib.ExitStack() as self._resources:
            try:
                return super().fit(X, y, sample_weight)
            except Exception as error:
                if self._current_client().status == "running":
                    raise
                raise RuntimeError(
                    f"The Dask scheduler is gone, or this client is closed ({error!r}). Fit again "
                    "with a client that is connected."
                ) from error
            finally:
                del self._resources

    def predict(self, X: Any) -> Any:
        """Return the most similar cluster of each row, -1 for noise, as pskclust.PSKC does.

        Parameters
        ----------
        X : dask array or dataframe of shape (n_samples, n_features), or array-like

        Returns
        -------
        labels : dask array of int64, shape (n_samples,)
            Not computed yet. An ndarray if X is no Dask collection.
        """
        if not hasattr(X, "__dask_graph__"):
            return super().predict(X)
        return self._lazily(X, "_predicted", np.int64)

    def similarity(self, X: Any, top_k: int | None = None) -> Any:
        """Return the similarity of each row to every cluster, or to the most similar ones.

        Parameters
        ----------
        X : dask array or dataframe of shape (n_samples, n_features), or array-like
        top_k : int or None, default=None
            Return only the `top_k` most similar clusters of each row, or all if there are fewer.

        Returns
        -------
        similarities : dask array of float64, shape (n_samples, n_clusters_ or top_k)
        clusters : dask array of int64, shape (n_samples, top_k)
            Only with `top_k`. Neither is computed yet. ndarrays if X is no Dask collection.
        """
        if not hasattr(X, "__dask_graph__"):
            return super().similarity(X, top_k)
        check_is_fitted(self)
        if top_k is None:
            return self._lazily(X, "_similarity_of", np.float64, self.n_clusters_)
        width = min(top_k, self.n_clusters_)
        return tuple(
            self._lazily(X, "_similarity_of", kind, width, top_k=top_k, number=number)
            for number, kind in enumerate((np.float64, np.int64))
        )

    def to_local(self, *, rows: bool = True) -> _estimator.PSKC:
        """Return this model as a :class:`pskclust.PSKC`.

        Parameters
        ----------
        rows : bool, default=True
            Whether to fetch what is known of each row. Without, `labels_`, `similarities_`,
            `growth_step_` and `confidences_` are empty.

        Returns
        -------
        model : pskclust.PSKC
            Predicts the same.
        """
        check_is_fitted(self)
        return self._local(rows)

    def _local(self, rows: bool) -> _estimator.PSKC:
        names = _estimator.PSKC._get_param_names()
        model = _estimator.PSKC(**{name: getattr(self, name) for name in names})
        for name, value in vars(self).items():
            if name.endswith("_") and name not in _ROW_ATTRIBUTES:
                setattr(model, name, value)
        found = [getattr(self, name) for name in _ROW_ATTRIBUTES]
        if rows:
            # None, of a fit without a choice, stays None.
            found = self._current_client().gather(self._current_client().compute(found))
        else:
            found = [array if array is None else np.empty(0, array.dtype) for array in found]
        labels, similarities, steps, confidences = found
        model._publish(
            replace(self._result, labels=labels, similarities=similarities, growth_steps=steps),
            self._linkage and replace(self._linkage, confidences=confidences),
        )
        return model

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model, with what is known of each row, to one file for :func:`pskclust.load`.

        Parameters
        ----------
        path : str or path-like
        """
        self.to_local().save(path)

    def _refuse_what_is_not_for_clusters(self) -> None:
        check_parameters({"timeout": self.timeout}, {"timeout": (between(0, np.inf),)})
        if self.kernel == "gaussian":
            raise ValueError(
                "kernel='gaussian' compares all pairs of rows, which Dask does not help with. Use "
                "kernel='isolation', or pskclust.PSKC."
            )
        for name in ("scratch_dir", "checkpoint"):
            if getattr(self, name) is not None:
                raise ValueError(
                    f"{name} is not for Dask: cells are in the memory of the workers, and a lost "
                    f"worker is made up for by the others. Leave {name} out."
                )

    def _checked_data(self, X: Any, sample_weight: Any, report: Report = ignore) -> Any:
        collection = Collection.of(X)
        check_columns(self, collection.n_columns, collection.names, reset=True)
        tasks = Tasks(self._current_client(), self.timeout)
        data = DaskData(collection, self.metric, tasks)
        self._resources.callback(data.release)
        data.read(sample_weight, int(self.n_partitions))
        return data

    def _encoded(self, data: Any, partition: Partition, report: Report) -> DaskEngine:
        tasks = Tasks(self._current_client(), self.timeout)
        engine = DaskEngine(data, partition, self.n_jobs, tasks, report)
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
            raise ValueError("client is asynchronous. Pass one that is not.")
        return client

    def _tally(self, data: DaskData, rows: Any, clusters: ClusterTables) -> Tally:
        labels, similarities = (array.to_delayed() for array in rows[:2])
        blocks = [
            dask.delayed(tally)(
                own_labels,
                own_similarities,
                None if data.weights.units is None else data.weights.units(block),
                clusters,
                data.run(block).start,
            )
            for block, (own_labels, own_similarities) in enumerate(
                zip(labels, similarities, strict=True)
            )
        ]
        client = self._current_client()
        tallies: list[Tally] = client.gather(client.compute(blocks))
        return functools.reduce(operator.add, tallies)

    def _of_rows(self, of_rows: Callable[..., NDArray[Any]], known: Any) -> Any:
        kind = of_rows(np.empty(0, known.dtype), first_row=0).dtype
        return known.map_blocks(_of_block, of_rows, dtype=kind)

    def _lazily(
        self, X: Any, method: str, kind: type, width: int | None = None, **options: Any
    ) -> Any:
        """Return what a method of the plain model gives for each block, not computed yet."""
        check_is_fitted(self)
        collection = Collection.of(X)
        check_columns(self, collection.n_columns, collection.names, reset=False)
        # One for all blocks, each of which is a task of its own.
        model = dask.delayed(self._local(rows=False).set_params(n_jobs=1), traverse=False)
        chunks = None if width is None else (collection.array.chunks[0], width)
        return collection.array.map_blocks(
            _answer,
            model=model,
            method=method,
            shape=() if width is None else (width,),
            kind=kind,
            **options,
            dtype=kind,
            meta=np.empty((0,) if width is None else (0, 0), dtype=kind),
            drop_axis=[1] if width is None else [],
            chunks=chunks,
        )


def _of_block(
    known: NDArray[Any], of_rows: Callable[..., NDArray[Any]], block_info: Any
) -> NDArray[Any]:
    """Return what a function makes of what is known of the rows of a block."""
    return of_rows(known, first_row=block_info[0]["array-location"][0][0])


def _answer(
    block: Any,
    model: _estimator.PSKC,
    method: str,
    shape: tuple[int, ...],
    kind: type,
    number: int | None = None,
    **options: Any,
) -> NDArray[Any]:
    """Return what a method gives for the rows of a block, or the entry of it with a number."""
    rows = check_block(block, model.kernel_.metric_)
    if not len(rows):
        return np.empty((0, *shape), dtype=kind)
    model.kernel_._check_reach(rows)
    found: Any = getattr(model, method)(rows, **options)
    answer: NDArray[Any] = found if number is None else found[number]
    return answer
