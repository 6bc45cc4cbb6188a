"""Drawing rows, and finding cells."""

from __future__ import annotations

from dataclasses import replace
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from sklearn.utils.random import sample_without_replacement

from pskclust._cells.drawing import draw_rows
from pskclust._cells.encode import encode_rows
from pskclust._cells.methods import draw_partition
from pskclust._cells.partition import Partition
from pskclust._data.rows import Data
from pskclust._data.weights import check_weights, uniform_weights
from pskclust._kernels import reference as plain_kernels
from pskclust._kernels import screening
from tests.helpers.compiled import kernels as compiled_kernels

SEEDS = st.integers(0, 99)


def draws(weights, n_partitions=4000, psi=3, replace=False, seed=0):
    return draw_rows(weights, n_partitions, psi, replace, np.random.RandomState(seed))


def test_without_replacement_no_row_is_drawn_twice():
    drawn = draws(uniform_weights(10), psi=10)
    assert_array_equal(np.sort(drawn, axis=1), np.tile(np.arange(10), (4000, 1)))


@pytest.mark.parametrize(
    ("n_rows", "psi"), [(100, 1), (12_345, 123), (25_600, 256), (1_000_000, 5000)]
)
def test_a_small_share_of_rows_is_drawn_as_scikit_learn_draws_it(n_rows, psi):
    rng = np.random.RandomState(0)
    expected = [sample_without_replacement(n_rows, psi, random_state=rng) for _ in range(20)]
    assert_array_equal(draws(uniform_weights(n_rows), 20, psi), expected)


def test_with_replacement_rows_are_drawn_twice():
    drawn = draws(uniform_weights(3), psi=8, replace=True)
    assert drawn.shape == (4000, 8)
    assert {0, 1, 2} == set(drawn.ravel())


@pytest.mark.parametrize("replace", [False, True])
def test_every_row_is_as_likely(replace):
    counts = np.bincount(draws(uniform_weights(20), replace=replace).ravel(), minlength=20)
    assert abs(counts / counts.sum() - 1 / 20).max() < 0.005


@pytest.mark.parametrize(
    "given", [[1, 2, 3, 4, 0], [0.5, 1.0, 1.5, 2.0, 0.0], [1e-9, 2e-9, 3e-9, 4e-9, 0]]
)
@pytest.mark.parametrize("replace", [False, True])
def test_rows_are_drawn_by_weight(given, replace):
    weights = check_weights(given, 5, resolution=100)
    counts = np.bincount(draws(weights, psi=2, replace=replace).ravel(), minlength=5)
    assert abs(counts / counts.sum() - np.array(given) / np.sum(given)).max() < 0.02


def test_integer_weights_draw_copies_without_replacement():
    weights = check_weights([2, 0, 1], 3, resolution=100)
    assert_array_equal(np.sort(draws(weights, psi=3), axis=1), np.tile([0, 0, 2], (4000, 1)))


def test_equal_fractional_weights_draw_as_no_weights():
    weights = check_weights(np.full(50, 0.3), 50, resolution=100)
    assert_array_equal(draws(weights), draws(uniform_weights(50)))


def test_a_positive_weight_never_vanishes():
    weights = check_weights([1.5, 1e-300, 0.0], 3, resolution=100)
    assert_array_equal(weights.units > 0, [True, True, False])


def test_fractional_weights_keep_their_ratios():
    given = np.random.RandomState(0).uniform(0.1, 5, 1000)
    weights = check_weights(given, 1000, resolution=100)
    assert abs(weights.units / weights.one / given - 1).max() < 1e-9
    assert weights.total * 100 < 2**53


def test_draws_are_by_row_number_alone():
    assert_array_equal(draws(uniform_weights(50)), draws(uniform_weights(50)))
    assert (draws(uniform_weights(50)) != draws(uniform_weights(50), seed=1)).any()


