"""What docs/automatic.md says about small clusters that are far away."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from pskclust import PSKC


def far_rows(n_far):
    """Two blobs of 1,000 rows each, then far rows."""
    blobs = make_blobs(2000, centers=[[0, 0], [10, 0]], random_state=0)[0]
    return np.vstack([blobs, np.random.RandomState(0).normal([5, 30], 0.5, (n_far, 2))])


@pytest.mark.parametrize("n_clusters", [None, 3])
@pytest.mark.parametrize("n_far", [40, 20, 12])
def test_a_small_cluster_that_is_far_away_is_found(n_far, n_clusters):
    model = PSKC(n_clusters=n_clusters, random_state=0).fit(far_rows(n_far))
    assert model.n_clusters_ == 3
    (label,) = set(model.labels_[2000:])
    # A few other rows far from the middle of the blobs may be in the cluster, too.
    assert n_far <= model.cluster_sizes_[label] <= n_far + 20


def test_far_rows_that_are_too_few_for_a_cluster_have_the_largest_outlier_scores():
    model = PSKC(random_state=0).fit(far_rows(6))
    assert model.n_clusters_ == 2
    assert (np.argsort(-model.outlier_scores_)[:6] >= 2000).all()
