"""Many kernels on a few rows find what one kernel on an engine does."""

from __future__ import annotations

from itertools import chain

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from pskclust._cells.encode import encode_rows
from pskclust._choice import sample as _kernel_sweep
from pskclust._choice.sample import Recipe, draw_nested, grow_parts
from pskclust._data.rows import Data
from pskclust._data.weights import uniform_weights
from pskclust._kernels import reference as numpy_kernels
from tests.helpers import cases
from tests.helpers.parts import assert_same_parts, both_ways


def as_data(X):
    return Data(X, "euclidean", uniform_weights(len(X)))


@settings(max_examples=60)
@given(
    X=cases.rows(),
    method=st.sampled_from(cases.METHODS),
    # With a rate of 0.5 and 8 partitionings thresholds are sixteenths, and may be tau.
    tau=st.sampled_from([0.01, 0.1, 0.3, 0.8, 2 / 16, 3 / 16, 4 / 16]),
    growth_rate=st.sampled_from([0.03, 0.1, 0.5]),
    seed=st.integers(0, 99),
)
def test_compiled_growth_is_growth(X, method, tau, growth_rate, seed):
    data, recipe = as_data(X), Recipe(method, 8, True, tau, growth_rate)
    kernels = [draw_nested(data, recipe, (2, 3, 9), np.random.RandomState(seed))]
    assert_same_parts(*both_ways(data, recipe, kernels))


@pytest.mark.parametrize("index_from", [0, np.inf])
def test_it_is_growth_with_and_without_an_index(monkeypatch, scattered, index_from):
    monkeypatch.setattr(_kernel_sweep, "_INDEX_FROM", index_from)
    data, recipe = as_data(scattered), Recipe("voronoi", 20, False, 0.1, 0.1)
    kernels = [draw_nested(data, recipe, (8, 64), np.random.RandomState(s)) for s in range(3)]
    assert_same_parts(*both_ways(data, recipe, kernels, n_jobs=2))


@pytest.mark.parametrize("values", [8, 10**6])
@pytest.mark.parametrize("n_near", [1, 20, 10**6])
def test_nested_cells_are_those_of_each_partition(monkeypatch, values, n_near):
    # Of 8 values in a column, many centres are equally near; the first one counts.
    data = as_data(np.random.RandomState(0).randint(0, values, (700, 2)) / values)
    monkeypatch.setattr(_kernel_sweep, "_MIN_NEAR", n_near)
    monkeypatch.setattr(_kernel_sweep, "_NEAR_PER_CELL", 0)
    recipe = Recipe("voronoi", 10, False, 0.1, 0.1)
    kernels = [draw_nested(data, recipe, (2, 30, 300), np.random.RandomState(s)) for s in range(2)]
    grown = grow_parts(data, recipe, kernels, 2)
    for partition, parts in zip(chain(*kernels), chain(*grown), strict=True):
        assert_array_equal(parts.cells, encode_rows(data, partition, numpy_kernels, 1))


def test_smaller_partitions_have_the_first_centres_of_the_largest(blobs):
    recipe = Recipe("voronoi", 5, False, 0.1, 0.1)
    nested = draw_nested(as_data(blobs), recipe, (4, 9, 30), np.random.RandomState(0))
    assert [partition.psi for partition in nested] == [4, 9, 30]
    for partition in nested:
        largest = nested[-1].points[nested[-1].centres[:, : partition.psi]]
        assert_array_equal(partition.points[partition.centres], largest)


def test_tables_count_the_members_of_clusters(blobs):
    data, recipe = as_data(blobs), Recipe("voronoi", 5, False, 0.1, 0.1)
    kernels = [draw_nested(data, recipe, (8,), np.random.RandomState(0))]
    parts = grow_parts(data, recipe, kernels, 1)[0][0]
    labels = np.arange(len(blobs)) % 3 - 1
    clusters = parts.tables(labels, 2)
    for cluster in range(2):
        members = parts.cells[labels == cluster]
        table = clusters.table(cluster)
        assert table.mass == len(members)
        for i in range(5):
            assert_array_equal(table.counts[i], np.bincount(members[:, i], minlength=8))
