"""Generated trajectories."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pskclust.datasets import make_trajectories


def test_trajectories_follow_each_other_and_have_forty_positions_or_more():
    X, groups, y = make_trajectories(50, random_state=0)
    assert X.shape == (len(groups), 2)
    assert_array_equal(np.unique(groups), np.arange(50))
    assert np.all(np.diff(groups) >= 0)
    sizes = np.bincount(groups)
    assert 40 <= sizes.min() < sizes.max() <= 160
    assert_array_equal(np.bincount(y), np.full(5, 10))


def test_all_kinds_have_the_same_mean_and_spread():
    X, groups, y = make_trajectories(1000, noise=0, random_state=0)
    for kind in range(5):
        own = X[y[groups] == kind]
        assert_allclose(own.mean(axis=0), 0, atol=0.05)
        assert_allclose(own.std(axis=0), 1, atol=0.05)


def test_the_same_seed_gives_the_same_trajectories():
    for first, second in zip(
        make_trajectories(7, random_state=3), make_trajectories(7, random_state=3), strict=True
    ):
        assert_array_equal(first, second)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n_trajectories": 0}, "n_trajectories=0 is not allowed. Use a whole number of 1 or more"),
        ({"noise": -1}, "noise=-1 is not allowed. Use a number of 0 or more"),
    ],
)
def test_arguments_that_cannot_be_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        make_trajectories(**arguments)
