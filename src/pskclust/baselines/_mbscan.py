"""MBSCAN: DBSCAN with the dissimilarity of the isolation kernel."""

from __future__ import annotations

from typing import Literal, Self

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import DBSCAN

from .._data.parameters import KERNEL_RULES, Rule, between, check_parameters, whole
from .._data.rows import check_rows
from .._isolation_kernel import IsolationKernel
from .._utils.memory import require_memory
from .._utils.parallel import map_chunks
from ._pairs import IsolationDissimilarity

# Memory that scikit-learn's DBSCAN needs per pair of neighbours: copies of the graph, and lists.
_BYTES_PER_NEIGHBOR = 24

_RULES: dict[str, tuple[Rule, ...]] = {
    "eps": (between(0, np.inf),),
    "min_samples": (whole(1),),
    **{name: KERNEL_RULES[name] for name in ("psi", "n_partitions", "n_jobs")},
}


class MBSCAN(ClusterMixin, BaseEstimator):
    """Density-based clustering with the isolation kernel (MBSCAN).

    This is DBSCAN with another distance between rows: 1 minus their isolation kernel, which is the
    fraction of random partitionings that separate the two rows. Cells are small where data is
    dense, so a single `eps` can find clusters of different densities.

    Time is proportional to n_samples^2 * n_partitions, memory to the number of pairs of rows
    within `eps`.

    Parameters
    ----------
    eps : float, default=0.5
        Largest dissimilarity of two neighbours, above 0. With 1 or more, all rows are neighbours.
        Increase it if a cluster is split or too many rows are noise.
    min_samples : int, default=5
        Number of neighbours that make a row a core row, 1 or more. A row counts as its own
        neighbour.
    psi : int or "auto", default="auto"
        Number of cells of each partitioning, 2 or more, see :class:`pskclust.IsolationKernel`.
    n_partitions : int, default=100
        Number of partitionings, t in the paper, 1 to 100,000.
    n_jobs : int or None, default=None
        Number of threads; None and -1 use all processors. Results do not depend on it.
    random_state : int, RandomState instance or None, default=None
        Source of the random partitionings. Pass an int for the same labels every time.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each row; -1 is noise.
    n_clusters_ : int
        Number of clusters.
    core_sample_indices_ : ndarray of shape (n_core_samples,)
        Row numbers of the core rows.
    components_ : ndarray of shape (n_core_samples, n_features)
        The core rows.
    kernel_ : IsolationKernel
        The fitted kernel.
    n_features_in_ : int
        Number of columns of the data.
    feature_names_in_ : ndarray of str
        Names of the columns. Only present if all columns of X have names that are strings.

    See Also
    --------
    pskclust.IsolationKernel : The kernel that measures dissimilarity.
    sklearn.cluster.DBSCAN : The same method with Euclidean and other distances.
    DensityPeaks : Another density-based method that can use the isolation kernel.

    References
    ----------
    K. M. Ting, Y. Zhu, M. Carman, Y. Zhu, Z.-H. Zhou, "Overcoming Key Weaknesses of
    Distance-based Neighbourhood Methods using a Data Dependent Dissimilarity Measure", KDD 2016.
    X. Qin, K. M. Ting, Y. Zhu, V. C. S. Lee, "Nearest-Neighbour-Induced Isolation Similarity and
    Its Impact on Density-Based Clustering", AAAI 2019.

    Examples
    --------
    >>> from pskclust.baselines import MBSCAN
    >>> from sklearn.datasets import make_blobs
    >>> X, _ = make_blobs(300, centers=3, cluster_std=0.5, random_state=1)
    >>> MBSCAN(eps=0.7, psi=16, random_state=0).fit(X).n_clusters_
    3
    """

    def __init__(
        self,
        eps: float = 0.5,
        min_samples: int = 5,
        psi: int | Literal["auto"] = "auto",
        n_partitions: int = 100,
        *,
        n_jobs: int | None = None,
        random_state: int | RandomState | None = None,
    ) -> None:
        self.eps = eps
        self.min_samples = min_samples
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
        self : MBSCAN
            The fitted estimator.

        Examples
        --------
        >>> from pskclust.baselines import MBSCAN
        >>> from sklearn.datasets import make_blobs
        >>> X, _ = make_blobs(300, centers=3, cluster_std=0.5, random_state=1)
        >>> MBSCAN(eps=0.7, psi=16, random_state=0).fit(X).core_sample_indices_.shape
        (300,)
        """
        check_parameters(self.get_params(deep=False), _RULES)
        rows = check_rows(self, X, "euclidean", reset=True, min_samples=2)
        self.kernel_ = IsolationKernel(
            psi=self.psi,
            n_partitions=self.n_partitions,
            n_jobs=self.n_jobs,
            random_state=self.random_state,
        ).fit(X)
        dissimilarity = IsolationDissimilarity(self.kernel_.cells(X))
        graph = _neighbors_within(float(self.eps), dissimilarity, self.n_jobs)
        found = DBSCAN(
            eps=float(self.eps), min_samples=int(self.min_samples), metric="precomputed"
        ).fit(graph)
        self.labels_ = found.labels_
        self.n_clusters_ = int(found.labels_.max()) + 1
        self.core_sample_indices_ = found.core_sample_indices_
        self.components_ = rows[found.core_sample_indices_]
        return self


def _neighbors_within(
    eps: float, dissimilarity: IsolationDissimilarity, n_jobs: int | None
) -> sparse.csr_array:
    """Return the neighbours graph for DBSCAN, with an entry for each pair of rows within eps."""
    n_rows = len(dissimilarity)

    def neighbors(chunk: slice) -> sparse.csr_array:
        return sparse.csr_array(dissimilarity.between(chunk, slice(n_rows)) <= eps)

    parts = list(map_chunks(neighbors, n_rows, dissimilarity.chunk_rows, n_jobs))
    n_pairs = sum(part.nnz for part in parts)
    require_memory(
        {"neighbours": _BYTES_PER_NEIGHBOR * n_pairs},
        f"Clustering {n_rows} rows with {n_pairs} pairs within eps={eps:g}",
        "Use a smaller eps, or fewer rows.",
    )
    graph = sparse.vstack(parts, format="csr")
    # All entries are set to 0: DBSCAN only tests whether they are within eps, and would sort other
    # values first.
    graph.data = np.zeros(n_pairs, dtype=np.int8)
    return graph
