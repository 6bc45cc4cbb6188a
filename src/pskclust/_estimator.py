"""PSKC: point-set kernel clustering as a scikit-learn estimator."""

from __future__ import annotations

import importlib
import os
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, Literal, Self, overload

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray
from sklearn.base import (
    BaseEstimator,
    ClassNamePrefixFeaturesOutMixin,
    ClusterMixin,
    TransformerMixin,
)
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ._cells.count_tables import ClusterTables, most_similar
from ._cells.partition import Partition
from ._choice.linked import Linkage, Linked, link_chosen, link_growth
from ._choice.rule import PART_TAUS, Chosen, choose
from ._choice.sample import Recipe
from ._data.checks import check_distances, check_psi
from ._data.defaults import GAUSSIAN_TAU, choose_tau
from ._data.metric import to_points
from ._data.parameters import CLUSTERING_RULES, check_linking, check_parameters, whole
from ._data.rows import Data, check_columns, check_rows, check_values
from ._data.sources import RowBlocks, numbered
from ._data.streamed import StreamedRows
from ._data.weights import Weights, check_weights, uniform_weights
from ._engines.out_of_core import out_of_core_engine
from ._engines.protocol import Engine, RowResults
from ._engines.select import isolation_engine, labels_by_blocks
from ._isolation_kernel import IsolationKernel
from ._model_io.container import read_model, write_model
from ._model_io.state import plain_value, restore, to_parts
from ._pskc.assignment import Confidence, Tally, overlay, place_rows, tally
from ._pskc.checkpoint import Checkpoint
from ._pskc.growth import Journal, grow
from ._pskc.refinement import MAX_PASSES, adopt_noise, dissolve_small, label_absent, refine
from ._pskc.result import Result
from ._utils.memory import require_memory
from ._utils.parallel import map_chunks, one_blas_thread, rows_per_chunk
from ._utils.progress import Progress, Report, ignore, reporter
from .baselines._gaussian_kernel import RESOLUTION, GaussianKernel
from .baselines._pairwise_engine import PairwiseEngine
from .tables.streaming import row_blocks

# Whatever rows are taken from.
Rows = ArrayLike | RowBlocks | os.PathLike[str]

_LARGE_FOR_QUADRATIC_TIME = 20_000


