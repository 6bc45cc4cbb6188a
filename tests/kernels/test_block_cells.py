"""Cells of blocks by bounds and products in float32, against plain distances: equal to the bit."""

from __future__ import annotations

from fractions import Fraction

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from pskclust import PSKC
from pskclust._cells import ball_encoder
from pskclust._cells.ball_encoder import BallEncoder
from pskclust._cells.block_encoders import BoxEncoder, SharingEncoder
from pskclust._cells.encoder_choice import encoder_for
from pskclust._cells.methods import draw_partition
from pskclust._cells.neighbour_blocks import block_rows
from pskclust._cells.partition import Partition
from pskclust._cells.screen_encoder import ScreenEncoder
from pskclust._data.rows import Data
from pskclust._data.weights import uniform_weights
from pskclust._engines.dense import DenseEngine
from pskclust._engines.neighbour_blocks import NeighbourBlocksEngine
from pskclust._engines.select import engine_for_rows
from pskclust._kernels.block_products import margin_of_error
from pskclust._kernels.vectors import _compare_with_four, compare_with_four
from tests.helpers.hard_rows import KINDS, hard_rows

RNG = np.random.RandomState
ENCODERS = [SharingEncoder, BoxEncoder, BallEncoder, ScreenEncoder]


def assert_cells_are_exact(X, psi, seed=0, n_jobs=1, n_partitions=5):
    data = Data(X, "euclidean", uniform_weights(len(X)))
    partition = draw_partition(data, "voronoi", n_partitions, psi, True, RNG(seed))
    blocked = block_rows(data, partition, n_jobs)
    assert_array_equal(blocked.cells_by_row(), Partition.cells(partition, data.points()))


@settings(max_examples=200)
@given(
    kind=st.sampled_from(KINDS),
    n_rows=st.integers(2, 400),
    n_columns=st.integers(1, 48),
    psi=st.integers(2, 300),
    scale=st.sampled_from([1.0, 1.0, 1e-20, 1e-6, 1e12, 1e30]),
    narrow=st.booleans(),
    seed=st.integers(0, 2**16),
)
def test_cells_are_those_of_plain_distances(kind, n_rows, n_columns, psi, scale, narrow, seed):
    X = hard_rows(kind, n_rows, n_columns, RNG(seed)) * scale
    assert_cells_are_exact(X.astype(np.float32) if narrow and scale < 1e15 else X, psi, seed)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_columns", [33, 128, 800])
def test_cells_in_many_columns_are_those_of_plain_distances(kind, n_columns):
    X = hard_rows(kind, 300, n_columns, RNG(n_columns)).astype(np.float32)
    assert_cells_are_exact(X, 60, n_partitions=3)


@pytest.mark.parametrize("encoder", ENCODERS)
@pytest.mark.parametrize("kind", KINDS)
def test_every_encoder_finds_the_same_cells(encoder, kind, monkeypatch):
    monkeypatch.setattr("pskclust._cells.neighbour_blocks.encoder_for", encoder)
    assert_cells_are_exact(hard_rows(kind, 333, 6, RNG(1)), 70)


@settings(max_examples=100)
@given(
    kind=st.sampled_from(KINDS),
    n_rows=st.integers(2, 400),
    n_columns=st.integers(1, 60),
    psi=st.integers(2, 90),
    max_share=st.sampled_from([0.0, 0.25]),
    max_centres=st.sampled_from([1, 20, 2048]),
    rows_per_copy=st.sampled_from([0, 64, 10**6]),
    seed=st.integers(0, 2**16),
)
def test_balls_may_be_split_and_grouped_in_any_way(
    kind, n_rows, n_columns, psi, max_share, max_centres, rows_per_copy, seed
):
    X = hard_rows(kind, n_rows, n_columns, RNG(seed))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("pskclust._cells.neighbour_blocks.encoder_for", BallEncoder)
        patch.setattr(ball_encoder, "_MAX_SHARE_OF_BALL", max_share)
        patch.setattr(ball_encoder, "_MAX_CENTRES", max_centres)
        patch.setattr(ball_encoder, "_ROWS_PER_COPY", rows_per_copy)
        assert_cells_are_exact(X, psi, seed)


def test_a_block_of_two_clusters_is_split_between_them():
    clusters = np.repeat([0, 1, 1, 0], [20, 10, 30, 4])
    points = RNG(0).randn(64, 50) + 40 * clusters[:, np.newaxis]
    parts = ball_encoder._split(points, np.arange(64))
    assert sorted(map(len, parts)) == [24, 40]
    assert all(len(set(clusters[part])) == 1 for part in parts)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("n_columns", [5, 16, 40])
