"""Lists of near centres, against plain distances and plain loops: equal to the bit."""

from __future__ import annotations

import tracemalloc
from unittest import mock

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from pskclust._cells import near_screen, voronoi
from pskclust._cells.encode import encode_rows
from pskclust._cells.methods import draw_partition
from pskclust._cells.near_screen import NearScreen
from pskclust._cells.partition import Partition
from pskclust._cells.screen_encoder import ScreenEncoder
from pskclust._cells.similar_rows import bytes_to_order, order_by_similarity
from pskclust._data.rows import Data
from pskclust._data.weights import uniform_weights
from pskclust._kernels import compiled as compiled_kernels
from pskclust._kernels import near_cells, screening, second_bound
from pskclust._kernels.panel_vectors import (
    PANEL_CENTRES,
    TILE_ROWS,
    _lowest_bit,
    _multiply_tile,
    lowest_bit,
    multiply_tile,
)
from pskclust._utils.parallel import Buffers

RNG = np.random.RandomState


def rows_of(kind, n_rows, n_columns, seed):
    rng = RNG(seed)
    if kind == "ties":
        return rng.randint(0, 3, (n_rows, n_columns)).astype(float)
    if kind == "near ties":
        whole = rng.randint(0, 2, (n_rows, n_columns)).astype(float)
        return np.nextafter(whole, rng.choice([-9, 9], whole.shape))
    if kind == "equal":
        return np.ones((n_rows, n_columns))
    X = rng.randn(n_rows, n_columns)
    if kind == "few directions":
        return X[:, :3] @ rng.randn(3, n_columns) + 0.01 * X
    return X * {"huge": 1e14, "tiny": 1e-14}.get(kind, 1)


KINDS = ["floats", "ties", "near ties", "few directions", "equal", "huge", "tiny"]


def found(X, psi, rows, n_listed, rotated):
    """Return the cells by lists of `n_listed` centres, and those of plain distances."""
    data = Data(X, "euclidean", uniform_weights(len(X)))
    partition = draw_partition(data, "voronoi", 5, psi, True, RNG(0))
    cells = np.empty((len(rows), 5), dtype=partition.cell_type)
    with (
        mock.patch.object(screening, "_MIN_POINTS_TO_ROTATE", 2 if rotated else 10**9),
        mock.patch.object(screening, "_MIN_COLUMNS_TO_ROTATE", 4),
        mock.patch.object(screening, "_ENERGY_NEEDED", 0),
        mock.patch.object(near_screen, "entries_to_list", return_value=n_listed),
    ):
        screen = NearScreen.of(partition.points, partition.centres)
    if screen is not None:
        screen.find_cells(rows, Buffers(), cells)
    return screen, cells, Partition.cells(partition, rows)


@pytest.mark.slow
@settings(max_examples=200)
@given(
    kind=st.sampled_from(KINDS),
    n_columns=st.integers(4, 90),
    psi=st.integers(2, 60),
    n_listed=st.integers(1, 30),
    rotated=st.booleans(),
    seed=st.integers(0, 999),
)
def test_lists_of_any_length_find_the_cells_of_plain_distances(
    kind, n_columns, psi, n_listed, rotated, seed
):
    X = rows_of(kind, 150, n_columns, seed)
    rows = np.concatenate([X[:40], X[:3] * 1e30, rows_of(kind, 20, n_columns, seed + 1)])
    screen, cells, expected = found(X, psi, rows, n_listed, rotated)
    if screen is not None:
        assert_array_equal(cells, expected)


@pytest.mark.parametrize("rotated", [False, True])
@pytest.mark.parametrize("kind", ["floats", "near ties", "few directions"])
@pytest.mark.parametrize("n_listed", [1, 20])
def test_lists_find_the_cells_of_plain_distances(kind, rotated, n_listed):
    X = rows_of(kind, 90, 12, 0)
    screen, cells, expected = found(X, 30, X[:20], n_listed, rotated)
    assert screen is not None
    assert bool(screen.screen.directions.size) == bool(screen.second.parts.size) == rotated
    assert_array_equal(cells, expected)


@pytest.mark.parametrize("kind", ["floats", "near ties"])
def test_rows_whose_second_list_is_too_short_are_compared_with_all_centres(kind):
    limits_seen = []

    def settle_and_forbid(*arguments):
        near_cells.settle_near(*arguments)
        limits = arguments[6]
        limits_seen.append(limits.copy())
        limits[:] = -np.inf

    X = rows_of(kind, 90, 12, 0)
    with mock.patch.object(near_screen, "settle_near", settle_and_forbid):
        _, cells, expected = found(X, 30, X[:20], 1, True)
    assert_array_equal(cells, expected)
    assert len(limits_seen) > 2
    assert (limits_seen[-1] == np.inf).all()


def test_points_beyond_float32_are_settled_exactly():
    X = rows_of("floats", 90, 12, 0)
    assert found(X * 1e140, 30, X, 20, False)[0] is None
    _, cells, expected = found(X, 30, X[:9] * 1e140, 20, False)
    assert_array_equal(cells, expected)


def test_few_near_centres_are_listed_and_many_are_not():
    X = rows_of("floats", 3000, 12, 0)
    data = Data(X, "euclidean", uniform_weights(len(X)))
    for psi, listed in ((1000, True), (20, False)):
        partition = draw_partition(data, "voronoi", 20, psi, False, RNG(0))
        cells = partition.cells(X[:50], compiled_kernels)
        assert ("_near_screen" in vars(partition)) == listed
        assert_array_equal(cells, Partition.cells(partition, X[:50]))


