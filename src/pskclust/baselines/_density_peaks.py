"""DensityPeaks: clustering by fast search and find of density peaks."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from .._data.parameters import (
    KERNEL_RULES,
    NONE,
    NOT_NEGATIVE,
    Rule,
    between,
    check_parameters,
    one_of,
    whole,
)
from .._data.rows import check_rows
from .._isolation_kernel import IsolationKernel
from .._utils.parallel import map_chunks, one_blas_thread
from ._pairs import EuclideanDistance, IsolationDissimilarity, Pairs

# The terms of a density are rounded to multiples of 1 / _RESOLUTION, so that sums are exact in any
# order.
_RESOLUTION = 2.0**32
_ROWS_FOR_BANDWIDTH = 1000
_QUANTILE_FOR_BANDWIDTH = 0.02

_RULES: dict[str, tuple[Rule, ...]] = {
    "n_clusters": (whole(1), NONE),
    "bandwidth": (between(0, np.inf), one_of("auto")),
    "density": (one_of("gaussian", "cutoff"),),
    "density_threshold": (NOT_NEGATIVE, NONE),
    "distance_threshold": (NOT_NEGATIVE, NONE),
    "metric": (one_of("euclidean", "isolation"),),
    **{name: KERNEL_RULES[name] for name in ("psi", "n_partitions", "n_jobs")},
}

Closeness = Callable[..., NDArray[Any]]


class DecisionGraph(NamedTuple):
    """Density of each row and its distance to the nearest denser row, used to choose centres."""

    density: NDArray[np.float64]
    distance: NDArray[np.float64]  # to the nearest denser row
    neighbor: NDArray[np.intp]  # number of the nearest denser row
    ranking: NDArray[np.intp]  # row numbers, densest row first


class DensityPeaks(ClusterMixin, BaseEstimator):
    """Clustering by fast search and find of density peaks (DP).

    The centre of a cluster is a row of high density that is far from all denser rows. Every other
    row belongs to the cluster of its nearest denser neighbour.

    Time is proportional to n_samples^2 * n_features, or n_samples^2 * n_partitions with the
    isolation kernel. Memory is proportional to the size of the data: distances are computed twice,
    in chunks, and not stored.

    Parameters
    ----------
    n_clusters : int or None, default=8
        Number of clusters, 1 or more. The centres are the rows with the largest product of density
        and distance to the nearest denser row. None chooses centres by the two thresholds.
    bandwidth : float or "auto", default="auto"
        Distance at which other rows count towards the density of a row, above 0; d_c in the
        article. "auto" is the 2% quantile of the distances between rows, or between 1000 random
        rows if X has more. If that quantile is 0, the smallest distance above 0 is taken, or 1 if
        all distances are 0.
    density : {"gaussian", "cutoff"}, default="gaussian"
        Density of a row. "gaussian": the sum over all other rows of
        exp(-(distance / bandwidth)^2). "cutoff": the number of other rows nearer than `bandwidth`.
    density_threshold, distance_threshold : float or None, default=None
        Thresholds, 0 or more, for ``n_clusters=None``: centres are the rows whose density and
        whose distance to the nearest denser row exceed them. :meth:`decision_graph` helps to set
        the thresholds.
    metric : {"euclidean", "isolation"}, default="euclidean"
        Distance between rows. "isolation" is 1 minus the isolation kernel; the paper calls this
        variant DP_ik.
    psi : int or "auto", default="auto"
        Number of cells of each partitioning, 2 or more, for ``metric="isolation"``; see
        :class:`pskclust.IsolationKernel`. Few cells suit this method: the paper tries 2 to 32.
    n_partitions : int, default=100
        Number of partitionings for ``metric="isolation"``, t in the paper, 1 to 100,000.
    n_jobs : int or None, default=None
        Number of threads; None and -1 use all processors. Results do not depend on it.
    random_state : int, RandomState instance or None, default=None
        Source of the partitionings and of the sample of rows for ``bandwidth="auto"``. Pass an int
        for the same labels every time.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each row: the index of its centre in `center_indices_`.
    n_clusters_ : int
        Number of clusters.
    center_indices_ : ndarray of shape (n_clusters_,)
        Row numbers of the centres, in decreasing order of density times distance to the nearest
        denser row.
    density_ : ndarray of shape (n_samples,)
        Density of each row, rho in the article. The terms of the sum are rounded to multiples of
        2^-32, so that sums are exact. Of two rows with equal density, the first counts as denser.
    distance_to_denser_ : ndarray of shape (n_samples,)
        Distance of each row to the nearest denser row, delta in the article. For the densest row,
        the largest distance from it to any row.
    denser_neighbor_ : ndarray of shape (n_samples,)
        Row number of the nearest denser row, or of the densest one if several are equally near; -1
        for the densest row of all.
    bandwidth_ : float
        Bandwidth that the fit used.
    kernel_ : IsolationKernel or None
        The fitted kernel; None for the Euclidean distance.
    n_features_in_ : int
        Number of columns of the data.
    feature_names_in_ : ndarray of str
        Names of the columns. Only present if all columns of X have names that are strings.

    See Also
    --------
    MBSCAN : DBSCAN with the isolation kernel.
    pskclust.PSKC : Point-set kernel clustering, in linear time.

    Notes
    -----
    With up to 16 columns, Euclidean distances are sums over columns. With more columns, they come
    from matrix products, which are faster. The products are exact for small whole numbers, such as
    pixels; otherwise distances below about a millionth of the range of the data become 0.

    References
    ----------
    A. Rodriguez, A. Laio, "Clustering by Fast Search and Find of Density Peaks", Science 344,
    2014.

    Examples
    --------
    >>> from pskclust.baselines import DensityPeaks
    >>> from sklearn.datasets import make_blobs
    >>> X, _ = make_blobs(300, centers=3, cluster_std=0.5, random_state=1)
    >>> model = DensityPeaks(n_clusters=3).fit(X)
    >>> [int((model.labels_ == cluster).sum()) for cluster in range(3)]
    [100, 100, 100]
    """

    def __init__(
        self,
        n_clusters: int | None = 8,
        bandwidth: float | Literal["auto"] = "auto",
        density: Literal["gaussian", "cutoff"] = "gaussian",
        *,
        density_threshold: float | None = None,
        distance_threshold: float | None = None,
        metric: Literal["euclidean", "isolation"] = "euclidean",
        psi: int | Literal["auto"] = "auto",
        n_partitions: int = 100,
        n_jobs: int | None = None,
        random_state: int | RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.bandwidth = bandwidth
        self.density = density
        self.density_threshold = density_threshold
        self.distance_threshold = distance_threshold
        self.metric = metric
        self.psi = psi
        self.n_partitions = n_partitions
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Find the clusters of the rows of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            At least two rows, all finite.
        y : None
            Ignored.

        Returns
        -------
        self : DensityPeaks
            The fitted estimator.

        Examples
        --------
        >>> from pskclust.baselines import DensityPeaks
        >>> DensityPeaks(2).fit([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]]).labels_
        array([0, 0, 0, 1, 1, 1])
        """
        check_parameters(self.get_params(deep=False), _RULES)
        self._check_way_to_centers()
        rows = check_rows(self, X, "euclidean", reset=True, min_samples=2)
        self._check_enough_rows(len(rows))
        kernel = self._fitted_kernel(X)
        pairs: Pairs = (
            IsolationDissimilarity(kernel.cells(X)) if kernel else EuclideanDistance.of(rows)
        )
        with one_blas_thread:
            bandwidth = self._choose_bandwidth(pairs)
            closeness = partial(_CLOSENESS[self.density], bandwidth=bandwidth)
            graph = _decision_graph(pairs, closeness, self.n_jobs)
        centers = self._choose_centers(graph)
        self.kernel_ = kernel
        self.bandwidth_ = bandwidth
        self.density_ = graph.density
        self.distance_to_denser_ = graph.distance
        self.denser_neighbor_ = graph.neighbor
        self.center_indices_ = centers
        self.n_clusters_ = len(centers)
        self.labels_ = _follow(graph.neighbor, centers)
        return self

    def decision_graph(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the coordinates of all rows in the decision graph; centres are at the upper right.

        The graph does not depend on `n_clusters` or the thresholds. Use it after a first fit to
        set thresholds for a second one.

        Returns
        -------
        density : ndarray of shape (n_samples,)
            Density of each row, rho, for the horizontal axis.
        distance : ndarray of shape (n_samples,)
            Distance of each row to the nearest denser row, delta, for the vertical axis.

        Examples
        --------
        >>> from pskclust.baselines import DensityPeaks
        >>> model = DensityPeaks(2).fit([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]])
        >>> density, distance = model.decision_graph()
        >>> (distance > 1).nonzero()[0].tolist() == sorted(model.center_indices_.tolist())
        True
        """
        check_is_fitted(self)
        return self.density_, self.distance_to_denser_

    def _check_way_to_centers(self) -> None:
        thresholds = {
            "density_threshold": self.density_threshold,
            "distance_threshold": self.distance_threshold,
        }
        for name, value in thresholds.items():
            if self.n_clusters is None and value is None:
                raise ValueError(
                    f"n_clusters=None chooses centres by thresholds, but {name} is None. Pass "
                    "n_clusters, or both density_threshold and distance_threshold."
                )
            if self.n_clusters is not None and value is not None:
                raise ValueError(
                    f"{name}={value!r} has no meaning with n_clusters={self.n_clusters!r}. Use "
                    "n_clusters=None to choose centres by thresholds."
                )

    def _check_enough_rows(self, n_rows: int) -> None:
        if self.n_clusters is not None and self.n_clusters > n_rows:
            raise ValueError(
                f"n_clusters={self.n_clusters!r} is more than the {n_rows} rows of X. Use "
                f"n_clusters <= {n_rows}."
            )

    def _fitted_kernel(self, X: ArrayLike) -> IsolationKernel | None:
        if self.metric == "euclidean":
            return None
        return IsolationKernel(
            psi=self.psi,
            n_partitions=self.n_partitions,
            n_jobs=self.n_jobs,
            random_state=self.random_state,
        ).fit(X)

    def _choose_bandwidth(self, pairs: Pairs) -> float:
        if self.bandwidth != "auto":
            return float(self.bandwidth)
        n_rows = len(pairs)
        if n_rows > _ROWS_FOR_BANDWIDTH:
            rng = check_random_state(self.random_state)
            pairs = pairs.only(rng.choice(n_rows, _ROWS_FOR_BANDWIDTH, replace=False))
        everybody = slice(len(pairs))
        distances = pairs.between(everybody, everybody)[np.triu_indices(len(pairs), k=1)]
        if not distances.any():
            return 1.0
        quantile = np.quantile(distances, _QUANTILE_FOR_BANDWIDTH)
        return float(quantile or distances[distances > 0].min())

    def _choose_centers(self, graph: DecisionGraph) -> NDArray[np.intp]:
        """Return the row numbers of the centres, in decreasing order of density times distance."""
        density, distance, _, ranking = graph
        by_prominence = ranking[np.argsort(-(density * distance)[ranking], kind="stable")]
        if self.n_clusters is not None:
            return by_prominence[: int(self.n_clusters)]
        dense = density > float(self.density_threshold or 0)
        eligible = dense & (distance > float(self.distance_threshold or 0))
        if not eligible.any():
            raise ValueError(
                f"No row exceeds density_threshold={self.density_threshold!r} and "
                f"distance_threshold={self.distance_threshold!r}: the highest density is "
                f"{density.max():g}, the largest distance {distance.max():g}. Use lower "
                "thresholds."
            )
        return by_prominence[eligible[by_prominence]]


def _gaussian(distances: NDArray[np.float64], bandwidth: float) -> NDArray[np.float64]:
    """Return exp(-(distance / bandwidth)^2), rounded; overwrite `distances`."""
    # Distances whose squares overflow contribute 0.
    with np.errstate(over="ignore", under="ignore"):
        distances /= bandwidth
        np.square(distances, out=distances)
        np.negative(distances, out=distances)
        np.exp(distances, out=distances)
        distances *= _RESOLUTION
    np.rint(distances, out=distances)
    distances /= _RESOLUTION
    return distances


def _cutoff(distances: NDArray[np.float64], bandwidth: float) -> NDArray[np.bool_]:
    return distances < bandwidth


# Functions from distances of other rows to their contributions to the density of a row.
_CLOSENESS: dict[str, Closeness] = {"gaussian": _gaussian, "cutoff": _cutoff}


def _decision_graph(pairs: Pairs, closeness: Closeness, n_jobs: int | None) -> DecisionGraph:
    density = _densities(pairs, closeness, n_jobs)
    ranking = np.argsort(-density, kind="stable")
    neighbor, distance = _nearest_denser(pairs, ranking, n_jobs)
    return DecisionGraph(density, distance, neighbor, ranking)


def _densities(pairs: Pairs, closeness: Closeness, n_jobs: int | None) -> NDArray[np.float64]:
    """Return the sum of the closeness of each row to all others; compute each pair once."""
    n_rows = len(pairs)
    density = np.zeros(n_rows)

    def add_up(chunk: slice) -> tuple[slice, NDArray[Any], NDArray[Any]]:
        distances = pairs.between(chunk, slice(chunk.start, n_rows))
        n_own = len(distances)
        np.fill_diagonal(distances[:, :n_own], np.inf)  # a row does not count for itself
        added = closeness(distances)
        return chunk, added.sum(axis=1), added[:, n_own:].sum(axis=0)

    for chunk, to_own, to_later in map_chunks(add_up, n_rows, pairs.chunk_rows, n_jobs):
        density[chunk] += to_own
        density[chunk.stop :] += to_later
    return density


def _nearest_denser(
    pairs: Pairs, ranking: NDArray[np.intp], n_jobs: int | None
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return the nearest denser row of each row, and its distance; `ranking` is densest first."""
    ranked = pairs.only(ranking)
    neighbor = np.empty(len(pairs), dtype=np.intp)
    distance = np.empty(len(pairs))

    def search(chunk: slice) -> None:
        distances = ranked.between(chunk, slice(chunk.stop))
        n_own = len(distances)
        distances[:, chunk.start :][np.triu_indices(n_own)] = np.inf
        nearest = distances.argmin(axis=1)
        neighbor[ranking[chunk]] = ranking[nearest]
        distance[ranking[chunk]] = distances[np.arange(n_own), nearest]

    for _ in map_chunks(search, len(pairs), pairs.chunk_rows, n_jobs):
        pass
    densest, others = ranking[0], ranking[1:]
    neighbor[densest] = -1
    # The densest row must have the largest distance, whatever the rounding errors.
    farthest = ranked.between(slice(1), slice(len(pairs))).max()
    distance[densest] = max(farthest, distance[others].max())
    return neighbor, distance


def _follow(denser_neighbor: NDArray[np.intp], centers: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the index of the centre that each row reaches by following its denser neighbours."""
    leader = denser_neighbor.copy()
    leader[centers] = centers
    while True:
        farther = leader[leader]
        if np.array_equal(farther, leader):
            break
        leader = farther
    place = np.empty_like(leader)
    place[centers] = np.arange(len(centers))
    return place[leader]
