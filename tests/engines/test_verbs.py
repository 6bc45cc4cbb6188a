"""Every engine answers every verb as plain loops over the rows do, and all answer alike."""

from __future__ import annotations

import inspect
import typing

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from pskclust._cells.methods import draw_partition
from pskclust._cells.partition import Partition
from pskclust._engines.protocol import VERBS, Engine, ResumableEngine, ShardableEngine
from pskclust._engines.sharded import Shard
from tests.helpers import cases
from tests.helpers.compiled import marked
from tests.helpers.engines import ENGINES, clustered, data_of, sharded

PROTOCOLS = (Engine, ResumableEngine, ShardableEngine)


def methods_of(protocol):
    return {
        name: method
        for name, method in vars(protocol).items()
        if inspect.isfunction(method) and not name.startswith("_")
    }


def test_the_table_names_exactly_the_verbs_of_the_protocols():
    declared = [name for protocol in PROTOCOLS for name in methods_of(protocol)]
    assert list(VERBS) == declared


def test_a_verb_answers_if_it_returns_something():
    for protocol in PROTOCOLS:
        for name, method in methods_of(protocol).items():
            returned = typing.get_type_hints(method)["return"]
            assert VERBS[name].answers == (returned is not type(None)), name


def test_a_verb_without_an_answer_changes_something():
    assert all(verb.changes for verb in VERBS.values() if not verb.answers)


@pytest.mark.parametrize("make", ENGINES.values(), ids=ENGINES)
def test_every_engine_has_every_verb(make, scattered):
    data = data_of(scattered)
    engine = make(data, voronoi(data))
    for name in methods_of(Engine):
        assert callable(getattr(engine, name)), name
    assert (engine.name, engine.backend) in {
        (name, backend) for name in ("local", "out of core") for backend in ("numpy", "numba")
    }


def test_a_shard_answers_verbs_only(scattered):
    data = data_of(scattered)
    shard = Shard(sharded(data, voronoi(data))._shards[0]._engine, [range(140)])
    with pytest.raises(ValueError, match="'_engine' is not a verb"):
        shard.answer("_engine")


def voronoi(data, n_partitions=6, psi=5, seed=0):
    rng = np.random.RandomState(seed)
    return draw_partition(data, "voronoi", n_partitions, psi, True, rng)


@st.composite
def labelled_rows(draw, weighted):
    """Rows with labels of 0 to 4 clusters, some of them empty, and where wanted with weights."""
    X = draw(cases.rows(max_rows=150))
    rng = np.random.RandomState(draw(st.integers(0, 2**16)))
    weights = None
    if weighted:
        weights = rng.randint(0, 4, len(X)) * draw(st.sampled_from([1, 0.5]))
        weights[rng.randint(len(X))] = 3
    n_clusters = draw(st.integers(0, 4))
    labels = rng.randint(-1, max(1, n_clusters), len(X)) if n_clusters else np.full(len(X), -1)
    if n_clusters == 4:
        labels[labels == 2] = -1
    if draw(st.booleans()):
        labels = np.sort(labels)
    data = data_of(X, weights)
    method = draw(st.sampled_from(cases.METHODS))
    partition = draw_partition(data, method, 6, 5, True, np.random.RandomState(len(X)))
    return data, partition, labels.astype(np.int64), n_clusters


def with_equal_labels_for_copies(data, labels):
    """Return labels in which copies of a row have that of its first copy."""
    _, first, numbers = np.unique(data.rows, axis=0, return_index=True, return_inverse=True)
    return labels[first][numbers.ravel()]


def naive_tables(data, partition, labels, n_clusters):
    counts = np.zeros((n_clusters, *partition.table_shape), dtype=np.int64)
    masses = np.zeros(n_clusters, dtype=np.int64)
    for cells, label, units in zip(
        Partition.cells(partition, data.points()), labels, data.weights.units, strict=True
    ):
        if label < 0:
            continue
        masses[label] += units
        for i, cell in enumerate(cells):
            if cell != partition.no_cell:
                counts[label, i, cell] += units
    return counts, masses


