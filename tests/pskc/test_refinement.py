"""What is done to grown clusters."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from numpy.testing import assert_array_equal

from pskclust import PSKC
from pskclust._cells.methods import draw_partition
from pskclust._data.rows import Data
from pskclust._data.weights import uniform_weights
from pskclust._engines.dense import DenseEngine
from pskclust._kernels import reference as numpy_kernels
from pskclust._pskc import refinement as _refinement
from pskclust._pskc.growth import grow
from pskclust._pskc.refinement import (
    MAX_PASSES,
    _move_weakest,
    adopt_noise,
    dissolve_small,
    refine,
)
from tests.helpers.cases import cases


@pytest.fixture(params=[None, 7])
def grown(request, scattered):
    """An engine with grown clusters, fragments and noise among them."""
    data = Data(scattered, "euclidean", uniform_weights(len(scattered)))
    partition = draw_partition(data, "voronoi", 100, 32, False, np.random.RandomState(0))
    engine = DenseEngine(data, partition, chunk_rows=request.param)
    return engine, grow(engine, tau=0.05, growth_rate=0.1)


def labels_of(engine, clusters):
    return engine.row_results(clusters).labels


def assert_tables_match(engine, clusters):
    """The tables say what the labels say."""
    counted = engine.tables(len(clusters))
    assert_array_equal(clusters.counts.toarray(), counted.counts.toarray())
    assert_array_equal(clusters.masses, counted.masses)


@settings(max_examples=300)
@given(cases(weighted=True))
def test_refinement_never_lowers_the_objective(case):
    model = PSKC(**{**case.parameters, "refine": True}).fit(case.X, sample_weight=case.weights)
    assert model.objective_ >= model.objective_before_refinement_
    assert (model.objective_ > model.objective_before_refinement_) == (model.n_reassigned_ > 0)


def test_each_pass_raises_the_objective(grown):
    engine, growth = grown
    before = labels_of(engine, growth.clusters)
    values = []
    for n_passes in range(MAX_PASSES + 1):
        engine._labels = before.copy()
        values.append(refine(engine, growth.clusters, max_passes=n_passes).objective)
    assert values == sorted(values)
    assert values[0] < values[1]


def test_tables_follow_the_rows(grown):
    engine, growth = grown
    growth = dissolve_small(engine, growth, 20, 0.05)
    assert_tables_match(engine, growth.clusters)
    assert_tables_match(engine, refine(engine, growth.clusters).clusters)


def test_only_the_weakest_members_move(grown):
    """Whoever moved was less similar to its cluster than all who stayed."""
    engine, growth = grown
    before = engine.row_results(growth.clusters)
    labels, similarities = before.labels.copy(), before.similarities.copy()
    refine(engine, growth.clusters, max_passes=1)
    moved = labels != engine._labels
    assert moved.any()
    for cluster in np.unique(labels[moved]):
        members = labels == cluster
        weakest_staying = similarities[members & ~moved].min()
        assert similarities[members & moved].max() < weakest_staying


def test_noise_stays_noise_in_refinement(grown):
    engine, growth = grown
    noise = labels_of(engine, growth.clusters) < 0
    refine(engine, growth.clusters)
    assert_array_equal(engine._labels < 0, noise)


def test_no_cluster_shrinks_below_the_smallest_allowed(grown):
    engine, growth = grown
    smallest = int(growth.clusters.masses.min())
    free = refine(engine, growth.clusters).clusters.masses
    assert free.min() < smallest or (free < growth.clusters.masses).any()
    for min_mass in (1, smallest, 50):
        engine, growth = grown
        refined = refine(engine, growth.clusters, min_mass).clusters
        shrunk = refined.masses < growth.clusters.masses
        assert (refined.masses[shrunk] >= min_mass).all()


class Proposal:
    """A rule that proposes the labels it was given, whatever the rows."""

    offsets = None

    def __init__(self, labels):
        self.labels = np.array(labels)

    def __call__(self, labels, similarities):
        return self.labels


def two_clusters():
    """Rows 0 and 1 in one cluster, rows 2, 3 and 4 in another."""
    X = np.arange(5.0)[:, np.newaxis]
    data = Data(X, "euclidean", uniform_weights(5))
    partition = draw_partition(data, "voronoi", 10, 2, False, np.random.RandomState(0))
    engine = DenseEngine(data, partition)
    engine.set_labels(np.arange(5), np.array([0, 0, 1, 1, 1]))
    return engine, engine.tables(2)


@pytest.mark.parametrize(
    ("proposed", "min_mass", "expected"),
    [
        ([1, 1, 1, 1, 1], 1, [0, 0, 1, 1, 1]),  # the first cluster would be empty
        ([0, 0, 0, 1, 1], 3, [0, 0, 1, 1, 1]),  # the second one would be too small
        ([0, 0, 0, 1, 1], 2, [0, 0, 0, 1, 1]),
        ([1, 1, 0, 0, 1], 2, [1, 1, 0, 0, 1]),  # who comes makes up for who goes
        ([1, 1, 0, 1, 1], 2, [0, 0, 0, 1, 1]),  # the first is held back, the second is not
    ],
)
def test_a_cluster_that_would_get_too_small_keeps_its_rows(proposed, min_mass, expected):
    engine, clusters = two_clusters()
    engine.propose(Proposal(proposed), clusters, np.array([True, True, False]))
    after = _move_weakest(engine, clusters, np.full(3, np.inf), min_mass)
    assert_array_equal(engine._labels, expected)
    assert (after is None) == (expected == [0, 0, 1, 1, 1])
    if after is not None:
        assert_tables_match(engine, after)


def test_a_pass_without_gain_is_undone(grown, monkeypatch):
    engine, growth = grown
    before = labels_of(engine, growth.clusters)
    monkeypatch.setattr(_refinement, "_objective", lambda *arguments: 1.0)
    refinement = refine(engine, growth.clusters)
    assert refinement.n_reassigned == 0
    assert refinement.clusters is growth.clusters
    assert_array_equal(engine._labels, before)


def test_many_clusters_are_scored_without_writing_their_tables_out(grown, monkeypatch):
    engine, growth = grown
    rows = np.arange(50)
    expected = engine._cluster_scores(rows, growth.clusters)
    monkeypatch.setattr(numpy_kernels, "_LARGEST_DENSE_BYTES", 0)
    sparse_clusters = growth.clusters.only(np.ones(len(growth.clusters), dtype=bool))
    assert_array_equal(engine._cluster_scores(rows, sparse_clusters), expected)


def test_dissolving_keeps_the_order_of_the_others(grown):
    engine, growth = grown
    kept = growth.clusters.masses >= 20
    before = labels_of(engine, growth.clusters)
    after = dissolve_small(engine, growth, 20, 0.05)
    assert 0 < len(after.clusters) < len(growth.clusters)
    assert_array_equal(after.seeds, growth.seeds[kept])
    for new, old in enumerate(np.flatnonzero(kept)):
        assert (engine._labels[before == old] == new).all()


def test_undo_gives_the_labels_back(grown):
    engine, growth = grown
    before = labels_of(engine, growth.clusters)
    adopt_noise(engine, growth.clusters)
    assert (engine._labels != before).any()
    engine.undo_move()
    assert_array_equal(engine._labels, before)
