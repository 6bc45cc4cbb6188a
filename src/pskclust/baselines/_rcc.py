"""RCC: robust continuous clustering, which draws connected rows together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import linalg, sparse
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree
from scipy.sparse.linalg import eigsh
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.validation import check_is_fitted

from .._data.checks import check_distances
from .._data.distance_metrics import to_points
from .._data.parameters import KERNEL_RULES, Rule, between, check_parameters, one_of, whole
from .._data.rows import check_rows

Matrix = NDArray[np.float64]

_RULES: dict[str, tuple[Rule, ...]] = {
    "n_neighbors": (whole(1),),
    "threshold": (between(0, np.inf),),
    "max_iter": (whole(1),),
    "metric": (one_of("euclidean", "cosine"),),
    "n_jobs": KERNEL_RULES["n_jobs"],
}

_SHORT_SHARE = 0.01
# Two rows whose columns differ by less than this (root mean square) count as copies: the edge
# between them does not affect delta.
_LENGTH_OF_COPIES = 0.01
_ITERATIONS_PER_SCALE = 4
# The objective has converged if an iteration changes it by at most this fraction.
_TOLERANCE = 1e-4
_SOLVER_TOLERANCE, _MAX_SOLVER_STEPS = 1e-6, 1000


class RCC(ClusterMixin, BaseEstimator):
    """Robust continuous clustering (RCC).

    Each row x_i has a representative u_i. A penalty draws the representatives of neighbouring rows
    together. The penalty is bounded, so it hardly moves pairs that are far apart, such as
    neighbours in different clusters:

        minimise  1/2 sum_i ||x_i - u_i||^2  +  lambda/2 sum_(p,q) w_pq rho(||u_p - u_q||),

    where rho(y) = mu y^2 / (mu + y^2) is the Geman-McClure penalty, and the sum is over the
    edges of a graph. Representatives that are close and joined by an edge are in one cluster. The
    method finds the number of clusters.

    The graph has the edges between mutual nearest neighbours, and the edges of a minimum spanning
    forest of the nearest neighbours graph, which connects rows without mutual neighbours. w_pq is
    the mean degree divided by sqrt(degree_p degree_q).

    Each iteration minimises the objective first over a weight of each edge,
    l_pq = (mu / (mu + ||u_p - u_q||^2))^2, and then over the representatives, by solving a sparse
    linear system. The scale mu starts at 3 times the squared length of the longest edge. Every four
    iterations, mu is halved, down to delta / 2, and lambda is set to ||X||_2 / ||M||_2, where M is
    the Laplacian of the weighted edges. delta is the mean length of the shortest 1% of the edges,
    not counting edges shorter than 0.01 sqrt(n_features); if all are that short, only edges of
    length 0 are not counted. The fit ends when mu is at its minimum and the objective has
    converged, or after `max_iter` iterations.

    Parameters
    ----------
    n_neighbors : int, default=10
        Number of neighbours of each row, 1 or more, not counting the row itself. If X has fewer
        other rows, all of them are neighbours. Increase it if clusters are split.
    threshold : float, default=1.0
        Representatives joined by an edge are in one cluster if their distance is at most
        `threshold` times delta. Above 0; the published method uses 1. Use :meth:`labels_at` to try
        other values without another fit.
    max_iter : int, default=100
        Largest number of iterations, 1 or more.
    metric : {"euclidean", "cosine"}, default="euclidean"
        Distance by which neighbours are found; "cosine" compares directions. The lengths of edges
        are always Euclidean.
    n_jobs : int or None, default=None
        Number of threads of the search for neighbours; -1 uses all processors, None one thread, as
        in scikit-learn. Results do not depend on it.

    Attributes
    ----------
    labels_ : ndarray of int32, shape (n_samples,)
        Cluster of each row; clusters are numbered in the order of their first rows. There is no
        noise: an isolated row is a cluster of one row.
    n_clusters_ : int
        Number of clusters.
    representatives_ : ndarray of float64, shape (n_samples, n_features)
        Representative of each row.
    delta_ : float
        Mean length of the shortest edges, delta above.
    objectives_ : ndarray of float64, shape (n_iter_,)
        The objective after each iteration. It does not rise while mu and lambda stay the same.
    n_iter_ : int
        Number of iterations.
    n_features_in_ : int
        Number of columns of the data.
    feature_names_in_ : ndarray of str
        Names of the columns. Only present if all columns of X have names that are strings.

    See Also
    --------
    SGL : Structured graph learning, for a given number of clusters.
    pskclust.PSKC : Point-set kernel clustering, which also finds the number of clusters.

    Notes
    -----
    Finding neighbours takes time n log n in few dimensions and n^2 d in many; each iteration
    takes time n `n_neighbors` d times the number of steps of the conjugate gradient method. Memory
    is n (`n_neighbors` + d). lambda, the smallest mu and the edges that count for delta depend on
    the scale of X, so a multiple of X may give other clusters. In two or three dimensions
    the shortest edges, and so delta, are far shorter than most edges; clusters are then split
    unless `n_neighbors` or `threshold` is large.

    References
    ----------
    S. A. Shah, V. Koltun, "Robust continuous clustering", Proceedings of the National Academy of
    Sciences 114(37), 2017.

    Examples
    --------
    >>> from pskclust.baselines import RCC
    >>> from sklearn.datasets import make_blobs
    >>> X, _ = make_blobs(300, n_features=10, centers=3, random_state=1)
    >>> RCC().fit(X).n_clusters_
    3
    """

    _tree: Edges
    _tree_lengths: Matrix

    def __init__(
        self,
        n_neighbors: int = 10,
        threshold: float = 1.0,
        *,
        max_iter: int = 100,
        metric: Literal["euclidean", "cosine"] = "euclidean",
        n_jobs: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.threshold = threshold
        self.max_iter = max_iter
        self.metric = metric
        self.n_jobs = n_jobs

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
        self : RCC
            The fitted estimator.

        Examples
        --------
        >>> from pskclust.baselines import RCC
        >>> RCC(n_neighbors=2).fit([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]]).labels_
        array([0, 0, 0, 1, 1, 1], dtype=int32)
        """
        check_parameters(self.get_params(deep=False), _RULES)
        rows = check_rows(self, X, self.metric, reset=True, min_samples=2)
        if self.metric == "euclidean":
            check_distances(rows)
        edges = connect(to_points(rows, self.metric), self.n_neighbors, self.n_jobs)
        points = to_points(rows, "euclidean")
        self.delta_ = short_length(edges.lengths(points), points.shape[1])
        self.representatives_, objectives = draw_together(points, edges, self.delta_, self.max_iter)
        self.objectives_ = np.array(objectives)
        self.n_iter_ = len(objectives)
        self._keep_tree(edges)
        self.labels_ = self.labels_at(self.threshold)
        self.n_clusters_ = int(self.labels_.max()) + 1
        return self

    def _keep_tree(self, edges: Edges) -> None:
        # At any threshold, a minimum spanning forest connects the same rows as all edges do.
        lengths = edges.lengths(self.representatives_)
        self._tree = edges.only(spanning_forest(edges, lengths))
        self._tree_lengths = self._tree.lengths(self.representatives_)

    def labels_at(self, threshold: float) -> NDArray[np.int32]:
        """Return the labels for another threshold, without another fit.

        Parameters
        ----------
        threshold : float
            The threshold, above 0; see the parameter of the class.

        Returns
        -------
        labels : ndarray of int32, shape (n_samples,)
            Cluster of each row.

        Examples
        --------
        >>> from pskclust.baselines import RCC
        >>> model = RCC(n_neighbors=2).fit([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]])
        >>> model.labels_at(1e-6)
        array([0, 1, 2, 3, 4, 5], dtype=int32)
        """
        check_is_fitted(self)
        check_parameters({"threshold": threshold}, {"threshold": _RULES["threshold"]})
        near = self._tree_lengths <= threshold * self.delta_
        _, labels = connected_components(self._tree.only(near).matrix(), directed=False)
        found: NDArray[np.int32] = labels
        return found


