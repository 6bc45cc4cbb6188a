"""Ranges of columns, found for several rows at a time, against plain NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pskclust._data.distance_metrics import column_ranges


@pytest.mark.parametrize("n_columns", [1, 2, 3, 2048, 3000])
@pytest.mark.parametrize("n_rows", [1, 2, 1023, 1024, 4097])
def test_ranges_are_those_of_plain_numpy(n_rows, n_columns):
    rows = np.random.RandomState(n_rows).randn(n_rows, n_columns).astype(np.float32)
    for same in (rows, np.asfortranarray(rows)):
        low, high = column_ranges(same)
        assert_array_equal(low, rows.min(axis=0))
        assert_array_equal(high, rows.max(axis=0))
