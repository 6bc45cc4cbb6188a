"""The candidates of several draws of one sample."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.random import RandomState
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.metrics import adjusted_rand_score

from pskclust import PSKC
from pskclust._choice import choose, pooling
from pskclust._choice.draws import Draw
from pskclust._choice.evidence import gather_evidence
from pskclust._choice.pooling import (
    ALIKE,
    CLEAR_STABILITY,
    CLOSE_TO_ZERO,
    MAX_DRAWS,
    N_DRAWS,
    Compared,
    Place,
    best_of,
    is_clear,
    is_found_again,
    mean_scores,
    odds_of,
    pool_draws,
)
from pskclust._choice.sample import Sample, draw_samples
from pskclust._choice.scoring import fitted_weights
from pskclust._choice.similarity import nearest_of
from pskclust._choice.stability import grow_trees
from pskclust._data.rows import Data
from pskclust._data.weights import uniform_weights


def draw_of(points, seed):
    grown = grow_trees(Sample(points), [32], 30, RandomState(seed))
    return Draw.of(grown, gather_evidence(grown))


def draw_score(draws, place):
    return draws[place.draw].score[place.candidate]


@pytest.fixture(scope="module")
def draws():
    """Three draws of the same rows."""
    points, _ = make_blobs(120, centers=3, cluster_std=1.5, random_state=1)
    return [draw_of(points, seed) for seed in range(3)]


@pytest.fixture
def counted(monkeypatch):
    """The random states of all draws."""
    states = []

    def counting(*arguments, **options):
        states.append(arguments[3].get_state()[2])
        return grown(*arguments, **options)

    grown = choose.grow_trees
    monkeypatch.setattr(choose, "grow_trees", counting)
    return states


def test_the_most_similar_candidate_of_every_draw_counts():
    scores = np.array([5.0, 3.0, 4.0, 1.0])
    drawn = np.array([0, 0, 1, 1])
    alike = np.array([[1, 0.5, 0.9, 0], [0.5, 1, 0.2, 1], [0.9, 0.2, 1, 0.3], [0, 1, 0.3, 1]])
    assert_allclose(mean_scores(scores, alike, drawn), [4.5, 2.0, 4.5, 2.0])
    # Of equal candidates of one draw, the best score counts for both.
    assert_allclose(mean_scores(scores[:2], np.ones((2, 2)), drawn[:2]), [5.0, 5.0])


def test_draws_that_repeat_each_other_change_no_score():
    rng = RandomState(0)
    scores, half = -np.sort(-rng.rand(6)), rng.rand(6, 6)
    alike = 1 - np.abs(half - half.T)
    once = mean_scores(scores, alike, np.zeros(6, dtype=int))
    assert_allclose(once, scores)
    twice = mean_scores(np.tile(scores, 2), np.tile(alike, (2, 2)), np.repeat([0, 1], 6))
    assert_allclose(twice, np.tile(scores, 2))


def test_odds_add_up_to_one_whatever_the_scores():
    for scores in ([1e6, 1e6 - 2], [-1e6, 0.0], [3.0]):
        assert odds_of(np.array(scores), 2.0).sum() == pytest.approx(1)
    first, second = odds_of(np.array([3.0, 1.0]), 2.0)
    assert first / second == pytest.approx(np.e)


def test_the_best_of_several_draws_is_found_as_the_formula_says(draws):
    best = best_of(draws)
    labels = [draws[place.draw].labels(place.candidate) for place in best.places]
    alike = np.array([[adjusted_rand_score(a, b) for a in labels] for b in labels])
    mean = np.zeros(len(labels))
    for number in range(len(draws)):
        own = [at for at, place in enumerate(best.places) if place.draw == number]
        for row in range(len(labels)):
            ranks = [(round(alike[row, at], 9), draw_score(draws, best.places[at])) for at in own]
            mean[row] += max(ranks)[1] / len(draws)
    odds = np.exp((mean - mean.max()) / fitted_weights().temperature)
    odds /= odds.sum()
    assert_allclose(best.odds, odds, atol=1e-9)
    assert best.winner == int(np.argmax(alike @ odds))
    assert best.agreement == pytest.approx((alike @ odds).max())
    winners = [best_of([draws[number] for number in some]).place for some in ([1], [0, 2])]
    winners += [best_of([draws[number] for number in some]).place for some in ([2], [0, 1])]
    found = [best.labels[best.winner]]
    for place, some in zip(winners, ([1], [0, 2], [2], [0, 1]), strict=True):
        found.append(draws[some[place.draw]].labels(place.candidate))
    pairs = [(0, 1), (0, 2), (1, 2), (0, 3), (0, 4), (3, 4)]
    least = min(adjusted_rand_score(found[one], found[other]) for one, other in pairs)
    assert best.repeatability == pytest.approx(least)


def test_candidates_that_are_left_out_do_not_win(draws):
    first = best_of(draws[:1])
    left_out = np.arange(len(draws[0].score)) == first.place.candidate
    again = best_of([draws[0].without(left_out)])
    assert Place(0, first.place.candidate) not in again.places
    assert best_of([draw.without(np.ones(len(draw.score), dtype=bool)) for draw in draws]) is None


# When a choice is clear.


def test_one_draw_finds_its_choice_again_if_it_is_stable_and_candidates_agree():
    assert is_found_again(1, ALIKE, CLEAR_STABILITY, 0.0)
    assert not is_found_again(1, ALIKE - 1e-9, 1.0, 1.0)
    assert not is_found_again(1, 1.0, CLEAR_STABILITY - 1e-9, 1.0)


@pytest.mark.parametrize("n_draws", N_DRAWS[1:])
def test_several_draws_find_their_choice_again_if_each_half_repeats_it(n_draws):
    assert is_found_again(n_draws, 0.0, 0.0, ALIKE)
    assert not is_found_again(n_draws, 1.0, 1.0, ALIKE - 1e-9)


@pytest.mark.parametrize("n_draws", N_DRAWS)
def test_one_cluster_or_several_is_clear_far_from_zero(n_draws):
    far = 1.01 * CLOSE_TO_ZERO / np.sqrt(n_draws)
    for several in (far, 5.0, np.inf):
        assert is_clear(n_draws, True, several)
        assert not is_clear(n_draws, False, several)
        # If there is one cluster, no candidate is needed.
        assert is_clear(n_draws, False, -several)
        assert is_clear(n_draws, True, -several)
    for several in (-0.98 * far, 0.0, 0.98 * far):
        assert not is_clear(n_draws, True, several)


def compared(places):
    """Draws with one candidate each; a candidate is a place on a line, and near ones are alike."""
    places = np.array(places, dtype=float)
    alike = 1 - np.abs(places[:, np.newaxis] - places)
    return Compared(np.zeros(len(places)), np.arange(len(places)), alike, 1.0)


def test_draws_that_choose_alike_repeat_their_choice():
    same = compared([0.3] * 8)
    assert same.repeatability(range(8)) == 1
    assert same.repeatability([5]) == 1


@pytest.mark.parametrize("run", [1, 2, 4, 8])
def test_halves_of_draws_that_choose_differently_do_not_repeat_the_choice(run):
    some = compared(np.tile(np.repeat([0, 0.4], run), 8 // run))
    assert some.repeatability(range(16)) == pytest.approx(0.6)
    assert some.repeatability(range(run)) == 1


@pytest.mark.parametrize("seed", range(5))
def test_every_division_of_the_draws_counts(seed):
    rng = RandomState(seed)
    drawn = np.repeat(np.arange(8), 5)
    scores, places = rng.normal(size=40), rng.rand(40, 2)
    alike = 1 - np.abs(places[:, np.newaxis] - places).max(axis=2)
    all_draws = Compared(scores, drawn, alike, 1.0)
    ways = [{4, 5, 6, 7}, {2, 3, 6, 7}, {1, 3, 5, 7}]
    for n_draws, some in ((4, ways[1:]), (8, ways)):
        draws = set(range(n_draws))
        expected = []
        for first in some:
            groups = [draws, draws & first, draws - first]
            one, two, three = (all_draws.choice(sorted(group)).winner for group in groups)
            expected.append(min(alike[one, two], alike[one, three], alike[two, three]))
        assert all_draws.repeatability(sorted(draws)) == pytest.approx(min(expected))


def test_a_half_without_candidates_repeats_nothing():
    some = compared([0.5, 0.5])
    assert some.choice([7]) is None
    assert some.repeatability([0, 1]) == 1
    assert some.repeatability([0, 7]) == 0


def test_a_clear_choice_needs_one_draw(counted):
    X, _ = make_moons(200, noise=0.05, random_state=0)
    assert PSKC(random_state=0).fit(X).n_clusters_ == 2
    assert len(counted) == 1


@pytest.mark.parametrize(
    ("log_odds", "n_draws"),
    [
        ([3.0], 1),
        ([-3.0], 1),
        ([0.4, 2.0, 3.0, 1.0], 4),
        ([0.4, 2.0, -3.0, 1.0, 1.3, 1.2, 1.1, 1.0], 8),
        ([0.4, 2.0, -3.0, 1.0, *[0.1] * 12], 16),
    ],
)
def test_draws_are_added_while_mean_log_odds_are_close_to_zero(
    monkeypatch, draws, log_odds, n_draws
):
    values = iter(log_odds)
    monkeypatch.setattr(Draw, "log_odds_of_several", lambda *_: next(values))
    monkeypatch.setattr(pooling, "ALIKE", 0.0)
    monkeypatch.setattr(pooling, "CLEAR_STABILITY", 0.0)
    pool = pool_draws(lambda _: draws[0], is_open=True)
    assert len(pool.draws) == n_draws
    assert pool.several == pytest.approx(np.mean(log_odds))


def test_a_given_number_of_clusters_needs_one_draw(monkeypatch, draws):
    monkeypatch.setattr(Draw, "log_odds_of_several", lambda *_: 0.0)
    assert len(pool_draws(lambda _: draws[0], is_open=False).draws) == 1


def test_an_unclear_choice_grows_trees_again_from_other_draws(monkeypatch, counted):
    X, _ = make_circles(150, noise=0.02, factor=0.6, random_state=0)
    monkeypatch.setattr(pooling, "ALIKE", 1.1)
    model = PSKC(random_state=0).fit(X)
    assert len(counted) == MAX_DRAWS
    assert len(set(counted)) == MAX_DRAWS
    assert model.n_clusters_ > 1
    assert sum(option.odds for option in model.auto_.candidates) <= 1 + 1e-12
    counted.clear()
    assert PSKC(n_clusters=2, random_state=0).fit(X).n_clusters_ == 2
    assert len(counted) == 1


# Samples of the draws.


@pytest.fixture
def sampled():
    """Samples of 100 of 300 rows."""
    points = RandomState(0).rand(300, 2)
    return points, draw_samples(rows_of(points), 100, MAX_DRAWS, RandomState(1))


def rows_of(points):
    return Data(points, "euclidean", uniform_weights(len(points)))


def test_every_draw_of_large_data_has_its_own_sample(sampled):
    points, samples = sampled
    assert_array_equal(samples.points, points[samples.rows])
    of_draws = [samples.of_draw(number) for number in range(MAX_DRAWS)]
    assert len({own.tobytes() for own in of_draws}) == MAX_DRAWS
    for own in of_draws:
        assert len(own) == len(np.unique(own, axis=0)) == 100
        assert set(map(tuple, own)) <= set(map(tuple, points))


def test_all_draws_of_small_data_have_all_rows():
    points = RandomState(0).rand(50, 3)
    samples = draw_samples(rows_of(points), 50, 1, RandomState(1))
    for number in range(MAX_DRAWS):
        assert_array_equal(samples.of_draw(number), points)


@pytest.mark.parametrize("n_columns", [2, 40])
def test_rows_follow_the_nearest_row_of_another_sample(n_columns):
    rng = RandomState(0)
    points, others = rng.rand(60, n_columns), rng.rand(50, n_columns)
    expected = ((points[:, np.newaxis] - others) ** 2).sum(axis=2).argmin(axis=1)
    assert_array_equal(nearest_of(points, others), expected)
    assert_array_equal(nearest_of(others, others), np.arange(50))


def test_a_draw_of_another_sample_is_cut_as_its_rows_are(draws):
    points, _ = make_blobs(120, centers=3, cluster_std=1.5, random_state=1)
    others, _ = make_blobs(90, centers=3, cluster_std=1.5, random_state=1, shuffle=True)
    own = draw_of(others, 5)
    nearest = nearest_of(points, others)
    moved = own.over(draws[0], nearest)
    assert moved.grown.n_rows == 120
    for number in range(len(own.score)):
        labels = own.labels(number)[nearest]
        # A cluster without rows cannot be chosen.
        is_whole = len(np.unique(labels)) == own.found.candidates[number].n_clusters
        assert np.isfinite(moved.score[number]) == is_whole
        if is_whole:
            assert_array_equal(moved.labels(number), labels)
    best = best_of([*draws, moved])
    assert {place.draw for place in best.places} == {0, 1, 2, 3}


def test_a_tree_over_other_rows_ends_where_a_side_has_no_rows(draws):
    tree = draws[0].grown.trees[0].tree
    for split in range(tree.n_splits):
        for side in tree.children[split]:
            rows = np.flatnonzero(~tree.within[tree.leaves, side])
            others = tree.over(np.sort(np.append(rows, rows)))
            assert others.n_splits <= split
            assert (others.sizes > 0).all()
            assert (others.is_leaf[others.leaves]).all()
            for n_clusters in range(1, others.n_splits + 2):
                expected = tree.cut(n_clusters)[np.sort(np.append(rows, rows))]
                assert_array_equal(others.cut(n_clusters), expected)
    again = tree.over(np.arange(len(tree.leaves)))
    assert again.n_splits == tree.n_splits
    assert_array_equal(again.leaves, tree.leaves)


def test_a_tree_of_another_sample_can_be_chosen(monkeypatch):
    # No row of the first sample follows one of the leaves of the chosen tree.
    monkeypatch.setattr(choose, "MAX_ROWS", 120)
    X, _ = make_blobs(900, centers=12, random_state=9)
    model = PSKC(random_state=0).fit(X)
    assert len(np.unique(model.labels_[model.labels_ >= 0])) == model.n_clusters_


def test_a_cut_with_a_cluster_that_no_row_follows_is_left_out(draws):
    points, _ = make_blobs(120, centers=3, cluster_std=1.5, random_state=1)
    nearest = np.zeros(120, dtype=int)
    moved = draw_of(points, 5).over(draws[0], nearest)
    assert not np.isfinite(moved.score).any()
    assert best_of([draws[0], moved]).place.draw == 0


def test_more_draws_of_large_data_see_more_rows(monkeypatch, counted):
    monkeypatch.setattr(choose, "MAX_ROWS", 200)
    monkeypatch.setattr(pooling, "ALIKE", 2.0)
    X, y = make_blobs(900, centers=4, cluster_std=0.6, random_state=3)
    model = PSKC(random_state=0).fit(X)
    assert len(counted) == MAX_DRAWS
    assert model.auto_.n_rows <= 200
    assert adjusted_rand_score(y, model.labels_) > 0.9
