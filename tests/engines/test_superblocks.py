"""Bounds on the scores of superblocks, against the scores of all their rows."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pskclust import PSKC
from pskclust._cells.count_tables import CountTable
from pskclust._cells.neighbour_blocks import block_rows, holders_of_cells
from pskclust._data.rows import Data
from pskclust._data.weights import uniform_weights
from pskclust._engines.superblocks import bounds_of_few
from pskclust._kernels.neighbour_blocks import BLOCK

pytestmark = pytest.mark.numba


@pytest.mark.parametrize("n_columns", [2, 5])
def test_bounds_of_a_row_are_the_cells_that_superblocks_share_with_it(n_columns):
    X = np.random.RandomState(n_columns).randn(3000, n_columns)
    partition = PSKC(psi=20, tau=0.05, n_partitions=9, random_state=0).fit(X).kernel_._partition
    data = Data(X, "euclidean", uniform_weights(len(X)))
    blocked = block_rows(data, partition, n_jobs=1, blocks_per_superblock=4)
    cells = blocked.cells(np.arange(len(X)))
    superblock_of_row = np.arange(len(X)) // (4 * BLOCK)
    holders = holders_of_cells(blocked, partition.psi)
    for row in (0, 1500, 2999):
        counts = np.zeros(partition.table_shape, dtype=np.int64)
        counts[np.arange(9), cells[row]] = 3
        unknown, found = bounds_of_few(CountTable(counts, 3), holders, 47, blocked.n_superblocks)
        shared = [
            (cells[superblock_of_row == number] == cells[row]).any(axis=0).sum()
            for number in range(blocked.n_superblocks)
        ]
        assert_array_equal(found, 3 * np.array(shared))
        assert len(unknown) == 47
    empty = CountTable(np.zeros(partition.table_shape, dtype=np.int64), 0)
    assert not bounds_of_few(empty, holders, 47, blocked.n_superblocks)[1].any()