def naive_best_members(data, partition, labels, counts):
    best = [None] * len(counts)
    cells = Partition.cells(partition, data.points())
    for row, (label, units) in enumerate(zip(labels, data.weights.units, strict=True)):
        if label < 0 or not units:
            continue
        score = sum(int(counts[label, i, cell]) for i, cell in enumerate(cells[row]))
        if best[label] is None or score > best[label][1]:
            best[label] = (row, score, int(units))
    return best


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("name", ENGINES)
@settings(max_examples=25)
@given(data=st.data())
def test_clusters_are_counted_and_scored_as_by_loops_over_the_rows(name, weighted, data):
    rows, partition, labels, n_clusters = data.draw(labelled_rows(weighted))
    if "merged" in name:
        labels = with_equal_labels_for_copies(rows, labels)
    engine = ENGINES[name](rows, partition)
    engine.set_labels(np.arange(len(labels)), labels)
    clusters = engine.tables(n_clusters)
    counts, masses = naive_tables(rows, partition, labels, n_clusters)
    assert_array_equal(clusters.counts.toarray().reshape(counts.shape), counts)
    assert_array_equal(clusters.masses, masses)
    assert clusters.counts.dtype == clusters.masses.dtype == np.int64
    assert clusters.resolution == partition.n_partitions
    assert_array_equal(engine.weight_of_members(n_clusters), masses)
    assert_array_equal(
        engine.n_members(n_clusters), np.bincount(labels + 1, minlength=n_clusters + 1)[1:]
    )
    expected = naive_best_members(rows, partition, labels, counts)
    if "merged" in name and not weighted:
        # A row stands for all its copies, with their weight.
        copies = [np.count_nonzero((rows.rows == row).all(axis=1)) for row in rows.rows]
        expected = [best and (best[0], best[1], copies[best[0]]) for best in expected]
    assert engine.best_members(clusters) == expected


@pytest.mark.parametrize("name", ENGINES)
def test_some_rows_get_labels_and_the_others_keep_theirs(name, scattered):
    data = data_of(scattered)
    engine = ENGINES[name](data, voronoi(data))
    labels = np.arange(len(scattered)) % 3 - 1
    engine.set_labels(np.arange(len(labels)), labels)
    engine.remember_labels()
    some = np.array([0, 3, 70, 71, 300, 419])
    engine.set_labels(some, np.array([2, -1, 2, 0, 1, -1]))
    expected = labels.copy()
    expected[some] = [2, -1, 2, 0, 1, -1]
    assert_array_equal(labels_of(engine, 3), expected)
    assert engine.n_changed_labels() == np.count_nonzero(expected != labels)
    engine.set_labels(np.empty(0, dtype=np.intp), np.empty(0, dtype=np.int64))
    assert_array_equal(labels_of(engine, 3), expected)
    engine.recall_labels()
    assert_array_equal(labels_of(engine, 3), labels)
    engine.set_labels(some, np.zeros(6, dtype=np.int64))
    engine.recall_labels()
    assert_array_equal(labels_of(engine, 3), labels)
    assert not engine.n_changed_labels()


@pytest.mark.parametrize("name", marked("merged", "merged and compiled"))
def test_copies_of_a_row_get_its_label(name, scattered):
    X = np.repeat(scattered[:100], 3, axis=0)[np.random.RandomState(0).permutation(300)]
    data = data_of(X)
    engine = ENGINES[name](data, voronoi(data))
    engine.set_labels(np.array([5, 200]), np.array([1, 0]))
    labels = labels_of(engine, 2)
    assert_array_equal(labels == 1, (X[5] == X).all(axis=1))
    assert_array_equal(labels == 0, (X[200] == X).all(axis=1))
    assert_array_equal(engine.weight_of_members(2), [3, 3])


def labels_of(engine, n_clusters):
    return engine.row_results(engine.tables(n_clusters)).labels


@pytest.mark.parametrize("name", ENGINES)
def test_what_was_answered_does_not_change_later(name, scattered):
    data = data_of(scattered)
    engine = ENGINES[name](data, voronoi(data))
    everybody = np.arange(len(scattered))
    engine.set_labels(everybody, everybody % 2)
    results = engine.row_results(engine.tables(2))
    engine.set_labels(everybody, np.zeros(len(scattered), dtype=np.int64))
    assert_array_equal(results.labels, everybody % 2)


@pytest.mark.parametrize("name", ENGINES)
def test_rows_are_mapped_with_the_number_of_the_first(name, scattered):
    data = data_of(scattered)
    engine = ENGINES[name](data, voronoi(data))

    def numbered(values, first_row):
        return values + first_row + np.arange(len(values))

    assert_array_equal(
        engine.map_rows(numbered, np.zeros(len(scattered))), np.arange(len(scattered))
    )


@pytest.mark.parametrize("name", ENGINES)
def test_tables_are_those_that_growth_and_refinement_ended_with(name, scattered):
    data = data_of(scattered)
    engine = ENGINES[name](data, voronoi(data, 30, 24))
    result = clustered(engine, {"tau": 0.05, "min_cluster_size": 5})
    counted = engine.tables(len(result.clusters))
    assert_array_equal(counted.counts.toarray(), result.clusters.counts.toarray())
    assert_array_equal(counted.masses, result.clusters.masses)