@dataclass(frozen=True, eq=False)
class Edges:
    """Edges of a graph: pairs of rows, each pair once."""

    first: NDArray[np.intp]
    second: NDArray[np.intp]
    n_rows: int

    def __len__(self) -> int:
        return len(self.first)

    def only(self, chosen: NDArray[np.bool_]) -> Edges:
        return Edges(self.first[chosen], self.second[chosen], self.n_rows)

    def squared_lengths(self, points: Matrix) -> Matrix:
        difference = points[self.first] - points[self.second]
        squared: Matrix = np.einsum("ij,ij->i", difference, difference)
        return squared

    def lengths(self, points: Matrix) -> Matrix:
        return np.sqrt(self.squared_lengths(points))

    def matrix(self, values: ArrayLike = 1.0) -> sparse.csr_array:
        """Return the values of the edges as an upper triangular matrix, (n, n)."""
        entries = np.broadcast_to(values, len(self)), (self.first, self.second)
        return sparse.csr_array(entries, shape=(self.n_rows, self.n_rows))

    def laplacian(self, weights: Matrix) -> sparse.csr_array:
        """Return M = sum over edges of weight (e_p - e_q)(e_p - e_q)^T."""
        upper = self.matrix(weights)
        adjacency = upper + upper.T
        return sparse.diags_array(adjacency.sum(axis=1), format="csr") - adjacency

    def balance(self) -> Matrix:
        """Return w_pq of each edge, which balances rows with many edges and rows with few."""
        degree = np.bincount(np.concatenate([self.first, self.second]), minlength=self.n_rows)
        balance: Matrix = degree.mean() / np.sqrt(degree[self.first] * degree[self.second])
        return balance


