"""Ratings, counts and flags that split clusters give a warning."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn import datasets
from sklearn.datasets import make_blobs
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from pskclust import PSKC, ColumnsWarning, RowBlocks
from pskclust._data.few_values import (
    FewRows,
    FewValues,
    find_few_values,
    hints_on_few_values,
)

BLOBS, CLASSES = make_blobs(600, centers=[[0, 0], [10, 0], [5, 9]], random_state=0)
RANDOM = np.random.RandomState(0)
RATING, FLAG = RANDOM.randint(1, 6, 600), RANDOM.randint(0, 2, 600)


def scaled(*columns):
    return StandardScaler().fit_transform(np.column_stack([BLOBS, *columns]))


def found(X, **parameters):
    """Return the warnings of a fit."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        PSKC(random_state=0, **parameters).fit(X)
    assert all(each.category is ColumnsWarning for each in caught)
    return [str(each.message) for each in caught]


def columns_found(X):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ColumnsWarning)
        model = PSKC(random_state=0).fit(X)
    assert model.fitted_.few_values == find_few_values(X, model.labels_)
    return [each.column for each in model.fitted_.few_values]


def test_a_rating_that_splits_clusters_is_named():
    (message,) = found(scaled(RATING))
    assert message.startswith("Column 2 has 5 distinct values and splits the clusters: ")
    assert "np.delete(X, 2, axis=1)" in message
    assert 'If X comes from a pipeline, set_output(transform="pandas")' in message


def test_a_flag_of_a_table_is_named():
    table = pd.DataFrame(scaled(FLAG), columns=["x", "y", "member"])
    (message,) = found(table)
    assert message.startswith("Column 'member' has 2 distinct values")
    assert "X.drop(columns=['member'])" in message
    assert message.endswith("less weight.")


def test_the_remedies_in_the_warning_help():
    for better in (scaled(), scaled(RATING) / [1, 1, 10]):
        model = PSKC(random_state=0).fit(better)
        assert model.n_clusters_ == 3
        assert found(better) == []


def test_grown_clusters_are_examined_as_well():
    (message,) = found(scaled(RATING), psi=64, tau=0.02)
    assert message.startswith("Column 2 has 5 distinct values")


def test_a_file_is_examined_by_its_sample(tmp_path):
    path = tmp_path / "t.csv"
    pd.DataFrame(scaled(FLAG), columns=["x", "y", "member"]).to_csv(path, index=False)
    (message,) = found(str(path))
    assert "pskclust.tables.stream_table(path, drop=['member'])" in message
    X = scaled(FLAG)
    (message,) = found(RowBlocks(600, 3, lambda: [X[:100], X[100:]]))
    assert "leave it out, or" in message


@pytest.mark.parametrize(
    ("columns", "expected"),
    [
        ((RATING, FLAG), [2, 3]),
        ((np.eye(3)[RATING % 3],), [2, 3, 4]),  # categories in columns of 0 and 1
        ((np.eye(3)[RATING % 3][:, 1:],), [2, 3]),
        ((CLASSES + RANDOM.randint(0, 3, 600),), [2]),
        ((RANDOM.uniform(size=600) < 0.03,), [2]),  # a rare flag
        ((CLASSES,), []),  # blobs differ in all columns
        ((np.where(RANDOM.uniform(size=600) < 0.05, RATING % 3, CLASSES),), []),
        ((RATING / 10,), [2]),  # scaling to equal spreads undoes the division
        ((RANDOM.randint(0, 40, 600),), []),  # more than 31 values
    ],
)
def test_a_column_is_found_unless_the_others_tell_its_values(columns, expected):
    assert columns_found(scaled(*columns)) == expected


def test_answers_that_go_together_are_not_found():
    group = RANDOM.randint(0, 3, 600)
    flags = np.array([[1, 0, 1, 0, 1], [0, 1, 1, 0, 0], [0, 0, 0, 1, 1]])[group]
    flags = flags ^ (RANDOM.uniform(size=(600, 5)) < 0.03)
    age = RANDOM.normal(size=600)
    rows = np.column_stack([flags, age])
    assert find_few_values(rows, group) == ()