def test_cells_do_not_depend_on_threads(n_jobs, n_columns):
    X = hard_rows("clusters", 20_000, n_columns, RNG(0)).astype(np.float32)
    assert_cells_are_exact(X, 50, n_jobs=n_jobs, n_partitions=2)


@pytest.mark.parametrize(
    ("n_columns", "kind", "expected"),
    [
        (3, "clusters", SharingEncoder),
        (32, "clusters", BoxEncoder),
        (40, "clusters", BallEncoder),
        (400, "floats", ScreenEncoder),
    ],
)
def test_the_encoder_is_chosen_by_columns_and_by_what_balls_rule_out(n_columns, kind, expected):
    X = hard_rows(kind, 2000, n_columns, RNG(0))
    X = X[np.argsort(X[:, 0])]
    partition = draw_partition(
        Data(X, "euclidean", uniform_weights(len(X))), "voronoi", 10, 40, False, RNG(0)
    )
    assert type(encoder_for(X.__getitem__, len(X), partition, 2)) is expected


def test_blocks_of_too_many_cells_are_given_up():
    noise = RNG(0).rand(20_000, 20)
    clusters = noise + 9 * RNG(1).randint(0, 40, (len(noise), 1))
    kinds = []
    for X in (noise, clusters):
        data = Data(X, "euclidean", uniform_weights(len(X)))
        partition = draw_partition(data, "voronoi", 4, 200, False, RNG(0))
        engine = engine_for_rows(data, partition, n_jobs=1)
        kinds.append(type(engine))
        rows = np.arange(0, len(X), 97)
        assert_array_equal(engine._cells_of(engine._places_of(rows)), partition.cells(X[rows]))
    assert kinds == [DenseEngine, NeighbourBlocksEngine]


@pytest.mark.parametrize("n_columns", [12, 40])
def test_a_fit_in_many_columns_is_that_of_plain_numpy(n_columns):
    X = hard_rows("clusters", 7000, n_columns, RNG(3)).astype(np.float32)
    model = PSKC(psi=32, tau=0.05, n_partitions=20, random_state=0)
    compiled = model.fit(X).labels_
    assert model.backend_ == "numba"
    parts = [model.predict(X[start : start + 1000]) for start in range(0, 3000, 1000)]
    assert_array_equal(np.concatenate(parts), model.predict(X)[:3000])
    assert_array_equal(compiled, model.set_params(n_jobs=1).fit(X.astype(float)).labels_)


@numba.njit
def compare(rows, centres, halves, kept, smallest, nearest):
    for start in range(0, len(kept), 4):
        for first in range(0, rows.shape[1], 32):
            compare_with_four(rows, first, centres, halves, kept, start, smallest, nearest)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("n_columns", [1, 7, 33])
def test_vectors_compute_what_plain_loops_do(n_columns, order):
    rng = RNG(n_columns)
    # Small whole numbers, whose sums are exact in any order.
    rows = rng.randint(-9, 9, (n_columns, 64)).astype(np.float32)
    centres = np.asarray(rng.randint(-9, 9, (50, n_columns)), dtype=np.float32, order=order)
    halves = rng.randint(0, 99, 50).astype(np.float32)
    kept = rng.permutation(50)[:40].astype(np.int32)
    answers = []
    for function in (compare, None):
        smallest = np.full((2, 64), np.inf, dtype=np.float32)
        nearest = np.zeros(64, dtype=np.int32)
        if function is not None:
            function(rows, centres, halves, kept, smallest, nearest)
        else:
            for start in range(0, len(kept), 4):
                for first in (0, 32):
                    _compare_with_four(rows, first, centres, halves, kept, start, smallest, nearest)
        answers.append((smallest, nearest))
    for vectors, loops in zip(*answers, strict=True):
        assert_array_equal(vectors, loops)


@settings(max_examples=100)
@given(n_columns=st.integers(1, 60), offset=st.sampled_from([0, 3, 1000]), seed=st.integers(0, 999))
def test_sums_in_float32_are_within_their_margin(n_columns, offset, seed):
    rng = RNG(seed)
    row, centre = rng.randn(2, n_columns) + offset
    narrow_row, narrow_centre = row.astype(np.float32), centre.astype(np.float32)
    total = np.float32(0.5 * (centre @ centre))
    for x, z in zip(narrow_row, narrow_centre, strict=True):
        total = np.float32(total - np.float32(x * z))
    exact = sum(
        Fraction(z) * Fraction(z) / 2 - Fraction(x) * Fraction(z)
        for x, z in zip(row.tolist(), centre.tolist(), strict=True)
    )
    reach = np.linalg.norm(row) + np.linalg.norm(centre)
    # It is compiled for compiled code only.
    margin = getattr(margin_of_error, "py_func", margin_of_error)(n_columns, reach)
    assert 2 * abs(Fraction(float(total)) - exact) <= Fraction(float(margin))
