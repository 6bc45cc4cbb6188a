"""Labels of new rows, found for whole superblocks where bounds suffice, against plain NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pskclust import PSKC
from pskclust._cells.count_tables import most_similar
from pskclust._cells.partition import Partition
from pskclust._data.rows import Data
from pskclust._data.weights import uniform_weights
from pskclust._engines.select import labels_by_blocks
from pskclust._kernels import reference

pytestmark = pytest.mark.numba


def rows_of(kind, n_rows, n_columns, rng):
    if kind == "ties":
        return rng.randint(0, 4, (n_rows, n_columns)).astype(float)
    X = rng.randn(n_rows, n_columns)
    # Most superblocks lie inside of one cluster if clusters are far apart, and none if they touch.
    return X + {"apart": 30.0, "touching": 2.0}[kind] * rng.randint(0, 3, (n_rows, 1))


@pytest.mark.parametrize("tau", [0.0, 0.02, 0.3, 0.9])
@pytest.mark.parametrize("n_columns", [1, 2, 3, 4])
@pytest.mark.parametrize("kind", ["apart", "touching", "ties"])
def test_labels_are_those_of_all_similarities(kind, n_columns, tau):
    rng = np.random.RandomState(n_columns)
    X, new = (rows_of(kind, n_rows, n_columns, rng) for n_rows in (1000, 9001))
    new[:50] += 1000.0
    model = PSKC(psi=20, tau=0.05, n_partitions=9, replace=True, random_state=0).fit(X)
    partition, clusters = model.kernel_._partition, model.fitted_.result.clusters
    scores = clusters.scores(Partition.cells(partition, new), reference)
    data = Data(new, "euclidean", uniform_weights(len(new)))
    found = labels_by_blocks(data, partition, clusters, tau, n_jobs=2, backend="numba")
    assert_array_equal(found, most_similar(clusters.similarities(scores), tau))
