"""PSKC: point-set kernel clustering as a scikit-learn estimator."""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping
from typing import Any, Literal, Self

from numpy.random import RandomState
from numpy.typing import ArrayLike
from sklearn.base import ClusterMixin

from ._cells.partition import Partition
from ._data.parameters import Parameters
from ._data.rows import FitRows, check_columns
from ._engines.protocol import Engine
from ._fit import pipeline
from ._fit.in_process import Rows, column_names, engine_of, rows_of
from ._fit.pipeline import Columns, Fitted
from ._fitted_model import FittedModel
from ._isolation_kernel import IsolationKernel
from ._utils.progress import Report, reporter
from ._utils.whole_fits import all_or_nothing


class PSKC(ClusterMixin, FittedModel):
    """Point-set kernel clustering (psKC).

    Finds clusters of any shape, size and density, finds their number, and leaves noise out, in
    time and memory linear in the number of rows.

    Without parameters, the clustering is chosen: trees of a sample of rows are grown from the
    isolation kernel at several scales, every cut of every tree is a candidate, and a score that
    was fitted to labelled data picks the one whose clusters are most stable and separated. `auto_`
    shows the best candidates and why one was chosen.

    With `psi` and `tau`, clusters grow on all rows as in the paper, one after the other, each from
    the row that is most similar to all rows left: rows join while their similarity to the cluster
    exceeds a threshold that falls step by step down to `tau`.

    Labels are the same to the bit for any number of threads, chunk size and engine.

    Parameters
    ----------
    psi : int or "auto", default="auto"
        Number of cells of each random partitioning, 2 or more. If clusters are joined that should
        be split, increase it. "auto" looks at several; with `tau` given it is 64, or a quarter of
        the number of rows if that is less.
    tau : float or "auto", default="auto"
        Similarity at which growth stops, between 0 and 1. If clusters are split that should be
        joined, decrease it. "auto" grows nothing: clusters are chosen.
    growth_rate : float, default=0.1
        Fraction by which the threshold of growth falls in each step, between 0 and 1. Needs `tau`.
    n_partitions : int, default=100
        Number of random partitionings, t in the paper. More of them make results vary less with
        `random_state`; time and memory are proportional to it.
    n_clusters : int or None, default=None
        Number of clusters to find, exactly; an error says how many are possible if there are
        fewer. With `tau` given, clusters that grew are linked to that many. None finds the number.
    method : {"voronoi", "hypersphere", "tree"}, default="voronoi"
        What the cells are, see :class:`IsolationKernel`.
    metric : {"euclidean", "cosine", "haversine"}, default="euclidean"
        "cosine" compares directions; "haversine" takes latitude and longitude in degrees.
    replace : bool, default=False
        Draw the centres of cells with replacement. Allows more cells than rows.
    refine : bool or "auto", default="auto"
        Move the least similar members of each cluster to another one where that raises the total
        similarity of rows to their clusters (Eq. 4 of the paper). "auto" refines clusters that
        grew, and leaves chosen and linked ones as they are: these may be long, and rows at their
        far ends are similar to few of their members.
    min_cluster_size : int or None, default=None
        Dissolve smaller clusters before refinement: each member goes to its most similar other
        cluster if that similarity exceeds `tau`, else to noise. Sizes are sums of weights. Rows of
        linked clusters go to the other cluster with the most members in their cells.
    noise : {"keep", "nearest"}, default="keep"
        "nearest" gives noise rows to their most similar cluster. Those that are similar to none
        at all stay noise.
    n_jobs : int or None, default=None
        Number of threads; None and -1 use all processors. Results never depend on it.
    device : str or None, default=None
        Where rows are multiplied by centres to find their cells, in `fit` and for new rows: a
        device of PyTorch, "cuda", "cuda:1", "mps" or "cpu", for method "voronoi". Labels never
        depend on it. None uses NumPy and compiled code. Give it for many rows in many columns on
        a machine with a GPU; needs ``pip install "pskclust[torch]"``.
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
        removed when the fit has ended. Needs `tau`.

    Attributes
    ----------
    labels_ : ndarray of int64, shape (n_samples,)
        Cluster of each row; -1 is noise. Clusters that were chosen are numbered by size, the
        largest first (on the sample of the choice); those that grew, in the order of growth.
    n_clusters_ : int
        Number of clusters.
    seeds_ : ndarray of int64, shape (n_clusters_,)
        Row that each cluster grew from; of a linked cluster, its most similar row.
    cluster_sizes_ : ndarray of int64, shape (n_clusters_,)
        Number of rows with each label.
    similarities_ : ndarray of float64, shape (n_samples,)
        Similarity K-hat of each row to its own cluster; 0 for noise.
    probabilities_ : ndarray of float64, shape (n_samples,)
        Strength of each row in its cluster: its similarity over that of the most similar member,
        0 to 1; 0 for noise.
    outlier_scores_ : ndarray of float64, shape (n_samples,)
        How unusual each row is among all rows, 0 to 1: below 0.5 for members of clusters, above
        for noise. ``score_samples(X)`` has the same order, turned round, for any rows.
    layers_ : tuple of Layer
        A few clusterings of the same rows from coarse to fine, each with its number of clusters and
        its evidence, for ``relabel(layer=...)``.
    growth_step_ : ndarray of int32, shape (n_samples,), or None
        Step at which growth took each row into a cluster, 0 for the two rows it started with; -1
        for rows that growth left out. None if clusters were chosen on a sample.
    n_iter_ : ndarray of int64, shape (n_clusters_,), or None
        Number of growth steps of each cluster, of all its parts if it is linked. None if clusters
        were chosen on a sample.
    objective_, objective_before_refinement_ : float
        Total similarity of all members to their own cluster (Gamma, Eq. 4 of the paper), after
        and before refinement.
    n_reassigned_ : int
        Number of rows that refinement moved.
    auto_ : AutoChoice or None
        The choice: `chosen` and the best `candidates`, each with its evidence, the `reason` in a
        sentence, and `n_rows`, the number of rows it was made on. None if clusters grew.
    merge_tree_ : MergeTree or None
        The tree that the clusters are a cut of, for ``merge_tree_.to_scipy()`` and
        :class:`pskclust.plotting.MergeTreeDisplay`. None unless clusters were chosen or linked.
    confidences_ : ndarray of float64, shape (n_samples,), or None
        How likely the label of a row is right, by the candidates that agree with it, each counted
        by its odds, 0 to 1. Rows that are not in the sample have the mean of their cluster. None
        unless clusters were chosen.
    kernel_ : IsolationKernel
        The fitted kernel.
    psi_ : int
        Number of cells of each partitioning of `kernel_`.
    tau_ : float or None
        The `tau` that was given. None if clusters were chosen.
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

    Where clusters were chosen or linked, ``predict(X)`` is the cluster that has the most members in
    the cells of a row, noise if there are none. `labels_` is the same but for the rows of the
    sample, up to 2,000 drawn by weight, which keep the labels of the choice.

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

    def __init__(
        self,
        *,
        psi: int | Literal["auto"] = "auto",
        tau: float | Literal["auto"] = "auto",
        growth_rate: float = 0.1,
        n_partitions: int = 100,
        n_clusters: int | None = None,
        method: Literal["voronoi", "hypersphere", "tree"] = "voronoi",
        metric: Literal["euclidean", "cosine", "haversine"] = "euclidean",
        replace: bool = False,
        refine: bool | Literal["auto"] = "auto",
        min_cluster_size: int | None = None,
        noise: Literal["keep", "nearest"] = "keep",
        n_jobs: int | None = None,
        device: str | None = None,
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
        self.method = method
        self.metric = metric
        self.replace = replace
        self.refine = refine
        self.min_cluster_size = min_cluster_size
        self.noise = noise
        self.n_jobs = n_jobs
        self.device = device
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback
        self.scratch_dir = scratch_dir
        self.checkpoint = checkpoint

    @all_or_nothing("_fitted", "_n_features_out")
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
        parameters = Parameters.checked(self.get_params(deep=False))
        report = reporter(self.verbose, self.callback)
        rows = self._rows(X, sample_weight, parameters, report)
        columns = Columns(self.n_features_in_, column_names(self))

        def make_engine(partition: Partition) -> Engine:
            return self._engine(rows, partition, parameters, report)

        self._publish(pipeline.fit(rows, columns, parameters, make_engine, report))
        return self

    # Where rows are: all that ``pskclust.dask.PSKC`` does in its own way.

    def _rows(
        self, X: Rows, sample_weight: ArrayLike | None, parameters: Parameters, report: Report
    ) -> FitRows:
        return rows_of(self, X, sample_weight, parameters, report)

    def _engine(
        self, rows: FitRows, partition: Partition, parameters: Parameters, report: Report
    ) -> Engine:
        return engine_of(rows, partition, parameters, report)

    @classmethod
    def of_fitted(cls, parameters: Mapping[str, Any], fitted: Fitted) -> Self:
        """Return a fitted estimator, given its parameters and the outcome of the pipeline."""
        model = cls(**parameters)
        check_columns(model, fitted.columns.number, fitted.columns.names, reset=True)
        model._publish(fitted)
        return model

    def _publish(self, fitted: Fitted) -> None:
        self._fitted = fitted
        result, linkage = fitted.result, fitted.linkage
        self.kernel_ = IsolationKernel.of_partition(
            fitted.partition, fitted.metric, *fitted.columns
        )
        self.psi_, self.tau_ = fitted.psi, fitted.tau
        self.engine_, self.backend_ = fitted.engine, fitted.backend
        self.auto_ = None if linkage is None else linkage.choice
        self.merge_tree_ = None if linkage is None else linkage.tree
        self.confidences_ = None if linkage is None else linkage.confidences
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