def connect(points: Matrix, n_neighbors: int, n_jobs: int | None) -> Edges:
    """Return the edges between mutual neighbours, and those of a minimum spanning forest."""
    n_rows = len(points)
    n_neighbors = min(n_neighbors, n_rows - 1)
    search = NearestNeighbors(n_neighbors=n_neighbors, n_jobs=n_jobs).fit(points)
    first = np.repeat(np.arange(n_rows), n_neighbors)
    second = search.kneighbors(return_distance=False).ravel()
    pairs = np.minimum(first, second) * n_rows + np.maximum(first, second)
    pairs, times_found = np.unique(pairs, return_counts=True)
    edges = Edges(pairs // n_rows, pairs % n_rows, n_rows)
    return edges.only((times_found == 2) | spanning_forest(edges, edges.lengths(points)))


def spanning_forest(edges: Edges, lengths: Matrix) -> NDArray[np.bool_]:
    """Return a mask of the edges of a minimum spanning forest; prefer the first of equal edges."""
    # Ranks replace lengths, because a sparse matrix reads a length of 0 as no edge.
    order = np.argsort(lengths, kind="stable")
    ranks = np.empty(len(edges))
    ranks[order] = np.arange(1, len(edges) + 1)
    chosen = np.zeros(len(edges), dtype=bool)
    chosen[order[minimum_spanning_tree(edges.matrix(ranks)).data.astype(np.intp) - 1]] = True
    return chosen


def short_length(lengths: Matrix, n_columns: int) -> float:
    """Return delta, the mean of the shortest lengths, not counting copies; 0 if all are 0."""
    counted = lengths[lengths >= _LENGTH_OF_COPIES * np.sqrt(n_columns)]
    counted = np.sort(counted if len(counted) else lengths[lengths > 0])
    if not len(counted):
        return 0.0
    return float(counted[: max(1, int(_SHORT_SHARE * len(counted)))].mean())


class Penalty(NamedTuple):
    """Coefficients of the objective."""

    balance: Matrix  # w, (n_edges,)
    strength: float  # lambda
    scale: float  # mu


def draw_together(
    points: Matrix, edges: Edges, delta: float, max_iter: int
) -> tuple[Matrix, list[float]]:
    """Return the representatives, and the objective after each iteration."""
    if not delta:  # connected rows are equal, so nothing moves
        return points, [0.0]
    balance, size, smallest_scale = edges.balance(), _spectral_norm(points), delta / 2
    penalty = Penalty(
        balance,
        strength=size / _largest_eigenvalue(edges.laplacian(balance)),
        scale=3 * edges.squared_lengths(points).max(),
    )
    representatives, objectives = points, [np.inf]
    for iteration in range(1, max_iter + 1):
        line_weights = line_process(edges.squared_lengths(representatives), penalty.scale)
        laplacian = edges.laplacian(balance * line_weights)
        representatives = solve(penalty.strength * laplacian, points, representatives)
        objectives.append(objective(points, representatives, edges, penalty))
        still = abs(objectives[-2] - objectives[-1]) <= _TOLERANCE * objectives[-1]
        if still and penalty.scale <= smallest_scale:
            break
        if iteration % _ITERATIONS_PER_SCALE == 0:
            strength = size / _largest_eigenvalue(laplacian)
            penalty = Penalty(balance, strength, max(penalty.scale / 2, smallest_scale))
    return representatives, objectives[1:]


def line_process(squared_lengths: Matrix, scale: float) -> Matrix:
    """Return the optimal weight l_pq of each edge; long edges have small weights."""
    weights: Matrix = np.square(scale / (scale + squared_lengths))
    return weights


def objective(points: Matrix, representatives: Matrix, edges: Edges, penalty: Penalty) -> float:
    """Return the objective at the optimal weights of the edges."""
    squared = edges.squared_lengths(representatives)
    robust = penalty.scale * squared / (penalty.scale + squared)
    moved = np.square(points - representatives).sum()
    return float(moved + penalty.strength * (penalty.balance * robust).sum()) / 2


def solve(matrix: sparse.csr_array, right: Matrix, start: Matrix) -> Matrix:
    """Return the solution U of (I + matrix) U = right, by conjugate gradients."""
    system = (matrix + sparse.eye_array(matrix.shape[0], format="csr")).tocsr()
    diagonal = system.diagonal()[:, np.newaxis]
    solution, residual = start.copy(), right - system @ start
    enough = _SOLVER_TOLERANCE**2 * np.square(right).sum()
    direction = residual / diagonal
    product = (residual * direction).sum(axis=0)
    for _ in range(_MAX_SOLVER_STEPS):
        if np.square(residual).sum() <= enough:
            break
        image = system @ direction
        step = _ratio(product, (direction * image).sum(axis=0))
        solution += step * direction
        residual -= step * image
        scaled = residual / diagonal
        new_product = (residual * scaled).sum(axis=0)
        direction = scaled + _ratio(new_product, product) * direction
        product = new_product
    return solution


def _ratio(above: Matrix, below: Matrix) -> Matrix:
    """Return above / below, or 0 for columns whose system is already solved."""
    return np.divide(above, below, out=np.zeros_like(above), where=below > 0)


def _spectral_norm(points: Matrix) -> float:
    small = points.T @ points if points.shape[1] <= len(points) else points @ points.T
    return float(np.sqrt(linalg.eigvalsh(small)[-1]))


def _largest_eigenvalue(laplacian: sparse.csr_array) -> float:
    # A fixed start vector of the Lanczos iteration makes results repeatable.
    start = np.random.RandomState(0).uniform(-1, 1, laplacian.shape[0])
    return float(eigsh(laplacian, 1, v0=start, return_eigenvectors=False)[0])
