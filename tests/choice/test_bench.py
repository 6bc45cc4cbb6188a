"""The bench that the rule's numbers come from: collecting and fitting, on three small sets."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.random import RandomState
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.tree import DecisionTreeRegressor

from pskclust._choice.reassignment import reassigned
from pskclust._choice.sample import Sample
from pskclust._choice.scales import sizes_for
from pskclust._choice.scoring import (
    SCORE_NAMES,
    SEVERAL_NAMES,
    SPLIT_COLUMNS,
    Boosted,
    Weights,
)
from pskclust._choice.stability import grow_trees, min_rows_for

sys.path.append(str(Path(__file__).parents[2] / "benchmarks/choice"))

import choices
import collect
import fit
import fitting
import generators
import sets


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Collected sets of two families and of a single cluster."""
    path = tmp_path_factory.mktemp("choice")
    for name, k in (("fcps_three", 3), ("sipu_four", 4), ("other_one", 1)):
        X, y = make_blobs(40 * k + 60, centers=k, cluster_std=0.4, random_state=k)
        np.savez(path / f"data_{name}.npz", X=X, y=y + 1)
        each = sets.LabelledSet(name, path / f"data_{name}.npz")
        collect.save(collect.collect(each), path)
        (path / f"data_{name}.npz").unlink()
    return path


