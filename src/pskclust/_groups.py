"""GroupPSKC: clusters of groups of rows, by the mean maps of the groups."""

from __future__ import annotations

import warnings
from typing import Literal, NamedTuple, Self

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.decomposition import PCA
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ._data.groups import Groups, check_groups
from ._data.parameters import CLUSTERING_RULES, FLAG, KERNEL_RULES, check_parameters, whole
from ._data.rows import check_rows
from ._estimator import PSKC
from ._isolation_kernel import IsolationKernel
from ._utils.callers import stack_level
from ._utils.whole_fits import all_or_nothing

_KERNEL = ("psi", "n_partitions", "method", "metric", "n_jobs")
_CLUSTERING = ("n_clusters", "min_cluster_size", "noise")
_RULES = {
    **{name: KERNEL_RULES[name] for name in _KERNEL},
    **{name: CLUSTERING_RULES[name] for name in _CLUSTERING},
    "group_psi": CLUSTERING_RULES["psi"],
    "group_tau": CLUSTERING_RULES["tau"],
    "n_components": (whole(1),),
    "weight_by_size": (FLAG,),
}
_LARGEST_SEED = 2**31 - 1


class GroupPSKC(ClusterMixin, BaseEstimator):
    """Clustering of groups of rows: trajectories, sessions, documents, images.

    The groups are clustered, not their rows. A group is represented by its mean map, the mean of
    the isolation-kernel feature maps of its rows: the fraction of its rows in each cell. Groups
    whose mean maps are alike belong together. Two isolation kernels are used. The first, over
    rows, gives the mean maps. The second is over the principal components of the mean maps, and
    :class:`PSKC` clusters the groups with it.

    Time and memory are linear in the number of rows and in the number of groups.

    Parameters
    ----------
    psi : int or "auto", default="auto"
        Number of cells of each partitioning of the kernel over rows. Larger values distinguish
        groups that differ in details, but need more rows in each group. "auto" is 64, or a quarter
        of the number of rows if that is less.
    n_partitions : int, default=100
        Number of partitionings of each kernel.
    method : {"voronoi", "hypersphere", "tree"}, default="voronoi"
        Shape of the cells of the kernel over rows, see :class:`IsolationKernel`.
    metric : {"euclidean", "cosine", "haversine"}, default="euclidean"
        Distance between rows.
    n_components : int, default=16
        Number of principal components of the mean maps that the second kernel uses, at most the
        number of groups minus one. Further components mostly reflect chance, that is,
        which rows a group happens to have.
    group_psi, group_tau : int or float, or "auto", default="auto"
        `psi` and `tau` of the :class:`PSKC` that clusters the groups. "auto" chooses the
        clustering.
    n_clusters : int or None, default=None
        Number of clusters to find. None finds the number.
    min_cluster_size : int or None, default=None
        Dissolve clusters with fewer groups or, with `weight_by_size`, with fewer rows.
    noise : {"keep", "nearest"}, default="keep"
        "nearest" assigns groups that are noise to their most similar cluster.
    weight_by_size : bool, default=False
        Weight each group by its number of rows when groups are clustered. By default, a group of
        ten rows counts as much as a group of a thousand.
    n_jobs : int or None, default=None
        Number of threads; None and -1 use all processors. Results never depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed of the random draws. Pass an int for the same labels in every fit.

    Attributes
    ----------
    groups_ : ndarray of shape (n_groups,)
        Names of the groups, sorted.
    group_sizes_ : ndarray of int64, shape (n_groups,)
        Number of rows of each group.
    labels_ : ndarray of int64, shape (n_groups,)
        Cluster of each group, in the order of `groups_`; -1 is noise.
    n_clusters_ : int
        Number of clusters.
    embedding_ : ndarray of float64, shape (n_groups, n_components)
        The principal components of the mean map of each group.
    kernel_ : IsolationKernel
        The kernel over rows.
    clusterer_ : PSKC
        The clustering of `embedding_`.
    n_features_in_ : int
        Number of columns of the data.
    feature_names_in_ : ndarray of str
        Names of the columns of X, if all of them are strings.

    See Also
    --------
    PSKC : Clusters rows.
    IsolationKernel.mean_maps : Returns the mean maps of groups.

    References
    ----------
    K. M. Ting, B.-C. Xu, T. Washio, Z.-H. Zhou, "Isolation Distributional Kernel: A New Tool for
    Point and Group Anomaly Detection", IEEE Transactions on Knowledge and Data Engineering 35(3),
    2023.

    Examples
    --------
    >>> from pskclust import GroupPSKC
    >>> from pskclust.datasets import make_trajectories
    >>> X, groups, kinds = make_trajectories(100, random_state=0)
    >>> model = GroupPSKC(random_state=0).fit(X, groups=groups)
    >>> model.n_clusters_, len(model.labels_)
    (5, 100)
    """

    def __init__(
        self,
        *,
        psi: int | Literal["auto"] = "auto",
        n_partitions: int = 100,
        method: Literal["voronoi", "hypersphere", "tree"] = "voronoi",
        metric: Literal["euclidean", "cosine", "haversine"] = "euclidean",
        n_components: int = 16,
        group_psi: int | Literal["auto"] = "auto",
        group_tau: float | Literal["auto"] = "auto",
        n_clusters: int | None = None,
        min_cluster_size: int | None = None,
        noise: Literal["keep", "nearest"] = "keep",
        weight_by_size: bool = False,
        n_jobs: int | None = None,
        random_state: int | RandomState | None = None,
    ) -> None:
        self.psi = psi
        self.n_partitions = n_partitions
        self.method = method
        self.metric = metric
        self.n_components = n_components
        self.group_psi = group_psi
        self.group_tau = group_tau
        self.n_clusters = n_clusters
        self.min_cluster_size = min_cluster_size
        self.noise = noise
        self.weight_by_size = weight_by_size
        self.n_jobs = n_jobs
        self.random_state = random_state

    @all_or_nothing("_axes")
    def fit(
        self, X: ArrayLike, y: ArrayLike | None = None, groups: ArrayLike | None = None
    ) -> Self:
        """Find the clusters of the groups in X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,), default=None
            The groups, if `groups` is None, so that ``fit(X, groups)`` works as well. Ignored
            otherwise.
        groups : array-like of shape (n_samples,), default=None
            The group of each row: numbers or strings, in any order. Required, unless `y` holds the
            groups.

        Returns
        -------
        self : GroupPSKC

        Examples
        --------
        >>> from pskclust import GroupPSKC
        >>> from pskclust.datasets import make_trajectories
        >>> X, groups, _ = make_trajectories(20, random_state=0)
        >>> len(GroupPSKC(random_state=0).fit(X, groups=groups).labels_)
        20
        """
        parameters = self.get_params(deep=False)
        check_parameters(parameters, _RULES)
        rows = check_rows(self, X, self.metric, reset=True, min_samples=2)
        sets = check_groups(self._given(groups, y), len(rows))
        self._require_groups(sets)
        rng = check_random_state(self.random_state)
        kernel_seed, axes_seed, clusterer_seed = rng.randint(_LARGEST_SEED, size=3).tolist()
        self.kernel_ = IsolationKernel(
            **{name: parameters[name] for name in _KERNEL}, random_state=kernel_seed
        ).fit(rows)
        maps = self.kernel_.mean_maps(rows, sets.numbers)
        self._axes = _principal_axes(maps, int(self.n_components), axes_seed)
        self.embedding_ = self._axes.coordinates(maps)
        self.groups_, self.group_sizes_ = sets.names, sets.sizes
        clusterer = PSKC(
            psi=self.group_psi,
            tau=self.group_tau,
            n_partitions=self.n_partitions,
            n_jobs=self.n_jobs,
            random_state=clusterer_seed,
            **{name: parameters[name] for name in _CLUSTERING},
        )
        weights = sets.sizes if self.weight_by_size else None
        self.clusterer_ = clusterer.fit(self.embedding_, sample_weight=weights)
        self.labels_, self.n_clusters_ = clusterer.labels_, clusterer.n_clusters_
        return self

    def fit_predict(
        self, X: ArrayLike, y: ArrayLike | None = None, groups: ArrayLike | None = None
    ) -> NDArray[np.int64]:
        """Find the clusters of the groups in X, and return the cluster of each group.

        Parameters
        ----------
        X, y, groups
            Rows, and the group of each row, as for :meth:`fit`.

        Returns
        -------
        labels : ndarray of int64, shape (n_groups,)
            `labels_`, in the order of `groups_`; -1 is noise.

        Examples
        --------
        >>> from pskclust import GroupPSKC
        >>> from pskclust.datasets import make_trajectories
        >>> X, groups, _ = make_trajectories(20, random_state=0)
        >>> GroupPSKC(random_state=0).fit_predict(X, groups=groups).shape
        (20,)
        """
        return self.fit(X, y, groups).labels_

    def predict(self, X: ArrayLike, groups: ArrayLike | None = None) -> NDArray[np.int64]:
        """Return the cluster of each new group; -1 is noise.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        groups : array-like of shape (n_samples,), default=None
            The group of each row. None makes each row a group, with a warning.

        Returns
        -------
        labels : ndarray of int64, shape (n_groups,)
            In the order of ``numpy.unique(groups)``.

        Examples
        --------
        >>> from pskclust import GroupPSKC
        >>> from pskclust.datasets import make_trajectories
        >>> X, groups, _ = make_trajectories(100, random_state=0)
        >>> model = GroupPSKC(random_state=0).fit(X, groups=groups)
        >>> new_X, new_groups, _ = make_trajectories(20, random_state=1)
        >>> len(model.predict(new_X, new_groups))
        20
        """
        embedding = self.embed(X, groups)
        return self.clusterer_.predict(embedding)

    def embed(self, X: ArrayLike, groups: ArrayLike | None = None) -> NDArray[np.float64]:
        """Return the principal components of the mean map of each group.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        groups : array-like of shape (n_samples,), default=None
            The group of each row. None makes each row a group, with a warning.

        Returns
        -------
        embedding : ndarray of float64, shape (n_groups, n_components)
            In the order of ``numpy.unique(groups)``.

        Examples
        --------
        >>> from pskclust import GroupPSKC
        >>> from pskclust.datasets import make_trajectories
        >>> X, groups, _ = make_trajectories(20, random_state=0)
        >>> GroupPSKC(n_components=4, random_state=0).fit(X, groups=groups).embed(X, groups).shape
        (20, 4)
        """
        check_is_fitted(self)
        rows = check_rows(self, X, self.kernel_.metric_)
        if groups is None:
            warnings.warn(
                "No groups are given, so each row of X is a group. Pass the group of each row: "
                "predict(X, groups=...).",
                UserWarning,
                stacklevel=stack_level(),
            )
        return self._axes.coordinates(self.kernel_.mean_maps(rows, groups))

    @staticmethod
    def _given(groups: ArrayLike | None, y: ArrayLike | None) -> ArrayLike:
        given = y if groups is None else groups
        if given is None:
            raise ValueError(
                "GroupPSKC clusters groups of rows, but no groups are given. Pass the group of "
                "each row: fit(X, groups=...). To cluster rows, use PSKC."
            )
        return given

    def _require_groups(self, sets: Groups) -> None:
        n_groups = len(sets.names)
        if n_groups < 2:
            name = sets.names.tolist()[0]
            raise ValueError(
                f"All rows of X are in one group, {name!r}. A fit needs two groups or more; to "
                "cluster rows, use PSKC."
            )
        if self.group_psi != "auto" and self.group_psi > n_groups:
            raise ValueError(
                f"group_psi={self.group_psi} is more than the {n_groups} groups. Use group_psi <= "
                f"{n_groups}."
            )

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "clusterer_")


class _Axes(NamedTuple):
    """The principal axes of mean maps."""

    centre: NDArray[np.float64]  # (t * psi,)
    directions: NDArray[np.float64]  # (t * psi, n_components)

    def coordinates(self, maps: sparse.csr_array) -> NDArray[np.float64]:
        # A sparse product sums in a fixed order, so a group's point depends on the group only.
        found: NDArray[np.float64] = maps @ self.directions - self.centre @ self.directions
        return found


def _principal_axes(maps: sparse.csr_array, n_components: int, seed: int) -> _Axes:
    n_groups, width = maps.shape
    centre = np.asarray(maps.mean(axis=0))
    most = min(n_components, n_groups - 1, width - 1)
    if not (maps.max(axis=0) != maps.min(axis=0)).nnz:
        return _Axes(centre, np.zeros((width, 1)))
    axes = PCA(most, svd_solver="arpack", random_state=seed).fit(maps)
    return _Axes(centre, np.ascontiguousarray(axes.components_.T))
