"""One cluster or several: evidence of one draw, and log odds pooled over draws."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_circles, make_moons

from pskclust import PSKC
from pskclust._choice import choose, draws
from pskclust._choice.scoring import GapOdds
from pskclust._choice.several import MAX_DRAWS, pooled_log_odds


def drawing(*values):
    """Return a function that returns these values in turn, and the list of those it returned."""
    left, returned = list(values), []

    def again():
        returned.append(left.pop(0))
        return returned[-1]

    return again, returned


@pytest.mark.parametrize("first", [-1.01, 1.01, 5.0, -np.inf, np.inf])
def test_clear_log_odds_need_one_draw(first):
    again, returned = drawing()
    assert pooled_log_odds(first, again) == first
    assert not returned


def test_close_log_odds_are_means_over_draws_until_they_are_clear():
    again, returned = drawing(-0.5, -1.5, 9.0)
    # Means of 0.2; -0.15; -0.6, which is more than 1 / sqrt(3) from zero.
    assert pooled_log_odds(0.2, again) == pytest.approx(-0.6)
    assert returned == [-0.5, -1.5]


def test_log_odds_that_stay_close_end_after_a_few_draws():
    again, returned = drawing(*[0.1] * 20)
    assert pooled_log_odds(-0.3, again) == pytest.approx(0.0)
    assert len(returned) == MAX_DRAWS - 1


def test_an_unclear_choice_grows_trees_again_from_other_draws(monkeypatch):
    drawn = []

    def counting(*arguments, **options):
        drawn.append(arguments[3].get_state()[2])
        return grow_trees(*arguments, **options)

    grow_trees = choose.grow_trees
    monkeypatch.setattr(choose, "grow_trees", counting)
    monkeypatch.setattr(draws, "log_odds_of_several", lambda *_: 0.1)
    X, _ = make_circles(150, noise=0.02, factor=0.6, random_state=0)
    model = PSKC(random_state=0).fit(X)
    assert len(drawn) == MAX_DRAWS
    assert len(set(drawn)) == MAX_DRAWS
    assert model.n_clusters_ > 1
    assert model.auto_.chosen.odds <= 1 / (1 + np.exp(-0.1)) + 1e-12
    drawn.clear()
    PSKC(n_clusters=2, random_state=0).fit(X)
    assert len(drawn) == 1


@pytest.mark.parametrize("seed", range(3))
def test_thin_clusters_of_few_rows_with_empty_space_between_are_several(seed):
    for points, _ in (
        make_moons(100, random_state=seed),
        make_circles(300, noise=0.01, factor=0.7, random_state=seed),
    ):
        labels = PSKC(random_state=seed, noise="nearest").fit_predict(points)
        assert len(np.unique(labels)) > 1


def test_only_a_gap_beyond_the_limit_raises_the_log_odds():
    gap = GapOdds(limit=0.25, weight=10.0)
    assert [gap.log_odds(width) for width in (0.0, 0.25, 0.35)] == pytest.approx([0, 0, 1])
