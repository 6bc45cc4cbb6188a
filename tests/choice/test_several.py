"""One cluster or several."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_circles, make_moons

from pskclust import PSKC
from pskclust._choice.scoring import GapOdds


@pytest.mark.parametrize("seed", range(3))
def test_thin_clusters_of_few_rows_with_empty_space_between_are_several(seed):
    for points, _ in (
        make_moons(100, random_state=seed),
        make_circles(300, noise=0.01, factor=0.7, random_state=seed),
    ):
        labels = PSKC(random_state=seed, noise="nearest").fit_predict(points)
        assert len(np.unique(labels)) > 1


def test_only_a_gap_beyond_the_limit_raises_the_log_odds():
    gap = GapOdds(limit=0.25, weight=10.0)
    assert [gap.log_odds(width) for width in (0.0, 0.25, 0.35)] == pytest.approx([0, 0, 1])
