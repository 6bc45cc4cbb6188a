"""The widest empty space: large between separate clusters, small within one."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.random import RandomState

from pskclust._choice.empty_space import _largest_square, _n_facing, widest_gap
from pskclust._choice.similarity import squared_distances


def gap(points):
    return widest_gap(squared_distances(np.asarray(points, dtype=np.float64)))


def spirals(n_rows, n_arms):
    along = np.linspace(1, 4, n_rows // n_arms)
    angles = [along * 2 + 2 * np.pi * arm / n_arms for arm in range(n_arms)]
    return np.concatenate([np.c_[along * np.cos(a), along * np.sin(a)] for a in angles])


def test_the_gap_is_the_ratio_of_the_space_between_to_the_gaps_within():
    grid = np.stack(np.meshgrid(np.arange(20.0), np.arange(4.0)), axis=-1).reshape(-1, 2)
    two = np.concatenate([grid, grid + [0, 3 + 7.5]])
    assert gap(two) == pytest.approx(np.log(7.5))
    assert gap(np.concatenate([two, grid - [0, 3 + 7.5]])) == pytest.approx(np.log(7.5))


@pytest.mark.parametrize("seed", range(5))
def test_gaps_of_chance_between_few_rows_do_not_count(seed):
    rng = RandomState(seed)
    for rows in (rng.rand(300), rng.randn(100), rng.exponential(size=500)):
        assert gap(rows[:, np.newaxis]) == 0
        assert gap(np.c_[rows, 0.01 * rng.randn(len(rows))]) == 0


@pytest.mark.parametrize("seed", range(5))
def test_single_clusters_have_no_wide_gap(seed):
    rng = RandomState(seed)
    angles = rng.uniform(0, 2 * np.pi, 300)
    for points in (
        rng.randn(300, 2),
        rng.rand(300, 3),
        rng.rand(300, 1) * np.ones(5),
        np.c_[np.cos(angles), np.sin(angles)] + 0.05 * rng.randn(300, 2),
    ):
        assert gap(points) < 0.5


def test_winding_arms_of_few_rows_have_a_wide_gap():
    assert gap(spirals(300, 3)) > 1


def test_units_and_order_do_not_matter():
    points = spirals(120, 2)
    order = RandomState(0).permutation(len(points))
    assert gap(1e3 * points[order]) == pytest.approx(gap(points))


def test_a_few_rows_far_away_do_not_count():
    rng = RandomState(0)
    points = rng.rand(200, 2)
    far = np.concatenate([points, [[50.0, 50.0], [60.0, 50.0], [70.0, 50.0]]])
    assert gap(far) == pytest.approx(gap(points), abs=0.3)


def test_copies_of_rows_have_no_gap():
    assert gap(np.repeat(np.eye(3), 20, axis=0)) == 0
    assert gap(np.zeros((12, 2))) == 0


@pytest.mark.parametrize("n_rows", [2, 3, 5, 12, 40])
def test_evenly_spaced_rows_have_no_gap(n_rows):
    assert gap(np.arange(n_rows)[:, np.newaxis]) == 0
    assert gap(1e150 * np.eye(n_rows)) == 0


def test_rows_face_a_space_if_another_large_side_is_within_reach():
    for seed in range(10):
        rng = RandomState(seed)
        points, sides = rng.randint(0, 12, (60, 2)) / 7, rng.randint(0, 4, 60)
        sides[sides == 3] = np.where(rng.rand(np.sum(sides == 3)) < 0.2, 3, 0)
        distances, reach, least = squared_distances(points), 2 * math.sqrt(2) / 7, 8
        facing = 0
        for row in range(60):
            others = [
                other
                for other in range(60)
                if sides[other] != sides[row] and math.sqrt(distances[row, other]) <= reach
            ]
            large = [other for other in others if np.sum(sides == sides[other]) >= least]
            facing += bool(large) and np.sum(sides == sides[row]) >= least
        assert _n_facing(distances, sides, reach, least) == facing


@pytest.mark.parametrize("root", [1e-200, 3e-160, 0.1, 1.0, 2**0.5, 7.3, 1e150, 1e160])
def test_the_largest_square_is_the_last_one_with_a_root_up_to_the_limit(root):
    square = _largest_square(root)
    assert math.sqrt(square) <= root < math.sqrt(math.nextafter(square, math.inf))
