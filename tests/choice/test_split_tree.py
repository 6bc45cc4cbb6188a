"""Trees of a sample, against slow versions that say what they are."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.cluster.hierarchy import is_valid_linkage
from sklearn.datasets import make_moons
from sklearn.metrics import adjusted_rand_score

from pskclust._choice.merge_tree import merge_tree_of
from pskclust._choice.similarity import (
    draw_nested_cells,
    nearest_rows,
    shared_cells,
    squared_distances,
)
from pskclust._choice.split_tree import (
    AVERAGE,
    N_NEAR,
    PATH,
    SplitTree,
    condense,
    join_rows,
    node_jaccards,
    settle,
)

RNG = np.random.RandomState
KINDS = (AVERAGE, PATH)
N_PARTITIONS = 10


def touching(n_rows=80, seed=0):
    rng = RNG(seed)
    return rng.randn(n_rows, 2) + 3 * rng.randint(0, 3, (n_rows, 1))


DATA = {
    "touching": touching(),
    "ties": RNG(1).randint(0, 5, (80, 2)).astype(float),
    "copies": touching(20)[RNG(2).randint(0, 20, 80)],
}


def counts_of(points, psi=16, seed=0):
    distances = squared_distances(points)
    near = nearest_rows(distances, min(8, len(points)))
    cells = draw_nested_cells(distances, near, [psi], N_PARTITIONS, RNG(seed)).cells[0]
    return shared_cells(cells, psi), distances, near


def grown(points, kind=AVERAGE, psi=16, min_rows=3, seed=0, **options):
    counts, distances, near = counts_of(points, psi, seed)
    tree = condense(join_rows(counts, N_PARTITIONS, kind), kind, psi, min_rows, **options)
    return settle(tree, tree.nodes, distances, near)


def members_of(joined):
    """The rows of every set of a hierarchy, single rows first."""
    sets = [{row} for row in range(len(joined) + 1)]
    for first, second, *_ in joined:
        sets.append(sets[int(first)] | sets[int(second)])
    return sets


def slowly_condensed(joined, min_rows, max_leaves):
    """Return the rows of all nodes, the node that each split divides, and each row's node."""
    sets = members_of(joined)
    nodes, owners = [sets[-1]], []

    def smallest_with(rows):
        return min(
            (node for node in range(len(nodes)) if rows <= nodes[node]),
            key=lambda node: len(nodes[node]),
        )

    for join in reversed(range(len(joined))):
        first, second = (sets[int(side)] for side in joined[join, :2])
        large = len(first) >= min_rows and len(second) >= min_rows
        if large and joined[join, 2] > 0 and len(owners) < max_leaves - 1:
            owners.append(smallest_with(first | second))
            nodes += [first, second]
    return nodes, owners, [smallest_with({row}) for row in range(len(joined) + 1)]


def rows_of_nodes(tree):
    """The rows of each node of a settled tree, by the leaves below it."""
    rows = [set(np.flatnonzero(tree.leaves == node)) for node in range(tree.n_nodes)]
    for split in reversed(range(tree.n_splits)):
        rows[tree.owners[split]] |= rows[2 * split + 1] | rows[2 * split + 2]
    return rows


def test_average_linkage_joins_by_the_mean_of_similarities():
    counts, _, _ = counts_of(DATA["touching"])
    joined = join_rows(counts, N_PARTITIONS, AVERAGE)
    sets = members_of(joined)
    for first, second, height, _ in joined:
        pairs = np.ix_(sorted(sets[int(first)]), sorted(sets[int(second)]))
        assert height == pytest.approx(1 - counts[pairs].mean() / N_PARTITIONS)


@pytest.mark.parametrize("name", DATA)
def test_paths_reach_no_better_than_the_eighth_most_similar_row(name):
    """But for rows that share all cells."""
    counts, _, _ = counts_of(DATA[name])
    n_rows = len(counts)
    core = []
    for row in range(n_rows):
        others = sorted(counts[row, other] for other in range(n_rows) if other != row)
        core.append(others[-N_NEAR])

    def reach(a, b):
        shared = counts[a, b]
        return shared if shared == N_PARTITIONS else min(shared, core[a], core[b])

    joined = join_rows(counts, N_PARTITIONS, PATH)
    sets = members_of(joined)
    for first, second, height, _ in joined:
        best = max(reach(a, b) for a in sets[int(first)] for b in sets[int(second)])
        assert height == pytest.approx(1 - best / N_PARTITIONS)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_rows", [2, 3, 5, 9])
def test_few_rows_are_joined_too(kind, n_rows):
    counts, _, _ = counts_of(touching(n_rows), 2)
    joined = join_rows(counts, N_PARTITIONS, kind)
    assert joined.shape == (n_rows - 1, 4)
    assert joined[-1, 3] == n_rows


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("min_rows", "max_leaves"), [(1, 60), (3, 60), (3, 4), (8, 60), (50, 60)])
def test_a_condensed_tree_is_that_of_the_slow_version(name, kind, min_rows, max_leaves):
    counts, _, _ = counts_of(DATA[name])
    joined = join_rows(counts, N_PARTITIONS, kind)
    tree = condense(joined, kind, 16, min_rows, max_leaves)
    nodes, owners, node_of_row = slowly_condensed(joined, min_rows, max_leaves)
    assert_array_equal(tree.owners, owners)
    assert_array_equal(tree.nodes, node_of_row)
    assert (tree.n_nodes, tree.n_splits) == (len(nodes), len(owners))
    assert (np.diff(tree.heights) <= 0).all()
    assert (tree.heights > 0).all()


