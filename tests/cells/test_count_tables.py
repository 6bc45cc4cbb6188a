"""Count tables: sums in whole numbers, and what is sent of them."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from pskclust._cells import count_tables as _tables
from pskclust._cells.count_tables import (
    ClusterTables,
    CountTable,
    TableStack,
    most_similar,
    padded,
    smallest_passing_score,
)
from tests.helpers.compiled import kernels as compiled_kernels

SHAPE = 3, 4


def some_table(seed, largest=9, shape=SHAPE):
    counts = np.random.RandomState(seed).randint(0, largest + 1, shape)
    return CountTable(counts, int(counts[0].sum()))


def some_clusters(n_clusters=3, largest=9):
    stack = TableStack()
    for seed in range(n_clusters):
        stack.push(some_table(seed, largest))
    return stack.clusters(SHAPE, resolution=3)


def test_adding_and_taking_away_again_changes_nothing():
    table, other = some_table(0), some_table(1)
    both = CountTable(table.counts.copy(), table.mass)
    both.add(other)
    assert_array_equal(both.counts, table.counts + other.counts)
    assert both.mass == table.mass + other.mass
    both.subtract(other)
    assert_array_equal(both.counts, table.counts)
    assert both.mass == table.mass


@pytest.mark.parametrize("small_bytes", [0, 12, 1 << 15])
@pytest.mark.parametrize("largest", [0, 1, 255, 256, 70_000, 2**40])
def test_tables_arrive_as_they_were_sent(monkeypatch, small_bytes, largest):
    monkeypatch.setattr(_tables, "_SMALL_TABLE_BYTES", small_bytes)
    table = some_table(0)
    table.counts[1] = 0, largest, 0, 1
    arrived = pickle.loads(pickle.dumps(table))
    assert_array_equal(arrived.counts, table.counts)
    assert arrived.counts.dtype == np.int64
    assert arrived.mass == table.mass


def test_little_is_sent_of_large_tables_that_are_mostly_empty():
    table = CountTable(np.zeros((100, 5000), dtype=np.int64), 7)
    table.counts[:, 3] = 7
    assert len(pickle.dumps(table)) < 2000


def test_small_tables_are_sent_whole():
    table = some_table(0)
    _, (_, cells, _, packed, _) = table.__reduce__()
    assert cells is None
    assert len(packed) == table.counts.size


def test_the_cell_of_mixed_blocks_counts_nothing():
    counts = some_table(0).counts
    wider = padded(counts)
    assert_array_equal(wider[:, :-1], counts)
    assert_array_equal(wider[:, -1:], np.zeros((3, 1)))


@given(st.floats(1e-6, 0.999), st.integers(1, 10**12))
def test_the_smallest_score_passes_and_the_one_below_does_not(threshold, denominator):
    score = smallest_passing_score(threshold, denominator)
    assert score / denominator > threshold
    assert not (score - 1) / denominator > threshold


def test_a_score_that_is_the_threshold_does_not_pass():
    assert smallest_passing_score(0.5, 10) == 6
    assert smallest_passing_score(0.1, 30) == 4


@pytest.mark.parametrize(("score", "denominator"), [(1, 3), (5, 6), (9, 10), (5, 12)])
def test_a_threshold_a_hair_below_a_score_lets_it_pass(score, denominator):
    """Their product may round up to the score."""
    threshold = math.nextafter(score / denominator, 0)
    assert smallest_passing_score(threshold, denominator) == score
    assert smallest_passing_score(score / denominator, denominator) == score + 1


def test_tables_come_off_the_stack_as_they_went_on():
    stack = TableStack()
    assert len(stack) == 0
    assert stack.clusters(SHAPE, 3).counts.shape == (0, 12)
    clusters = some_clusters()
    assert len(clusters) == 3
    for number in range(3):
        assert_array_equal(clusters.table(number).counts, some_table(number).counts)
        assert clusters.table(number).mass == some_table(number).mass


def test_counts_of_another_shape_are_no_tables():
    clusters = some_clusters()
    with pytest.raises(ValueError, match=r"of shape \(3, 12\) are not tables of shape \(3, 5\)"):
        ClusterTables(clusters.counts, clusters.masses, (3, 5), 3)


def test_a_change_and_its_opposite_leave_no_trace():
    clusters = some_clusters()
    less = ClusterTables(-clusters.counts, -clusters.masses, SHAPE, 3)
    empty = clusters.changed(less)
    assert empty.counts.nnz == 0
    assert_array_equal(empty.masses, [0, 0, 0])


def test_those_kept_are_as_they_were():
    clusters = some_clusters()
    some = clusters.only(np.array([True, False, True]))
    assert_array_equal(some.counts.toarray(), clusters.counts.toarray()[[0, 2]])
    assert_array_equal(some.masses, clusters.masses[[0, 2]])


def test_unions_count_the_members_of_all_their_parts():
    clusters = some_clusters()
    joined = clusters.joined(np.array([1, 0, 1]), 2)
    counts = clusters.counts.toarray()
    assert_array_equal(joined.counts.toarray(), [counts[1], counts[0] + counts[2]])
    assert_array_equal(joined.masses, [clusters.masses[1], clusters.masses[[0, 2]].sum()])


@pytest.mark.parametrize(
    "kernels", [_tables.reference, pytest.param(compiled_kernels, marks=pytest.mark.numba)]
)
def test_scores_are_sums_over_cells_and_similarities_one_division(kernels):
    clusters = some_clusters()
    cells = np.random.RandomState(5).randint(0, 4, (6, 3)).astype(np.uint8)
    expected = [
        [int(some_table(c).counts[np.arange(3), row].sum()) for c in range(3)] for row in cells
    ]
    scores = clusters.scores(cells, kernels)
    assert_array_equal(scores, expected)
    assert_array_equal(clusters.similarities(scores), scores / (3 * clusters.masses))
    assert_array_equal(clusters.by_number().similarities(scores), scores / 3)


def test_padded_tables_are_the_tables():
    clusters = some_clusters()
    for number in range(3):
        assert_array_equal(clusters.padded[number], padded(some_table(number).counts))


def test_what_can_be_made_again_is_not_sent():
    clusters = some_clusters()
    before = len(pickle.dumps(clusters))
    assert clusters.padded.size
    assert len(pickle.dumps(clusters)) == before


def test_products_are_whole_numbers_while_those_are_large_enough():
    clusters = some_clusters()
    counts = clusters.counts.toarray()
    assert_array_equal(clusters.products(), counts @ counts.T)
    assert clusters.products().dtype == np.int64
    large = some_clusters(largest=2**40)
    assert large.products().dtype == np.float64
    exact = [[sum(map(int, a * b.astype(object))) for b in dense(large)] for a in dense(large)]
    np.testing.assert_allclose(large.products(), np.array(exact, dtype=float), rtol=1e-12)


def dense(clusters):
    return clusters.counts.toarray().astype(object)


@pytest.mark.parametrize("largest", [9, 2**29, 2**31, 2**33, 2**52])
def test_squared_counts_are_exact_however_large(largest):
    clusters = some_clusters(largest=largest)
    expected = [sum(int(count) ** 2 for count in row) for row in clusters.counts.toarray()]
    assert clusters.inner_scores() == expected


def test_a_sum_of_squares_that_just_exceeds_an_int64_is_exact():
    table = CountTable(np.full((2, 1), 2**31), 2**31)
    stack = TableStack()
    stack.push(table)
    assert stack.clusters((2, 1), 2).inner_scores() == [2**63]


def test_inner_scores_are_the_scores_of_the_members():
    """Three rows: the sum of each one's score against all of them."""
    cells = np.array([[0, 1], [0, 2], [3, 2]])
    table = CountTable(np.zeros((2, 4), dtype=np.int64), 3)
    for row in cells:
        table.counts[np.arange(2), row] += 1
    stack = TableStack()
    stack.push(table)
    expected = sum(Fraction(int(table.counts[np.arange(2), row].sum())) for row in cells)
    assert stack.clusters((2, 4), 2).inner_scores() == [expected]


def test_the_most_similar_cluster_must_exceed_the_threshold():
    similarities = np.array([[0.1, 0.3, 0.3], [0.2, 0.1, 0.0], [0.0, 0.1, 0.21]])
    assert_array_equal(most_similar(similarities, 0.2), [1, -1, 2])


def test_where_there_is_no_cluster_all_is_noise():
    assert_array_equal(most_similar(np.empty((3, 0)), 0.0), [-1, -1, -1])
