"""How much clusters touch."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pskclust._choice.overlap import Company, contact
from pskclust._choice.sample import Recipe, draw_nested, grow_parts
from pskclust._data.rows import Data
from pskclust._data.weights import uniform_weights


@pytest.mark.parametrize("pairs", [False, True])
@pytest.mark.parametrize("method", ["voronoi", "hypersphere", "tree"])
def test_company_is_in_how_many_cells_rows_meet(method, pairs):
    rng = np.random.RandomState(0)
    sample = Data(rng.normal(size=(30, 2)), "euclidean", uniform_weights(30))
    recipe = Recipe(method, 10, False, 0.1, 0.1)
    kernels = [draw_nested(sample, recipe, (8,), rng) for _ in range(2)]
    parts = [grown[0] for grown in grow_parts(sample, recipe, kernels, 1)]
    labels = rng.randint(-1, 3, 30)
    expected = np.zeros((30, 3))
    for each in parts:
        for one in range(30):
            for other in set(range(30)) - {one}:
                same = each.cells[one] == each.cells[other]
                n_met = (same & (each.cells[one] != each.partition.no_cell)).sum()
                if labels[other] >= 0:
                    expected[one, labels[other]] += n_met
    assert_array_equal(Company(parts, pairs).with_members(labels, 3), expected)


def contact_of(met, labels):
    """Contact, given how often each row meets each other one."""
    members = np.equal.outer(labels, np.arange(max(1, labels.max() + 1)))
    return contact(met @ members, labels)


def clusters_on_a_line(gap, n_rows=100):
    """Rows that meet those within two places of them, in two halves; also the cut between them."""
    places = np.arange(n_rows) + gap * (np.arange(n_rows) >= n_rows // 2)
    met = np.maximum(0, 3 - np.abs(np.subtract.outer(places, places)))
    np.fill_diagonal(met, 0)
    return met, np.repeat([0, 1], n_rows // 2)


def test_clusters_apart_have_no_contact():
    assert contact_of(*clusters_on_a_line(gap=2)) == 0


def test_contact_is_the_share_of_the_other_side_at_the_border():
    met, labels = clusters_on_a_line(gap=0)
    # The row at the border meets others as often as its own, the next one a fifth as often.
    assert contact_of(met, labels) == pytest.approx((3 / 6 + 1 / 6 + 0) / 3)


def test_the_cluster_that_touches_most_counts():
    met, labels = clusters_on_a_line(gap=2)
    labels[:5] = 2
    alone = contact_of(met[:50, :50], np.where(labels[:50] == 2, 1, 0))
    assert contact_of(met, labels) == alone > 0


def test_rows_that_meet_others_only_are_all_at_the_border():
    met = np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]])
    assert contact_of(met, np.array([0, 1, 1])) == 1


def test_noise_is_no_company():
    met, labels = clusters_on_a_line(gap=0)
    labels[50:53] = -1
    assert contact_of(met, labels) == 0
    assert contact_of(met, np.full(100, -1)) == 0