def test_the_tables_of_a_tree_say_who_is_below_whom():
    tree = grown(DATA["touching"])
    assert tree.n_splits > 3
    parents = {0: -1}
    for split, owner in enumerate(tree.owners):
        parents |= {2 * split + 1: owner, 2 * split + 2: owner}
    assert_array_equal(tree.parents, [parents[node] for node in range(tree.n_nodes)])
    assert_array_equal(tree.is_leaf, [node not in tree.owners for node in range(tree.n_nodes)])
    for node in range(tree.n_nodes):
        above, at = {node}, node
        while (at := parents[at]) >= 0:
            above.add(at)
        assert set(np.flatnonzero(tree.within[node])) == above
    assert_array_equal(tree.sizes, [len(rows) for rows in rows_of_nodes(tree)])


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("n_near", [1, 5, 80])
@pytest.mark.parametrize("half", [False, True])
def test_rows_settle_in_the_leaf_of_their_nearest_row(name, kind, n_near, half):
    counts, distances, _ = counts_of(DATA[name])
    near = nearest_rows(distances, n_near)
    tree = condense(join_rows(counts, N_PARTITIONS, kind), kind, 16, 5)
    nodes = tree.nodes.copy()
    if half:
        nodes[::2] = -1
    settled = settle(tree, nodes, distances, near)
    for row, node in enumerate(nodes):
        held = [
            other
            for other, there in enumerate(nodes)
            if there >= 0 and tree.is_leaf[there] and tree.within[there, max(node, 0)]
        ]
        nearest = min(held, key=lambda other: (distances[row, other], other))
        at_leaf = node >= 0 and tree.is_leaf[node]
        assert settled.leaves[row] == (node if at_leaf else nodes[nearest])
    assert_array_equal(settled.nodes, nodes)


@pytest.mark.parametrize("kind", KINDS)
def test_a_cut_undoes_the_highest_joins(kind):
    tree = grown(DATA["touching"], kind)
    rows = rows_of_nodes(tree)
    there = {0}
    for n_clusters in range(1, tree.n_splits + 2):
        nodes, cluster_of = tree.cut_nodes(n_clusters)
        assert nodes.tolist() == sorted(there)
        labels = tree.cut(n_clusters)
        for cluster, node in enumerate(nodes):
            assert set(np.flatnonzero(labels == cluster)) == rows[node]
            assert_array_equal(cluster_of[tree.within[:, node]], cluster)
        assert (cluster_of == -1).sum() == tree.n_nodes - tree.within[:, nodes].any(axis=1).sum()
        if n_clusters <= tree.n_splits:
            split = n_clusters - 1
            there = (there - {tree.owners[split]}) | {2 * split + 1, 2 * split + 2}


def test_a_cut_of_a_part_of_a_cut_is_nested():
    tree = grown(DATA["touching"], min_rows=1)
    for n_clusters in range(1, tree.n_splits + 1):
        pairs = zip(tree.cut(n_clusters), tree.cut(n_clusters + 1), strict=True)
        assert len(set(pairs)) == n_clusters + 1


@pytest.mark.parametrize("kind", KINDS)
def test_node_jaccards_are_those_of_sets(kind):
    one = grown(DATA["touching"], kind, seed=0)
    other = grown(DATA["touching"], AVERAGE, psi=8, seed=1)
    expected = [[len(a & b) / len(a | b) for b in rows_of_nodes(other)] for a in rows_of_nodes(one)]
    assert_allclose(node_jaccards(one, other), expected, rtol=1e-6)
    assert_allclose(node_jaccards(other, one), node_jaccards(one, other).T, rtol=1e-6)
    assert_array_equal(np.diag(node_jaccards(one, one)), 1)


def test_a_tree_without_splits_is_one_cluster():
    tree = grown(np.ones((6, 2)), psi=4)
    assert (tree.n_splits, tree.n_nodes) == (0, 1)
    assert_array_equal(tree.cut(1), 0)
    assert_array_equal(node_jaccards(tree, tree), 1)
    merged, leaves = merge_tree_of(tree)
    assert (len(merged), leaves.tolist()) == (1, [0])


def test_rows_that_share_all_cells_are_never_divided():
    X = DATA["copies"]
    for kind in KINDS:
        tree = grown(X, kind, min_rows=1)
        labels = tree.cut(tree.n_splits + 1)
        for row in range(len(X)):
            copies = (X[row] == X).all(axis=1)
            assert len(set(labels[copies])) == 1


def test_trees_follow_the_shape_of_clusters():
    X, y = make_moons(200, noise=0.04, random_state=0)
    counts, distances, near = counts_of(X, 40)
    tree = condense(join_rows(counts, N_PARTITIONS, PATH), PATH, 40, 20)
    tree = settle(tree, tree.nodes, distances, near)
    assert adjusted_rand_score(y, tree.cut(2)) > 0.95


@pytest.mark.parametrize("kind", KINDS)
def test_a_merge_tree_has_the_cuts_of_the_split_tree(kind):
    tree = grown(DATA["touching"], kind)
    merged, leaves = merge_tree_of(tree)
    assert_array_equal(leaves, np.flatnonzero(tree.is_leaf))
    assert_array_equal(merged.masses, tree.sizes[leaves])
    assert_array_equal(merged.similarities, 1 - tree.heights[::-1])
    assert is_valid_linkage(merged.to_scipy())
    part_of_row = np.searchsorted(leaves, tree.leaves)
    for n_clusters in range(1, tree.n_splits + 2):
        assert adjusted_rand_score(merged.cut(n_clusters)[part_of_row], tree.cut(n_clusters)) == 1


def test_trees_are_values():
    tree = grown(DATA["touching"])
    assert isinstance(replace(tree, psi=9), SplitTree)
    assert replace(tree, psi=9).psi == 9
