"""Equal rows are found, and merged only where that pays."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pskclust import PSKC
from pskclust._data import duplicates as _equal_rows
from pskclust._data.duplicates import find_equal_rows
from pskclust._data.rows import Data
from pskclust._data.weights import check_weights, uniform_weights
from pskclust._engines.select import isolation_engine
from tests.helpers.engines import assert_result_of, clustered


def data_of(X, weights=None):
    return Data(X, "euclidean", weights or uniform_weights(len(X)))


@pytest.fixture
def copies():
    """12,000 rows, of which 500 are different."""
    rng = np.random.RandomState(0)
    different = rng.randn(500, 3)
    return different[rng.randint(0, 500, 12_000)]


def test_groups_are_numbered_by_their_first_rows(copies):
    equal = find_equal_rows(data_of(copies))
    assert_array_equal(copies[equal.first_copies][equal.numbers], copies)
    assert_array_equal(equal.first_copies, np.sort(equal.first_copies))
    assert len(equal.first_copies) == len(np.unique(copies, axis=0))
    for number, first in enumerate(equal.first_copies[:20]):
        rows = np.flatnonzero((copies == copies[first]).all(axis=1))
        assert (rows[0], rows[1]) == (first, equal.second_copy(number))
        assert equal.n_copies[number] == len(rows)


def test_the_two_zeros_are_equal(copies):
    copies[:, 0] = 0.0
    signed = copies.copy()
    signed[::2, 0] = -0.0
    assert_array_equal(
        find_equal_rows(data_of(signed)).numbers, find_equal_rows(data_of(copies)).numbers
    )


def test_rows_that_are_mostly_different_stay_as_they_are():
    assert find_equal_rows(data_of(np.random.RandomState(0).randn(12_000, 2))) is None


def test_rows_with_weights_stay_as_they_are(copies):
    assert find_equal_rows(data_of(copies, check_weights(np.ones(12_000), 12_000, 100))) is None


def test_few_rows_stay_as_they_are(copies):
    assert find_equal_rows(data_of(copies[:9_000])) is None


def test_different_rows_of_one_hash_stay_as_they_are(copies, monkeypatch):
    monkeypatch.setattr(_equal_rows, "_hashes", lambda rows: np.zeros(len(rows), np.uint64))
    assert find_equal_rows(data_of(copies)) is None


@pytest.mark.numba
def test_a_fit_merges_by_itself_and_gives_the_same_labels(copies):
    merged = PSKC(psi=16, tau=0.05, random_state=0).fit(copies)
    plain = isolation_engine(data_of(copies), merged.kernel_._partition, None, merge=False)
    assert (merged.backend_, plain.backend) == ("numpy", "numba")
    assert_result_of(merged, clustered(plain, merged.get_params()))
