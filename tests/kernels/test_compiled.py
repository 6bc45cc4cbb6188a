"""Compiled loops on a few small data sets, against plain NumPy: equal to the bit.

`test_neighbour_blocks.py` and `test_exactness.py` look at thousands. These are so small that the
same loops run uncompiled, too: so indices are checked, and `make mutations` can try many changes to
them.
"""

from __future__ import annotations

import os
import subprocess
import sys
from unittest import mock

import numba
import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pskclust import PSKC
from pskclust._cells.methods import draw_partition
from pskclust._cells.neighbour_blocks import block_rows
from pskclust._cells.partition import Partition
from pskclust._data.rows import Data
from pskclust._data.weights import uniform_weights
from pskclust._kernels import compiled as compiled_kernels
from pskclust._kernels import screening
from tests.helpers.engines import ENGINES, assert_predicted, assert_result_of, clustered, data_of

RNG = np.random.RandomState


def touching(n_rows=200, n_columns=2):
    """Three clusters that touch, and some noise."""
    rng = RNG(1)
    X = 0.5 * rng.randn(n_rows, n_columns) + 2 * rng.randint(0, 3, (n_rows, 1))
    X[::9] = rng.uniform(-3, 7, X[::9].shape)
    return X


DATA = {
    "touching": touching(),
    "ties": RNG(0).randint(0, 5, (150, 2)).astype(float),
    "a line": np.sort(RNG(0).randn(130, 1), axis=0),
    "five columns": touching(140, 5),
    "one block": touching(64),
    "copies": touching(20)[RNG(2).randint(0, 20, 129)],
}


@pytest.mark.parametrize("engine", ["neighbour blocks", "dense compiled"])
@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("tau", "noise", "smallest"), [(0.05, "keep", 9), (0.3, "nearest", None)])
def test_a_fit_is_that_of_plain_numpy(engine, name, weighted, tau, noise, smallest):
    X = DATA[name]
    weights = RNG(3).randint(1, 4, len(X)) if weighted else None
    model = PSKC(
        psi=9,
        tau=tau,
        n_partitions=8,
        noise=noise,
        min_cluster_size=smallest,
        n_jobs=1,
        random_state=0,
    )
    model.fit(X, sample_weight=weights)
    made = ENGINES[engine](data_of(X, weights, resolution=8), model.kernel_._partition)
    assert_result_of(model, clustered(made, model.get_params()))
    assert_predicted(model, np.vstack([X + 0.1, X[:40] * 3]))


@pytest.mark.parametrize("method", ["hypersphere", "tree"])
def test_other_cells_count_alike(method):
    X = DATA["touching"]
    model = PSKC(psi=9, tau=0.1, n_partitions=8, method=method, n_jobs=1, random_state=0).fit(X)
    engine = ENGINES["dense compiled"](data_of(X), model.kernel_._partition)
    assert_result_of(model, clustered(engine, model.get_params()))


@pytest.mark.parametrize("name", DATA)
def test_clusters_are_counted_and_scored_as_by_plain_numpy(name):
    X = DATA[name]
    data = data_of(X, RNG(3).randint(0, 4, len(X)))
    partition = draw_partition(data, "voronoi", 4, 9, True, RNG(0))
    labels = RNG(4).randint(-1, 3, len(X))
    answers = []
    for engine in (ENGINES["plain"], ENGINES["neighbour blocks"]):
        made = engine(data, partition)
        made.set_labels(np.arange(len(X)), labels)
        clusters = made.tables(3)
        answers.append((clusters.counts.toarray(), clusters.masses, made.best_members(clusters)))
    for plain, compiled in zip(*answers, strict=True):
        assert_array_equal(compiled, plain)


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("psi", [2, 9, 60])
def test_blocks_have_the_cells_of_plain_distances(name, psi):
    X = DATA[name]
    data = Data(X, "euclidean", uniform_weights(len(X)))
    partition = draw_partition(data, "voronoi", 4, psi, True, RNG(0))
    rows = block_rows(data, partition, n_jobs=1, blocks_per_superblock=2)
    cells = np.empty((len(X), 4), dtype=int)
    cells[rows.order] = rows.cells(np.arange(len(X)))
    assert_array_equal(np.sort(rows.order), np.arange(len(X)))
    assert_array_equal(cells, Partition.cells(partition, X))


@pytest.mark.parametrize("rotated", [False, True])
@pytest.mark.parametrize("kind", ["floats", "ties", "few directions"])
def test_screened_cells_are_those_of_plain_distances(rotated, kind):
    rng = RNG(0)
    X = {
        "floats": rng.randn(90, 12),
        "ties": rng.randint(0, 3, (90, 12)).astype(float),
        "few directions": rng.randn(90, 2) @ rng.randn(2, 12),
    }[kind]
    data = Data(X, "euclidean", uniform_weights(len(X)))
    partition = draw_partition(data, "voronoi", 4, 40, False, rng)
    with (
        mock.patch.object(screening, "_MIN_POINTS_TO_ROTATE", 2 if rotated else 10**9),
        mock.patch.object(screening, "_MIN_COLUMNS_TO_ROTATE", 4),
        mock.patch.object(screening, "_ENERGY_NEEDED", 0),
    ):
        cells = partition.cells(X[:30], compiled_kernels)
    assert_array_equal(cells, Partition.cells(partition, X[:30]))


@pytest.mark.slow
@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="this is the uncompiled run")
def test_uncompiled_loops_pass_and_no_index_is_out_of_bounds():
    """Compiled code reads whatever lies beyond the end of an array."""
    # What wraps around without a word when compiled is a warning to plain NumPy.
    options = ["-q", "-p", "no:cacheprovider", "-W", "ignore:overflow:RuntimeWarning"]
    answer = subprocess.run(
        [sys.executable, "-m", "pytest", *options, __file__],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        timeout=1200,
    )
    assert answer.returncode == 0, answer.stdout
