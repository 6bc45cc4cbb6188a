"""psKC_g: point-set kernel clustering with the Gaussian kernel, for comparison."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import check_is_fitted

from .._cells.count_tables import most_similar
from .._data.checks import check_distances
from .._data.distance_metrics import to_points
from .._data.parameters import (
    CLUSTERING_RULES,
    FLAG,
    Rule,
    between,
    check_parameters,
    one_of,
    require_few_steps,
)
from .._data.rows import Data, check_rows
from .._data.weights import check_weights
from .._pskc.growth import grow
from .._pskc.refinement import MAX_PASSES, adopt_noise, dissolve_small, label_absent, refine
from .._utils.callers import stack_level
from .._utils.parallel import map_chunks, one_blas_thread
from ._gaussian_kernel import RESOLUTION, GaussianKernel, PairTables
from ._pairwise_engine import PairwiseEngine

_LARGE_FOR_QUADRATIC_TIME = 20_000
_ROWS_PER_CHUNK = 128
_RULES: dict[str, tuple[Rule, ...]] = {
    "tau": (between(0, 1),),
    "gamma": (between(0, np.inf), one_of("scale")),
    "refine": (FLAG,),
    **{
        name: CLUSTERING_RULES[name]
        for name in ("growth_rate", "metric", "min_cluster_size", "noise", "n_jobs")
    },
}


class GaussianPSKC(ClusterMixin, BaseEstimator):
    """Point-set kernel clustering with the Gaussian kernel (psKC_g).

    Use this class to compare the Gaussian kernel with the isolation kernel of
    :class:`pskclust.PSKC`. The Gaussian kernel has no finite feature map, so a fit compares all
    pairs of rows and takes time quadratic in the number of rows. Kernel values are rounded to
    multiples of 2^-24, so that sums are exact and results do not depend on the number of threads.

    Parameters
    ----------
    tau : float, default=0.1
        Similarity at which growth stops, between 0 and 1. Decrease it if a cluster is split.
    growth_rate : float, default=0.1
        Fraction by which the threshold falls in each step, between 0 and 1.
    gamma : float or "scale", default="scale"
        Coefficient of the kernel exp(-gamma ||x - y||^2), above 0. Increase it for finer detail.
        "scale" is 1 / (sum of the variances of the columns), or 1 if all rows are equal.
    metric : {"euclidean", "cosine", "haversine"}, default="euclidean"
        Distance between rows, see :class:`pskclust.PSKC`.
    refine : bool, default=True
        Move the least similar members of each cluster to a more similar cluster if that raises
        the objective.
    min_cluster_size : int or None, default=None
        Smallest size of a cluster, 1 or more. Smaller clusters are dissolved before refinement.
        None keeps all clusters.
    noise : {"keep", "nearest"}, default="keep"
        "keep" leaves noise rows unassigned; "nearest" assigns them to their most similar cluster.
    n_jobs : int or None, default=None
        Number of threads; None and -1 use all processors. Results do not depend on it.

    Attributes
    ----------
    labels_ : ndarray of int64, shape (n_samples,)
        Cluster of each row, numbered in the order in which clusters were found; -1 is noise.
    n_clusters_ : int
        Number of clusters.
    seeds_ : ndarray of int64, shape (n_clusters_,)
        Number of the row from which each cluster grew.
    similarities_ : ndarray of float64, shape (n_samples,)
        Similarity of each row to its own cluster; 0 for noise.
    growth_step_ : ndarray of int32, shape (n_samples,)
        Step in which each row joined its cluster, 0 for the first two rows, -1 for rows that did
        not join during growth.
    n_iter_ : ndarray of int64, shape (n_clusters_,)
        Number of growth steps of each cluster.
    objective_, objective_before_refinement_ : float
        Sum of the similarities of all members to their own clusters, after and before refinement.
    n_reassigned_ : int
        Number of rows that refinement moved.
    gamma_ : float
        Value of `gamma` that the fit used.
    n_features_in_ : int
        Number of columns of the data.
    feature_names_in_ : ndarray of str
        Names of the columns. Only present if all columns of X have names that are strings.

    See Also
    --------
    pskclust.PSKC : Point-set kernel clustering with the isolation kernel, in linear time.
    KernelKMeans : Kernel k-means with the Gaussian kernel.

    Examples
    --------
    >>> from pskclust.baselines import GaussianPSKC
    >>> from sklearn.datasets import make_blobs
    >>> X, _ = make_blobs(300, centers=3, cluster_std=0.5, random_state=1)
    >>> GaussianPSKC(tau=0.3, gamma=0.1).fit(X).n_clusters_
    3
    """

    def __init__(
        self,
        *,
        tau: float = 0.1,
        growth_rate: float = 0.1,
        gamma: float | Literal["scale"] = "scale",
        metric: Literal["euclidean", "cosine", "haversine"] = "euclidean",
        refine: bool = True,
        min_cluster_size: int | None = None,
        noise: Literal["keep", "nearest"] = "keep",
        n_jobs: int | None = None,
    ) -> None:
        self.tau = tau
        self.growth_rate = growth_rate
        self.gamma = gamma
        self.metric = metric
        self.refine = refine
        self.min_cluster_size = min_cluster_size
        self.noise = noise
        self.n_jobs = n_jobs

    def fit(self, X: ArrayLike, y: object = None, sample_weight: ArrayLike | None = None) -> Self:
        """Find the clusters of the rows of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            At least two rows, all finite.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows; a row of integer weight w counts as w equal rows. None weights all
            rows by 1.

        Returns
        -------
        self : GaussianPSKC
            The fitted estimator.

        Examples
        --------
        >>> from pskclust.baselines import GaussianPSKC
        >>> from sklearn.datasets import make_blobs
        >>> X, _ = make_blobs(300, centers=3, cluster_std=0.5, random_state=1)
        >>> model = GaussianPSKC(tau=0.3, gamma=0.1).fit(X)
        >>> model.n_clusters_
        3
        """
        check_parameters(self.get_params(deep=False), _RULES)
        require_few_steps(float(self.tau), float(self.growth_rate))
        rows = check_rows(self, X, self.metric, reset=True, min_samples=2)
        if self.metric == "euclidean":
            check_distances(rows)
        _warn_of_quadratic_time(len(rows))
        weights = check_weights(sample_weight, len(rows), RESOLUTION)
        data = Data(rows, self.metric, weights)
        self._kernel = GaussianKernel.fitted(data, self.gamma)
        self.gamma_ = self._kernel.gamma
        self._cluster(PairwiseEngine(data, self._kernel, n_jobs=self.n_jobs))
        return self

    def _cluster(self, engine: PairwiseEngine) -> None:
        tau, min_mass = float(self.tau), int(self.min_cluster_size or 0) * engine.one
        growth = grow(engine, tau, float(self.growth_rate))
        growth = replace(growth, clusters=PairTables.of(growth.clusters, self._kernel))
        growth = dissolve_small(engine, growth, min_mass, tau)
        n_passes = MAX_PASSES if self.refine else 0
        refinement = refine(engine, growth.clusters, max(1, min_mass), n_passes)
        self._clusters = refinement.clusters
        if self.noise == "nearest":
            adopt_noise(engine, self._clusters)
        self._threshold = 0.0 if self.noise == "nearest" else tau
        label_absent(engine, self._clusters, self._threshold)
        self.labels_, self.similarities_, self.growth_step_ = engine.row_results(self._clusters)
        self.n_clusters_ = len(self._clusters)
        self.seeds_, self.n_iter_ = growth.seeds, growth.n_steps
        self.objective_ = refinement.objective
        self.objective_before_refinement_ = refinement.objective_before
        self.n_reassigned_ = refinement.n_reassigned

    def predict(self, X: ArrayLike) -> NDArray[np.int64]:
        """Return the most similar cluster of each row.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Any rows, all finite.

        Returns
        -------
        labels : ndarray of int64, shape (n_samples,)
            Number of the cluster, or -1 (noise) if the similarity to it does not exceed `tau`; with
            ``noise="nearest"``, if it is 0.

        Examples
        --------
        >>> from pskclust.baselines import GaussianPSKC
        >>> from sklearn.datasets import make_blobs
        >>> X, _ = make_blobs(300, centers=3, cluster_std=0.5, random_state=1)
        >>> model = GaussianPSKC(tau=0.3, gamma=0.1).fit(X)
        >>> model.predict([X[0], [100.0, 100.0]])
        array([ 2, -1])
        """
        return most_similar(self.similarity(X), self._threshold)

    def similarity(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the similarity of each row to each cluster.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Any rows, all finite.

        Returns
        -------
        similarities : ndarray of float64, shape (n_samples, n_clusters_)
            Mean kernel value of the row with all rows of the cluster, 0 to 1.

        Examples
        --------
        >>> from pskclust.baselines import GaussianPSKC
        >>> from sklearn.datasets import make_blobs
        >>> X, _ = make_blobs(300, centers=3, cluster_std=0.5, random_state=1)
        >>> model = GaussianPSKC(tau=0.3, gamma=0.1).fit(X)
        >>> model.similarity(X[:1]).round(3)
        array([[0.045, 0.   , 0.918]])
        """
        check_is_fitted(self)
        rows = check_rows(self, X, self._kernel.metric)
        similarities = np.empty((len(rows), self.n_clusters_))

        def fill(chunk: slice) -> None:
            points = to_points(rows[chunk], self._kernel.metric)
            scores = self._kernel.set_scores(points, self._clusters.counts)
            similarities[chunk] = self._clusters.similarities(scores)

        with one_blas_thread:
            for _ in map_chunks(fill, len(rows), _ROWS_PER_CHUNK, self.n_jobs):
                pass
        return similarities


def _warn_of_quadratic_time(n_rows: int) -> None:
    if n_rows > _LARGE_FOR_QUADRATIC_TIME:
        warnings.warn(
            f"GaussianPSKC takes time quadratic in the number of rows, here {n_rows}. Use "
            "pskclust.PSKC for linear time.",
            UserWarning,
            stacklevel=stack_level(),
        )
