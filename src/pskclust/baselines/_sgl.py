"""SGL: clusters from a learned graph between rows and a few anchors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.random import RandomState
from numpy.typing import ArrayLike, NDArray
from scipy import linalg
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans
from sklearn.metrics import euclidean_distances
from sklearn.utils import check_random_state

from .._data.checks import check_distances
from .._data.distance_metrics import to_points
from .._data.parameters import NOT_NEGATIVE, Rule, between, check_parameters, whole
from .._data.rows import check_rows
from .._utils.parallel import map_chunks, one_blas_thread, rows_per_chunk
from ._kernel_kmeans import check_n_clusters

Matrix = NDArray[np.float64]

_RULES: dict[str, tuple[Rule, ...]] = {
    "n_clusters": (whole(1),),
    "n_anchors": (whole(1),),
    "alpha": (between(0, np.inf),),
    "beta": (NOT_NEGATIVE,),
    "max_iter": (whole(1),),
    "n_init": (whole(1),),
}

# Anchors only have to lie among the rows, so a few iterations of k-means on a sample are enough.
_ROWS_PER_ANCHOR, _ANCHOR_ITERATIONS = 256, 30
# The objective has converged if an alternation lowers it by at most this fraction.
_TOLERANCE = 1e-8
_WEIGHT_TOLERANCE = 1e-5
_MAX_STEPS, _STEPS_BETWEEN_LOOKS = 300, 10
_OVER_RELAXATION = 1.6
_TUNING_ROWS, _TUNING_STEPS = 500, 60
_N_PENALTIES, _SMALLEST_PENALTY = 9, 1e-8


class SGL(ClusterMixin, BaseEstimator):
    """Structured graph learning for scalable clustering (SGL), for a single view.

    Each row x_i is approximated by a convex combination of anchors A, with weights z_i. The anchors
    are the centres of a k-means of the rows, or of a random sample of 256 rows per anchor if X has
    more. The weights are those of a graph between rows and anchors. They are chosen so that this
    graph is close to having `n_clusters` connected components:

        minimise  sum_i ||x_i - A z_i||^2 + alpha ||z_i||^2  +  beta Tr(F^T L F)
        over      z_i >= 0 with sum 1, and F with `n_clusters` columns and F^T F = I,

    where L = I - D^{-1/2} W D^{-1/2} is the normalised Laplacian of the graph of all rows and
    anchors. Steps alternate: the best F for given weights comes from a singular value
    decomposition of the matrix of normalised weights, rows by anchors. For given F and degrees,
    the graph term is linear in the weights, z_ij ||f_i / sqrt(d_i) - f_j / sqrt(d_j)||^2, and the
    weights of each row are the solution of a small convex quadratic program. The alternation ends
    when the objective no longer falls, or after `max_iter` alternations. The labels come from a
    k-means of the rows of F; if the graph has `n_clusters` connected components, these are the
    clusters.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of clusters, 1 to `n_anchors`.
    n_anchors : int, default=30
        Number of anchors, at least `n_clusters`. If X has fewer rows, each row is an anchor.
        Increase it for clusters of complex shape, at the cost of time and memory.
    alpha : float, default=1.0
        Weight of the term ||z_i||^2, above 0. A larger value spreads each row more evenly over the
        anchors.
    beta : float, default=1e-3
        Weight of the graph term, 0 or more. A larger value brings the graph closer to `n_clusters`
        components; 0 leaves the term out.
    max_iter : int, default=30
        Largest number of alternations, 1 or more.
    n_init : int, default=10
        Number of runs of the k-means that finds the labels, 1 or more. The run with the lowest
        inertia is kept.
    random_state : int, RandomState instance or None, default=None
        Source of the sample of rows for the anchors and of the starts of both k-means. Pass an int
        for the same labels every time.

    Attributes
    ----------
    labels_ : ndarray of int32, shape (n_samples,)
        Cluster of each row.
    anchors_ : ndarray of float64, shape (n_anchors, n_features)
        The anchors.
    graph_ : ndarray of float64, shape (n_samples, n_anchors)
        Weight of each anchor in the combination of each row, with an error of about 1e-5. Each row
        sums to 1.
    objectives_ : ndarray of float64, shape (n_iter_,)
        The objective for the initial weights, which are found without the graph term, and then
        after each alternation.
    n_iter_ : int
        Number of entries of `objectives_`.
    n_features_in_ : int
        Number of columns of the data.
    feature_names_in_ : ndarray of str
        Names of the columns. Only present if all columns of X have names that are strings.

    See Also
    --------
    KernelKMeans : k-means on the features of a kernel.
    sklearn.cluster.SpectralClustering : Spectral clustering of a graph between rows.

    Notes
    -----
    For n rows of d columns and m anchors, time is proportional to n m (d + m) times the number of
    steps, and memory to n m: both are linear in the number of rows. Good values of `alpha` and
    `beta` depend on the scale of X; those in the reference suit columns between 0 and 1.

    References
    ----------
    Z. Kang, Z. Lin, X. Zhu, W. Xu, "Structured Graph Learning for Scalable Subspace Clustering:
    From Single View to Multiview", IEEE Transactions on Cybernetics 52(9), 2022.

    Examples
    --------
    >>> from pskclust.baselines import SGL
    >>> from sklearn.datasets import make_blobs
    >>> X, _ = make_blobs(300, centers=3, cluster_std=0.5, random_state=1)
    >>> model = SGL(3, alpha=0.1, random_state=0).fit(X)
    >>> [int((model.labels_ == cluster).sum()) for cluster in range(3)]
    [100, 100, 100]
    """

    def __init__(
        self,
        n_clusters: int = 8,
        n_anchors: int = 30,
        alpha: float = 1.0,
        beta: float = 1e-3,
        *,
        max_iter: int = 30,
        n_init: int = 10,
        random_state: int | RandomState | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_anchors = n_anchors
        self.alpha = alpha
        self.beta = beta
        self.max_iter = max_iter
        self.n_init = n_init
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: object = None) -> Self:
        """Learn a graph between the rows of X and anchors, and find its clusters.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            At least `n_clusters` rows, all finite.
        y : None
            Ignored.

        Returns
        -------
        self : SGL
            The fitted estimator.

        Examples
        --------
        >>> from pskclust.baselines import SGL
        >>> X = [[0.0], [0.1], [0.2], [5.0], [5.1], [5.2]]
        >>> SGL(2, n_anchors=4, random_state=0).fit(X).graph_.shape
        (6, 4)
        """
        check_parameters(self.get_params(deep=False), _RULES)
        rows = check_rows(self, X, "euclidean", reset=True)
        check_n_clusters(self.n_clusters, len(rows))
        self._check_n_anchors()
        check_distances(rows)
        rng = check_random_state(self.random_state)
        points = to_points(rows, "euclidean")
        # A shift does not change convex combinations, and products are more exact near the origin.
        centre = points.mean(axis=0)
        points = points - centre
        anchors = choose_anchors(points, self.n_anchors, rng)
        problem = Problem.of(points, anchors, self.alpha, self.beta, self.n_clusters)
        self.graph_, embedding, objectives = learn_graph(problem, self.max_iter)
        self.anchors_ = anchors + centre
        self.objectives_ = np.array(objectives)
        self.n_iter_ = len(objectives)
        kmeans = KMeans(self.n_clusters, n_init=self.n_init, random_state=rng)
        self.labels_ = kmeans.fit(embedding.rows).labels_
        return self

    def _check_n_anchors(self) -> None:
        if self.n_anchors < self.n_clusters:
            raise ValueError(
                f"n_anchors={self.n_anchors} is smaller than n_clusters={self.n_clusters}. "
                f"Use n_anchors >= {self.n_clusters}."
            )


class Embedding(NamedTuple):
    """Coordinates of rows and anchors, D^{-1/2} F, and the value of the graph term, Tr(F^T L F)."""

    rows: Matrix  # (n, k)
    anchors: Matrix  # (m, k)
    disconnection: float  # the graph term; 0 for `n_clusters` connected components


@dataclass(frozen=True, eq=False)
class Problem:
    """The objective, expressed by inner products of rows and anchors."""

    products: Matrix  # (n, m), inner products of rows and anchors
    curvature: Matrix  # (m, m), A^T A + alpha I
    squared_norm: float  # of all rows
    beta: float
    n_clusters: int

    @classmethod
    def of(
        cls, points: Matrix, anchors: Matrix, alpha: float, beta: float, n_clusters: int
    ) -> Problem:
        curvature = anchors @ anchors.T + alpha * np.eye(len(anchors))
        squared_norm = float(np.einsum("ij,ij->", points, points))
        return cls(points @ anchors.T, curvature, squared_norm, beta, n_clusters)

    def objective(self, weights: Matrix, embedding: Embedding) -> float:
        quadratic = _quadratic(weights, self.products, self.curvature)
        return self.squared_norm + quadratic + self.beta * embedding.disconnection

    def targets(self, embedding: Embedding) -> Matrix:
        """Return the products minus half the gradient of the graph term."""
        distance2 = euclidean_distances(embedding.rows, embedding.anchors, squared=True)
        targets: Matrix = self.products - self.beta / 2 * distance2
        return targets


def choose_anchors(points: Matrix, n_anchors: int, rng: RandomState) -> Matrix:
    """Return the centres that k-means finds in a random sample of rows."""
    n_anchors = min(n_anchors, len(points))
    n_rows = min(n_anchors * _ROWS_PER_ANCHOR, len(points))
    some = points[np.sort(rng.choice(len(points), n_rows, replace=False))]
    kmeans = KMeans(n_anchors, n_init=1, max_iter=_ANCHOR_ITERATIONS, random_state=rng)
    anchors: Matrix = kmeans.fit(some).cluster_centers_
    return anchors


def learn_graph(problem: Problem, max_iter: int) -> tuple[Matrix, Embedding, list[float]]:
    """Return the weights, their embedding, and the objective after each alternation."""
    solver = SimplexSolver.tuned(problem.products, problem.curvature)
    state = SimplexState.start(problem.products.shape)
    weights = solver.solve(problem.products, state)
    embedding = embed(weights, problem.n_clusters)
    objectives = [problem.objective(weights, embedding)]
    for _ in range(max_iter):
        new_weights = solver.solve(problem.targets(embedding), state)
        new_embedding = embed(new_weights, problem.n_clusters)
        objective = problem.objective(new_weights, new_embedding)
        if objective > objectives[-1]:
            break
        weights, embedding = new_weights, new_embedding
        objectives.append(objective)
        if objectives[-2] - objective <= _TOLERANCE * abs(objective):
            break
    return weights, embedding, objectives


def embed(weights: Matrix, n_clusters: int) -> Embedding:
    """Return the smoothest embedding of the graph: its leading pairs of singular vectors.

    The eigenvalues of L are 1 - s and 1 + s, where s are the singular values of the weights after
    division by the square roots of the degrees. The degree of a row is 1.
    """
    scale = _inverse(np.sqrt(weights.sum(axis=0)))
    normalised = weights * scale
    squares, right = linalg.eigh(normalised.T @ normalised)
    singular = np.sqrt(np.maximum(squares[-n_clusters:], 0))
    right = right[:, -n_clusters:]
    left = normalised @ (right * _inverse(singular))
    half = np.sqrt(0.5)
    return Embedding(
        half * left, half * right * scale[:, np.newaxis], float(n_clusters - singular.sum())
    )


def _inverse(values: Matrix) -> Matrix:
    """Return 1 / values, or 0 for values that are 0 up to rounding errors."""
    sound = values > values.max() * np.sqrt(np.finfo(np.float64).eps)
    return np.divide(1, values, out=np.zeros_like(values), where=sound)


class SimplexState(NamedTuple):
    """State of the solver. The next solve starts from it, because its solution is close."""

    weights: Matrix  # (n, m)
    duals: Matrix  # (n, m), scaled

    @classmethod
    def start(cls, shape: tuple[int, ...]) -> SimplexState:
        return cls(np.full(shape, 1 / shape[1]), np.zeros(shape))

    def only(self, chosen: slice) -> SimplexState:
        return SimplexState(self.weights[chosen], self.duals[chosen])

    def combinations(self) -> Matrix:
        """Return the weights of each row, divided by their sum."""
        combinations: Matrix = self.weights / self.weights.sum(axis=1, keepdims=True)
        return combinations


@dataclass(frozen=True, eq=False)
class SimplexSolver:
    """Solver that minimises z^T H z - 2 t^T z over z >= 0 with sum 1, for many t and one H.

    It uses the alternating direction method of multipliers: a linear map enforces the sum, clipping
    enforces the sign, and a penalty on the difference brings the two solutions together.
    """

    penalty: float
    map: Matrix  # (m, m)
    offset: Matrix  # (m,)

    @classmethod
    def of(cls, curvature: Matrix, penalty: float) -> SimplexSolver:
        inverse = linalg.inv(curvature + penalty * np.eye(len(curvature)))
        sums = inverse.sum(axis=1)
        return cls(penalty, inverse - np.outer(sums, sums) / sums.sum(), sums / sums.sum())

    @classmethod
    def tuned(cls, targets: Matrix, curvature: Matrix) -> SimplexSolver:
        """Return the solver whose penalty gives the lowest objective on a sample of rows."""
        some = targets[:: -(-len(targets) // _TUNING_ROWS)]
        eigenvalues = linalg.eigvalsh(curvature)
        # If rounding errors exceed alpha, the smallest eigenvalue may be 0 or less.
        lowest = max(eigenvalues[0], _SMALLEST_PENALTY * eigenvalues[-1])
        penalties = np.geomspace(lowest, eigenvalues[-1], _N_PENALTIES)
        solvers = [cls.of(curvature, float(penalty)) for penalty in penalties]

        def objective(solver: SimplexSolver) -> float:
            state = SimplexState.start(some.shape)
            solver.advance(some, state, _TUNING_STEPS)
            return _quadratic(state.combinations(), some, curvature)

        return min(solvers, key=objective)

    def solve(self, targets: Matrix, state: SimplexState) -> Matrix:
        """Return the solution for each row of `targets`; update `state`."""

        def solve_chunk(chunk: slice) -> None:
            part = state.only(chunk)
            for _ in range(0, _MAX_STEPS, _STEPS_BETWEEN_LOOKS):
                residuals = self.advance(targets[chunk], part, _STEPS_BETWEEN_LOOKS)
                if max(residuals) < _WEIGHT_TOLERANCE:
                    break

        chunk_rows = rows_per_chunk(targets.shape[1])
        with one_blas_thread:
            for _ in map_chunks(solve_chunk, len(targets), chunk_rows, None, 1):
                pass
        return state.combinations()

    def advance(self, targets: Matrix, state: SimplexState, n_steps: int) -> tuple[float, float]:
        """Take `n_steps` steps; return the difference of the two solutions, and the last change."""
        weights, duals = state
        fixed = targets @ self.map + self.offset
        for _ in range(n_steps):
            of_sum_one = (weights - duals) @ (self.penalty * self.map)
            of_sum_one += fixed
            shifted = _OVER_RELAXATION * of_sum_one
            shifted += (1 - _OVER_RELAXATION) * weights
            shifted += duals
            before = weights.copy()
            np.maximum(shifted, 0, out=weights)
            np.minimum(shifted, 0, out=duals)
        return float(np.abs(of_sum_one - weights).max()), float(np.abs(before - weights).max())


def _quadratic(weights: Matrix, targets: Matrix, curvature: Matrix) -> float:
    """Return the sum over rows of z^T H z - 2 t^T z."""
    return float(np.einsum("ij,ij->", weights @ curvature - 2 * targets, weights))
