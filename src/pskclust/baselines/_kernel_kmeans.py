"""Kernel k-means: k-means on features whose inner products approximate a kernel."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray
from scipy import linalg, sparse
from scipy.sparse.linalg import eigsh
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.neighbors import NearestNeighbors
from sklearn.utils import check_random_state, gen_batches

from .._data.checks import check_distances
from .._data.distance_metrics import to_points
from .._data.parameters import Rule, between, check_parameters, one_of, whole
from .._data.rows import check_rows
from .._utils.memory import require_memory
from .._utils.parallel import rows_per_product

_RULES: dict[str, tuple[Rule, ...]] = {
    "n_clusters": (whole(1),),
    "kernel": (one_of("gaussian", "knn"),),
    # Outside this range, the square of sigma overflows or rounds to 0.
    "sigma": (between(1e-150, 1e150),),
    "n_landmarks": (whole(1),),
    "n_components": (whole(1),),
    "n_neighbors": (whole(1),),
    "n_init": (whole(1),),
    "max_iter": (whole(1),),
}

# A dense matrix is decomposed faster than a sparse one if the number of neighbours exceeds the
# first fraction of the number of rows, or the number of eigenvectors exceeds the second.
_DENSE_SHARE_OF_ROWS = 0.2
_DENSE_SHARE_OF_EIGENVECTORS = 0.1


class KernelKMeans(ClusterMixin, BaseEstimator):
    """Kernel k-means with a Gaussian kernel or an adaptive kernel of nearest neighbours.

    Each row is mapped to at most `n_components` features whose inner products approximate the
    kernel. scikit-learn's KMeans clusters the features.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters, 1 to the number of rows.
    kernel : {"gaussian", "knn"}, default="gaussian"
        "gaussian" is scalable kernel k-means [1]_: the kernel exp(-||x - y||^2 / (2 sigma^2)) is
        approximated by the Nystroem method, from landmarks drawn uniformly among the rows, and
        its rank is restricted to `n_components` by a singular value decomposition of the
        Nystroem features (Algorithm 2 of [1]_, without centring).

        "knn" is the adaptive kernel of [2]_: the mean of A and its transpose, where A(x, y) = 1 if
        y is x or among the `n_neighbors` nearest rows of x, else 0. The kernel of two rows is 1 if
        each is a neighbour of the other, and 1/2 if only one is. The features are the leading
        eigenvectors of the kernel, each times the square root of its eigenvalue. The kernel is not
        positive definite: eigenvectors with eigenvalues of 0 or less are left out.
    sigma : float, default=1.0
        Width of the Gaussian kernel, above 0. Set it to about the distance between neighbours
        within a cluster.
    n_landmarks : int, default=400
        Number of landmarks of the Gaussian kernel, 1 or more, c in [1]_. If X has fewer rows, all
        of them are landmarks. More landmarks approximate the kernel better but take more time and
        memory.
    n_components : int, default=100
        Largest number of features, 1 or more, s in [1]_. There are fewer if the rank of the
        approximated kernel is lower.
    n_neighbors : int, default=10
        Number of neighbours of each row for ``kernel="knn"``, 1 or more, not counting the row
        itself. If X has fewer other rows, all of them are neighbours.
    n_init : int, default=10
        Number of runs of k-means, 1 or more. The run with the lowest inertia is kept.
    max_iter : int, default=300
        Largest number of iterations of a run of k-means, 1 or more.
    random_state : int, RandomState instance or None, default=None
        Source of the landmarks and of the starts of k-means. Pass an int for the same labels every
        time.

    Attributes
    ----------
    labels_ : ndarray of int32, shape (n_samples,)
        Cluster of each row.
    inertia_ : float
        Sum of the squared distances from rows to the mean of their cluster, in feature space.
    n_iter_ : int
        Number of iterations of the run that was kept.
    n_features_in_ : int
        Number of columns of the data.
    feature_names_in_ : ndarray of str
        Names of the columns. Only present if all columns of X have names that are strings.

    See Also
    --------
    SGL : Structured graph learning, which also ends in k-means.
    GaussianPSKC : Point-set kernel clustering with the Gaussian kernel.
    sklearn.cluster.KMeans : k-means of the rows themselves.

    Notes
    -----
    "gaussian" takes time n c (d + c), plus n s k for each iteration of k-means, and memory n c,
    all linear in the number n of rows. "knn" finds the neighbours of all rows, which takes time
    n^2 d in many dimensions. It then computes s eigenvectors of a sparse matrix, or, if
    `n_neighbors` exceeds a fifth or s a tenth of the number of rows, of a dense matrix in time n^3.

    References
    ----------
    .. [1] S. Wang, A. Gittens, M. W. Mahoney, "Scalable Kernel K-Means Clustering with Nystroem
       Approximation: Relative-Error Bounds", Journal of Machine Learning Research 20, 2019.
    .. [2] D. Marin, M. Tang, I. Ben Ayed, Y. Boykov, "Kernel Clustering: Density Biases and
       Solutions", IEEE Transactions on Pattern Analysis and Machine Intelligence 41(1), 2019.

    Examples
    --------
    >>> from pskclust.baselines import KernelKMeans
    >>> X = [[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]]
    >>> KernelKMeans(2, random_state=0).fit_predict(X)
    array([1, 1, 1, 0, 0, 0], dtype=int32)
    """

    def __init__(
        self,
        n_clusters: int = 8,
        kernel: Literal["gaussian", "knn"] = "gaussian",
        *,
        sigma: float = 1.0,
        n_landmarks: int = 400,
        n_components: int = 100,
        n_neighbors: int = 10,
        n_init: int = 10,
        max_iter: int = 300,
        random_state: int | RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.sigma = sigma
        self.n_landmarks = n_landmarks
        self.n_components = n_components
        self.n_neighbors = n_neighbors
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Find the clusters of the rows of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            At least two and at least `n_clusters` rows, all finite.
        y : None
            Ignored.

        Returns
        -------
        self : KernelKMeans
            The fitted estimator.

        Examples
        --------
        >>> from pskclust.baselines import KernelKMeans
        >>> X = [[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]]
        >>> round(KernelKMeans(2, random_state=0).fit(X).inertia_, 3)
        0.04
        """
        check_parameters(self.get_params(deep=False), _RULES)
        rows = check_rows(self, X, "euclidean", reset=True, min_samples=2)
        check_n_clusters(self.n_clusters, len(rows))
        check_distances(rows)
        rng = check_random_state(self.random_state)
        features = self._features(to_points(rows, "euclidean"), rng)
        kmeans = KMeans(
            self.n_clusters, n_init=self.n_init, max_iter=self.max_iter, random_state=rng
        ).fit(features)
        self.labels_ = kmeans.labels_
        self.inertia_ = kmeans.inertia_
        self.n_iter_ = kmeans.n_iter_
        return self

    def _features(self, points: NDArray[np.float64], rng: RandomState) -> NDArray[np.float64]:
        if self.kernel == "knn":
            return neighbor_features(points, self.n_neighbors, self.n_components)
        chosen = rng.choice(len(points), min(self.n_landmarks, len(points)), replace=False)
        # A shift does not change the kernel, and matrix products are more exact near the origin.
        points = points - points.mean(axis=0)
        features = nystroem_features(points, points[chosen], self.sigma)
        return restrict_rank(features, self.n_components)


