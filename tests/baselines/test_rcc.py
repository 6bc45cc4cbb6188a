"""Robust continuous clustering, against its objective and its graphs written out in full."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import load_digits, make_blobs
from sklearn.exceptions import NotFittedError
from sklearn.metrics import adjusted_mutual_info_score, adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from pskclust.baselines._rcc import (
    RCC,
    Edges,
    Penalty,
    connect,
    draw_together,
    line_process,
    objective,
    short_length,
    solve,
)


def plain_components(pairs, n_rows):
    """Return the smallest row that each row is connected to."""
    parts = list(range(n_rows))
    for p, q in pairs:
        low, high = sorted((parts[p], parts[q]))
        parts = [low if part == high else part for part in parts]
    return parts


def plain_edges(X, n_neighbors):
    """Mutual neighbours, and Kruskal's forest of all neighbours."""
    distances = np.linalg.norm(X[:, np.newaxis] - X, axis=2)
    nearest = [set(np.argsort(row)[1 : n_neighbors + 1].tolist()) for row in distances]
    pairs = {(min(p, q), max(p, q)) for p, others in enumerate(nearest) for q in others}
    edges = {(p, q) for p, q in pairs if q in nearest[p] and p in nearest[q]}
    parts = list(range(len(X)))
    for p, q in sorted(pairs, key=lambda pair: distances[pair]):
        if parts[p] != parts[q]:
            edges.add((p, q))
            parts = [parts[p] if part == parts[q] else part for part in parts]
    return edges


def as_pairs(edges):
    return list(zip(edges.first.tolist(), edges.second.tolist(), strict=True))


@pytest.fixture
def small():
    return np.random.RandomState(0).randn(60, 3)


def expected_failures(estimator):
    """Clusters of two dimensions fall to pieces at the default threshold, as the class says."""
    if estimator.threshold == 1:
        return dict.fromkeys(
            ["check_clustering", "check_clustering(readonly_memmap=True)"], "two dimensions"
        )
    return {}


@pytest.mark.slow
@parametrize_with_checks(
    [RCC(), RCC(n_neighbors=20, threshold=8.0)], expected_failed_checks=expected_failures
)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.mark.parametrize("n_neighbors", [1, 2, 5, 20, 59])
def test_edges_are_mutual_neighbors_and_a_spanning_forest(small, n_neighbors):
    found = as_pairs(connect(small, n_neighbors, None))
    assert len(found) == len(set(found))
    assert set(found) == plain_edges(small, n_neighbors)


def test_edges_connect_what_neighbors_connect():
    X = np.vstack([np.random.RandomState(0).randn(40, 2), [[9, 9]]])
    edges = connect(X, 3, None)
    assert set(plain_components(as_pairs(edges), 41)) == {0}


def test_weights_balance_degrees(small):
    edges = connect(small, 5, None)
    degree = [sum(row in pair for pair in as_pairs(edges)) for row in range(60)]
    expected = [np.mean(degree) / np.sqrt(degree[p] * degree[q]) for p, q in as_pairs(edges)]
    assert_allclose(edges.balance(), expected)


def test_the_laplacian_is_a_sum_over_edges(small):
    edges = connect(small, 5, None)
    weights = np.random.RandomState(1).rand(len(edges))
    expected = np.zeros((60, 60))
    for (p, q), weight in zip(as_pairs(edges), weights, strict=True):
        difference = np.eye(60)[p] - np.eye(60)[q]
        expected += weight * np.outer(difference, difference)
    assert_allclose(edges.laplacian(weights).toarray(), expected, atol=1e-12)


def test_the_line_process_is_the_best_weight_of_each_edge():
    squared, scale = np.array([0.0, 0.01, 0.7, 30.0]), 0.5
    grid = np.linspace(0, 1, 100_001)
    cost = grid * squared[:, np.newaxis] + scale * (np.sqrt(grid) - 1) ** 2
    assert_allclose(line_process(squared, scale), grid[cost.argmin(axis=1)], atol=1e-4)


