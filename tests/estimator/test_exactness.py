"""The exactness contract: labels are those of the pseudocode, whatever the work is cut into."""

from __future__ import annotations

from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from pskclust import PSKC, IsolationKernel
from pskclust._utils import parallel as _parallel
from tests.helpers.cases import cases, naive_cells, naive_cells_of, naive_pskc, naive_pskc_of, rows
from tests.helpers.compiled import marked
from tests.helpers.engines import ENGINES, assert_predicted, assert_result_of, clustered
from tests.helpers.fits import fitted

# Together more than two thousand data sets for labels.
N_DATA_SETS = 1600
N_WEIGHTED_DATA_SETS = 500


def found_by(way, case):
    engine = ENGINES[way](case.data, case.partition, case.parameters["n_jobs"])
    assert engine.backend == ("numpy" if way in ("plain", "merged") else "numba")
    return clustered(engine, case.parameters)


WAYS = marked("plain", "neighbour blocks", "merged", "merged and compiled")


@pytest.mark.parametrize("way", WAYS)
@settings(max_examples=N_DATA_SETS // 4)
@given(data=st.data())
def test_labels_are_those_of_the_pseudocode(way, data):
    case = data.draw(cases())
    found = found_by(way, case)
    expected = naive_pskc_of(naive_cells_of(case.partition, case.X), case.parameters)
    assert_array_equal(found.labels, expected.labels)
    assert_array_equal(found.seeds, expected.seeds)
    assert_array_equal(found.n_steps, expected.n_steps)
    assert_array_equal(found.growth_steps, expected.growth_steps)
    assert found.objective_before_refinement == expected.objective_before
    assert found.objective == expected.objective


@pytest.mark.parametrize("way", WAYS[:2])
@settings(max_examples=N_WEIGHTED_DATA_SETS // 2)
@given(data=st.data())
def test_a_row_of_weight_w_is_labelled_as_w_copies(way, data):
    case = data.draw(cases(weighted=True))
    found = found_by(way, case)
    expected = naive_pskc_of(naive_cells_of(case.partition, case.repeated), case.parameters)
    assert_array_equal(np.repeat(found.labels, case.weights), expected.labels)
    assert found.objective == expected.objective


@pytest.mark.parametrize("way", ENGINES)
@settings(max_examples=60)
@given(data=st.data())
def test_a_fit_is_the_same_with_every_engine(way, data):
    case = data.draw(cases())
    model = fitted(case)
    engine = ENGINES[way](case.data, case.partition)
    assert_result_of(model, clustered(engine, case.parameters))
    assert_predicted(model, case.X)


@settings(max_examples=200)
@given(cases(weighted=True))
def test_weights_draw_the_centres_that_repeated_rows_draw(case):
    weighted = fitted(case)
    repeated = PSKC(**case.parameters).fit(case.repeated)
    assert_array_equal(np.repeat(weighted.labels_, case.weights), repeated.labels_)
    assert weighted.objective_ == repeated.objective_
    assert_array_equal(weighted.similarity(case.X), repeated.similarity(case.X))


@settings(max_examples=300)
@given(cases(methods=["voronoi"]))
def test_the_literal_line_12_gives_the_same_labels_unless_a_member_falls_out(case):
    """Algorithm 1 recomputes the whole cluster each step; we only ever add to it."""
    model = fitted(case)
    literal = naive_pskc(model, case.X, literal=True)
    if not literal.fell_out:
        assert_array_equal(model.labels_, literal.labels)


@pytest.mark.parametrize("seed", range(3))
def test_at_ordinary_settings_no_member_falls_out(seed, scattered):
    model = PSKC(psi=16, tau=0.05, random_state=seed).fit(scattered[::4])
    literal = naive_pskc(model, scattered[::4], literal=True)
    assert not literal.fell_out
    assert_array_equal(model.labels_, literal.labels)


@settings(max_examples=200)
@given(cases(), st.integers(1, 40))
def test_labels_do_not_depend_on_threads_or_chunks(case, chunk_entries):
    plain = fitted(case, n_jobs=1)
    with (
        mock.patch.object(_parallel, "_CHUNK_ENTRIES", chunk_entries),
        mock.patch.object(_parallel, "_MIN_CHUNK_ROWS", 1),
        mock.patch.object(_parallel, "_MIN_CHUNKS_PER_THREAD", 1),
    ):
        cut_up = fitted(case, n_jobs=2)
        assert_array_equal(cut_up.labels_, plain.labels_)
        assert_array_equal(cut_up.similarities_, plain.similarities_)
        assert_array_equal(cut_up.similarity(case.X), plain.similarity(case.X))
    assert cut_up.objective_ == plain.objective_


@settings(max_examples=200)
@given(cases())
def test_float32_gives_the_labels_of_the_same_values_in_float64(case):
    narrow = case.X.astype(np.float32)
    from_narrow = PSKC(**case.parameters).fit(narrow)
    from_wide = PSKC(**case.parameters).fit(narrow.astype(np.float64))
    assert_array_equal(from_narrow.labels_, from_wide.labels_)
    assert_array_equal(from_narrow.predict(narrow), from_wide.predict(narrow.astype(np.float64)))


@pytest.mark.parametrize("method", ["voronoi", "hypersphere", "tree"])
@settings(max_examples=150)
@given(data=st.data())
def test_cells_are_those_of_plain_loops(method, data):
    X, new = data.draw(rows()), data.draw(rows())
    new = np.resize(new, (len(new), X.shape[1]))
    psi = data.draw(st.integers(2, len(X)))
    kernel = IsolationKernel(psi=psi, n_partitions=5, method=method, random_state=0).fit(X)
    for some in (X, new):
        expected = naive_cells(kernel, some)
        expected = [[psi if cell is None else cell for cell in row] for row in expected]
        assert_array_equal(kernel.cells(some), expected)


def test_near_ties_go_to_the_centre_whose_sum_is_smaller():
    """Centres that differ in the last bit of a coordinate, and points half-way between."""
    base = np.array([1.0, np.nextafter(1.0, 2), np.nextafter(1.0, 0), 3.0, np.nextafter(3.0, 4)])
    X = np.vstack(
        [np.column_stack([base, base[::-1]]), np.column_stack([base[::-1], base]) + 1e-16]
    )
    middles = (X[:, np.newaxis] + X).reshape(-1, 2) / 2
    kernel = IsolationKernel(psi=6, n_partitions=50, random_state=0).fit(X)
    assert_array_equal(kernel.cells(middles), naive_cells(kernel, middles))
