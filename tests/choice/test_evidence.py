"""Evidence for cuts and splits of trees, against loops over rows."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from pskclust._choice.borders import Sides, border_of, cohesion_of
from pskclust._choice.evidence import CUT_NAMES, gather_evidence
from pskclust._choice.sample import Sample
from pskclust._choice.scales import N_FEW, ROWS_PER_FINE_CELL, sizes_for
from pskclust._choice.scoring import (
    SCORE_NAMES,
    fitted_weights,
    score_table,
    scored_evidence,
    scores,
    split_logits,
)
from pskclust._choice.several import log_odds_of_several
from pskclust._choice.split_evidence import SPLIT_NAMES
from pskclust._choice.split_tree import AVERAGE
from pskclust._choice.stability import MIN_ROWS, NUMBERS, ROWS_PER_CLUSTER, grow_trees, min_rows_for

RNG = np.random.RandomState
PSI = 32
# So many that fine cells are those of a tree, too.
N_ROWS = PSI * ROWS_PER_FINE_CELL
N_PARTITIONS = 12


@pytest.fixture(scope="module")
def grown():
    """Trees of four clusters that touch."""
    X, _ = make_blobs(N_ROWS, centers=4, cluster_std=1.8, random_state=0)
    return grow_trees(Sample(X), [8, PSI], N_PARTITIONS, RNG(0))


@pytest.fixture(scope="module")
def evidence(grown):
    return gather_evidence(grown)


@pytest.fixture(scope="module")
def apart():
    """Trees of three clusters far apart."""
    centres = [[0, 0], [100, 0], [0, 100]]
    X, y = make_blobs([70, 60, 62], centers=centres, random_state=0)
    return grow_trees(Sample(X), [8, PSI], 50, RNG(0)), y


def shared(grown):
    """Cells that each two rows share at the finest scale, 0 of a row with itself."""
    cells = grown.placing_cells
    counts = (cells[:, :, np.newaxis] == cells[:, np.newaxis]).sum(axis=0)
    np.fill_diagonal(counts, 0)
    return counts


def of_fine_trees(grown, evidence):
    """All cuts of trees that were grown from the fine cells."""
    for candidate, values in zip(evidence.candidates, evidence.cuts, strict=True):
        tree = grown.trees[candidate.tree].tree
        if tree.psi == PSI:
            yield candidate, tree, dict(zip(CUT_NAMES, values, strict=True))


def rows_of(labels):
    return [np.flatnonzero(labels == cluster) for cluster in range(labels.max() + 1)]


def test_meetings_are_the_cells_that_rows_share_with_a_node(grown):
    counts = shared(grown)
    for each in grown.trees:
        tree = each.tree
        for node in range(tree.n_nodes):
            inside = tree.within[tree.leaves, node]
            assert_array_equal(each.fine_meetings[:, node], counts[:, inside].sum(axis=1))
        if tree.psi == PSI:
            assert_array_equal(each.meetings, each.fine_meetings)


def test_sizes_are_told_by_numbers_of_rows(grown, evidence):
    for candidate, tree, values in of_fine_trees(grown, evidence):
        n_clusters = candidate.n_clusters
        shares = np.bincount(tree.cut(n_clusters)) / N_ROWS
        evenness = -sum(share * math.log(share) for share in shares) / math.log(n_clusters)
        assert values["log_number"] == pytest.approx(math.log(n_clusters))
        assert values["evenness"] == pytest.approx(evenness)
        assert values["smallest"] == pytest.approx(math.log(n_clusters * min(shares)))
        assert values["largest"] == pytest.approx(math.log(n_clusters * max(shares)))


def test_silhouettes_are_those_of_mean_similarities(grown, evidence):
    counts = shared(grown)
    for candidate, tree, values in of_fine_trees(grown, evidence):
        labels = tree.cut(candidate.n_clusters)
        clusters = rows_of(labels)
        silhouettes, misplaced = [], 0
        for row in range(N_ROWS):
            own = counts[row, clusters[labels[row]]].sum() / (len(clusters[labels[row]]) - 1)
            others = [
                counts[row, members].mean()
                for cluster, members in enumerate(clusters)
                if cluster != labels[row]
            ]
            largest = max(own, *others)
            silhouettes.append((own - max(others)) / largest if largest else 0)
            misplaced += max(others) > own
        silhouettes = np.array(silhouettes)
        means = [silhouettes[members].mean() for members in clusters]
        assert values["silhouette"] == pytest.approx(silhouettes.mean(), abs=1e-5)
        assert values["silhouette_least"] == pytest.approx(min(means), abs=1e-5)
        assert values["misplaced"] == pytest.approx(misplaced / N_ROWS, abs=2 / N_ROWS)


def test_contact_is_the_share_of_others_in_fine_cells(grown, evidence):
    counts = shared(grown)
    for candidate, tree, values in of_fine_trees(grown, evidence):
        labels = tree.cut(candidate.n_clusters)
        contacts = []
        for members in rows_of(labels):
            total = 0.0
            for row in members:
                everyone = counts[row].sum()
                total += 1 - counts[row, members].sum() / everyone if everyone else 0
            contacts.append(total / len(members))
        assert values["contact"] == pytest.approx(np.mean(contacts))
        assert values["contact_most"] == pytest.approx(max(contacts))


def test_ratios_compare_the_nearest_cluster_with_the_own(grown, evidence):
    counts = shared(grown)
    for candidate, tree, values in of_fine_trees(grown, evidence):
        clusters = rows_of(tree.cut(candidate.n_clusters))
        ratios = []
        for members in clusters:
            own = counts[np.ix_(members, members)].sum() / len(members) / (len(members) - 1)
            others = [counts[np.ix_(members, b)].mean() for b in clusters if b is not members]
            ratios.append(min(max(others) / max(own, 1e-9), 2))
        assert values["ratio"] == pytest.approx(np.mean(ratios), rel=1e-5)
        assert values["ratio_most"] == pytest.approx(max(ratios), rel=1e-5)


def test_stability_is_that_of_the_nodes_of_a_cut(grown, evidence):
    for candidate, tree, values in of_fine_trees(grown, evidence):
        found = grown.trees[candidate.tree].found
        nodes = tree.cut_nodes(candidate.n_clusters)[0]
        sizes = [np.count_nonzero(tree.within[tree.leaves, node]) for node in nodes]
        means = [np.mean([half[node] for half in found]) for node in nodes]
        assert values["found"] == pytest.approx(np.mean(means))
        assert values["found_least"] == pytest.approx(min(means))
        assert values["found_worst"] == pytest.approx(min(found[:, node].min() for node in nodes))
        assert values["found_by_rows"] == pytest.approx(np.average(means, weights=sizes))
        crossed = [grown.crossed[candidate.tree][node] for node in nodes]
        assert values["crossed"] == pytest.approx(np.mean(crossed))
        assert values["crossed_least"] == pytest.approx(min(crossed))


def test_heights_and_the_splits_that_are_left_follow_the_cut(grown, evidence):
    for candidate, tree, values in of_fine_trees(grown, evidence):
        done, low = candidate.n_clusters - 1, evidence.splits[candidate.tree][:, 0]
        assert values["last_split"] == low[done - 1]
        assert values["weakest_split"] == min(low[:done])
        if done < tree.n_splits:
            assert values["gap"] == pytest.approx(tree.heights[done - 1] - tree.heights[done])
            assert values["next_split"] == low[done]
            assert values["best_left"] == max(low[done:])
        else:
            assert values["next_split"] == values["best_left"] == 0


def test_splits_are_told_by_their_two_sides(grown, evidence):
    counts = shared(grown)
    for number, each in enumerate(grown.trees):
        tree, found = each.tree, each.found.mean(axis=0)
        table = evidence.splits[number]
        assert table.shape == (tree.n_splits, len(SPLIT_NAMES))
        for split, values in enumerate(table):
            one = dict(zip(SPLIT_NAMES, values, strict=True))
            pair, owner = [2 * split + 1, 2 * split + 2], tree.owners[split]
            sides = [np.flatnonzero(tree.within[tree.leaves, node]) for node in pair]
            small = min(map(len, sides))
            whole = sum(map(len, sides))
            assert one["found_low"] == min(found[pair])
            assert one["found_high"] == max(found[pair])
            assert one["found_whole"] == found[owner]
            assert one["found_worst"] == each.found[:, pair].min()
            assert one["crossed_low"] == min(grown.crossed[number][pair])
            assert one["log_size"] == pytest.approx(math.log(small))
            assert one["log_share"] == pytest.approx(math.log(small / whole))
            assert one["log_whole"] == pytest.approx(math.log(whole / N_ROWS))
            assert one["log_cells"] == pytest.approx(math.log(tree.psi * whole / N_ROWS))
            assert one["height"] == tree.heights[split]
            contacts = []
            for side, other in (sides, sides[::-1]):
                for row in side:
                    total = counts[row, side].sum() + counts[row, other].sum()
                    contacts.append(counts[row, other].sum() / total if total else 0)
            assert one["contact"] == pytest.approx(np.mean(contacts), abs=1e-6)


def test_a_split_is_looked_up_in_the_halves_and_told_by_the_rest_of_the_rows(grown, evidence):
    for number, each in enumerate(grown.trees):
        for split, values in enumerate(evidence.splits[number][:4]):
            one = dict(zip(SPLIT_NAMES, values, strict=True))
            pair = [2 * split + 1, 2 * split + 2]
            small = pair[int(each.tree.sizes[pair[0]] >= each.tree.sizes[pair[1]])]
            valleys, ratios = [], []
            for half in each.held_out:
                found = half.matches[small]
                pair_there = np.array([2 * found + 1]), np.array([2 * found + 2])
                counts = [half.within[near[:N_FEW]].sum(axis=0) for near in half.around.near]
                sides = Sides.of(*pair_there, half.within)
                meets = np.array(counts, dtype=np.float32)
                border = border_of(meets, half.around.log_few, grown.dimension, sides)
                valleys.append(border.valley[0])
                sides = Sides.of(*pair_there, half.within[half.rows])
                cohesion = cohesion_of(half.meetings, half.within.sum(axis=0), sides)
                ratios.append(cohesion.ratio(sides)[0])
            assert one["held_valley"] == pytest.approx(np.mean(valleys))
            assert one["held_valley_least"] == pytest.approx(min(valleys))
            assert one["held_ratio"] == pytest.approx(np.mean(ratios))


def test_rows_that_tell_of_a_half_are_not_in_it(grown):
    for each in grown.trees:
        for one, other in zip(each.held_out[::2], each.held_out[1::2], strict=True):
            # Every row has a leaf; those of the other half are looked at.
            assert len(one.within) == len(other.within) == N_ROWS // 2
            assert one.within[:, 0].all()
            assert len(one.around.near) == N_ROWS // 2


def test_shares_are_shares(grown, evidence):
    names = ("found", "found_least", "crossed", "near_psi", "same_number", "evenness", "contact")
    for name in names:
        values = evidence.cuts[:, CUT_NAMES.index(name)]
        assert ((values >= 0) & (values <= 1 + 1e-9)).all()
    silhouettes = evidence.cuts[:, CUT_NAMES.index("silhouette")]
    assert (abs(silhouettes) <= 1).all()
    assert np.isfinite(evidence.cuts).all()
    assert all(np.isfinite(table).all() for table in evidence.splits)


def test_clusters_apart_are_found_again_and_do_not_touch(apart):
    grown, y = apart
    for number, each in enumerate(grown.trees):
        assert adjusted_rand_score(y, each.tree.cut(3)) == 1
        nodes = each.tree.cut_nodes(3)[0]
        same_number = each.same_number[each.numbers.tolist().index(3)]
        at_other_scales = grown.crossed[number][nodes], grown.at_near_psi[number][nodes]
        assert_allclose(at_other_scales, 1)
        # Paths of a half leave single rows out, which then settle elsewhere.
        least = 1 - 1e-6 if each.tree.kind == AVERAGE else 0.8
        assert each.found[:, nodes].min() >= least
        assert same_number >= least
    evidence = gather_evidence(grown)
    for candidate, values in zip(evidence.candidates, evidence.cuts, strict=True):
        if candidate.n_clusters == 3 and grown.trees[candidate.tree].tree.psi == PSI:
            assert values[CUT_NAMES.index("contact")] == 0
            assert values[CUT_NAMES.index("silhouette")] > 0.99


@pytest.mark.parametrize("n_columns", [1, 2, 4])
def test_the_intrinsic_dimension_is_about_that_of_the_rows(n_columns):
    flat = RNG(0).rand(600, n_columns)
    for X in (flat, np.hstack([flat, np.zeros((600, 5))])):
        dimension = grow_trees(Sample(X), [8], 20, RNG(0)).dimension
        assert n_columns / 1.5 < dimension < n_columns * 1.5


def test_all_numbers_that_a_tree_has_are_candidates(grown, evidence):
    for number, each in enumerate(grown.trees):
        tried = [n_clusters for tree, n_clusters in evidence.candidates if tree == number]
        most = min(each.tree.n_splits + 1, max(2, grown.n_rows // ROWS_PER_CLUSTER))
        assert tried == [number for number in NUMBERS if number <= most]


@pytest.mark.parametrize("n_rows", [2, 7, 12, 63, 64, 600, 2_000])
def test_cells_hold_two_rows_and_clusters_three(n_rows):
    X = RNG(0).rand(n_rows, 2)
    sizes = sizes_for(X)
    assert sizes == Sample(X).sizes
    assert sizes == sorted(set(sizes))
    assert sizes[0] <= n_rows
    assert all(psi <= n_rows // 2 for psi in sizes[1:])
    # Copies of rows do not make smaller cells.
    assert sizes_for(np.repeat(X, 5, axis=0))[1:] == sizes[1:]
    assert min_rows_for(n_rows) >= MIN_ROWS


def test_a_score_is_the_sum_of_the_answers_of_all_trees(grown, evidence):
    weights = fitted_weights()
    logits = split_logits(grown, evidence.splits, weights.split)
    named = scored_evidence(grown, evidence, logits)
    total = scores(named, weights)
    for candidate in range(len(evidence.candidates)):
        expected = 0
        for line in weights.score.to_lines():
            parts = line.split()
            asked = [
                int(named[name][candidate] > float(threshold))
                for name, threshold in zip(parts[0:6:2], parts[1:6:2], strict=True)
            ]
            no_no, no_yes, yes_no, yes_yes = map(int, parts[6:])
            after_yes, after_no = (yes_no, yes_yes)[asked[2]], (no_no, no_yes)[asked[1]]
            expected += after_yes if asked[0] else after_no
        assert total[candidate] == pytest.approx(expected / 1e6)
    assert all(np.isfinite(values).all() for values in named.values())


def test_a_score_does_not_depend_on_the_other_candidates(grown, evidence):
    weights = fitted_weights()
    logits = split_logits(grown, evidence.splits, weights.split)
    table = score_table(scored_evidence(grown, evidence, logits))
    assert_array_equal(weights.score(table)[::-3], weights.score(table[::-3]))


def test_few_rows_count_as_the_fewest_that_scores_were_fitted_to():
    few = grow_trees(Sample(RNG(0).randn(40, 2)), [8], N_PARTITIONS, RNG(0))
    found = gather_evidence(few)
    logits = split_logits(few, found.splits, fitted_weights().split)
    named = scored_evidence(few, found, logits)
    assert set(named) == set(SCORE_NAMES)
    assert_allclose(named["log_rows"], np.log(80) - 6.5)
    assert_allclose(named["log_psi"], np.log(8) - 3.5)


def test_what_splits_say_of_a_cut_is_that_of_loops(grown, evidence):
    weights = fitted_weights()
    logits = split_logits(grown, evidence.splits, weights.split)
    named = scored_evidence(grown, evidence, logits)
    for place, (tree, n_clusters) in enumerate(evidence.candidates):
        own, shares = logits[tree], np.exp(evidence.splits[tree][:, 8])
        done, left = slice(n_clusters - 1), slice(n_clusters - 1, None)
        expected = {
            "splits_mean": own[done].mean(),
            "splits_least": own[done].min(),
            "splits_left": own[left].max(initial=-6),
            "splits_against": sum(np.minimum(own, 0)[done] * shares[done]),
            "splits_missed": sum(np.maximum(own, 0)[left] * shares[left]),
            "splits_last": own[n_clusters - 2],
            "splits_next": own[left][0] if len(own[left]) else -6,
        }
        for name, value in expected.items():
            assert named[name][place] == pytest.approx(value, abs=1e-9), name


def test_several_clusters_are_more_likely_where_they_are_apart(apart):
    weights = fitted_weights()
    odds = []
    for some in (
        apart[0],
        grow_trees(Sample(RNG(0).randn(N_ROWS, 2)), [8, PSI], N_PARTITIONS, RNG(0)),
    ):
        found = gather_evidence(some)
        logits = split_logits(some, found.splits, weights.split)
        named = scored_evidence(some, found, logits)
        best = int(scores(named, weights).argmax())
        odds.append(log_odds_of_several(some, found, named, best, weights))
    assert odds[0] > 0
    assert odds[0] > odds[1]


def test_a_split_that_is_real_is_more_likely_than_one_of_chance(apart):
    grown, _ = apart
    evidence, weights = gather_evidence(grown), fitted_weights()
    logits = split_logits(grown, evidence.splits, weights.split)
    for own in logits:
        assert own[:2].min() > own[2:].max()