def test_the_objective_is_the_one_documented(small):
    edges = connect(small, 5, None)
    penalty = Penalty(edges.balance(), strength=0.7, scale=0.4)
    moved = small + 0.3 * np.random.RandomState(1).randn(60, 3)
    expected = 0.5 * ((small - moved) ** 2).sum()
    for (p, q), balance in zip(as_pairs(edges), penalty.balance, strict=True):
        squared = ((moved[p] - moved[q]) ** 2).sum()
        weight = line_process(squared, 0.4)
        expected += 0.7 / 2 * balance * (weight * squared + 0.4 * (np.sqrt(weight) - 1) ** 2)
    assert objective(small, moved, edges, penalty) == pytest.approx(expected)


@pytest.mark.parametrize("strength", [0, 0.1, 100])
def test_the_linear_system_is_solved(small, strength):
    edges = connect(small, 5, None)
    matrix = strength * edges.laplacian(edges.balance())
    expected = np.linalg.solve(np.eye(60) + matrix.toarray(), small)
    assert_allclose(solve(matrix, small, small), expected, atol=1e-4)
    assert_allclose(solve(matrix, small, 5 - small), expected, atol=1e-4)


def test_columns_that_are_solved_stay_so(small):
    with_zeros = np.column_stack([small, np.zeros(60)])
    edges = connect(small, 5, None)
    solution = solve(edges.laplacian(edges.balance()), with_zeros, with_zeros)
    assert_array_equal(solution[:, 3], 0)


def test_a_step_lowers_the_objective_to_its_least(small):
    edges = connect(small, 5, None)
    penalty = Penalty(edges.balance(), strength=0.7, scale=0.4)
    representatives, values = small, [objective(small, small, edges, penalty)]
    for _ in range(200):
        weights = line_process(edges.squared_lengths(representatives), penalty.scale)
        matrix = 0.7 * edges.laplacian(penalty.balance * weights)
        representatives = solve(matrix, small, representatives)
        values.append(objective(small, representatives, edges, penalty))
    assert (np.diff(values) <= 1e-12).all()
    assert values[-1] < 0.9 * values[0]
    rng = np.random.RandomState(2)
    for _ in range(20):
        other = representatives + 0.01 * rng.randn(60, 3)
        assert objective(small, other, edges, penalty) > values[-1]


def test_the_objective_falls_while_the_scale_stays(scattered):
    values = RCC().fit(scattered).objectives_
    stages = [values[start : start + 4] for start in range(0, len(values), 4)]
    assert len(stages) > 3
    for stage in stages:
        assert (np.diff(stage) <= 1e-9 * stage[0]).all()


def test_delta_is_the_mean_of_the_shortest_edges():
    lengths = np.r_[np.zeros(50), np.arange(1, 301)]
    assert short_length(np.random.RandomState(0).permutation(lengths), 4) == 2
    assert short_length(np.array([3.0, 1.0]), 4) == 1
    assert short_length(np.zeros(4), 4) == 0


def test_edges_of_near_copies_do_not_set_delta():
    lengths = np.r_[np.full(50, 0.0199), 0.02, 0.5]
    assert short_length(lengths, 4) == 0.02  # from 0.01 sqrt(4) on
    assert short_length(lengths, 100) == 0.5
    assert short_length(lengths / 1000, 4) == pytest.approx(0.0199e-3)  # all are short


def test_the_scale_ends_at_half_of_delta(scattered):
    """Iterations that lower the scale no further are those that settle the objective."""
    model = RCC(max_iter=400).fit(scattered)
    edges = connect(scattered, 10, None)
    first = 3 * edges.squared_lengths(scattered).max()
    n_halvings = np.ceil(np.log2(first / (model.delta_ / 2)))
    assert 4 * n_halvings < model.n_iter_ <= 4 * n_halvings + 20


@pytest.mark.slow
@pytest.mark.parametrize(("divisor", "least"), [(1, 0.85), (16, 0.85)])
@pytest.mark.parametrize("metric", ["euclidean", "cosine"])
def test_handwritten_digits_are_told_apart_as_by_the_published_program(divisor, least, metric):
    """Which reaches an AMI of 0.904 on digits as they are, and of 0.868 on a sixteenth of them."""
    X, y = load_digits(return_X_y=True)
    labels = RCC(metric=metric).fit_predict(X / divisor)
    assert adjusted_mutual_info_score(y, labels) > least


