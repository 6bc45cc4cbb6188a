"""Rows that are read block by block, and fits of them."""

from __future__ import annotations

import contextlib
from unittest import mock

import numpy as np
from numpy.testing import assert_array_equal

from pskclust import RowBlocks
from pskclust._engines import out_of_core
from tests.helpers.fits import FITTED


def in_blocks(X, cuts):
    """Return rows as blocks that are cut at some places, empty blocks included."""
    return RowBlocks(len(X), X.shape[1], lambda: np.split(X, sorted(cuts)))


@contextlib.contextmanager
def shards_of(n_rows):
    """Have shards of so many rows, however small."""
    with mock.patch.object(out_of_core, "rows_per_shard", return_value=n_rows):
        yield


def assert_same_but_for_the_engine(model, plain):
    assert model.engine_ == "out of core"
    for name in set(FITTED) - {"engine_", "backend_"}:
        assert_array_equal(getattr(model, name), getattr(plain, name), err_msg=name)
