"""Scores against known classes, and without any."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from pskclust import PSKC
from pskclust.metrics import matched_f1, objective, separation, stability


def f1_of_best_matching(y_true, y_pred):
    """The score, by trying every way to match classes with clusters; None is no cluster."""
    classes, clusters = sorted(set(y_true)), sorted(set(y_pred) - {-1})
    choices = [*clusters, *[None] * len(classes)]
    return max(
        np.mean(
            [f1(y_true == one, y_pred == other) for one, other in zip(classes, chosen, strict=True)]
        )
        for chosen in set(permutations(choices, len(classes)))
    )


def f1(in_class, in_cluster):
    return 2 * np.sum(in_class & in_cluster) / (np.sum(in_class) + np.sum(in_cluster))


@pytest.mark.parametrize("seed", range(20))
def test_the_score_is_that_of_the_best_matching(seed):
    rng = np.random.RandomState(seed)
    y_true, y_pred = rng.randint(0, rng.randint(1, 5), 12), rng.randint(-1, rng.randint(1, 5), 12)
    assert matched_f1(y_true, y_pred) == pytest.approx(f1_of_best_matching(y_true, y_pred))


def test_names_of_classes_and_clusters_do_not_matter():
    assert matched_f1(["b", "b", "a", "c"], [7, 7, 0, 3]) == 1
    assert matched_f1([5, 5, 2], ["x", "x", "y"]) == 1


def test_noise_matches_no_class():
    assert matched_f1([0, 0, 1, 1], [0, 0, -1, -1]) == 0.5
    assert matched_f1([0, 0], [-1, -1]) == 0
    assert matched_f1([-1, -1, 0], [1, 1, 0]) == 1


def test_a_cluster_matches_one_class_only():
    assert matched_f1([0, 0, 1, 1], [0, 0, 0, 0]) == pytest.approx(2 / 3 / 2)


def test_a_split_class_counts_with_one_part():
    assert matched_f1([0, 0, 0, 0], [0, 0, 0, 1]) == pytest.approx(2 * 3 / 7)


def test_labels_of_different_length_are_refused():
    with pytest.raises(ValueError, match="y_true has 2 labels and y_pred has 3. Pass one of each"):
        matched_f1([0, 1], [0, 1, 1])


@pytest.mark.parametrize("wrong", [[], [[0, 1]], 3])
def test_labels_are_one_for_each_row(wrong):
    with pytest.raises(
        ValueError, match=r"y_pred has shape \(.*\). Pass a list with a label for each"
    ):
        matched_f1([0, 1], wrong)


def test_stability_is_the_mean_agreement_of_all_pairs():
    same, other = [0, 0, 1, 1], [0, 1, 0, 1]
    assert stability([same, [7, 7, -1, -1]]) == 1
    assert stability([same, other]) == pytest.approx(-0.5)
    assert stability([same, same, other]) == pytest.approx((1 - 0.5 - 0.5) / 3)


@pytest.mark.parametrize("clusterings", [[[0, 1]], [[0, 1], [0, 1, 2]]])
def test_stability_needs_two_clusterings_of_the_same_rows(clusterings):
    with pytest.raises(ValueError, match="Pass two clusterings or more, of the same rows"):
        stability(clusterings)


def test_scores_of_a_model_are_made_of_its_similarities(blobs):
    model = PSKC(psi=32, tau=0.02, random_state=0).fit(blobs)
    similarities = np.sort(model.similarity(blobs), axis=1)
    assert objective(model, blobs) == pytest.approx(similarities[:, -1].sum())
    expected = np.mean(1 - similarities[:, -2] / similarities[:, -1])
    assert separation(model, blobs) == pytest.approx(expected)


def test_one_cluster_is_separated_from_all_others(blobs):
    model = PSKC(psi=4, tau=0.0001, random_state=0).fit(blobs[:20])
    assert model.n_clusters_ == 1
    assert separation(model, blobs[:20]) == 1


def test_without_clusters_nothing_is_separated(blobs):
    model = PSKC(psi=32, tau=0.999, random_state=0).fit(blobs)
    assert model.n_clusters_ == 0
    assert (separation(model, blobs), objective(model, blobs)) == (0, 0)


def test_arguments_of_another_type_are_named(blobs):
    model = PSKC(psi=32, tau=0.02, random_state=0).fit(blobs)
    for score in (separation, objective):
        with pytest.raises(TypeError, match="is of type ndarray. Pass a fitted PSKC"):
            score(blobs, model.labels_)
    for wrong in (model, model.labels_, list(model.labels_)):
        with pytest.raises(TypeError, match="Pass a list of labellings of the same rows"):
            stability(wrong)
