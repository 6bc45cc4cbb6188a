"""Structured graph learning, against the objective and the Laplacian written out in full."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.utils import check_random_state
from sklearn.utils.estimator_checks import parametrize_with_checks

from pskclust.baselines._sgl import (
    SGL,
    Problem,
    SimplexSolver,
    SimplexState,
    choose_anchors,
    embed,
)


@pytest.fixture
def weights():
    """Convex combinations of 6 anchors for 40 rows, many of them zero."""
    weights = np.random.RandomState(0).dirichlet(np.full(6, 0.2), size=40)
    weights[weights < 0.05] = 0
    return weights / weights.sum(axis=1, keepdims=True)


def laplacian(weights):
    n_rows, n_anchors = weights.shape
    adjacency = np.block(
        [[np.zeros((n_rows, n_rows)), weights], [weights.T, np.zeros((n_anchors, n_anchors))]]
    )
    root = np.sqrt(adjacency.sum(axis=0))
    return np.eye(len(adjacency)) - adjacency / root / root[:, np.newaxis], root


def best_combination(target, curvature):
    """Minimise z^T H z - 2 t^T z over the simplex: try every set of anchors that take part."""
    m = len(target)
    best, lowest = None, np.inf
    for size in range(1, m + 1):
        for chosen in map(list, combinations(range(m), size)):
            ones = np.ones((size, 1))
            system = np.block([[2 * curvature[np.ix_(chosen, chosen)], ones], [ones.T, 0]])
            z = np.zeros(m)
            z[chosen] = np.linalg.solve(system, [*2 * target[chosen], 1])[:-1]
            value = z @ curvature @ z - 2 * target @ z
            if z.min() >= 0 and value < lowest:
                best, lowest = z, value
    return best


@parametrize_with_checks([SGL()])
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("alpha", [0.01, 1.0, 50.0])
@pytest.mark.parametrize("scale", [1, 30])
def test_combinations_are_the_best_of_all_supports(alpha, scale):
    rng = np.random.RandomState(1)
    points, anchors = scale * rng.randn(30, 8), scale * rng.randn(5, 8)
    problem = Problem.of(points, anchors, alpha, 0, 2)
    solver = SimplexSolver.tuned(problem.products, problem.curvature)
    found = solver.solve(problem.products, SimplexState.start(problem.products.shape))
    expected = [best_combination(target, problem.curvature) for target in problem.products]
    assert_allclose(found, expected, atol=1e-4)


def test_a_solver_that_goes_on_takes_no_more_steps():
    rng = np.random.RandomState(1)
    problem = Problem.of(rng.randn(30, 8), rng.randn(5, 8), 1.0, 0, 2)
    solver = SimplexSolver.tuned(problem.products, problem.curvature)
    state = SimplexState.start(problem.products.shape)
    found = solver.solve(problem.products, state)
    assert max(solver.advance(problem.products, state, 1)) < 1e-5
    assert_allclose(state.combinations(), found, atol=1e-5)


def test_the_embedding_is_that_of_the_full_laplacian(weights):
    full, root = laplacian(weights)
    eigenvalues, eigenvectors = np.linalg.eigh(full)
    embedding = embed(weights, 3)
    F = root[:, np.newaxis] * np.vstack([embedding.rows, embedding.anchors])
    assert embedding.disconnection == pytest.approx(eigenvalues[:3].sum())
    assert np.trace(F.T @ full @ F) == pytest.approx(embedding.disconnection)
    assert_allclose(F.T @ F, np.eye(3), atol=1e-8)
    assert_allclose(F @ F.T, eigenvectors[:, :3] @ eigenvectors[:, :3].T, atol=1e-8)


def test_an_anchor_that_no_row_uses_does_no_harm(weights):
    unused = np.column_stack([weights, np.zeros(len(weights))])
    assert embed(unused, 3).disconnection == pytest.approx(embed(weights, 3).disconnection)
    assert np.isfinite(embed(unused, 7).rows).all()


def test_the_linear_term_is_the_graph_term(weights):
    embedding = embed(weights, 3)
    problem = Problem(np.zeros_like(weights), np.eye(6), 0.0, beta=2.0, n_clusters=3)
    assert (-2 * problem.targets(embedding) * weights).sum() == pytest.approx(
        2.0 * embedding.disconnection
    )


def test_the_objective_is_the_one_documented(scattered):
    model = SGL(4, 12, alpha=0.3, beta=5.0, random_state=0).fit(scattered)
    full, _ = laplacian(model.graph_)
    residual = scattered - model.graph_ @ model.anchors_
    expected = (
        (residual**2).sum()
        + 0.3 * (model.graph_**2).sum()
        + 5.0 * np.linalg.eigvalsh(full)[:4].sum()
    )
    assert model.objectives_[-1] == pytest.approx(expected)


@pytest.mark.parametrize("beta", [10.0, 30.0, 300.0])
def test_the_objective_does_not_rise(scattered, beta):
    model = SGL(4, 20, alpha=0.1, beta=beta, random_state=0).fit(scattered)
    assert model.n_iter_ == len(model.objectives_) > 2
    assert (np.diff(model.objectives_) <= 0).all()


def test_a_larger_beta_brings_the_graph_closer_to_its_components(scattered):
    left = [
        embed(SGL(4, 20, 0.1, beta, random_state=0).fit(scattered).graph_, 4).disconnection
        for beta in (0, 30, 300)
    ]
    assert left[0] > left[1] > left[2]


def test_the_graph_holds_convex_combinations(scattered):
    model = SGL(4, random_state=0).fit(scattered)
    assert model.graph_.shape == (len(scattered), 30)
    assert model.graph_.min() >= 0
    assert_allclose(model.graph_.sum(axis=1), 1)


def test_anchors_lie_among_the_rows(blobs):
    anchors = choose_anchors(blobs, 3, check_random_state(0))
    assert np.linalg.norm(blobs[:, np.newaxis] - anchors, axis=2).min(axis=1).max() < 2.5
    assert len(choose_anchors(blobs[:10], 30, check_random_state(0))) == 10


def test_blobs_are_found():
    X, y = make_blobs(300, centers=3, cluster_std=0.5, random_state=1)
    assert adjusted_rand_score(y, SGL(3, random_state=0).fit_predict(X)) == 1


def test_the_same_seed_gives_the_same_fit(scattered):
    first, second = (SGL(4, random_state=3).fit(scattered) for _ in range(2))
    for name in ("labels_", "anchors_", "graph_", "objectives_"):
        assert_array_equal(getattr(first, name), getattr(second, name))


def test_the_origin_does_not_matter(scattered):
    near, far = (SGL(4, random_state=0).fit(scattered + shift) for shift in (0, 1000))
    assert_allclose(near.graph_, far.graph_, atol=1e-6)
    assert_allclose(near.anchors_, far.anchors_ - 1000, atol=1e-6)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_clusters": 0}, "n_clusters=0 is not allowed. Use a whole number of 1 or more."),
        ({"alpha": 0}, "alpha=0 is not allowed. Use a number above 0."),
        ({"beta": -1}, "beta=-1 is not allowed. Use a number of 0 or more."),
        ({"n_anchors": 2.5}, "n_anchors=2.5 is not allowed."),
        ({"n_anchors": 5}, "n_anchors=5 is smaller than n_clusters=8. Use n_anchors >= 8."),
        ({"n_clusters": 301, "n_anchors": 400}, "n_clusters=301 is more than .* n_samples=300."),
    ],
)
def test_bad_parameters_are_refused(blobs, parameters, message):
    with pytest.raises(ValueError, match=message):
        SGL(**parameters).fit(blobs)
