"""How much clusters of few rows touch."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pskclust._contact import company, contact
from pskclust._kernel_sweep import Recipe, draw_nested, grow_parts
from pskclust._validation import Data
from pskclust._weights import uniform_weights


@pytest.mark.parametrize("method", ["voronoi", "hypersphere", "tree"])
def test_company_is_in_how_many_cells_two_rows_meet(method):
    rng = np.random.RandomState(0)
    sample = Data(rng.normal(size=(30, 2)), "euclidean", uniform_weights(30))
    recipe = Recipe(method, 10, False, 0.1, 0.1)
    kernels = [draw_nested(sample, recipe, (8,), rng) for _ in range(2)]
    parts = [grown[0] for grown in grow_parts(sample, recipe, kernels, 1)]
    expected = np.zeros((30, 30))
    for each in parts:
        for one in range(30):
            for other in set(range(30)) - {one}:
                same = each.cells[one] == each.cells[other]
                expected[one, other] += (same & (each.cells[one] != each.partition.no_cell)).sum()
    assert_array_equal(company(parts), expected)


def clusters_on_a_line(gap, n_rows=100):
    """Rows that meet those within two places of them, in two halves; also the cut between them."""
    places = np.arange(n_rows) + gap * (np.arange(n_rows) >= n_rows // 2)
    met = np.maximum(0, 3 - np.abs(np.subtract.outer(places, places))).astype(float)
    np.fill_diagonal(met, 0)
    return met, np.repeat([0, 1], n_rows // 2)


def test_clusters_apart_have_no_contact():
    assert contact(*clusters_on_a_line(gap=2), 2) == 0


def test_contact_is_the_share_of_the_other_side_at_the_border():
    met, labels = clusters_on_a_line(gap=0)
    # The row at the border meets others as often as its own, the next one a fifth as often.
    assert contact(met, labels, 2) == pytest.approx((3 / 6 + 1 / 6 + 0) / 3)


def test_the_cluster_that_touches_most_counts():
    met, labels = clusters_on_a_line(gap=2)
    labels[:5] = 2
    alone = contact(met[:50, :50], np.where(labels[:50] == 2, 1, 0), 2)
    assert contact(met, labels, 3) == alone > 0


def test_rows_that_meet_others_only_are_all_at_the_border():
    met = np.array([[0.0, 1, 0], [1, 0, 0], [0, 0, 0]])
    assert contact(met, np.array([0, 1, 1]), 2) == 1


def test_noise_is_no_company():
    met, labels = clusters_on_a_line(gap=0)
    labels[50:53] = -1
    assert contact(met, labels, 2) == 0
    assert contact(met, np.full(100, -1), 2) == 0
