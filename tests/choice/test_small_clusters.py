"""What docs/automatic.md says about small clusters that are far away."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from pskclust import PSKC


@pytest.mark.parametrize("n_far", [30, 20, 12])
def test_a_far_cluster_is_found_if_its_number_is_given(n_far):
    blobs = make_blobs(2000, centers=[[0, 0], [10, 0]], random_state=0)[0]
    far = np.random.RandomState(0).normal([5, 30], 0.5, (n_far, 2))
    model = PSKC(n_clusters=3, random_state=0).fit(np.vstack([blobs, far]))
    (label,) = set(model.labels_[2000:])
    # A few other rows far from the middle of the blobs may be in the cluster, too.
    assert n_far <= model.cluster_sizes_[label] <= n_far + 15
    first = np.argsort(-model.outlier_scores_)[:n_far]
    assert (first >= 2000).all()