def check_n_clusters(n_clusters: int, n_rows: int) -> None:
    """Raise ValueError if there are fewer rows than clusters."""
    if n_clusters > n_rows:
        raise ValueError(
            f"n_clusters={n_clusters} is more than the number of rows: X has n_samples={n_rows}. "
            f"Use n_clusters <= {n_rows}."
        )


def nystroem_features(
    points: NDArray[np.float64], landmarks: NDArray[np.float64], sigma: float
) -> NDArray[np.float64]:
    """Return features of the points whose inner products approximate the Gaussian kernel.

    The approximation is C W^+ C^T, where C is the kernel between points and landmarks, and W is
    the kernel between landmarks.
    """
    gamma = 1 / (2 * sigma**2)
    eigenvalues, eigenvectors = linalg.eigh(rbf_kernel(landmarks, gamma=gamma))
    sound = eigenvalues > eigenvalues[-1] * len(landmarks) * np.finfo(np.float64).eps
    whitening = eigenvectors[:, sound] / np.sqrt(eigenvalues[sound])
    shape = len(points), whitening.shape[1]
    require_memory(
        {"Nystroem features": 8 * shape[0] * shape[1]},
        f"Approximating the kernel of {len(points)} rows with {len(landmarks)} landmarks",
        "Use fewer landmarks (n_landmarks) or fewer rows.",
    )
    features = np.empty(shape)
    for chunk in gen_batches(len(points), rows_per_product(len(landmarks))):
        features[chunk] = rbf_kernel(points[chunk], landmarks, gamma) @ whitening
    return features


