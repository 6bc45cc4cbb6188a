"""Isolation similarity of a sample, against plain loops."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from pskclust._choice.sample import Sample
from pskclust._choice.similarity import (
    cells_shared_with,
    draw_nested_cells,
    log_gaps,
    n_near_for,
    nearest_rows,
    shared_cells,
    squared_distances,
)

RNG = np.random.RandomState
DATA = {
    "floats": RNG(0).randn(90, 2),
    "ties": RNG(1).randint(0, 4, (90, 2)).astype(float),
    "copies": RNG(2).randn(12, 3)[RNG(3).randint(0, 12, 90)],
    "many columns": RNG(4).randn(90, 40),
    "copies in many columns": RNG(5).randn(12, 40)[RNG(6).randint(0, 12, 90)],
}


@pytest.fixture(params=DATA)
def points(request):
    return DATA[request.param]


def nearest_centre(distances, row, centres):
    """The number of the nearest centre, and its squared distance; of ties, the first."""
    return min(((distances[row, centre], cell) for cell, centre in enumerate(centres)))[::-1]


def drawn(points, sizes, n_near=12):
    distances = squared_distances(points)
    near = nearest_rows(distances, n_near)
    return distances, draw_nested_cells(distances, near, sizes, 5, RNG(7))


def test_distances_are_those_of_loops(points):
    expected = [[sum((a - b) ** 2) for b in points] for a in points]
    distances = squared_distances(points)
    assert_allclose(distances, expected, atol=1e-10)
    assert_array_equal(distances, distances.T)


def test_copies_are_at_distance_zero_and_as_far_from_all_others(points):
    distances = squared_distances(points)
    for row in range(len(points)):
        for copy in np.flatnonzero((points == points[row]).all(axis=1)):
            assert distances[row, copy] == 0
            assert_array_equal(distances[row], distances[copy])


@pytest.mark.parametrize("n_near", [1, 2, 7, 89, 90])
def test_nearest_rows_are_in_order_and_ties_go_to_the_lowest(points, n_near):
    distances = squared_distances(points)
    expected = [sorted(range(90), key=lambda row: (line[row], row))[:n_near] for line in distances]
    assert_array_equal(nearest_rows(distances, n_near), expected)


@pytest.mark.parametrize("n_near", [1, 12, 90])
def test_a_cell_is_that_of_the_nearest_centre(points, n_near):
    sizes = [2, 9, 30, 60]
    distances, nested = drawn(points, sizes, n_near)
    for level, psi in enumerate(sizes):
        gaps2 = np.zeros(len(points))
        for number, centres in enumerate(nested.centres):
            for row in range(len(points)):
                cell, gap2 = nearest_centre(distances, row, centres[:psi])
                assert nested.cells[level, number, row] == cell
                gaps2[row] += gap2
        least = 1e-24 * distances.max()
        found = log_gaps(distances, nested.centres, nested.cells[level], distances.max())
        assert_allclose(found, 0.5 * np.log(gaps2 / 5 + least), rtol=1e-9)


@pytest.mark.parametrize("n_near", [40, 255, 256, 300])
def test_a_cell_is_that_of_the_nearest_centre_among_many_rows(n_near):
    distances = squared_distances(RNG(8).randint(0, 30, (300, 2)).astype(float))
    near = nearest_rows(distances, n_near)
    nested = draw_nested_cells(distances, near, [3, 20, 200], 4, RNG(9))
    for psi, cells in zip([3, 20, 200], nested.cells, strict=True):
        expected = [distances[centres[:psi]].argmin(axis=0) for centres in nested.centres]
        assert_array_equal(cells, expected)


def test_gaps_of_many_partitionings_are_added_one_after_the_other():
    distances = squared_distances(RNG(3).randn(500, 3))
    near = nearest_rows(distances, n_near_for(500))
    centres, (cells,) = draw_nested_cells(distances, near, [40], 300, RNG(4))
    gaps2 = np.zeros(500)
    for own, cell in zip(centres, cells, strict=True):
        gaps2 += distances[np.arange(500), own[cell]]
    expected = 0.5 * np.log(gaps2 / 300 + 1e-24 * distances.max())
    assert_array_equal(log_gaps(distances, centres, cells, distances.max()), expected)


def test_copies_have_the_number_of_the_first_row_among_different_rows():
    sample = Sample(np.array([[5.0, 1.0], [2.0, 2.0], [5.0, 1.0], [0.0, 9.0], [2.0, 2.0]]))
    assert_array_equal(sample.groups, [0, 1, 0, 2, 1])
    assert sample.n_different == 3


def test_hardly_any_row_has_no_centre_among_its_nearest_rows():
    for n_rows in (90, 500, 1000):
        assert (1 - 32 / n_rows) ** n_near_for(n_rows) < 0.02
    assert n_near_for(40) == 40
    assert n_near_for(2000) < 256


def test_centres_are_distinct_rows_and_the_seed_says_which(points):
    _, nested = drawn(points, [8, 90])
    for centres in nested.centres:
        assert_array_equal(np.sort(centres), np.arange(90))
    _, again = drawn(points, [8, 90])
    assert_array_equal(nested.centres, again.centres)


@pytest.mark.parametrize("n_partitions", [1, 7, 300])
@pytest.mark.parametrize("psi", [2, 17, 64, 65, 200])
def test_similarity_counts_the_cells_that_rows_share(psi, n_partitions):
    cells = RNG(0).randint(0, psi, (n_partitions, 41)).astype(np.int32)
    cells[:, 7] = cells[:, 30]
    expected = [[sum(cells[:, a] == cells[:, b]) for b in range(41)] for a in range(41)]
    counts = shared_cells(cells, psi)
    assert_array_equal(counts, expected)
    assert_array_equal(np.diag(counts), n_partitions)
    some = np.array([0, 7, 40])
    assert_array_equal(cells_shared_with(cells, psi, some), counts[some])
