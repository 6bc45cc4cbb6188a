"""Every kind of engine for rows in this process, made for however few rows."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.testing import assert_array_equal

from pskclust import PSKC
from pskclust._data.parameters import Parameters
from pskclust._data.rows import Data
from pskclust._data.weights import Weights, check_weights, uniform_weights
from pskclust._engines.dense import DenseEngine
from pskclust._engines.select import engine_for_rows, isolation_engine, labels_by_blocks
from pskclust._engines.sharded import Shard, ShardedEngine
from pskclust._fit.pipeline import grow_and_finish
from pskclust._kernels.select import can_compile
from tests.helpers import compiled

# Small superblocks in many runs, so that even few rows are cut up.
SMALL_BLOCKS = {"blocks_per_superblock": 2, "superblocks_per_run": 1}


def data_of(X, weights=None, metric="euclidean", resolution=100):
    return Data(X, metric, check_weights(weights, len(X), resolution))


def plain(data, partition, n_jobs=1):
    return DenseEngine(data, partition, n_jobs=n_jobs)


def in_chunks(data, partition, n_jobs=2):
    return DenseEngine(data, partition, n_jobs=n_jobs, chunk_rows=7)


def dense_compiled(data, partition, n_jobs=1):
    return DenseEngine(data, partition, kernels=compiled.kernels, n_jobs=n_jobs)


def blocks(data, partition, n_jobs=1):
    if partition.method != "voronoi":
        return dense_compiled(data, partition, n_jobs)
    return _neighbour_blocks(data, partition, n_jobs=n_jobs, **SMALL_BLOCKS)


def blocks_in_threads(data, partition, n_jobs=2):
    return blocks(data, partition, n_jobs)


def blocks_one_by_one(data, partition, n_jobs=1):
    """The tables of all clusters are too large to be written out."""
    if partition.method != "voronoi":
        return dense_compiled(data, partition, n_jobs)
    return _neighbour_blocks(data, partition, n_jobs=n_jobs, largest_tables_bytes=0, **SMALL_BLOCKS)


def _neighbour_blocks(*rows, **options):
    from pskclust._engines.neighbour_blocks import NeighbourBlocksEngine

    return NeighbourBlocksEngine(*rows, **options)


def merged(data, partition, n_jobs=1):
    return isolation_engine(data, partition, n_jobs, backend="numpy", merge=True)


def merged_compiled(data, partition, n_jobs=1):
    return isolation_engine(data, partition, n_jobs, backend="numba", merge=True)


def sharded(data, partition, n_jobs=1, backend="numpy"):
    """Three shards, of two runs of rows each where there are enough rows."""
    cuts = np.linspace(0, len(data), min(6, len(data)) + 1).astype(int).tolist()
    runs = [range(*ends) for ends in itertools.pairwise(cuts)]
    shards = []
    for own in (runs[::3], runs[1::3], runs[2::3]):
        if own:
            rows = np.concatenate([np.arange(run.start, run.stop) for run in own])
            weights = Weights(data.weights.units[rows], data.weights.one)
            some = Data(data.rows[rows], data.metric, weights)
            engine = engine_for_rows(some, partition, n_jobs, all_rows=False, backend=backend)
            shards.append(Shard(engine, own))
    return ShardedEngine(shards, "out of core")


def sharded_compiled(data, partition, n_jobs=1):
    return sharded(data, partition, n_jobs, "numba")


# Those of plain NumPy, with the plain one first, and those of compiled code.
_PLAIN = ("plain", "in chunks", "merged", "sharded")
ENGINES = {
    "plain": plain,
    "in chunks": in_chunks,
    "dense compiled": dense_compiled,
    "neighbour blocks": blocks,
    "neighbour blocks in threads": blocks_in_threads,
    "neighbour blocks one by one": blocks_one_by_one,
    "merged": merged,
    "merged and compiled": merged_compiled,
    "sharded": sharded,
    "sharded and compiled": sharded_compiled,
}
if not can_compile():
    ENGINES = {name: ENGINES[name] for name in _PLAIN}


def clustered(engine, parameters):
    """Return the result of a fit with an engine, as PSKC(psi, tau) has it."""
    checked = Parameters.checked({**PSKC().get_params(), **parameters})
    return grow_and_finish(engine, checked.tau, checked)


RESULTS = {
    "labels": "labels_",
    "similarities": "similarities_",
    "growth_steps": "growth_step_",
    "seeds": "seeds_",
    "n_steps": "n_iter_",
    "sizes": "cluster_sizes_",
    "objective": "objective_",
    "objective_before_refinement": "objective_before_refinement_",
    "n_reassigned": "n_reassigned_",
}


def assert_result_of(model, result):
    """All that PSKC tells of its fit is what was found with an engine."""
    for name, attribute in RESULTS.items():
        assert_array_equal(getattr(result, name), getattr(model, attribute), err_msg=name)


def assert_predicted(model, new):
    """Compiled loops over neighbour blocks find the same clusters of new rows."""
    kernel, result = model.kernel_, model.fitted_.result
    data = Data(new, kernel.metric_, uniform_weights(len(new)))
    threshold = 0.0 if model.noise == "nearest" else model.tau_
    labels = None
    if can_compile():
        labels = labels_by_blocks(
            data, kernel._partition, result.clusters, threshold, model.n_jobs, backend="numba"
        )
    if labels is not None:
        assert_array_equal(labels, model.predict(new))
    cells = kernel._partition.cells(data.points(), compiled.kernels)
    scores = result.clusters.scores(cells, compiled.kernels)
    assert_array_equal(result.clusters.similarities(scores), model.similarity(new))