@pytest.mark.parametrize("threshold", [0.5, 1, 3, 8, 20])
def test_labels_are_the_components_of_short_edges(scattered, threshold):
    model = RCC(threshold=threshold).fit(scattered)
    edges = connect(scattered, 10, None)
    lengths = edges.lengths(model.representatives_)
    short = edges.only(lengths <= threshold * model.delta_)
    parts = plain_components(as_pairs(short), len(scattered))
    assert_array_equal(model.labels_, np.unique(parts, return_inverse=True)[1])
    assert model.n_clusters_ == len(set(parts))


def test_labels_at_a_threshold_are_those_of_a_fit_with_it(scattered):
    scattered = scattered[::2]
    model = RCC().fit(scattered)
    counts = []
    for threshold in (1, 2.5, 6, 15):
        labels = model.labels_at(threshold)
        assert_array_equal(labels, RCC(threshold=threshold).fit_predict(scattered))
        counts.append(labels.max())
    assert sorted(counts, reverse=True) == counts
    assert counts[0] > counts[-1]


@pytest.mark.parametrize(("n_columns", "n_neighbors"), [(2, 99), (10, 10), (50, 10)])
def test_blobs_are_found_and_drawn_together(n_columns, n_neighbors):
    X, y = make_blobs(300, n_columns, centers=3, cluster_std=0.5, random_state=1)
    model = RCC(n_neighbors).fit(X)
    assert adjusted_rand_score(y, model.labels_) == 1
    for blob in range(3):
        spread = X[y == blob].std(axis=0)
        assert (model.representatives_[y == blob].std(axis=0) < 0.1 * spread).all()


def test_equal_rows_are_one_cluster():
    model = RCC().fit(np.ones((20, 2)))
    assert_array_equal(model.labels_, 0)
    assert_array_equal(RCC().fit_predict(np.zeros((3, 2))), 0)


def test_copies_of_rows_do_no_harm(scattered):
    model = RCC(50).fit(np.repeat(scattered[::2], 3, axis=0))
    assert model.delta_ > 0
    assert 1 < model.n_clusters_ < len(scattered)


def test_a_row_far_from_all_others_is_a_cluster_of_its_own(blobs):
    labels = RCC(99).fit_predict(np.vstack([blobs, [[100.0, 100.0]]]))
    assert (labels == labels[-1]).sum() == 1
    assert labels.min() == 0


def test_cosine_finds_neighbours_by_direction_and_leaves_rows_as_they_are(small):
    lengths = np.random.RandomState(1).uniform(0.5, 20, (60, 1))
    scaled = small * lengths
    directions = scaled / np.linalg.norm(scaled, axis=1, keepdims=True)
    edges = connect(directions, 10, None)
    delta = short_length(edges.lengths(scaled), 3)
    model = RCC(metric="cosine").fit(scaled)
    assert model.delta_ == delta
    expected, _ = draw_together(scaled, edges, delta, 100)
    assert_allclose(model.representatives_, expected, atol=1e-8)


def test_fits_repeat_to_the_bit(scattered):
    first, second = (RCC(n_jobs=n_jobs).fit(scattered) for n_jobs in (1, 2))
    for name in ("labels_", "representatives_", "objectives_", "delta_"):
        assert_array_equal(getattr(first, name), getattr(second, name))


def test_iterations_end_where_told(scattered):
    assert RCC(max_iter=3).fit(scattered).n_iter_ == 3


def test_an_edge_list_can_be_empty():
    empty = Edges(np.empty(0, np.intp), np.empty(0, np.intp), 4)
    assert empty.matrix().shape == (4, 4)


def test_labels_need_a_fit():
    with pytest.raises(NotFittedError):
        RCC().labels_at(1)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_neighbors": 0}, "n_neighbors=0 is not allowed. Use a whole number of 1 or more."),
        ({"threshold": 0}, "threshold=0 is not allowed. Use a number above 0."),
        ({"metric": "manhattan"}, "metric='manhattan' .* Use one of 'euclidean', 'cosine'."),
        ({"max_iter": 0}, "max_iter=0 is not allowed."),
        ({"n_jobs": 0}, "n_jobs=0 is not allowed."),
    ],
)
def test_bad_parameters_are_refused(blobs, parameters, message):
    with pytest.raises(ValueError, match=message):
        RCC(**parameters).fit(blobs)


def test_a_bad_threshold_is_refused(blobs):
    with pytest.raises(ValueError, match="threshold=-1 is not allowed. Use a number above 0."):
        RCC().fit(blobs).labels_at(-1)
