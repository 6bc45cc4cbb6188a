"""What clusterings agree on."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pskclust._choice.consensus import matched, mean_jaccard, shared_rows, vote

TRUTH = np.repeat([0, 1, 2], [50, 30, 20])


def with_errors(seed, n_errors=12):
    """The truth by other names, with some rows given away."""
    rng = np.random.RandomState(seed)
    labels = TRUTH.copy()
    labels[rng.choice(len(labels), n_errors, replace=False)] = rng.randint(0, 3, n_errors)
    return rng.permutation(3)[labels]


def test_shared_rows_leave_noise_out():
    first, second = np.array([0, 0, 1, -1, 1]), np.array([1, 1, 0, 0, -1])
    assert_array_equal(shared_rows(first, second, 2, 2), [[0, 2], [1, 0]])


def test_equal_clusterings_are_found_again_whatever_their_names():
    assert mean_jaccard(shared_rows(TRUTH, (TRUTH + 1) % 3, 3, 3)) == 1


def test_every_cluster_counts_the_same_however_small():
    """A cluster of 2 of 100 rows that the other does not have is a third of the one side."""
    first = np.repeat([0, 1, 2], [49, 49, 2])
    second = np.repeat([0, 1], [49, 51])
    expected = ((1 + 49 / 51 + 2 / 51) / 3 + (1 + 49 / 51) / 2) / 2
    assert mean_jaccard(shared_rows(first, second, 3, 2)) == pytest.approx(expected)


def test_a_vote_is_nearer_to_the_truth_than_those_who_vote():
    labels = vote([with_errors(seed) for seed in range(9)], 3)
    # Names are those of one of the voters.
    names = [np.bincount(labels[np.equal(TRUTH, cluster)]).argmax() for cluster in range(3)]
    assert_array_equal(labels, np.array(names)[TRUTH])


def test_a_row_that_is_noise_to_all_stays_noise():
    voters = [with_errors(seed, 0) for seed in range(3)]
    for labels in voters:
        labels[7] = -1
    voters[0][8] = -1
    labels = vote(voters, 3)
    assert labels[7] == -1
    assert labels[8] == labels[9]


def test_clusters_are_numbered_as_those_of_the_reference():
    other = (TRUTH + 1) % 3
    other[0], other[1] = other[-1], -1
    numbered = matched(other, TRUTH, 3)
    assert numbered[0] == TRUTH[-1]
    assert numbered[1] == -1
    assert_array_equal(numbered[2:], TRUTH[2:])