@st.composite
def wide_rows(draw):
    """Rows of up to 800 columns: far from the origin, full of ties, or a rounding error apart."""
    rng = np.random.RandomState(draw(st.integers(0, 2**16)))
    shape = draw(st.integers(2, 40)), draw(st.sampled_from([4, 5, 8, 17, 64, 300, 800]))
    kind = draw(
        st.sampled_from(["floats", "ties", "near ties", "far away", "huge", "tiny", "equal"])
    )
    if kind == "ties":
        return rng.randint(0, 3, shape).astype(float)
    if kind == "near ties":
        return np.nextafter(rng.randint(0, 2, shape).astype(float), rng.choice([-9, 9], shape))
    if kind == "equal":
        return np.ones(shape)
    X = rng.randn(*shape)
    X *= {"huge": 1e150, "tiny": 1e-161}.get(kind, 1)
    if kind == "tiny":
        X[0] *= draw(st.sampled_from([1, 1e11, 1e60]))
    return X * 1e-3 + 1e6 if kind == "far away" else X


@pytest.mark.slow
@pytest.mark.parametrize("n_rows_to_rotate", [10**9, 2])
@settings(max_examples=200)
@given(data=st.data())
def test_matrix_products_find_the_cells_of_plain_distances(n_rows_to_rotate, data):
    """Over all columns, and over the directions in which the centres vary most."""
    X, psi, seed = data.draw(wide_rows()), data.draw(st.integers(2, 50)), data.draw(SEEDS)
    rows = Data(X, "euclidean", uniform_weights(len(X)))
    try:
        partition = draw_partition(rows, "voronoi", 4, psi, True, np.random.RandomState(seed))
    except ValueError as error:
        # Centres that are too close to each other to have distances are refused.
        if "underflow" not in str(error):
            raise
        reject()
    assert partition._screened
    expected = Partition.cells(partition, X)
    assert_array_equal(partition.cells(X), expected)
    with (
        mock.patch.object(screening, "_MIN_POINTS_TO_ROTATE", n_rows_to_rotate),
        mock.patch.object(screening, "_MIN_COLUMNS_TO_ROTATE", 4),
        mock.patch.object(screening, "_ENERGY_NEEDED", 0),
    ):
        for n_jobs in (1, 2):
            cells = encode_rows(rows, partition, compiled_kernels, n_jobs, chunk_rows=3)
            assert_array_equal(cells, expected)


@pytest.mark.slow
def test_data_that_varies_in_few_directions_is_screened_along_those():
    rng = np.random.RandomState(0)
    X = rng.randn(3000, 6) @ rng.randn(6, 64) + 0.05 * rng.randn(3000, 64)
    rows = Data(X, "euclidean", uniform_weights(len(X)))
    partition = draw_partition(rows, "voronoi", 50, 200, False, rng)
    assert partition._narrow_screen.directions.shape[1] <= 6
    assert_array_equal(
        partition.cells(X[:300], compiled_kernels), Partition.cells(partition, X[:300])
    )


def test_data_that_varies_in_all_directions_is_screened_as_it_is():
    X = np.random.RandomState(0).randn(2000, 64)
    rows = Data(X, "euclidean", uniform_weights(len(X)))
    partition = draw_partition(rows, "voronoi", 20, 200, False, np.random.RandomState(0))
    assert not partition._narrow_screen.directions.size


def test_points_beyond_float32_are_settled_exactly():
    X = np.random.RandomState(0).randn(30, 5)
    data = Data(X, "euclidean", uniform_weights(30))
    partition = draw_partition(data, "voronoi", 4, 7, False, np.random.RandomState(0))
    far = X * 1e140
    assert_array_equal(partition.cells(far, compiled_kernels), Partition.cells(partition, far))


