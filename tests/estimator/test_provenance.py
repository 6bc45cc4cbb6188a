"""The call that a fit prints gives the same labels, and given is told apart from chosen."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pskclust import PSKC, load
from pskclust._provenance import (
    choice_words,
    chosen_values,
    given_parameters,
    is_linked,
    is_refined,
    is_repeatable,
    python_call,
)

PARAMETERS = [
    {},
    {"psi": 32},
    {"n_clusters": 4},
    {"psi": 16, "tau": 0.05},
    {"psi": 16, "tau": 0.05, "n_clusters": 3},
    {"tau": 0.05},
    {"psi": np.int64(16), "tau": np.float64(0.05), "method": "hypersphere", "refine": False},
    {"metric": "cosine", "noise": "nearest", "psi": 8, "tau": 0.2, "min_cluster_size": 5},
]


@pytest.mark.parametrize("parameters", PARAMETERS, ids=str)
def test_the_call_gives_the_same_labels(parameters, blobs, tmp_path):
    model = PSKC(**parameters, random_state=np.int64(3), n_jobs=1).fit(blobs + 20)
    again = eval(python_call(model), {"PSKC": PSKC}).fit(blobs + 20)
    assert_array_equal(again.labels_, model.labels_)
    assert is_repeatable(model)
    model.save(tmp_path / "model.npz")
    assert python_call(load(tmp_path / "model.npz")) == python_call(model)


def test_a_call_names_only_parameters_that_were_given_and_affect_labels(blobs, tmp_path):
    model = PSKC(
        random_state=0, n_jobs=1, callback=lambda progress: None, scratch_dir=tmp_path
    ).fit(blobs)
    assert python_call(model) == "PSKC(random_state=0)"
    assert python_call(PSKC(psi=8, tau=0.1, random_state=0)) == (
        "PSKC(psi=8, tau=0.1, random_state=0)"
    )


@pytest.mark.parametrize("random_state", [None, np.random.RandomState(0)])
def test_without_a_seed_no_call_is_said_to_repeat_the_fit(random_state, blobs):
    model = PSKC(random_state=random_state).fit(blobs)
    assert not is_repeatable(model)
    assert python_call(model) == "PSKC()"


def test_chosen_values_are_those_that_were_left_open(blobs):
    model = PSKC(random_state=0).fit(blobs)
    assert given_parameters(model) == {"random_state": 0}
    assert chosen_values(model) == {"n_clusters": model.n_clusters_}
    words = choice_words(model)
    assert model.auto_.reason in words

    model = PSKC(psi=16, n_clusters=2, random_state=0).fit(blobs)
    assert chosen_values(model) == {}
    model = PSKC(psi=16, tau=0.1, random_state=0).fit(blobs)
    assert chosen_values(model) == {}
    assert choice_words(model) is None
    model = PSKC(tau=0.1, random_state=0).fit(blobs)
    assert set(chosen_values(model)) == {"psi"}
    assert "the default" in choice_words(model)


@pytest.mark.parametrize(
    ("parameters", "linked", "refined"),
    [
        ({}, True, False),
        ({"refine": True}, True, True),
        ({"psi": 16, "tau": 0.1}, False, True),
        ({"psi": 16, "tau": 0.1, "refine": False}, False, False),
        ({"psi": 16, "tau": 0.1, "n_clusters": 2}, True, False),
    ],
)
def test_refinement_is_told_only_where_it_took_place(parameters, linked, refined, blobs):
    model = PSKC(**parameters, random_state=0).fit(blobs)
    assert (is_linked(model), is_refined(model)) == (linked, refined)
    if not refined:
        assert model.objective_ == model.objective_before_refinement_
        assert model.n_reassigned_ == 0
