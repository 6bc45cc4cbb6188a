"""Agreement of clusterings."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.cluster.hierarchy import linkage
from sklearn.metrics import adjusted_rand_score

from pskclust._choice.consensus import (
    Cut,
    agreements_of_cuts,
    most_typical,
    numbers_by_size,
    share_agreeing,
    shared_rows,
)
from pskclust._choice.split_tree import condense, settle

RNG = np.random.RandomState


def agreements(clusterings):
    """Return the adjusted Rand index of each pair of clusterings."""
    return np.array([[adjusted_rand_score(a, b) for a in clusterings] for b in clusterings])


def test_rows_that_clusters_share_are_counted():
    one, other = np.array([0, 0, 1, 1, 1]), np.array([2, 0, 0, 0, 2])
    assert_array_equal(shared_rows(one, other), [[1, 0, 1], [2, 0, 1]])


def test_the_most_typical_agrees_best_with_all_by_their_odds():
    rng = RNG(0)
    clusterings = [rng.randint(0, 3, 30) for _ in range(6)]
    odds = rng.dirichlet(np.ones(6))
    expected = [
        sum(share * adjusted_rand_score(a, b) for b, share in zip(clusterings, odds, strict=True))
        for a in clusterings
    ]
    winner, agreement = most_typical(agreements(clusterings), odds)
    assert winner == int(np.argmax(expected))
    assert agreement == pytest.approx(max(expected))


@pytest.mark.parametrize("seed", range(4))
def test_cuts_of_trees_agree_as_any_clusterings_do(seed):
    rng = RNG(seed)
    trees = [condense(linkage(rng.rand(60, 2), "average"), "average", 8, 2) for _ in range(3)]
    distances = np.abs(rng.rand(60, 60))
    near = np.argsort(distances, axis=1)
    trees = [settle(tree, tree.nodes, distances, near) for tree in trees]
    cuts = [Cut(trees[i], k) for i, k in [(2, 3), (0, 1), (1, 5), (0, 4), (2, 9), (0, 2)]]
    expected = agreements([cut.tree.cut(cut.n_clusters) for cut in cuts])
    assert_allclose(agreements_of_cuts(cuts), expected, rtol=0, atol=1e-12)
    # One cluster and one cluster are alike.
    assert_array_equal(agreements_of_cuts([cuts[1], Cut(trees[1], 1)]), np.ones((2, 2)))


def test_of_two_alike_and_a_better_stranger_one_of_the_two_is_most_typical():
    alike = np.repeat([0, 1, 2], 10)
    nearly = alike.copy()
    nearly[0] = 2
    stranger = np.arange(30) % 3
    between = agreements([stranger, alike, nearly])
    assert most_typical(between, np.array([0.4, 0.31, 0.29]))[0] == 1
    assert most_typical(between, np.array([0.9, 0.05, 0.05]))[0] == 0


@pytest.mark.parametrize("seed", range(5))
def test_a_label_is_as_sure_as_those_who_agree(seed):
    rng = RNG(seed)
    labels = rng.randint(0, 3, 40)
    clusterings = [
        labels,
        *(np.where(rng.rand(40) < 0.8, labels, rng.randint(0, 4, 40)) for _ in range(3)),
    ]
    odds = rng.dirichlet(np.ones(4))
    expected = np.zeros(40)
    for other, share in zip(clusterings, odds, strict=True):
        for row in range(40):
            own = set(np.flatnonzero(labels == labels[row]))
            sets = [set(np.flatnonzero(other == cluster)) for cluster in range(other.max() + 1)]
            match = int(np.argmax([len(own & some) / len(own | some) for some in sets]))
            expected[row] += share * (other[row] == match)
    confidences = share_agreeing(labels, clusterings, odds)
    assert_allclose(confidences, expected)
    assert (confidences >= odds[0]).all()
    assert_allclose(share_agreeing(labels, [labels] * 4, odds), 1)


def test_rounding_of_odds_never_raises_a_share_above_one():
    labels = np.array([0, 0, 1])
    odds = np.array([0.1, 0.2, 0.4, 0.3]) + 2**-53
    assert sum(odds) > 1
    assert_array_equal(share_agreeing(labels, [labels] * 4, odds), 1)


def test_clusters_are_numbered_by_size_then_by_their_first_rows():
    labels = np.array([2, 2, 0, 1, 0, 2, 1])
    assert_array_equal(numbers_by_size(labels)[labels], [0, 0, 1, 2, 1, 0, 2])
