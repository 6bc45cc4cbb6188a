"""The compiled kernels on blocks of neighbours, against plain NumPy: equal to the bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from pskclust import PSKC
from pskclust._cells.methods import draw_partition
from pskclust._cells.neighbour_blocks import block_rows, split_rows
from pskclust._cells.partition import Partition
from pskclust._data.rows import Data
from pskclust._data.weights import uniform_weights
from pskclust._engines.neighbour_blocks import NeighbourBlocksEngine
from pskclust._kernels import neighbour_order
from pskclust._kernels.neighbour_blocks import BLOCK
from tests.helpers.cases import cases
from tests.helpers.engines import (
    SMALL_BLOCKS,
    assert_predicted,
    assert_result_of,
    clustered,
    data_of,
)


@st.composite
def larger_rows(draw):
    """Rows that fill several blocks: spread out, in clusters, or full of ties."""
    rng = np.random.RandomState(draw(st.integers(0, 2**16)))
    shape = draw(st.integers(2, 600)), draw(st.integers(1, 8))
    kind = draw(st.sampled_from(["floats", "ties", "near ties", "clusters", "constant"]))
    if kind == "ties":
        return rng.randint(0, 5, shape).astype(float)
    if kind == "near ties":
        # From 1 on: two rows beside 0 are too close to each other to have a distance.
        return np.nextafter(rng.randint(1, 5, shape).astype(float), rng.choice([-9, 9], shape))
    if kind == "constant":
        return np.full(shape, 3.5)
    X = rng.randn(*shape)
    return X + 8 * rng.randint(0, 3, (len(X), 1)) if kind == "clusters" else X


@settings(max_examples=600)
@given(X=larger_rows(), psi=st.integers(2, 300), seed=st.integers(0, 99))
def test_cells_are_those_of_plain_numpy(X, psi, seed):
    data = Data(X, "euclidean", uniform_weights(len(X)))
    partition = draw_partition(data, "voronoi", 6, psi, True, np.random.RandomState(seed))
    rows = block_rows(data, partition, n_jobs=1)
    cells = np.empty((len(X), 6), dtype=int)
    cells[rows.order] = rows.cells(np.arange(len(X)))
    assert_array_equal(cells, Partition.cells(partition, X))


@settings(max_examples=150)
@given(
    X=larger_rows(),
    psi=st.integers(2, 40),
    tau=st.sampled_from([0.01, 0.05, 0.2, 0.5]),
    seed=st.integers(0, 99),
    weighted=st.booleans(),
    noise=st.sampled_from(["keep", "nearest"]),
    min_cluster_size=st.sampled_from([None, 5]),
)
def test_fits_are_those_of_plain_numpy(X, psi, tau, seed, weighted, noise, min_cluster_size):
    weights = np.random.RandomState(seed).randint(0, 4, len(X)) + 1 if weighted else None
    model = PSKC(
        psi=psi,
        tau=tau,
        n_partitions=8,
        replace=True,
        noise=noise,
        min_cluster_size=min_cluster_size and min(min_cluster_size, len(X)),
        random_state=seed,
    )
    assert_blocks_find_the_fit_of(model.fit(X, sample_weight=weights), X, weights)
    assert_predicted(model, X + 0.1)


def assert_blocks_find_the_fit_of(model, X, weights=None, n_jobs=1, **options):
    """The engine for neighbour blocks finds all that a model found."""
    data = data_of(X, weights, model.metric, model.n_partitions)
    partition = model.kernel_._partition
    options = {**SMALL_BLOCKS, **options}
    engine = NeighbourBlocksEngine(data, partition, n_jobs=n_jobs, **options)
    assert_result_of(model, clustered(engine, model.get_params()))


@settings(max_examples=200)
@given(cases(weighted=True, methods=["voronoi"]))
def test_weights_of_any_kind_are_counted_alike(case):
    model = PSKC(**case.parameters).fit(case.X, sample_weight=case.weights)
    assert_blocks_find_the_fit_of(model, case.X, case.weights)


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "haversine"])
def test_metrics_work_on_blocks(scattered, metric):
    model = PSKC(psi=32, tau=0.05, metric=metric, random_state=0, n_jobs=1).fit(scattered)
    assert_blocks_find_the_fit_of(model, scattered, n_jobs=2)
    assert_predicted(model, scattered)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_results_do_not_depend_on_threads(n_jobs):
    X = np.random.RandomState(0).randn(30_000, 2)
    model = PSKC(psi=50, tau=0.02, random_state=0, n_partitions=20).fit(X)
    assert_blocks_find_the_fit_of(model, X, n_jobs=n_jobs)
    expected = model.predict(X)
    assert_array_equal(model.set_params(n_jobs=n_jobs).predict(X), expected)


def test_tables_too_large_to_write_out_change_nothing(scattered):
    model = PSKC(psi=32, tau=0.05, random_state=0).fit(scattered)
    assert_blocks_find_the_fit_of(model, scattered, largest_tables_bytes=0)


def test_small_data_stays_with_numpy(blobs):
    assert PSKC().fit(blobs).backend_ == "numpy"


def test_large_data_of_few_columns_is_compiled():
    X = np.random.RandomState(0).randn(25_000, 2)
    assert PSKC(psi=16, tau=0.1, n_partitions=5, random_state=0).fit(X).backend_ == "numba"


@pytest.mark.parametrize("n_values", [2, 40, 10**6])
@pytest.mark.parametrize("n_rows", [65, 1000, 20_000])
@pytest.mark.parametrize("unit", [8, 32])
def test_rows_are_split_at_a_value_of_the_widest_column(n_rows, n_values, unit):
    rng = np.random.RandomState(n_rows)
    rows = np.column_stack([rng.rand(n_rows), 5.0 * rng.randint(n_values, size=n_rows)])
    points, order = rows.copy(), np.arange(n_rows)
    place = split_rows(points, order, 0, n_rows, unit, once=True)
    assert place % (BLOCK if n_rows <= unit * BLOCK else unit * BLOCK) == 0
    assert 0 < place < n_rows
    assert points[:place, 1].max() <= points[place:, 1].min()
    assert_array_equal(points, rows[order])


@pytest.mark.parametrize("n_rows", [65, 510, 511, 512, 767, 5000])
@pytest.mark.parametrize("unit", [8, 32])
def test_splitting_stays_within_its_memory(n_rows, unit):
    points = np.random.RandomState(n_rows).rand(n_rows, 2)
    values = np.full(neighbour_order.MAX_VALUES + 1, -7.0)
    ends = np.full(neighbour_order.MAX_WAITING + 1, -7)
    misplaced = np.full((3, neighbour_order.BATCH), -7)
    order = np.arange(n_rows)
    neighbour_order.split(points, order, 0, n_rows, unit, BLOCK, False, values, misplaced, ends)
    assert values[-1] == -7.0
    assert (misplaced[-1] == -7).all()
    assert ends[-1] == -7