@pytest.mark.numba
@settings(max_examples=200)
@given(st.integers(1, 60), st.integers(1, 9), st.sampled_from([2, 200, 300]), st.integers(0, 99))
def test_compiled_kernels_count_and_score_as_plain_ones(n_rows, n_partitions, psi, seed):
    rng = np.random.RandomState(seed)
    cells = rng.randint(0, psi, (n_rows, n_partitions)).astype(np.min_scalar_type(psi - 1))
    units = rng.randint(0, 10**9, n_rows)
    tables, scores = np.zeros((2, n_partitions, psi), int), np.zeros((2, n_rows), int)
    for kernels, table, score in zip(
        (plain_kernels, compiled_kernels), tables, scores, strict=True
    ):
        kernels.count_cells(cells, units, table)
        kernels.score_cells(cells, tables[0], score)
    assert_array_equal(tables[0], tables[1])
    assert_array_equal(scores[0], scores[1])


def some_partition(method):
    X = np.random.RandomState(0).randn(30, 2)
    data = Data(X, "euclidean", uniform_weights(30))
    return draw_partition(data, method, 3, 5, False, np.random.RandomState(0))


def put(place, value):
    """Return what puts a value at a place."""

    def change(array):
        array[place] = value
        return array

    return change


DAMAGE = [
    ("voronoi", "points", lambda points: points.astype(np.float32)),
    ("voronoi", "points", lambda points: points[0]),
    ("voronoi", "points", lambda points: points[:, :1]),
    ("voronoi", "points", put((0, 0), np.nan)),
    ("voronoi", "centres", lambda centres: centres.astype(np.int32)),
    ("voronoi", "centres", lambda centres: centres.ravel()),
    ("voronoi", "centres", lambda centres: centres[:, 1:]),
    ("voronoi", "centres", put((0, 0), -1)),
    ("hypersphere", "centres", put((0, 0), -1)),
    ("hypersphere", "radius2", lambda radius2: radius2.astype(np.float32)),
    ("hypersphere", "radius2", lambda radius2: radius2[1:]),
    ("hypersphere", "radius2", put((0, 0), -1e-300)),
    ("tree", "feature", lambda feature: feature[:, 1:]),
    ("tree", "feature", lambda feature: feature.astype(np.int64)),
    ("tree", "feature", put((0, 0), 2)),
    ("tree", "feature", put((1, 8), 0)),  # the last node must be a leaf
    ("tree", "threshold", lambda threshold: threshold[1:]),
    ("tree", "threshold", lambda threshold: threshold.astype(np.float32)),
    ("tree", "target", lambda target: target[:, 1:]),
    ("tree", "target", put((0, 0), 0)),  # a branch that leads to itself
    ("tree", "target", put((0, 0), 9)),  # and one that leads beyond the last node
    ("tree", "target", put((0, 8), 5)),  # a leaf with the number of no cell
    ("tree", "target", put((0, 8), -1)),
]


@pytest.mark.parametrize(("method", "name", "change"), DAMAGE)
def test_arrays_that_were_never_drawn_are_refused(method, name, change):
    partition = some_partition(method)
    partition.check(2)
    damaged = replace(partition, **{name: change(getattr(partition, name).copy())})
    with pytest.raises(ValueError, match=f"the array '{name}' is not valid for a partition"):
        damaged.check(2)


def test_a_centre_beyond_the_last_point_is_refused():
    partition = some_partition("voronoi")
    partition.centres[0, 0] = len(partition.points) - 1
    partition.check(2)
    partition.centres[0, 0] += 1
    with pytest.raises(ValueError, match="centres"):
        partition.check(2)


def test_equal_centres_have_balls_of_radius_0():
    data = Data(np.ones((4, 2)), "euclidean", uniform_weights(4))
    partition = draw_partition(data, "hypersphere", 3, 2, False, np.random.RandomState(0))
    assert_array_equal(partition.radius2, np.zeros((3, 2)))
    partition.check(2)


def test_nothing_that_can_be_made_again_is_kept_of_a_partition():
    X = np.random.RandomState(0).randn(30, 5)
    data = Data(X, "euclidean", uniform_weights(30))
    partition = draw_partition(data, "voronoi", 3, 5, False, np.random.RandomState(0))
    partition.cells(X)
    assert set(partition.__getstate__()) == {"psi", "points", "centres"}
    assert set(partition.arrays()) == {"points", "centres"}