class PSKC(ClassNamePrefixFeaturesOutMixin, ClusterMixin, TransformerMixin, BaseEstimator):
    """Point-set kernel clustering (psKC).

    Clusters of any shape, size and density grow one after the other, each from the row that is
    most similar to all rows left: rows join while their similarity to the cluster exceeds a
    threshold that falls step by step down to `tau`. The number of clusters is found, not given,
    and rows that no cluster takes are noise. Time and memory are linear in the number of rows.

    Unless told `psi` and `tau`, it grows small parts with several kernels of several `psi`, links
    parts that touch, and takes what the kernels agree on: `auto_` says what was chosen and why.

    Labels are the same to the bit for any number of threads and any cutting up of the work.

    Parameters
    ----------
    psi : int or "auto", default="auto"
        Number of cells of each random partitioning, 2 or more. If clusters are joined that should
        be split, increase it. "auto" chooses one of 8 to 256, or for many clusters up to 1024, by
        what several kernels agree on; with ``linking=False`` it is 64, or a quarter of the number
        of rows if that is less.
    tau : float or "auto", default="auto"
        Similarity at which growth stops, between 0 and 1. If clusters are split that should be
        joined, decrease it. "auto" is 0.1, at which growth finds parts to link; with
        ``linking=False`` it is 0.64 / psi, and 0.1 for ``kernel="gaussian"``.
    growth_rate : float, default=0.1
        Fraction by which the threshold falls in each step, between 0 and 1.
    n_partitions : int, default=100
        Number of random partitionings, t in the paper. More of them make results vary less with
        `random_state`; time and memory are proportional to it.
    n_clusters : int or None, default=None
        Link parts to so many clusters. None finds the number.
    linking : bool or "auto", default="auto"
        Whether clusters that growth finds are parts, to be linked by how alike they are. False is
        the paper's algorithm as it is. "auto" is False where `psi` and `tau` are given and
        `n_clusters` is not. ``kernel="gaussian"`` links to a given `n_clusters` only.
    kernel : {"isolation", "gaussian"}, default="isolation"
        "gaussian" is the paper's psKC_g. It is there for comparison, and takes time quadratic in
        the number of rows.
    gamma : float or "scale", default="scale"
        Of the Gaussian kernel, exp(-gamma ||x - y||^2). "scale" is 1 / (n_features * variance).
    method : {"voronoi", "hypersphere", "tree"}, default="voronoi"
        What the cells are, see :class:`IsolationKernel`.
    metric : {"euclidean", "cosine", "haversine"}, default="euclidean"
        "cosine" compares directions; "haversine" takes latitude and longitude in degrees.
    replace : bool, default=False
        Draw the centres of cells with replacement. Allows more cells than rows.
    refine : bool, default=True
        Move the least similar members of each cluster to another one where that raises the total
        similarity of rows to their clusters. Linked clusters are not refined.
    min_cluster_size : int or None, default=None
        Dissolve smaller clusters before refinement: each member goes to its most similar other
        cluster if that similarity exceeds `tau`, else to noise. Sizes are sums of weights. Of
        linked clusters, those that are smaller are left out.
    noise : {"keep", "nearest"}, default="keep"
        "nearest" gives noise rows to their most similar cluster. Those that are similar to none
        at all stay noise.
    n_jobs : int or None, default=None
        Number of threads; None and -1 use all processors. Results never depend on it.
    random_state : int, RandomState instance or None, default=None
        Which rows the partitionings are drawn from. Pass an int for the same labels every time.
    verbose : bool, default=False
        Show a progress bar on standard error.
    callback : callable or None, default=None
        Called with a :class:`Progress` whenever the fit has come further. An exception that it
        raises ends the fit.
    scratch_dir : str, path-like or None, default=None
        Folder on disk for cells that do not fit into memory. Nothing stays there after a fit.
    checkpoint : str, path-like or None, default=None
        Folder to note each cluster in as it is grown. A fit that was stopped or killed goes on
        from the last cluster noted when it is run again, with the same labels. What was noted is
        removed when the fit has ended. A fit that chooses `psi` or the number of clusters grows
        a sample only, notes nothing, and starts anew.

    Attributes
    ----------
    labels_ : ndarray of int64, shape (n_samples,)
        Cluster of each row, in the order found; -1 is noise.
    n_clusters_ : int
        Number of clusters.
    seeds_ : ndarray of int64, shape (n_clusters_,)
        Row that each cluster grew from; of a linked cluster, its most similar row.
    cluster_sizes_ : ndarray of int64, shape (n_clusters_,)
        Number of rows with each label.
    similarities_ : ndarray of float64, shape (n_samples,)
        Similarity K-hat of each row to its own cluster; 0 for noise.
    growth_step_ : ndarray of int32, shape (n_samples,)
        Step at which growth took each row into a cluster, 0 for the two rows it started with; -1
        for rows that growth left out.
    n_iter_ : ndarray of int64, shape (n_clusters_,)
        Number of growth steps of each cluster, of all its parts if it is linked.
    objective_, objective_before_refinement_ : float
        Total similarity of all members to their own cluster (Gamma, Eq. 4 of the paper), after
        and before refinement.
    n_reassigned_ : int
        Number of rows that refinement moved.
    auto_ : AutoChoice or None
        What was chosen of psi and the number of clusters: `chosen`, `runner_up`, `reason`, all
        `cuts` that were compared, and how many rows and kernels were looked at (`n_rows`,
        `n_kernels`). None if there was nothing to choose.
    merge_tree_ : MergeTree or None
        How parts were joined, for ``merge_tree_.to_scipy()`` and
        :class:`pskclust.plotting.MergeTreeDisplay`. None unless clusters are linked.
    confidences_ : ndarray of float64, shape (n_samples,), or None
        Share of the kernels that were compared that agree with the label of a row. Rows beyond
        the `auto_.n_rows` looked at have the mean of their cluster. None if there was nothing to
        choose.
    kernel_ : IsolationKernel or GaussianKernel
        The fitted kernel.
    psi_, tau_ : int, float
        The values that were used. `psi_` is None for the Gaussian kernel.
    engine_, backend_ : str
        Where the rows were, and which compute kernels worked on them.
    n_features_in_ : int
        Number of columns of the data.
    feature_names_in_ : ndarray of str
        Names of the columns, where X had names that are all strings.
    preparation_ : Preparation
        Only of models that ``pskclust fit`` wrote: which columns of a table were clustered, and
        how they were scaled. Tables with column names are prepared likewise before they are
        placed; arrays are taken as prepared, which ``model.preparation_.apply(X)`` does.

    Notes
    -----
    ``predict(X)`` is the most similar of the clusters as they are in the end, if that similarity
    exceeds `tau_`. `labels_` is what growth and refinement gave each row. On the rows of the fit
    the two agree but for those rows whose own cluster is not, or is no longer, their most similar
    one above `tau_`: a row joins the first cluster that reaches it, and clusters found later, or
    members that joined later, may change what it is most similar to.

    Where clusters are linked, ``predict(X)`` is the cluster that has most members in the cells of a
    row, noise if there are none, and `labels_` is exactly that. A choice is made on up to 4,000
    rows, or 8,192 with a psi of more than 500, drawn by weight; all others get their labels in this
    way too.

    Rows of weight 0 take no part in the fit; their label is what ``predict`` gives.

    References
    ----------
    K. M. Ting, J. R. Wells, Y. Zhu, "Point-Set Kernel Clustering", IEEE Transactions on Knowledge
    and Data Engineering 35(5), 2023.

    Examples
    --------
    >>> from pskclust import PSKC
    >>> from sklearn.datasets import make_blobs
    >>> X, _ = make_blobs(300, centers=3, cluster_std=0.5, random_state=1)
    >>> PSKC(random_state=0).fit(X).n_clusters_
    3
    """

    _result: Result
    kernel_: IsolationKernel | GaussianKernel
    psi_: int | None
    tau_: float

    def __init__(
        self,
        *,
        psi: int | Literal["auto"] = "auto",
        tau: float | Literal["auto"] = "auto",
        growth_rate: float = 0.1,
        n_partitions: int = 100,
        n_clusters: int | None = None,
        linking: bool | Literal["auto"] = "auto",
        kernel: Literal["isolation", "gaussian"] = "isolation",
        gamma: float | Literal["scale"] = "scale",
        method: Literal["voronoi", "hypersphere", "tree"] = "voronoi",
        metric: Literal["euclidean", "cosine", "haversine"] = "euclidean",
        replace: bool = False,
        refine: bool = True,
        min_cluster_size: int | None = None,
        noise: Literal["keep", "nearest"] = "keep",
        n_jobs: int | None = None,
        random_state: int | RandomState | None = None,
        verbose: bool = False,
        callback: Report | None = None,
        scratch_dir: str | os.PathLike[str] | None = None,
        checkpoint: str | os.PathLike[str] | None = None,
    ) -> None:
        self.psi = psi
        self.tau = tau
        self.growth_rate = growth_rate
        self.n_partitions = n_partitions
        self.n_clusters = n_clusters
        self.linking = linking
        self.kernel = kernel
        self.gamma = gamma
        self.method = method
        self.metric = metric
        self.replace = replace
        self.refine = refine
        self.min_cluster_size = min_cluster_size
        self.noise = noise
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback
        self.scratch_dir = scratch_dir
        self.checkpoint = checkpoint

    def fit(self, X: Rows, y: object = None, sample_weight: ArrayLike | None = None) -> Self:
        """Find the clusters of the rows of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), path or RowBlocks
            At least two rows, all finite. Rows are read block by block from a path (CSV, TSV,
            Parquet, a folder of Parquet files, Arrow, NPY, NPZ, LibSVM), a pyarrow dataset, a Zarr
            or HDF5 array, or :class:`RowBlocks`, which :func:`pskclust.tables.stream_table` makes
            of some columns of a file.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), default=None
            A row of integer weight w is w equal rows. Fractional weights are rounded to a
            multiple of a power of two far below them, so that sums stay exact.

        Returns
        -------
        self : PSKC
        """
        # A fit that fails leaves no model behind, least of all half of the one before.
        self.__dict__.pop("_result", None)
        self.__dict__.pop("preparation_", None)
        parameters = self.get_params(deep=False)
        check_parameters(parameters, CLUSTERING_RULES)
        linked = check_linking(parameters)
        report = reporter(self.verbose, self.callback)
        data = self._checked_data(X, sample_weight, report)
        open_choice = self.n_clusters is None or "auto" in (self.psi, self.tau)
        if linked and open_choice and self.kernel == "isolation":
            self._fit_chosen(data, self._choose(data, report), report)
            return self
        journal = self._set_kernel(data)
        engine = self._ready_engine(data, report)
        if self.n_clusters is not None:
            linked_growth = self._link(engine, int(self.n_clusters), report, journal)
            self._place(data, engine, linked_growth, report)
        else:
            self._cluster(engine, report, journal)
        if journal:
            journal.remove()
        return self

    def _link(
        self, engine: Engine, n_clusters: int, report: Report, journal: Journal | None
    ) -> Linked:
        """Grow parts of all rows, as many as are asked for at the least, and link them."""
        for tau in PART_TAUS if self.tau == "auto" else (self.tau_,):
            engine.reset()
            self.tau_ = tau
            growth = grow(engine, tau, float(self.growth_rate), report, journal)
            if len(growth.clusters) >= n_clusters:
                break
        return link_growth(engine, growth, n_clusters)

    def _choose(self, data: Any, report: Report) -> Chosen:
        """Choose psi and the number of clusters, as far as they are not given."""
        psi = None if self.psi == "auto" else int(self.psi)
        # Rows that are elsewhere are checked when they are read.
        if self.metric == "euclidean" and isinstance(data, Data):
            check_distances(data.rows)
        if psi is not None:
            weighted = not data.weights.uniform
            check_psi(psi, data.weights.n_slots, self.replace, weighted=weighted)
        taus = PART_TAUS if self.tau == "auto" else (float(self.tau),)
        recipe = Recipe(
            self.method,
            int(self.n_partitions),
            bool(self.replace),
            taus[0],
            float(self.growth_rate),
        )
        rng = check_random_state(self.random_state)
        return choose(data, recipe, psi, taus, self.n_clusters, rng, self.n_jobs, report)

    def _fit_chosen(self, data: Any, chosen: Chosen, report: Report) -> None:
        """Give all rows the clusters that the kernels of a choice agree on."""
        self.kernel_ = self._isolation_kernel()._use(chosen.parts[0].partition, self.metric)
        self.psi_, self.tau_ = self.kernel_.psi_, self._tau_or(chosen.tau)
        engine = self._ready_engine(data, report)
        self._place(data, engine, link_chosen(chosen), report, chosen)

    def _place(
        self,
        data: Any,
        engine: Engine,
        linked: Linked,
        report: Report,
        chosen: Chosen | None = None,
    ) -> None:
        """Give each row the linked cluster with most members in its cells."""
        linked = linked.without_small(int(self.min_cluster_size or 1), data.weights)

        def tally_of(rows: RowResults, clusters: ClusterTables) -> Tally:
            return self._tally(data, rows, clusters)

        result, linked = place_rows(engine, linked, tally_of)
        linkage = Linkage(linked.tree, linked.links)
        if chosen is not None:
            confidence = Confidence.of(chosen, linked.clusters)
            steps = partial(overlay, rows=chosen.rows, own=chosen.parts[0].steps)
            result = replace(result, growth_steps=self._of_rows(steps, result.growth_steps))
            confidences = self._of_rows(confidence.of_rows, result.labels)
            linkage = replace(linkage, choice=chosen.choice, confidences=confidences)
        report(Progress("link", 1, 1, len(linked.clusters)))
        self._publish(result, linkage)

    def _tally(self, data: Any, rows: RowResults, clusters: ClusterTables) -> Tally:
        return tally(rows.labels, rows.similarities, data.weights.units, clusters)

    def _of_rows(self, of_rows: Callable[..., NDArray[Any]], known: Any) -> Any:
        """Return what a function makes of what is known of each row."""
        return of_rows(known, first_row=0)

    def _cluster(self, engine: Engine, report: Report, journal: Journal | None = None) -> None:
        """Find the clusters of the rows of an engine that is ready for growth."""
        min_mass = int(self.min_cluster_size or 0) * engine.one
        growth = grow(engine, self.tau_, float(self.growth_rate), report, journal)
        growth = dissolve_small(engine, growth, min_mass, self.tau_)
        n_passes = MAX_PASSES if self.refine else 0
        refinement = refine(engine, growth.clusters, max(1, min_mass), n_passes, report)
        if self.noise == "nearest":
            adopt_noise(engine, refinement.clusters)
        label_absent(engine, refinement.clusters, self._threshold(linked=False))
        self._publish(Result.of(engine, growth, refinement))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_result")

    def _checked_data(
        self, X: Any, sample_weight: ArrayLike | None, report: Report = ignore
    ) -> Any:
        blocks = row_blocks(X)
        if blocks is None:
            rows = check_rows(self, X, self.metric, reset=True, min_samples=2)
            if self.scratch_dir is None and self.checkpoint is None:
                return Data(rows, self.metric, self._checked_weights(sample_weight, len(rows)))
            blocks = RowBlocks.from_array(rows)
            blocks.names = getattr(self, "feature_names_in_", None)
        if self.kernel == "gaussian":
            raise ValueError(
                "kernel='gaussian' compares all pairs of rows, which must be in memory. Pass X as "
                "an array, without scratch_dir and checkpoint, or use kernel='isolation'."
            )
        check_columns(self, blocks.n_columns, blocks.names, reset=True)
        weights = self._checked_weights(sample_weight, blocks.n_rows)
        hashed = self.checkpoint is not None
        return StreamedRows(blocks, self.metric, weights, report, with_fingerprint=hashed)

    def _checked_weights(self, sample_weight: ArrayLike | None, n_rows: int) -> Weights:
        if n_rows < 2:
            raise ValueError(f"X has {n_rows} sample(s). A fit needs two rows or more.")
        resolution = RESOLUTION if self.kernel == "gaussian" else int(self.n_partitions)
        weights = check_weights(sample_weight, n_rows, resolution)
        if weights.n_slots < 2:
            raise ValueError(
                "sample_weight leaves only 1 sample of X. A fit needs two rows or more."
            )
        return weights

    def _engine_for(self, data: Any, report: Report) -> Engine:
        """Return the engine, ready for growth; set what the kernel and tau are on the way."""
        self._set_kernel(data)
        return self._ready_engine(data, report)

    def _set_kernel(self, data: Any) -> Checkpoint | None:
        """Set the kernel and tau; return the journal of growth, if one is wanted."""
        if self.kernel == "gaussian":
            _warn_of_quadratic_time(len(data))
            if self.metric == "euclidean":
                check_distances(data.rows)
            self.kernel_ = GaussianKernel.fitted(data, self.gamma)
            self.psi_, self.tau_ = None, self._tau_or(GAUSSIAN_TAU)
            return None
        kernel = self._isolation_kernel()._draw(data)
        self.kernel_, self.psi_ = kernel, kernel.psi_
        self.tau_ = self._tau_or(choose_tau(kernel.psi_))
        if self.checkpoint is None:
            return None
        journal = Checkpoint(self.checkpoint, self._identity(data), kernel._partition)
        kernel._use(journal.partition, self.metric)
        return journal

    def _ready_engine(self, data: Any, report: Report) -> Engine:
        engine: Any
        if isinstance(self.kernel_, GaussianKernel):
            engine = PairwiseEngine(data, n_jobs=self.n_jobs)
            engine.use(self.kernel_, report)
        else:
            engine = self._encoded(data, self.kernel_._partition, report)
        self.engine_, self.backend_ = engine.name, engine.kernels
        ready: Engine = engine
        return ready

    def _tau_or(self, default: float) -> float:
        return default if self.tau == "auto" else float(self.tau)

    def _encoded(self, data: Any, partition: Partition, report: Report) -> Any:
        """Return an engine that knows the cells of all rows."""
        if isinstance(data, StreamedRows):
            return out_of_core_engine(data, partition, self.n_jobs, self.scratch_dir, report)
        engine = isolation_engine(data, partition, self.n_jobs)
        engine.encode(partition, report)
        return engine

    def _identity(self, data: StreamedRows) -> dict[str, Any]:
        """Return what clusters grow from: a checkpoint of anything else is of another fit."""
        names = ("growth_rate", "n_partitions", "method", "metric", "replace", "random_state")
        values = {name: plain_value(getattr(self, name)) for name in names}
        return {"data": data.fingerprint, "psi": self.psi_, "tau": self.tau_, **values}

    def _isolation_kernel(self) -> IsolationKernel:
        """Return the kernel with this estimator's parameters and columns, not fitted."""
        names = IsolationKernel().get_params()
        kernel = IsolationKernel(**{name: getattr(self, name) for name in names})
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(self, name):
                setattr(kernel, name, getattr(self, name))
        return kernel

    def _publish(self, result: Result, linkage: Linkage | None = None) -> None:
        self._result = result
        self._linkage = linkage
        self.auto_ = linkage and linkage.choice
        self.merge_tree_ = linkage and linkage.tree
        self.confidences_ = linkage and linkage.confidences
        self.labels_ = result.labels
        self.similarities_ = result.similarities
        self.growth_step_ = result.growth_steps
        self.seeds_ = result.seeds
        self.n_iter_ = result.n_steps
        self.n_clusters_ = self._n_features_out = len(result.clusters)
        self.cluster_sizes_ = result.sizes
        self.objective_ = result.objective
        self.objective_before_refinement_ = result.objective_before_refinement
        self.n_reassigned_ = result.n_reassigned

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
            return self._predicted(self._rows_to_place(X))
        check_is_fitted(self)
        check_columns(self, blocks.n_columns, blocks.names, reset=False)
        labels = np.empty(blocks.n_rows, dtype=np.int64)
        for first_row, block in numbered(blocks):
            if hasattr(self, "preparation_") and blocks.names is not None:
                block = self.preparation_.apply(block, blocks.names)
            rows = check_values(block, self.kernel_.metric_, first_row=first_row)
            self.kernel_._check_reach(rows)
            labels[first_row : first_row + len(rows)] = self._predicted(rows)
        return labels

    def _known_columns(self) -> list[str] | None:
        """Return the columns of a file that are to be placed, None for all of them."""
        if hasattr(self, "preparation_"):
            return list(self.preparation_.columns)
        names = getattr(self, "feature_names_in_", None)
        return None if names is None else list(names)

    def _predicted(self, rows: NDArray[Any]) -> NDArray[np.int64]:
        labels = self._labels_by_blocks(rows)
        if labels is None:
            labels = np.empty(len(rows), dtype=np.int64)
            threshold = self._threshold(linked=self._result.linked)
            for chunk, similarities in self._similarities(rows, self._result.judges):
                labels[chunk] = most_similar(similarities, threshold)
        return labels

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
        if top_k is not None:
            check_parameters({"top_k": top_k}, {"top_k": (whole(1),)})
        return self._similarity_of(self._rows_to_place(X), top_k)

    def _similarity_of(
        self, rows: NDArray[Any], top_k: int | None = None
    ) -> NDArray[np.float64] | tuple[NDArray[np.float64], NDArray[np.int64]]:
        width = self.n_clusters_ if top_k is None else min(int(top_k), self.n_clusters_)
        self._require_memory_for_similarities(len(rows), width)
        similarities = np.empty((len(rows), width))
        clusters = np.empty((len(rows), width if top_k else 0), dtype=np.int64)
        for chunk, found in self._similarities(rows, self._result.clusters):
            if top_k is None:
                similarities[chunk] = found
            else:
                clusters[chunk] = np.argsort(-found, axis=1, kind="stable")[:, :width]
                similarities[chunk] = np.take_along_axis(found, clusters[chunk], axis=1)
        return similarities if top_k is None else (similarities, clusters)

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
        rows = check_rows(self, X, self.kernel_.metric_)
        self.kernel_._check_reach(rows)
        return rows

    def _similarities(
        self, rows: NDArray[Any], clusters: ClusterTables
    ) -> Iterator[tuple[slice, NDArray[np.float64]]]:
        """Yield the similarities of chunks of rows to all clusters."""

        def score(chunk: slice) -> tuple[slice, NDArray[np.float64]]:
            points = to_points(rows[chunk], self.kernel_.metric_)
            return chunk, clusters.similarities(scores_of(points))

        scores_of = self.kernel_._scorer(clusters, len(rows))
        chunk_rows = min(self.kernel_._chunk_rows, rows_per_chunk(len(clusters)))
        with one_blas_thread:
            yield from map_chunks(score, len(rows), chunk_rows, self.n_jobs)

    def _labels_by_blocks(self, rows: NDArray[Any]) -> NDArray[np.int64] | None:
        """Return the labels of many rows of few dimensions; None if another way is faster."""
        if isinstance(self.kernel_, GaussianKernel):
            return None
        data = Data(rows, self.kernel_.metric_, uniform_weights(len(rows)))
        partition, clusters = self.kernel_._partition, self._result.judges
        threshold = self._threshold(linked=self._result.linked)
        return labels_by_blocks(data, partition, clusters, threshold, self.n_jobs)

    def _threshold(self, *, linked: bool) -> float:
        """Return what the similarity of a row to a cluster must exceed for it to be no noise."""
        return 0.0 if linked or self.noise == "nearest" else self.tau_

    def _require_memory_for_similarities(self, n_rows: int, width: int) -> None:
        require_memory(
            {"similarities": n_rows * width * 8},
            f"Computing the similarities of {n_rows} rows to {width} clusters",
            "Ask for the most similar ones only with top_k, or for fewer rows at a time.",
        )

    def explore(self, X: ArrayLike, **options: Any) -> Any:
        """Explore the clusters of X in a browser, starting from this estimator's parameters.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        **options
            Of :func:`pskclust.explore`.

        Returns
        -------
        server : ExplorerServer
        """
        # Found by name: what people look at is built on this module, not the other way round.
        explorer = importlib.import_module("pskclust.explorer")
        return explorer.explore(X, **self.get_params(deep=False) | options)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the fitted model to one file, for :func:`pskclust.load`.

        Everything is kept but a `callback` and a `random_state` that is no number. The file holds
        arrays and JSON, no pickle; it is safe to load from anybody.

        Parameters
        ----------
        path : str or path-like
        """
        check_is_fitted(self)
        write_model(path, *to_parts(self))


def load(path: str | os.PathLike[str]) -> PSKC:
    """Return the model that :meth:`PSKC.save` wrote to a file.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    model : PSKC
        Fitted: predicts exactly what the saved one did.

    Raises
    ------
    ModelFileError
        If the file is no model, is damaged, or was written by a newer version.

    Warns
    -----
    UserWarning
        If ``pskclust fit`` scaled the columns: new rows are to be scaled, too.
    """
    model = PSKC()
    restore(model, *read_model(path))
    scaling = model.preparation_.scaling if hasattr(model, "preparation_") else "none"
    if scaling != "none":
        warnings.warn(
            f"{os.fspath(path)!r} was fitted to scaled columns ({scaling}). Tables with these "
            "columns are scaled in the same way; scale arrays with model.preparation_.apply(X).",
            UserWarning,
            stacklevel=2,
        )
    return model


def _warn_of_quadratic_time(n_rows: int) -> None:
    if n_rows > _LARGE_FOR_QUADRATIC_TIME:
        warnings.warn(
            f"kernel='gaussian' takes time quadratic in the number of rows, here {n_rows}. Use "
            "kernel='isolation' for linear time.",
            UserWarning,
            stacklevel=4,
        )