@pytest.fixture(scope="module")
def written(folder):
    """The weights that are fitted to these sets."""
    arguments = ["fit.py", "--folder", folder, "--weights", folder / "weights.json"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", [*map(str, arguments), "--left-out", str(folder / "out.json")])
        fit.main()
    return json.loads((folder / "weights.json").read_text())


def test_what_is_collected_is_read_again(folder):
    for each in collect.load_all(folder):
        assert len(each.ari) == len(each.evidence.candidates) == len(each.evidence.cuts)
        assert all(share.max(initial=0) <= 1 for share in each.same_class)
        cuts = each.cuts(np.arange(len(each.ari)))
        assert [cut.tree.cut(cut.n_clusters).max() + 1 for cut in cuts] == each.n_clusters.tolist()
        if not each.is_single:
            assert each.ari_of_one < 0.1


def test_the_ari_of_a_candidate_is_that_of_its_labels_after_reassignment(folder):
    each = collect.load(folder / "fcps_three.npz")
    X, y = make_blobs(180, centers=3, cluster_std=0.4, random_state=3)
    points = sets.scaled_columns(X)
    grown = grow_trees(Sample(points), sizes_for(points), collect.N_PARTITIONS, RandomState(0))
    psi = grown.placing_centres.shape[1]
    n_moved = 0
    cuts = each.cuts(np.arange(len(each.ari)))
    for number, (tree, n_clusters) in enumerate(each.evidence.candidates):
        cut = grown.trees[tree].tree.cut(n_clusters)
        assert_array_equal(cut, cuts[number].tree.cut(n_clusters))
        labels = reassigned(cut, grown.placing_cells, psi, min_rows_for(len(X)))
        n_moved += int(np.count_nonzero(labels != cut))
        assert each.ari[number] == pytest.approx(adjusted_rand_score(y, labels))
    assert n_moved


def test_weights_are_written_as_the_package_reads_them(written):
    weights = Weights.of(written)
    assert len(weights.split.coefficients) == len(SPLIT_COLUMNS)
    assert len(weights.several.coefficients) == len(SEVERAL_NAMES)
    assert weights.score.to_lines() == written["score"]["trees"]
    assert np.isfinite(weights.split.coefficients).all()
    assert weights.temperature > 0
    assert written["sets"] == {
        **{"given": 3, "generated": 0},
        "families": ["fcps", "other", "sipu"],
    }
    assert set(written["left_out"]["families"]) == {"fcps", "sipu", "other"}


def test_the_numbers_of_each_family_left_out_are_kept(folder, written):
    without = json.loads((folder / "out.json").read_text())
    assert set(without) == {"fcps", "sipu", "other"}
    for content in without.values():
        Weights.of(content)


def test_the_score_prefers_the_better_candidate(folder, written):
    weights = Weights.of(written)
    for name in ("fcps_three", "sipu_four"):
        each = collect.load(folder / f"{name}.npz")
        known = fit.Known.by(weights.split, each, fit.columns_of(each))
        assert each.ari[known.scores(weights.score).argmax()] == each.ari.max() == 1


def test_numbers_are_fitted_to_first_draws_and_scored_on_all(tmp_path):
    X, y = make_blobs(150, centers=3, cluster_std=0.4, random_state=3)
    np.savez(tmp_path / "data.npz", X=X, y=y + 1)
    draws = [
        collect.collect(sets.LabelledSet(name, tmp_path / "data.npz"), number)
        for name in ("fcps_three", "sipu_three")
        for number in (0, 1)
    ]
    assert [each.name for each in draws[:2]] == ["fcps_three", "fcps_three~1"]
    assert {each.set_name for each in draws[:2]} == {"fcps_three"}
    train, held_out = fit.divide(draws, "fcps")
    assert [each.name for each in train] == ["sipu_three"]
    assert [each.name for each in held_out] == ["fcps_three", "fcps_three~1"]


@pytest.mark.parametrize(("n_rows", "depth"), [(400, 2), (30, 2), (30, 1), (1, 2)])
def test_a_score_adds_up_the_predictions_of_trees(n_rows, depth):
    rng = RandomState(0)
    # In single precision, as scikit-learn's trees compare.
    table = rng.rand(n_rows, len(SCORE_NAMES)).astype(np.float32).astype(np.float64)
    trees, expected = [], np.zeros(n_rows)
    for number in range(5):
        tree = DecisionTreeRegressor(max_depth=depth, max_features=2, random_state=number)
        tree.fit(table, rng.randn(n_rows))
        expected += tree.predict(table)
        trees.append(fitting.questions(tree, tree.tree_.value[:, 0, 0]))
    score = fitting.boosted_of(trees)
    assert_allclose(score(table), expected, atol=1e-4)
    assert score.to_lines() == Boosted.of(score.to_lines()).to_lines()


def test_evidence_that_is_dropped_is_not_asked_about(folder):
    sets_of_folder = [each for each in collect.load_all(folder) if not each.is_single]
    columns = {each.name: fit.columns_of(each) for each in sets_of_folder}
    split = fitting.fit_split(sets_of_folder, columns)
    known = [fit.Known.by(split, each, columns[each.name]) for each in sets_of_folder]
    dropped = ("found", "silhouette")
    (score,) = fitting.fit_scores([known], fitting.Rule(left_out=dropped, n_trees=30))
    asked = {name for line in score.to_lines() for name in line.split()[0:6:2]}
    assert len(score.values) == 30
    assert not asked & set(dropped)


@pytest.mark.parametrize("family", sorted(set(generators.FAMILIES) - set(generators.missing())))
def test_generated_sets_are_the_same_each_time(family):
    points, classes = generators.draw(family, 1)
    again, same = generators.draw(family, 1)
    assert_array_equal(points, again)
    assert_array_equal(classes, same)
    assert np.isfinite(points).all()
    assert len(points) == len(classes)
    assert classes.min() >= 0
    # Every second set of "few" is one cluster, and number 1 is.
    assert (classes.max() == 1) == (family in ("one", "few"))


def test_families_are_sources():
    names = {
        "fcps_atom": "fcps",
        "gen_repliclust_004": "repliclust",
        "drawn_repliclust_004": "repliclust",
        "drawn_one_001": "drawn_one",
        "ts_trace": "series",
        "zoo": "tables",
    }
    assert {name: sets.family_of(name) for name in names} == names


@pytest.fixture(scope="module")
def four_draws(tmp_path_factory):
    X, y = make_blobs(150, centers=3, cluster_std=0.4, random_state=3)
    path = tmp_path_factory.mktemp("draws") / "data.npz"
    np.savez(path, X=X, y=y + 1)
    three = sets.LabelledSet("fcps_three", path)
    return [collect.collect(three, number) for number in range(4)]


def test_unclear_verdicts_are_those_of_more_draws_as_in_a_fit(four_draws):
    first, second, third, _ = four_draws
    pooled = choices.Choice(second, 7, 4, False, 1.2)
    found = [
        choices.Verdict([choices.Choice(each, 0, 1, is_found, log_odds), pooled])
        for each, is_found, log_odds in [
            *((first, True, 3.4), (second, False, 3.4)),
            *((third, True, 1.4), (third, False, 3.4)),
        ]
    ]
    # Relative to a threshold of 1, only the first is far from zero and found again.
    assert [one.at(1.0) is pooled for one in found] == [False, True, True, True]
    assert [one.chosen for one in choices.decided(found, 1.0)] == [0, 7, 7, 7]
    assert [one.chosen for one in choices.decided(found, 3.0)] == [-1, -1, -1, -1]


def test_the_bench_chooses_among_draws_as_the_package_does(four_draws, written):
    weights = Weights.of(written)
    known = [fit.Known.by(weights.split, each, fit.columns_of(each)) for each in four_draws]
    several = fit.Several(weights.several, weights.empty_gap)
    found = choices.verdicts(known, weights.score, several, weights.temperature)
    assert len(found) == len(four_draws)
    mean = np.mean([one.choices[0].log_odds for one in found])
    for one, each in zip(found, four_draws, strict=True):
        single, pooled = one.choices
        assert single.each is each
        assert (single.n_draws, pooled.n_draws) == (1, 4)
        assert pooled.is_found
        assert each.ari[single.best] == 1
        assert pooled.log_odds == pytest.approx(mean)
        assert pooled.each.ari[pooled.best] == 1


def test_draws_of_a_set_differ(four_draws):
    assert [each.set_name for each in four_draws] == ["fcps_three"] * 4
    assert len({each.ari.tobytes() for each in four_draws}) > 1


def test_a_new_balance_changes_only_the_constants_of_one_or_several(folder, written):
    before = {
        "again.json": written,
        "again_out.json": json.loads((folder / "out.json").read_text()),
    }
    for name, content in before.items():
        (folder / name).write_text(json.dumps(content))
    fit.rebalance(collect.load_all(folder), folder / "again.json", folder / "again_out.json")
    final, without = (json.loads((folder / name).read_text()) for name in before)
    pairs = [(final, written), *((without[one], before["again_out.json"][one]) for one in without)]
    shifts = [new["several"]["constant"] - old["several"]["constant"] for new, old in pairs]
    assert shifts == pytest.approx(shifts[:1] * len(shifts), abs=1e-5)
    for new, old in pairs:
        assert new["several"]["weights"] == old["several"]["weights"]
        assert {name: new[name] for name in ("split", "score")} == {
            name: old[name] for name in ("split", "score")
        }
    # The same sets give the same scores.
    assert final["left_out"] == written["left_out"]
