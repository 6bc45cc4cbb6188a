"""``n_clusters=k`` gives exactly k clusters, or says how many are possible."""

from __future__ import annotations

import numpy as np
import pytest

from pskclust import PSKC
from tests.helpers.n_clusters import assert_exactly, fit_or_the_most_possible, generated
from tests.helpers.row_blocks import in_blocks

N_SETS = 200


@pytest.mark.parametrize(
    "seed", [pytest.param(seed, marks=[pytest.mark.slow] * (seed >= 20)) for seed in range(N_SETS)]
)
def test_exactly_as_many_clusters_as_asked_for(seed):
    X, weights, parameters = generated(seed)
    rows = X if seed % 3 else in_blocks(X, [len(X) // 3])

    def fit(**parameters):
        return PSKC(random_state=0, **parameters).fit(rows, sample_weight=weights)

    model, n_clusters = fit_or_the_most_possible(fit, parameters)
    assert_exactly(n_clusters, model, model.labels_, weights)


@pytest.mark.slow
@pytest.mark.parametrize(("n_columns", "n_clusters"), [(50, 20), (2, 30)])
def test_clusters_that_overlap_all_get_rows(n_columns, n_clusters):
    X = np.random.RandomState(0).normal(size=(2_000, n_columns))
    model = PSKC(n_clusters=n_clusters, random_state=0).fit(X)
    assert_exactly(n_clusters, model, model.labels_, None)
