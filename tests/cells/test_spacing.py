"""Distances between the centres of a partitioning."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist

from pskclust._cells.spacing import log_spacings


@pytest.mark.parametrize("n_columns", [3, 20, 3000])
@pytest.mark.parametrize("equal", [False, True])
def test_spacings_are_those_of_all_distances(n_columns, equal):
    rng = np.random.RandomState(0)
    points = rng.randn(120, n_columns)
    if equal:
        points[60:] = points[:60]
    centres = np.array([rng.choice(120, 100, replace=equal) for _ in range(4)])
    found = log_spacings(points, centres, 2)
    # In many columns, distances are those to the first centres.
    others = slice(None) if n_columns < 3000 else slice(32)
    for own, sizes in zip(centres, found, strict=True):
        if equal:
            different, number = np.unique(points[own], axis=0, return_inverse=True)
        else:
            different, number = points[own], np.arange(100)
        apart = cdist(different, different[others])
        gaps = np.where(apart > 0, apart, np.inf).min(axis=1)
        assert_allclose(np.exp(sizes), gaps[number.ravel()], rtol=1e-9)


def test_equal_centres_have_log_spacing_0():
    assert_array_equal(log_spacings(np.ones((5, 12)), np.arange(5)[np.newaxis]), np.zeros((1, 5)))


def test_centres_are_not_copied_all_at_once():
    rng = np.random.RandomState(0)
    points = rng.randn(4000, 800)
    centres = np.tile(np.arange(4000), (8, 1))
    tracemalloc.start()
    log_spacings(points, centres, 4)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < points.nbytes
