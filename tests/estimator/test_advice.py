"""Advice for the next fit: the rules that reports and the explorer share."""

from __future__ import annotations

import numpy as np
import pytest

from pskclust import PSKC
from pskclust._advice import Outcome, hints, rules


def outcome(sizes, n_noise=0.0, **figures):
    figures = {"n_rows": int(sum(sizes) + n_noise), "psi": 16, "tau": 0.1} | figures
    return Outcome(sizes=np.array(sizes, dtype=float), n_noise=n_noise, **figures)


def test_clusters_that_grew_are_split_by_psi_and_joined_by_tau():
    split, join = rules(outcome([50, 50]))
    assert (split.change, join.change) == ({"psi": 32}, {"tau": 0.05})


def test_psi_is_not_raised_beyond_the_rows_unless_drawn_with_replacement():
    assert rules(outcome([10, 10]))[0].change == {"psi": 20}
    assert rules(outcome([10, 10], replace=True))[0].change == {"psi": 32}


def test_linked_clusters_are_changed_by_their_number():
    split, join = rules(outcome([50, 50], n_parts=8))
    assert (split.change, join.change) == ({"n_clusters": 3}, {"n_clusters": 1})
    # More clusters than parts are not possible.
    (join,) = rules(outcome([50, 50], n_parts=2))
    assert join.change == {"n_clusters": 1}
    (split,) = rules(outcome([100], n_parts=1))
    assert split.change == {"n_clusters": 2}
    assert rules(outcome([100], n_parts=1, are_alike=True)) == []


@pytest.mark.parametrize(
    ("found", "words", "change"),
    [
        (outcome([], 20), "No cluster was found", {"tau": 0.05}),
        (
            outcome([], 20, min_cluster_size=2500),
            "No cluster of 2,500 rows or more was found. Use a smaller min_cluster_size, or none.",
            {"min_cluster_size": None},
        ),
        (outcome([100]), "only one cluster", {"psi": 32}),
        (outcome([100], n_parts=5), "only one cluster", {"n_clusters": 2}),
        (outcome([100], n_parts=5, second_choice=3), "only one cluster", {"n_clusters": 3}),
        (outcome([100], n_parts=1), "only one cluster", {"n_clusters": 2}),
        (outcome([100], n_parts=1, are_alike=True), "too alike to divide them", None),
        (outcome([45, 40], 15), "15% of the rows are noise", {"tau": 0.05}),
        (outcome([45, 40], 15, n_parts=8), "15% of the rows are noise", {"noise": "nearest"}),
        (outcome([150, 150, 8]), "1 cluster has fewer than 15", {"min_cluster_size": 15}),
        (outcome([50, 49]), "There are only 99 rows.", None),
        (outcome([35] * 3 + [1, 2]), "2 clusters have fewer than 3", {"min_cluster_size": 3}),
    ],
)
def test_a_hint_names_the_change(found, words, change):
    (hint,) = hints(found)
    assert words in hint.text
    assert hint.change == change


@pytest.mark.parametrize(
    "found",
    [
        outcome([50, 50]),
        outcome([50, 50], 5),
        outcome([50, 49], unit="pixels"),
        outcome([10] * 500),
        outcome([150, 150, 8], min_cluster_size=15),
    ],
)
def test_nothing_is_said_where_no_hint_applies(found):
    assert hints(found) == []


def test_the_figures_are_those_of_the_fit(blobs):
    model = PSKC(psi=16, tau=0.1, random_state=0).fit(blobs)
    found = Outcome.of(model)
    assert found.sizes.tolist() == model.cluster_sizes_.tolist()
    assert found.n_noise == np.count_nonzero(model.labels_ < 0)
    assert found.n_parts is None
    assert Outcome.of(PSKC(random_state=0).fit(blobs)).n_parts is not None
