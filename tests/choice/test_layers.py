"""Layers are cuts whose clusters all hold rows."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from pskclust import PSKC
from pskclust._choice.layers import Parts


@pytest.mark.parametrize(
    ("labels", "n_held"),
    [
        ([0, 0, 0, 1, 1, 1], 3),
        ([0, 0, 1, 1, 1, 1], 2),
        ([0, 0, 1, 1, -1, -1], 2),
        ([0, 0, 0, 0, 0, 0], 2),
        ([-1, -1, -1, -1, -1, -1], 0),
    ],
)
def test_parts_whose_rows_all_left_are_not_counted(labels, n_held):
    # Parts 0 and 1 are in cluster 0, part 2 is in cluster 1.
    masses = SimpleNamespace(masses=np.array([2, 1, 3]))
    parts = Parts(masses, np.arange(6), np.array([0, 0, 1, 2, 2, 2]), np.array([0, 0, 1]))
    assert parts.n_held(np.array(labels)) == n_held


def test_a_row_that_left_its_part_is_in_the_largest_part_of_its_cluster():
    masses = SimpleNamespace(masses=np.array([1, 1, 2]))
    parts = Parts(masses, np.arange(4), np.array([0, 1, 2, 2]), np.array([0, 1, 1]))
    # The only row of part 1 left for cluster 0.
    assert parts.n_held(np.array([0, 0, 1, 1])) == 2


def test_every_layer_can_be_relabelled(monkeypatch):
    X, _ = make_blobs(300, centers=4, cluster_std=1.5, random_state=4)
    model = PSKC(random_state=1).fit(X)
    numbers = [layer.n_clusters for layer in model.layers_]
    assert numbers[0] == model.n_clusters_ == 2
    assert len(numbers) > 1
    for number in range(len(numbers)):
        assert model.relabel(layer=number).max() + 1 == numbers[number]
    # A layer with more clusters than parts that hold rows is left out.
    monkeypatch.setattr(Parts, "n_held", lambda *_: 2)
    assert [layer.n_clusters for layer in PSKC(random_state=1).fit(X).layers_] == [2]
