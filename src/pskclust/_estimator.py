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
from ._data.few_values import warn_of_few_values
from ._data.named_columns import NamedColumns
from ._data.parameters import Parameters
from ._data.rows import FitRows, check_columns
from ._engines.protocol import Engine
from ._fit import pipeline
from ._fit.in_process import Rows, column_names, engine_of, rows_of
from ._fit.pipeline import Columns, Fitted
from ._fit.reporting import reporting
from ._fitted_model import FittedModel
from ._isolation_kernel import IsolationKernel
from ._notebook import ShownInNotebooks
from ._utils.progress import Report
from ._utils.whole_fits import all_or_nothing


class PSKC(ShownInNotebooks, ClusterMixin, FittedModel):
    """Point-set kernel clustering (psKC).

    PSKC finds clusters of any shape, size and density, and their number. Time and memory are linear
    in the number of rows.

    Without parameters, PSKC chooses a clustering. It builds trees over a sample of the rows from
    the isolation kernel at several scales. Every cut of every tree is a candidate. A score that was
    fitted to labelled data selects the candidate with the most stable and best separated clusters.
    `auto_` holds the best candidates and the reason for the choice.

    With `tau`, clusters grow on all rows as in the paper, one after another. Each starts from the
    row that is most similar to all remaining rows, and takes in rows whose similarity to the
    cluster exceeds a threshold. The threshold falls step by step to `tau`.

    Labels are identical, bit for bit, for any number of threads, any chunk size and any engine.

    Parameters
    ----------
    psi : int or "auto", default="auto"
        Number of cells in each random partitioning, at least 2. Increase it if clusters
        that should be apart are joined. "auto" tries several values; with `tau`, it is 64, or a
        quarter of the number of rows if that is less.
    tau : float or "auto", default="auto"
        Similarity at which growth stops, between 0 and 1: try 0.3 / psi to 2 / psi. Decrease it if
        clusters that should be whole are split. With "auto", clusters are chosen; they do not grow.
    growth_rate : float, default=0.1
        Fraction by which the threshold falls in each step of growth, between 0 and 1. Requires
        `tau`. A smaller rate takes more steps and seldom changes the clusters.
    n_partitions : int, default=100
        Number of random partitionings, t in the paper, at least 1. With more partitionings, results
        vary less with `random_state`. Time and memory are proportional to it.
    n_clusters : int or None, default=None
        Number of clusters, at least 1. None finds the number. With `tau`, grown clusters are linked
        until this number is left. If the data has fewer clusters, an error names the largest
        possible number.
    method : {"voronoi", "hypersphere", "tree"}, default="voronoi"
        Shape of the cells, see :class:`IsolationKernel`. "hypersphere" has bounded cells: grown
        clusters leave more outliers out, but are split more often.
    metric : {"euclidean", "cosine", "haversine"}, default="euclidean"
        Distance between rows. "cosine" compares directions, for embeddings of text or images.
        "haversine" expects latitude and longitude in degrees.
    replace : bool, default=False
        Draw centres with replacement, which allows more cells than rows.
    refine : bool or "auto", default="auto"
        Move the least similar members of each cluster to a more similar cluster if that raises the
        total similarity of rows to their clusters (Eq. 4 of the paper). "auto" refines grown
        clusters only, because refinement can cut the ends off long chosen clusters.
    min_cluster_size : int or None, default=None
        Dissolve clusters with fewer rows (weights count), before refinement. Each row moves to its
        most similar remaining cluster if that similarity exceeds `tau`, else to noise. Rows of
        chosen and linked clusters move to the cluster with the most members in their cells. PSKC
        does not choose a clustering with more than a tenth of the rows in such clusters.
    noise : {"keep", "nearest"}, default="keep"
        "nearest" assigns noise rows to their most similar cluster. Rows that share no cell with any
        cluster remain noise.
    n_jobs : int or None, default=None
        Number of threads. None and -1 use all processors. Labels do not depend on it.
    device : str or None, default=None
        PyTorch device that finds the cells of rows: "cuda", "cuda:1", "mps" or "cpu", for method
        "voronoi". Labels do not depend on it. None uses NumPy and compiled code. Use a device for
        many rows with many columns. Requires ``pip install "pskclust[torch]"``.
    random_state : int, RandomState instance or None, default=None
        Seed of the random draws. Pass an int for the same labels in every fit.
    verbose : bool or None, default=None
        Show progress on standard error. None shows a bar in a terminal or a notebook, for a fit
        that takes more than two seconds, and says when code is being compiled. True shows every
        stage, in files and pipes as well. False shows nothing.
    callback : callable or None, default=None
        Function that is called with a :class:`Progress` during the fit. An exception that it raises
        ends the fit.
    scratch_dir : str, path-like or None, default=None
        Folder for cells that do not fit into memory. The fit leaves no files there.
    checkpoint : str, path-like or None, default=None
        Folder in which each cluster is saved when it has grown. If the fit is interrupted, the next
        fit with the same data and parameters continues after the last saved cluster and gives the
        same labels. A completed fit removes the files. Requires `tau`.

    Attributes
    ----------
    labels_ : ndarray of int64, shape (n_samples,)
        Cluster of each row; -1 is noise. Chosen clusters are numbered by size, largest first;
        grown clusters are numbered in the order of growth.
    n_clusters_ : int
        Number of clusters.
    seeds_ : ndarray of int64, shape (n_clusters_,)
        Row from which each cluster grew. For chosen and linked clusters, the row most similar to
        the cluster, which is not always near its centre.
    cluster_sizes_ : ndarray of int64, shape (n_clusters_,)
        Number of rows in each cluster.
    similarities_ : ndarray of float64, shape (n_samples,)
        Similarity K-hat of each row to its own cluster; 0 for noise.
    probabilities_ : ndarray of float64, shape (n_samples,)
        Membership strength of each row, 0 to 1: its similarity divided by that of the most similar
        member of its cluster; 0 for noise.
    outlier_scores_ : ndarray of float64, shape (n_samples,)
        Outlier score of each row: 0 to 0.5 for members of clusters, 0.5 to 1 for noise.
        ``score_samples(X)`` ranks rows in the opposite order and also accepts new rows.
    layers_ : tuple of Layer
        Clusterings of the same rows from coarse to fine whose splits are more likely real than not,
        at least the chosen one, for ``relabel(layer=...)``.
    growth_step_ : ndarray of int32, shape (n_samples,), or None
        Step in which each row joined its cluster, 0 for the first two rows, -1 for rows that did
        not join during growth. None for chosen clusters.
    n_iter_ : ndarray of int64, shape (n_clusters_,), or None
        Number of growth steps of each cluster; for a linked cluster, of all its parts. None for
        chosen clusters.
    objective_, objective_before_refinement_ : float
        Total similarity of all members to their own clusters (Gamma, Eq. 4 of the paper), after and
        before refinement.
    n_reassigned_ : int
        Number of rows that refinement moved.
    auto_ : AutoChoice or None
        The choice: a `reason` in words, the best `numbers` of clusters with their odds, `chosen`
        and the best `candidates` with their evidence. None for grown clusters.
    merge_tree_ : MergeTree or None
        Tree from which the clusters were cut, for ``merge_tree_.to_scipy()`` and
        :class:`pskclust.plotting.MergeTreeDisplay`. None for grown clusters that are not linked.
    confidences_ : ndarray of float64, shape (n_samples,), or None
        How far the candidates of the choice, weighted by their odds, agree on the label of each
        row, 0 to 1. It does not tell how often such labels are right. Rows outside the sample have
        the mean confidence of their cluster, and noise has 0. None for grown clusters.
    kernel_ : IsolationKernel
        The fitted kernel.
    psi_ : int
        Number of cells in each partitioning of `kernel_`. For chosen clusters, this kernel assigns
        rows; `auto_.chosen.psi` is that of the tree.
    tau_ : float or None
        The given `tau`. None for chosen clusters.
    engine_, backend_ : str
        Storage of the rows during the fit, and the compute kernels that were used.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : ndarray of str
        Names of the columns of X, if all of them are strings.
    preparation_ : Preparation
        Columns, scaling and treatment of missing values of a model that ``pskclust fit`` wrote.
        Tables with column names are prepared in the same way before prediction. Arrays must be
        prepared by ``model.preparation_.apply(X)``.

    See Also
    --------
    IsolationKernel : The kernel, as a transformer.
    GroupPSKC : Clusters groups of rows instead of single rows.
    DriftMonitor : Labels a stream of rows and measures how far it is from the fitted rows.
    pskclust.dask.PSKC : The same clusters on a Dask cluster.
    sweep : Fits a grid of psi and tau.
    explore : Opens the clusters in the browser.
    sklearn.cluster.HDBSCAN : Density-based clusters, from a tree of all rows.

    Notes
    -----
    For grown clusters, ``predict(X)`` returns the most similar cluster if the similarity exceeds
    `tau_`, and -1 otherwise. `labels_` can differ from ``predict`` on the rows of the fit: a row
    joins the first cluster that reaches it, and a cluster that grows later can be more similar.

    For chosen and linked clusters, ``predict(X)`` returns the cluster with the most members in a
    row's cells, and -1 for outliers and background. `labels_` agrees with ``predict``
    except on the sample (up to 2,000 rows drawn by weight), which keeps the labels of the choice.

    Rows of weight 0 do not take part in the fit. Their labels are those of ``predict``.

    References
    ----------
    K. M. Ting, J. R. Wells, Y. Zhu, "Point-Set Kernel Clustering", IEEE Transactions on Knowledge
    and Data Engineering 35(5), 2023.

    Examples
    --------
    Find the clusters and their number:

    >>> from pskclust import PSKC
    >>> from sklearn.datasets import make_blobs
    >>> X, _ = make_blobs(300, centers=3, cluster_std=0.5, random_state=1)
    >>> model = PSKC(random_state=0).fit(X)
    >>> model.n_clusters_
    3
    >>> model.cluster_sizes_
    array([100, 100, 100])

    Label new rows:

    >>> model.predict(X[:2] + 0.01) == model.labels_[:2]
    array([ True,  True])

    Set the number of clusters, or grow clusters as in the paper:

    >>> PSKC(n_clusters=2, random_state=0).fit(X).n_clusters_
    2
    >>> PSKC(psi=16, tau=0.05, random_state=0).fit(X).n_clusters_
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
        verbose: bool | None = None,
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
            At least two rows of finite numbers. A path (CSV, TSV, Parquet, a folder of Parquet
            files, Arrow, NPY, NPZ, LibSVM), a pyarrow dataset, a Zarr or HDF5 array and
            :class:`RowBlocks` are read block by block. :func:`pskclust.tables.stream_table` makes
            :class:`RowBlocks` of some columns of a file. All files except NPY and NPZ require
            ``pip install "pskclust[cli]"``.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), default=None
            A row of integer weight w counts as w equal rows. Fractional weights are rounded to
            multiples of a small power of two, so that sums are exact.

        Returns
        -------
        self : PSKC
            The fitted estimator.

        Examples
        --------
        >>> from pskclust import PSKC
        >>> from sklearn.datasets import make_blobs
        >>> X, _ = make_blobs(200, centers=2, cluster_std=0.5, random_state=0)
        >>> PSKC(random_state=0).fit(X).n_clusters_
        2
        """
        parameters = Parameters.checked(self.get_params(deep=False))
        with reporting(self.verbose, self.callback) as report:
            rows = self._rows(X, sample_weight, parameters, report)
            columns = Columns(self.n_features_in_, column_names(self))

            def make_engine(partition: Partition) -> Engine:
                return self._engine(rows, partition, parameters, report)

            self._publish(pipeline.fit(rows, columns, parameters, make_engine, report))
        pipeline.warn_of_no_cluster(self._fitted, parameters)
        warn_of_few_values(self._fitted.few_values, NamedColumns.of(X, columns.names))
        return self

    # Where the rows and their cells are; ``pskclust.dask.PSKC`` overrides these two methods.

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
        """Return an estimator with the outcome of an earlier fit.

        Parameters
        ----------
        parameters : mapping
            Parameters of the estimator, by name.
        fitted : Fitted
            Outcome of a fit: `fitted_` of another estimator.

        Examples
        --------
        >>> from pskclust import PSKC
        >>> model = PSKC(random_state=0).fit([[0.0], [0.1], [5.0]])
        >>> PSKC.of_fitted({"n_jobs": 1}, model.fitted_).n_clusters_
        1
        """
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
        """Open the clusters of X in the browser, with the parameters of this estimator.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The rows.
        **options
            Options of :func:`pskclust.explore`.

        Returns
        -------
        server : ExplorerServer
            The running explorer; ``server.close()`` ends it.

        Examples
        --------
        >>> from pskclust import PSKC
        >>> X = [[0.0, 0.0], [0.1, 0.0], [5.0, 5.0], [5.1, 5.0]]
        >>> with PSKC(psi=2, tau=0.2).explore(X, open_browser=False, block=False) as server:
        ...     server.url.startswith("http://127.0.0.1:")
        True
        """
        # Imported by name: the explorer depends on this module.
        explorer = importlib.import_module("pskclust.explorer")
        return explorer.explore(X, **self.get_params(deep=False) | options)
