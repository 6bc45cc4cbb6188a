"""Linking joins the most alike sets of parts, and a tree is cut to clusters."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.cluster.hierarchy import is_valid_linkage

from pskclust._cells.count_tables import ClusterTables
from pskclust._choice.linking import link_products
from tests.helpers import naive


def link(parts):
    return link_products(parts.products(), parts.masses)


def tables(counts, masses, shape):
    return ClusterTables(sparse.csr_array(np.asarray(counts)), np.asarray(masses), shape, shape[0])


def random_tables(seed, n_parts=12, shape=(4, 6)):
    """Tables of parts in three groups that share cells, with ties and with parts alone."""
    rng = np.random.RandomState(seed)
    cells = rng.randint(0, 2, (60, shape[0])) + 2 * rng.randint(0, 3, (60, 1))
    labels = np.concatenate([np.arange(n_parts), rng.randint(0, n_parts, 60 - n_parts)])
    counts = np.zeros((n_parts, *shape), dtype=np.int64)
    for row, label in zip(cells, labels, strict=True):
        counts[label, np.arange(shape[0]), row] += 1
    return tables(counts.reshape(n_parts, -1), np.bincount(labels), shape)


@pytest.mark.parametrize("seed", range(20))
def test_the_tree_is_that_of_the_slow_version(seed):
    parts = random_tables(seed)
    tree = link(parts)
    pairs, similarities = naive.link(parts.counts.toarray().tolist())
    assert_allclose(tree.similarities, similarities, rtol=1e-12)
    assert_array_equal(tree.pairs, pairs)


def test_a_cut_has_the_number_of_clusters_asked_for_in_the_order_of_their_parts():
    tree = link(random_tables(0))
    for n_clusters in range(1, len(tree) + 1):
        links = tree.cut(n_clusters)
        firsts = [int(np.flatnonzero(links == cluster)[0]) for cluster in range(n_clusters)]
        assert firsts == sorted(firsts)
        assert links.max() + 1 == n_clusters


def test_cuts_are_nested():
    tree = link(random_tables(1))
    for n_clusters in range(1, len(tree)):
        coarse, fine = tree.cut(n_clusters), tree.cut(n_clusters + 1)
        assert len(set(zip(coarse, fine, strict=True))) == n_clusters + 1


def test_a_chain_is_joined_before_what_lies_beside_it():
    """Parts 0 to 3 touch end to end; part 4, as large as all of them, touches nobody."""
    counts = np.zeros((5, 12), dtype=int)
    for part in range(4):
        counts[part, 2 * part : 2 * part + 3] = 2, 4, 2
    counts[4, 10:] = 8
    tree = link(tables(counts, counts.sum(axis=1), (1, 12)))
    assert_array_equal(tree.cut(2), [0, 0, 0, 0, 1])
    assert tree.similarities[-1] < 0.1 < tree.similarities[:-1].min()


def test_a_linked_table_is_the_sum_of_those_of_its_parts():
    parts = random_tables(2)
    joined = parts.joined(np.arange(12) % 3, 3)
    expected = parts.counts.toarray().reshape(4, 3, -1).sum(axis=0)
    assert_array_equal(joined.counts.toarray(), expected)
    assert_array_equal(joined.masses, parts.masses.reshape(4, 3).sum(axis=0))


def test_counts_too_large_to_multiply_as_integers_give_the_same_tree():
    parts = random_tables(3)
    factor = 2**30
    many = tables(parts.counts.toarray() * factor, parts.masses * factor, parts.shape)
    assert many.resolution * int(many.masses.sum()) ** 2 > 2**63
    assert_array_equal(link(many).pairs, link(parts).pairs)
    assert_array_equal(link(many).similarities, link(parts).similarities)


def test_scipy_takes_the_tree():
    tree = link(random_tables(4))
    matrix = tree.to_scipy()
    assert is_valid_linkage(matrix)
    assert matrix[-1, 3] == len(tree)
    assert math.isclose(matrix[0, 2], -math.log10(tree.similarities[0]))


@pytest.mark.parametrize("n_parts", [0, 1])
def test_nothing_to_join_is_a_tree_too(n_parts):
    tree = link(tables(np.ones((n_parts, 2), dtype=int), np.full(n_parts, 2), (1, 2)))
    assert len(tree) == n_parts
    assert_array_equal(tree.cut(1), np.zeros(n_parts))