def test_rows_are_multiplied_in_small_chunks_where_centres_do_not_fit_float32():
    X = 1e16 * rows_of("floats", 3000, 12, 0)
    data = Data(X, "euclidean", uniform_weights(len(X)))
    partition = draw_partition(data, "voronoi", 20, 1000, False, RNG(0))
    sizes = []

    def screen_and_note(points, screen, bound2):
        sizes.append(bound2.nbytes)
        return screening.screen_points(points, screen, bound2)

    with (
        mock.patch.object(voronoi, "rows_per_product", return_value=32),
        mock.patch.object(voronoi, "screen_points", screen_and_note),
    ):
        cells = encode_rows(data.only(slice(0, 100)), partition, compiled_kernels, 1)
    assert max(sizes) <= 32 * 4 * len(partition.points)
    assert_array_equal(cells, Partition.cells(partition, X[:100]))


@pytest.mark.parametrize("psi", [1000, 20])
def test_the_encoder_of_blocks_makes_its_screen_before_threads_start(psi):
    X = rows_of("floats", 3000, 40, 0)
    data = Data(X, "euclidean", uniform_weights(len(X)))
    partition = draw_partition(data, "voronoi", 20, psi, False, RNG(0))
    ScreenEncoder(X.__getitem__, len(X), partition, 32)
    made = "_near_screen" if psi == 1000 else "_narrow_screen"
    assert made in vars(partition)


@settings(max_examples=100)
@given(seed=st.integers(0, 999), n_columns=st.integers(4, 80), scale=st.sampled_from([1e-9, 1, 99]))
def test_the_second_bound_is_below_the_distance_and_above_the_first(seed, n_columns, scale):
    X = scale * (rows_of("floats", 60, n_columns, seed) + RNG(seed).randn(n_columns))
    centres = np.arange(40).reshape(2, 20)
    with (
        mock.patch.object(screening, "_MIN_POINTS_TO_ROTATE", 2),
        mock.patch.object(screening, "_MIN_COLUMNS_TO_ROTATE", 4),
        mock.patch.object(screening, "_ENERGY_NEEDED", 0),
    ):
        screen = screening.make_screen(X[:40], centres, narrow=True)
    second = second_bound.make_second_bound(screen)
    made = screening.rows_to_multiply(X, screen)
    first2 = (made.rows @ screen.factors).astype(float)
    further = second_bound.rows_for_second_bound(X, screen, second)
    second2 = first2 - 2 * (further @ second.parts.T)
    exact2 = ((X[:, np.newaxis] - X[:40]) ** 2).sum(axis=2)
    error = made.error[:, np.newaxis]
    assert (second2 <= exact2 + error).all()
    assert (second2 >= first2 - error).all()


@numba.njit
def multiplied(rows, first, panels, panel, limits, sums, hits):
    multiply_tile(rows, first, panels, panel, limits, sums, hits)


@pytest.mark.parametrize("n_columns", [1, 7, 33])
def test_vectors_compute_what_plain_loops_do(n_columns):
    rng = RNG(n_columns)
    # Small whole numbers, whose sums are exact in any order.
    rows = rng.randint(-9, 9, (3 * TILE_ROWS, n_columns)).astype(np.float32)
    panels = rng.randint(-9, 9, (2, n_columns, PANEL_CENTRES)).astype(np.float32)
    panels[1, 0, 3] = np.nan
    limits = rng.randint(-99, 99, len(rows)).astype(np.float32)
    answers = []
    for function in (multiplied, _multiply_tile):
        sums = np.empty((TILE_ROWS, PANEL_CENTRES), dtype=np.float32)
        hits = np.empty(TILE_ROWS, dtype=np.int64)
        function(rows, TILE_ROWS, panels, 1, limits, sums, hits)
        answers.append((sums, hits))
    for vectors, loops in zip(*answers, strict=True):
        assert_array_equal(vectors, loops)
    assert (answers[0][1] & 8).all()


@numba.njit
def number_of_lowest(bits):
    return lowest_bit(bits)


@pytest.mark.parametrize("bits", [1, 2, 12, 1 << 40, -(1 << 63), -1, -4])
def test_the_lowest_bit_is_found(bits):
    assert number_of_lowest(np.int64(bits)) == _lowest_bit(bits)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_rows_are_encoded_in_any_order(n_jobs):
    rng = RNG(0)
    X = rng.randn(3000, 6) @ rng.randn(6, 64) + 0.05 * rng.randn(3000, 64)
    data = Data(X, "euclidean", uniform_weights(len(X)))
    partition = draw_partition(data, "voronoi", 5, 300, False, RNG(0))
    with mock.patch.object(voronoi, "_MIN_ROWS_TO_ORDER", 1000):
        order = partition.best_order(data, n_jobs)
        cells = encode_rows(data, partition, compiled_kernels, n_jobs)
    assert_array_equal(np.sort(order), np.arange(len(X)))
    assert not np.array_equal(order, np.arange(len(X)))
    assert partition.best_order(data, n_jobs) is None
    assert_array_equal(cells, Partition.cells(partition, X))


def test_an_order_takes_the_memory_that_is_checked():
    X = rows_of("floats", 100_000, 20, 0)
    data = Data(X, "euclidean", uniform_weights(len(X)))
    tracemalloc.start()
    order = order_by_similarity(data, X.mean(axis=0), np.eye(20, 16), 1)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert_array_equal(np.sort(order), np.arange(len(X)))
    # A chunk of points takes a few more megabytes.
    assert peak < bytes_to_order(len(X)) + 3e6
