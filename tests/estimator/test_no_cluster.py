"""A fit that finds no cluster gives a warning."""

from __future__ import annotations

import numpy as np
import pytest

from pskclust import PSKC

ROWS = np.random.RandomState(0).randn(100, 2)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"tau": 0.9}, r"no pair of rows is similar enough to start one. Lower tau=0.9\.$"),
        ({"psi": 8, "tau": 0.2, "min_cluster_size": 99}, "none has min_cluster_size=99 rows. Use"),
    ],
)
def test_a_fit_without_clusters_warns_and_names_the_way_out(parameters, message):
    with pytest.warns(UserWarning, match=f"No cluster was found: {message}") as caught:
        model = PSKC(random_state=0, **parameters).fit(ROWS)
    assert model.n_clusters_ == 0
    assert caught[0].filename == __file__
