"""Scores of agreement are those of scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from pskclust._data.agreement import SharedRows, adjusted_rand


@pytest.mark.parametrize("seed", range(8))
def test_scores_are_those_of_scikit_learn(seed):
    rng = np.random.RandomState(seed)
    one = rng.randint(-1, 1 + seed, 80)
    other = np.where(rng.rand(80) < 0.6, one, rng.randint(0, 5, 80))
    shared = SharedRows.of(one, other)
    assert shared.adjusted_rand() == pytest.approx(adjusted_rand_score(one, other))
    expected = normalized_mutual_info_score(one, other)
    assert shared.normalized_mutual_information() == pytest.approx(expected)


def test_the_same_groups_agree_fully_and_one_group_tells_nothing():
    groups, all_alike = np.array(["a", "b", "b", "a"]), np.zeros(4)
    assert SharedRows.of(groups, groups).normalized_mutual_information() == pytest.approx(1)
    assert adjusted_rand(groups, groups) == adjusted_rand(all_alike, all_alike) == 1
    assert SharedRows.of(all_alike, all_alike).normalized_mutual_information() == 1
    assert SharedRows.of(groups, all_alike).normalized_mutual_information() == 0
    assert adjusted_rand(groups, all_alike) == 0
    assert adjusted_rand([3], [5]) == 1


def test_large_weights_do_not_overflow():
    weights = np.array([2**60, 2**60, 2**60, 1])
    assert 0 < adjusted_rand([0, 0, 1, 1], [0, 0, 1, 0], weights) <= 1


def test_labellings_of_different_lengths_are_refused():
    with pytest.raises(ValueError, match="have 2 and 3 labels. Pass two labellings of the same"):
        adjusted_rand([0, 1], [0, 1, 1])
