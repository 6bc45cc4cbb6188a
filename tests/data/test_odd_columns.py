"""Tables with a row number, or with a column that outweighs all others, give a warning."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn import datasets
from sklearn.datasets import make_blobs

from pskclust import PSKC, ColumnsWarning


@pytest.fixture
def table():
    X, _ = make_blobs(100, centers=3, random_state=0)
    return pd.DataFrame(X, columns=["east", "north"])


def found(table, **parameters):
    """Return the warnings of a fit."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        PSKC(psi=8, tau=0.1, random_state=0, **parameters).fit(table)
    assert all(each.category is ColumnsWarning for each in caught)
    return [str(each.message) for each in caught]


@pytest.mark.parametrize("start", [0, 1, 1000])
def test_a_row_number_is_named(table, start):
    table.insert(1, "id", range(start, start + len(table)))
    (message,) = found(table)
    assert message.startswith("Column 'id' has a different whole number in every row")
    assert message.endswith("X.drop(columns=['id']).")


@pytest.mark.parametrize(
    "order",
    [
        lambda n: np.random.RandomState(0).permutation(n),
        lambda n: np.delete(np.arange(n + 40), np.arange(40) * 3),
        lambda n: np.arange(n)[::-1],
    ],
    ids=["shuffled", "with gaps", "descending"],
)
def test_a_row_number_is_named_in_any_order(table, order):
    (message,) = found(table.assign(id=order(len(table))))
    assert message.startswith("Column 'id' has")


def test_a_column_that_outweighs_all_others_is_named(table):
    table["north"] *= 1e5
    (message,) = found(table)
    assert message.startswith("Column 'north' varies ")
    assert "StandardScaler" in message


def test_the_warning_points_to_the_line_that_fits(table):
    with pytest.warns(ColumnsWarning) as caught:
        PSKC(psi=8, tau=0.1, random_state=0).fit(table.reset_index())
    assert caught[0].filename == __file__


@pytest.mark.parametrize(
    "change",
    [
        lambda table: table.assign(constant=1.0),
        lambda table: table.assign(north=100 * table["north"]),
        lambda table: table.assign(count=np.random.RandomState(0).randint(0, 150, len(table))),
        lambda table: table.assign(half=np.arange(len(table)) + np.arange(len(table)) % 2 / 2),
        lambda table: table.assign(code=np.arange(len(table)) * 7),
        lambda table: table.assign(year=np.arange(len(table)) // 5),
        lambda table: table[["east"]].assign(east=range(len(table))),
        lambda table: table.reset_index().to_numpy(),
        lambda table: table.reset_index().iloc[:10],
    ],
    ids=["constant", "wide", "count", "half", "code", "repeated", "alone", "an array", "few rows"],
)
def test_there_is_no_warning_of(table, change):
    assert found(change(table)) == []


def test_directions_may_have_any_length(table):
    table["north"] *= 1e5
    assert found(table, metric="cosine") == []


@pytest.mark.parametrize(
    "name", ["iris", "wine", "breast_cancer", "digits", "diabetes", "linnerud"]
)
def test_tables_of_scikit_learn_give_no_warning(name):
    scaled = {"scaled": False} if name == "diabetes" else {}
    assert found(getattr(datasets, f"load_{name}")(as_frame=True, **scaled).data) == []
