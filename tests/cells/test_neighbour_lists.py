"""Cells from lists of nearest points agree with distances to all centres."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from pskclust._cells.methods import draw_partition
from pskclust._cells.neighbour_lists import NeighbourLists, length_of_lists
from pskclust._cells.partition import Partition
from pskclust._data.rows import Data
from pskclust._data.weights import uniform_weights


def drawn(X, psi, replace=False, method="voronoi", seed=0):
    data = Data(X, "euclidean", uniform_weights(len(X)))
    return draw_partition(data, method, 20, psi, replace, np.random.RandomState(seed))


@given(
    st.integers(1, 3),
    st.integers(3, 400),
    st.integers(0, 99),
    st.booleans(),
    st.sampled_from([None, 3, 20]),
    st.sampled_from([1.0, 1e-150, 1e148]),
)
def test_lists_show_the_cells_of_plain_distances(columns, n_points, seed, replace, grid, unit):
    rng = np.random.RandomState(seed)

    def rows(n_rows):
        values = rng.rand(n_rows, columns)
        return unit * (values if grid is None else np.round(values * grid))

    X, new = rows(n_points), rows(50)
    partition = drawn(X, max(2, n_points // 3), replace, seed=seed)
    for points in (X, new, 100 * new):
        assert_array_equal(partition.cells(points), Partition.cells(partition, points))


def test_lists_are_used_where_many_points_are_centres(monkeypatch):
    X = np.random.RandomState(0).rand(600, 2)
    partition = drawn(X, 100)
    expected = Partition.cells(partition, X)
    n_plain = []
    plain = type(partition)._find_cells

    def counted(self, points, *arguments):
        n_plain.append(len(points))
        plain(self, points, *arguments)

    monkeypatch.setattr(type(partition), "_find_cells", counted)
    assert_array_equal(partition.cells(X), expected)
    assert sum(n_plain) < 0.01 * expected.size


@pytest.mark.parametrize(
    ("n_points", "psi", "n_columns", "is_used"),
    [
        (2000, 256, 2, True),
        (1000, 166, 3, True),
        (1000, 166, 4, False),  # too many columns
        (12_800, 128, 2, False),  # too few centres
        (30, 30, 2, False),  # every point is a centre
    ],
)
def test_lists_are_short(n_points, psi, n_columns, is_used):
    n_near = length_of_lists(n_points, psi, n_columns)
    assert bool(n_near) is is_used
    assert n_near <= 64


def test_hyperspheres_have_no_lists():
    X = np.random.RandomState(0).rand(600, 2)
    partition = drawn(X, 100, method="hypersphere")
    assert_array_equal(partition.cells(X), Partition.cells(partition, X))


def test_a_row_is_not_settled_by_a_centre_at_the_end_of_its_list():
    from scipy.spatial import KDTree

    points = np.array([[0.0], [1.0], [2.0], [3.0]])
    lists = NeighbourLists.of(np.array([[0.1]]), KDTree(points), 2)
    cells = np.empty(1, dtype=np.uint8)
    assert_array_equal(lists.find_cells(np.array([1, 3]), cells), [0])
    assert_array_equal(lists.find_cells(np.array([3, 0]), cells), [])
    assert_array_equal(cells, [1])
