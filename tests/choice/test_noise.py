"""The noise of many rows is looked up in a grid, and is that of distances to the bit."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pskclust._choice import noise
from pskclust._choice.noise import NoiseRule, _outside, find_noise


def rows_in_background(n_columns, seed, n_rows=3000):
    rng = np.random.RandomState(seed)
    centres = rng.rand(5, n_columns)
    clusters = centres[rng.randint(5, size=n_rows)] + 0.03 * rng.randn(n_rows, n_columns)
    return np.vstack([clusters, 3 * rng.rand(n_rows // 3, n_columns) - 1])


def noise_of(rule, points, monkeypatch, *, by_grid):
    monkeypatch.setattr(noise, "_MIN_ROWS_FOR_GRID", 1 if by_grid else 10**9)
    return rule(points)


@pytest.mark.parametrize("n_columns", [1, 3, 16, 17, 40])
def test_rows_outside_a_box_have_a_value_outside_its_range(n_columns):
    points = np.random.RandomState(n_columns).randint(0, 400, (200, n_columns)).astype(float)
    low, high = np.full(n_columns, 4.0), np.full(n_columns, 395.0)
    low[0] = -np.inf
    expected = [
        any(not a <= x <= b for x, a, b in zip(row, low, high, strict=True)) for row in points
    ]
    assert_array_equal(_outside(points, low, high), expected)
    assert 0 < sum(expected) < 200


@pytest.mark.parametrize("n_columns", [1, 2, 3])
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("offset", [0.0, 1e9])
def test_the_grid_tells_the_same_noise_as_distances(n_columns, seed, offset, monkeypatch):
    points = rows_in_background(n_columns, seed) + offset
    found = find_noise(points[::3], np.random.RandomState(0))
    # Rows of the sample among them, copies, and one far out.
    asked = np.vstack([points, points[:50], points[:1] + 100])
    for threshold in (found.threshold, 0.01, 0.1, 0.5):
        rule = NoiseRule(found.sample, threshold, found.few, found.reach, found.low, found.high)
        expected = noise_of(rule, asked, monkeypatch, by_grid=False)
        assert_array_equal(noise_of(rule, asked, monkeypatch, by_grid=True), expected)


def test_the_grid_takes_a_column_of_one_value(monkeypatch):
    points = rows_in_background(2, 0)
    points[:, 1] = 7.0
    low, high = points.min(axis=0), points.max(axis=0)
    rule = NoiseRule(points[::3], 0.02, 8, 10.0, low, high)
    expected = noise_of(rule, points, monkeypatch, by_grid=False)
    assert expected.any()
    assert_array_equal(noise_of(rule, points, monkeypatch, by_grid=True), expected)


def test_the_grid_settles_most_rows():
    points = rows_in_background(2, 0)
    rule = find_noise(points[::2], np.random.RandomState(0))
    assert np.isfinite(rule.threshold)
    inside = points[((points >= rule.low) & (points <= rule.high)).all(axis=1)]
    near_by, far_off = rule._grid.settled(inside)
    assert not (near_by & far_off).any()
    assert (near_by | far_off).mean() > 0.8


@pytest.mark.parametrize("seed", range(6))
def test_tails_of_a_single_column_are_not_a_background(seed):
    values = np.random.RandomState(seed).randn(1000, 1)
    for points in (values, np.hstack([values, np.full((1000, 1), 3.0)])):
        assert not find_noise(points, np.random.RandomState(0))(points).any()
