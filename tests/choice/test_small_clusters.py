"""What docs/automatic.md says about small clusters that are far away."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from pskclust import PSKC


@pytest.mark.parametrize(("n_far", "is_found"), [(20, True), (12, False)])
def test_a_far_cluster_is_found_if_its_number_is_given_and_it_has_one_row_in_100(n_far, is_found):
    blobs = make_blobs(2000, centers=[[0, 0], [10, 0]], random_state=0)[0]
    far = np.random.RandomState(0).normal([5, 30], 0.5, (n_far, 2))
    model = PSKC(n_clusters=3, random_state=0).fit(np.vstack([blobs, far]))
    assert (model.cluster_sizes_.min() == n_far) == is_found
    first = np.argsort(-model.outlier_scores_)[:n_far]
    assert (first >= 2000).all()