def restrict_rank(features: NDArray[np.float64], rank: int) -> NDArray[np.float64]:
    """Return at most `rank` features that best preserve the inner products of `features`."""
    # Eigenvectors of this matrix are right singular vectors; its size does not grow with the rows.
    _, directions = linalg.eigh(features.T @ features)
    restricted: NDArray[np.float64] = features @ directions[:, -rank:]
    return restricted


def neighbor_features(
    points: NDArray[np.float64], n_neighbors: int, n_components: int
) -> NDArray[np.float64]:
    """Return features whose inner products best approximate the nearest-neighbour kernel."""
    kernel = neighbor_kernel(points, min(n_neighbors, len(points) - 1))
    eigenvalues, eigenvectors = leading_eigenpairs(kernel, min(n_components, len(points)))
    positive = eigenvalues > eigenvalues.max() * len(points) * np.finfo(np.float64).eps
    features: NDArray[np.float64] = eigenvectors[:, positive] * np.sqrt(eigenvalues[positive])
    return features


def neighbor_kernel(points: NDArray[np.float64], n_neighbors: int) -> Any:
    """Return the nearest-neighbour kernel, (n, n), as a dense array if it has few zeros."""
    n_rows = len(points)
    dense = n_neighbors > _DENSE_SHARE_OF_ROWS * n_rows
    require_memory(
        {"kernel": 24 * n_rows * (n_rows if dense else n_neighbors)},
        f"The kernel of {n_rows} rows with {n_neighbors} neighbours each",
        "Use fewer neighbours (n_neighbors) or fewer rows.",
    )
    search = NearestNeighbors(n_neighbors=n_neighbors).fit(points)
    nearest = search.kneighbors(return_distance=False)
    if dense:
        kernel = np.eye(n_rows)
        np.put_along_axis(kernel, nearest, 1, axis=1)
        return (kernel + kernel.T) / 2
    starts = np.arange(0, nearest.size + 1, n_neighbors)
    directed = sparse.csr_array((np.ones(nearest.size), nearest.ravel(), starts))
    return (directed + directed.T) / 2 + sparse.eye_array(n_rows, format="csr")


def leading_eigenpairs(
    matrix: Any, n_pairs: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the `n_pairs` largest eigenvalues of a symmetric matrix, and their eigenvectors."""
    n_rows = matrix.shape[0]
    if sparse.issparse(matrix) and n_pairs <= _DENSE_SHARE_OF_EIGENVECTORS * n_rows:
        # A fixed start vector of the Lanczos iteration makes results repeatable.
        start = np.random.RandomState(0).uniform(-1, 1, n_rows)
        eigenvalues, eigenvectors = eigsh(matrix, n_pairs, which="LA", v0=start)
    else:
        full = matrix.toarray() if sparse.issparse(matrix) else matrix
        last = n_rows - n_pairs, n_rows - 1
        eigenvalues, eigenvectors = linalg.eigh(full, subset_by_index=last)
    return eigenvalues, eigenvectors