@pytest.mark.parametrize(
    ("rows", "n_distinct"),
    [
        (RANDOM.randint(1, 6, (1500, 1)), 5),
        (np.column_stack([RANDOM.randint(1, 6, 1500), RANDOM.randint(0, 2, 1500)]), 10),
        (RANDOM.randint(1, 6, (1500, 2)), 25),
    ],
)
def test_few_distinct_rows_of_ratings_counts_or_flags_are_named(rows, n_distinct):
    (message,) = found(rows)
    assert message.startswith(f"Only {n_distinct} of the 1,500 rows examined are distinct, so ")
    assert message.endswith("count the distinct rows instead, or cluster columns of measurements.")
    assert found(StandardScaler().fit_transform(rows)) == [message]


def test_few_distinct_rows_give_a_hint_without_an_option():
    (hint,) = hints_on_few_values((FewRows(5, 1500),), ["rating"])
    words = "Only 5 of the 1,500 rows examined are distinct, so clusters may only repeat values."
    assert hint.with_remedy("fit without this column.") == hint.fact == words
    assert not hint.option


def test_hours_beside_a_measurement_are_named():
    (message,) = found(np.column_stack([np.arange(1500) % 24, RANDOM.normal(size=1500)]))
    assert message.startswith("Column 0 has 24 distinct values and splits the clusters")


def test_few_distinct_rows_of_measurements_are_not_named():
    rows = RANDOM.normal(size=(60, 2))
    assert find_few_values(np.repeat(rows, 25, axis=0), np.arange(1500) // 500) == ()


def test_all_columns_of_few_values_are_not_named_if_most_rows_are_distinct():
    rows = RANDOM.randint(0, 2, (600, 3))
    assert find_few_values(rows, rows @ [4, 2, 1]) == (FewRows(8, 600),)
    rows = RANDOM.randint(0, 31, (600, 3))
    assert find_few_values(rows, rows[:, 0]) == (FewValues(0, 31),)
    assert find_few_values(rows[:, :1], rows[:, 0]) == (FewRows(31, 600),)
    assert find_few_values(rows[:300, :1], rows[:300, 0]) == ()


def test_of_many_flags_those_that_vary_most_are_examined():
    flags = RANDOM.randint(0, 2, (600, 300))
    rows = np.column_stack([flags, scaled(), 30 * FLAG])
    assert find_few_values(rows, FLAG + 2 * CLASSES) == (FewValues(302, 2),)
    assert find_few_values(flags == 1, CLASSES) == ()


def test_few_rows_noise_and_single_clusters_are_left_out():
    rows, labels = scaled(FLAG), FLAG + 2 * CLASSES
    assert find_few_values(rows, labels) == (FewValues(2, 2),)
    assert find_few_values(rows, np.where(np.arange(600) < 40, labels, -1)) == ()
    assert find_few_values(rows, np.full(600, -1)) == ()
    assert find_few_values(rows, np.zeros(600, dtype=int)) == ()
    assert find_few_values(rows * 1e300, labels) == (FewValues(2, 2),)


@pytest.mark.parametrize("scale", [None, StandardScaler, MinMaxScaler])
@pytest.mark.parametrize("name", ["iris", "wine", "breast_cancer", "digits"])
def test_tables_of_scikit_learn_raise_no_alarm(name, scale):
    rows = getattr(datasets, f"load_{name}")().data
    assert columns_found(rows if scale is None else scale().fit_transform(rows)) == []


@pytest.mark.parametrize("seed", range(3))
def test_blobs_raise_no_alarm(seed):
    assert found(make_blobs(400, centers=4, random_state=seed)[0]) == []


def test_directions_are_not_examined():
    assert found(scaled(FLAG) + 10, metric="cosine") == []
