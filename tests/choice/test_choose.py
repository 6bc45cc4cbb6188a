"""The choice without parameters: what it finds, and what does not change it."""

from __future__ import annotations

from dataclasses import asdict, replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.datasets import make_moons
from sklearn.metrics import adjusted_rand_score

import pskclust
from pskclust import PSKC
from pskclust._choice import choose as _choose
from pskclust._choice import reasons
from pskclust._choice.options import NumberOption
from pskclust.datasets import make_shapes
from tests.helpers.row_blocks import in_blocks, shards_of
from tests.helpers.shapes import CLEAR, far_blobs

RNG = np.random.RandomState
FEW = (2, 3, 5, 11)


def chosen(X, weights=None, **parameters):
    return PSKC(**{"random_state": 0, **parameters}).fit(X, sample_weight=weights)


def agreement(one, other):
    return adjusted_rand_score(one, other)


def assert_same_choice(one, other):
    """All that is told of a choice, but for the last bits of its figures."""
    assert len(one.candidates) == len(other.candidates)
    for a, b in zip((one.chosen, *one.candidates), (other.chosen, *other.candidates), strict=True):
        assert (a.kind, a.psi, a.n_clusters) == (b.kind, b.psi, b.n_clusters)
        for name, value in asdict(a).items():
            if isinstance(value, float):
                assert_allclose(value, getattr(b, name), rtol=1e-6, atol=1e-6)
    assert (one.reason, one.n_rows) == (other.reason, other.n_rows)


@pytest.fixture(params=CLEAR)
def clear(request):
    return CLEAR[request.param]


@pytest.fixture
def small_samples(monkeypatch):
    """A choice is made on 150 rows."""
    monkeypatch.setattr(_choose, "MAX_ROWS", 150)


# What is found.


@pytest.mark.parametrize("n_columns", [2, 8, 50])
@pytest.mark.parametrize("n_clusters", [3, 5, 8, 12])
def test_blobs_far_apart_are_found(n_clusters, n_columns):
    X, y = far_blobs(n_clusters, n_columns)
    model = chosen(X)
    assert model.n_clusters_ == n_clusters
    assert agreement(y, model.labels_) > 0.95


@pytest.mark.parametrize("seed", range(3))
def test_clear_clusters_are_found_with_any_seed(clear, seed):
    X, y = clear
    model = chosen(X, random_state=seed)
    assert model.n_clusters_ == len(set(y))
    assert agreement(y, model.labels_) > 0.95


@pytest.mark.parametrize("method", ["hypersphere", "tree"])
def test_clear_clusters_are_found_with_other_cells(clear, method):
    X, y = clear
    assert agreement(y, chosen(X, method=method, noise="nearest").labels_) > 0.95


def test_directions_are_found_with_the_cosine():
    rng = RNG(0)
    y = np.arange(150) % 3
    X = (np.eye(3)[y] + 0.05 * rng.randn(150, 3)) * rng.uniform(1, 100, (150, 1))
    model = chosen(X, metric="cosine")
    assert model.n_clusters_ == 3
    assert agreement(y, model.labels_) > 0.95


@pytest.mark.slow
def test_one_round_cluster_stays_one_in_most_draws():
    numbers = [chosen(RNG(seed).randn(500, 2)).n_clusters_ for seed in range(10)]
    assert numbers.count(1) > 5


@pytest.mark.parametrize("n_columns", [1, 2, 100, 300])
def test_few_and_many_columns(n_columns):
    y = np.arange(90) % 3
    X = 40 * np.eye(3)[y][:, [0]] + 80 * np.eye(3)[y][:, [1]] + RNG(0).randn(90, n_columns)
    model = chosen(X)
    assert model.n_clusters_ == 3
    assert agreement(y, model.labels_) > 0.95


# What is told of it.


def test_the_choice_is_told(clear):
    X, y = clear
    model = chosen(X)
    choice = model.auto_
    assert choice.chosen.n_clusters == len(set(y))
    assert len(X) * 0.9 < choice.n_rows <= len(X)
    assert 1 < len(choice.candidates) <= 10
    odds = [candidate.odds for candidate in choice.candidates]
    assert odds == sorted(odds, reverse=True)
    for candidate in (choice.chosen, *choice.candidates):
        assert candidate.kind in ("one", "average", "path")
        assert (candidate.kind == "one") == (candidate.n_clusters == 1)
        assert 0 <= candidate.odds <= 1
        if candidate.kind != "one":
            for name in ("stability", "least_stability", "agreement", "overlap"):
                assert 0 <= getattr(candidate, name) <= 1 + 1e-6
            assert -1 <= candidate.separation <= 1
    assert sum(candidate.odds for candidate in choice.candidates) <= 1 + 1e-9
    assert [number.is_chosen for number in choice.numbers] == [
        number.n_clusters == choice.chosen.n_clusters for number in choice.numbers
    ]
    assert (model.tau_, model.growth_step_, model.n_iter_) == (None, None, None)


def test_the_odds_of_a_number_of_clusters_are_those_of_all_its_candidates(clear):
    choice = chosen(clear[0]).auto_
    for number in choice.numbers:
        listed = [one.odds for one in choice.candidates if one.n_clusters == number.n_clusters]
        assert number.odds >= sum(listed) - 1e-9
    best = choice.numbers[0]
    assert best.is_chosen
    assert best.odds > choice.chosen.odds
    assert sum(number.odds for number in choice.numbers) == pytest.approx(1, abs=0.01)
    second = choice.numbers[1]
    named = f"second choice: {second.n_clusters} cluster" in choice.reason
    assert named == (second.odds >= 0.001)


@pytest.mark.parametrize(("odds", "is_higher"), [(0.2, False), (0.001, False), (0.5, True)])
def test_a_second_choice_with_higher_odds_is_explained(odds, is_higher):
    numbers = [
        NumberOption(k, share, None, None, None, None, None, k == 12)
        for k, share in ((12, 0.3), (11, odds))
    ]
    words = "; second choice: 11 clusters"
    if is_higher:
        words = (
            "; unclear: 11 clusters have higher odds (50%) than 12 (30%), the most typical of the "
            "best candidates; to settle it, set the number of clusters"
        )
    assert reasons.second_choice(numbers) == words
    assert reasons.second_choice(numbers[:1]) == ""


def test_a_second_choice_with_negligible_odds_is_not_named():
    numbers = [
        NumberOption(k, share, None, None, None, None, None, k == 9)
        for k, share in ((9, 0.9999), (10, 0.0009))
    ]
    assert reasons.second_choice(numbers) == ""


def test_all_numbers_with_higher_odds_are_named():
    odds = {1: 0.426, 3: 0.417, 4: 0.082, 5: 0.03}
    numbers = [NumberOption(k, odds[k], None, None, None, None, None, k == 4) for k in odds]
    words = reasons.second_choice(numbers)
    assert "1 and 3 clusters have higher odds (43% and 42%) than 4 (8%), " in words
    (one,) = (number for number in numbers if number.n_clusters == 1)
    assert "1 cluster has higher odds (43%) than 4" in reasons.second_choice([one, *numbers[2:]])


@pytest.mark.parametrize(
    "parameters", [{}, {"n_clusters": 1}, {"n_clusters": 3}, {"psi": 16}], ids=str
)
@pytest.mark.parametrize("n_rows", [3, 120])
def test_the_reason_is_a_sentence(parameters, n_rows):
    if parameters.get("psi", 0) > n_rows:
        parameters = {"psi": 2}
    model = chosen(far_blobs(3)[0][:n_rows], **parameters)
    reason = model.auto_.reason
    assert str(model.auto_) == reason
    assert len(reason.split()) > 3
    assert "None" not in reason
    assert "nan" not in reason
    if "n_clusters" in parameters:
        n_clusters = parameters["n_clusters"]
        assert reason.startswith(f"{n_clusters} cluster")
        assert reason.endswith(", the number that was set")


def test_confidences_are_shares(clear):
    model = chosen(clear[0])
    assert model.confidences_.shape == model.labels_.shape
    assert ((model.confidences_ >= 0) & (model.confidences_ <= 1)).all()
    assert_array_equal(model.confidences_[model.labels_ < 0], 0)


def test_the_tree_has_the_clusters_that_were_chosen(clear):
    X, _ = clear
    model = chosen(X, noise="nearest")
    assert len(model.merge_tree_) >= model.n_clusters_
    assert model.merge_tree_.masses.sum() == len(X)


def test_attributes_fit_together(clear):
    X, _ = clear
    model = chosen(X)
    labels, member = model.labels_, model.labels_ >= 0
    assert_array_equal(model.cluster_sizes_, np.bincount(labels[member]))
    own = model.similarity(X)[np.arange(len(X)), labels]
    assert_array_equal(model.similarities_, np.where(member, own, 0))
    for cluster, seed in enumerate(model.seeds_):
        assert labels[seed] == cluster
        assert own[seed] == own[labels == cluster].max()
    assert model.psi_ == model.kernel_.psi_


def test_a_model_file_keeps_the_choice(clear, tmp_path):
    X, _ = clear
    model = chosen(X)
    model.save(tmp_path / "model.npz")
    loaded = pskclust.load(tmp_path / "model.npz")
    assert loaded.auto_ == model.auto_
    assert_array_equal(loaded.labels_, model.labels_)
    assert_array_equal(loaded.confidences_, model.confidences_)
    assert_array_equal(loaded.merge_tree_.to_scipy(), model.merge_tree_.to_scipy())
    assert_array_equal(loaded.predict(X + 0.01), model.predict(X + 0.01))


def test_new_rows_of_clear_clusters_are_predicted():
    for n_columns in (2, 8, 50):
        X, y = far_blobs(6, n_columns, 80)
        model = chosen(X[::2], noise="nearest")
        assert agreement(y[1::2], model.predict(X[1::2])) > 0.95
        assert_array_equal(model.predict(X[::2]), model.labels_)


def test_progress_is_reported(clear):
    heard = []
    model = chosen(clear[0], callback=heard.append)
    assert heard[0].stage == "choose"
    assert heard[-1].n_clusters == model.n_clusters_


# What does not change it.


@pytest.mark.parametrize("power", [-30, -10, 1, 10, 30])
def test_the_scale_of_the_rows_does_not_matter(clear, power):
    X, _ = clear
    plain, scaled = chosen(X), chosen(X * 2.0**power)
    assert_array_equal(scaled.labels_, plain.labels_)
    assert_same_choice(scaled.auto_, plain.auto_)


def test_rotation_and_reflection_do_not_matter(clear):
    X, _ = clear
    plain = chosen(X)
    for angle, sign in ((0.3, 1), (2.0, -1)):
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        turned = chosen(X @ turn * [1, sign])
        assert turned.n_clusters_ == plain.n_clusters_
        assert agreement(turned.labels_, plain.labels_) > 0.95
    mirrored = chosen(-X)
    assert_array_equal(mirrored.labels_, plain.labels_)


def test_where_the_rows_lie_does_not_matter(clear):
    X, _ = clear
    assert agreement(chosen(X).labels_, chosen(X + [3, -7]).labels_) > 0.95


@pytest.mark.parametrize("n_columns", [2, 50])
def test_threads_do_not_matter(n_columns):
    X = RNG(0).randn(300, n_columns) + 3 * RNG(1).randint(0, 3, (300, 1))
    one, two = chosen(X, n_jobs=1), chosen(X, n_jobs=2)
    assert one.auto_ == two.auto_
    assert_array_equal(one.labels_, two.labels_)
    assert_array_equal(one.confidences_, two.confidences_)
    assert_array_equal(one.similarities_, two.similarities_)


def test_order_of_rows_changes_little(clear):
    X, _ = clear
    order = RNG(0).permutation(len(X))
    assert agreement(chosen(X).labels_[order], chosen(X[order]).labels_) > 0.95


def test_order_of_columns_changes_little():
    X, _ = far_blobs(5, 8)
    assert agreement(chosen(X).labels_, chosen(X[:, ::-1]).labels_) > 0.95


def test_one_row_more_changes_little(clear):
    X, _ = clear
    more = np.vstack([X, X[:1] + 0.01])
    assert agreement(chosen(X).labels_, chosen(more).labels_[:-1]) > 0.95


@pytest.mark.parametrize("parameters", [{}, {"n_clusters": 4}, {"psi": 32}], ids=str)
@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
def test_where_rows_are_does_not_matter(parameters, weighted, scattered, tmp_path):
    weights = RNG(0).randint(0, 4, len(scattered)) if weighted else None
    plain = chosen(scattered, weights, **parameters)
    with shards_of(100):
        blocks = chosen(in_blocks(scattered, [7, 7, 250]), weights, **parameters)
        on_disk = chosen(scattered, weights, scratch_dir=tmp_path, **parameters)
    for other in (blocks, on_disk):
        assert other.engine_ == "out of core"
        assert other.auto_ == plain.auto_
        assert_array_equal(other.labels_, plain.labels_)
        assert_array_equal(other.similarities_, plain.similarities_)
        assert_array_equal(other.confidences_, plain.confidences_)
        assert_array_equal(other.merge_tree_.to_scipy(), plain.merge_tree_.to_scipy())


@pytest.mark.slow
@pytest.mark.numba
def test_compiled_code_does_not_matter(monkeypatch, small_samples):
    X, _ = far_blobs(5, n_each=60)
    plain = chosen(X)
    monkeypatch.setattr("pskclust._kernels.select.MIN_ROWS_FOR_COMPILED", 1)
    compiled = chosen(X)
    assert (plain.backend_, compiled.backend_) == ("numpy", "numba")
    assert compiled.auto_ == plain.auto_
    assert_array_equal(compiled.labels_, plain.labels_)
    assert_array_equal(compiled.similarities_, plain.similarities_)


@pytest.mark.parametrize("n_rows", [5, 40, 200])
@pytest.mark.parametrize("n_columns", [2, 20])
def test_weights_are_repeated_rows(n_rows, n_columns):
    rng = RNG(0)
    X = rng.normal(size=(n_rows, n_columns)) + 6 * rng.randint(0, 2, (n_rows, 1))
    weights = rng.randint(1, 4, len(X))
    assert_weights_are_repeated_rows(X, weights)


@pytest.mark.parametrize("n_columns", [2, 20])
def test_weights_are_repeated_rows_in_a_sample(small_samples, n_columns):
    rng = RNG(0)
    X = rng.normal(size=(200, n_columns)) + 6 * rng.randint(0, 2, (200, 1))
    assert_weights_are_repeated_rows(X, rng.randint(1, 4, len(X)))


def assert_weights_are_repeated_rows(X, weights):
    weighted, repeated = chosen(X, weights), chosen(np.repeat(X, weights, axis=0))
    assert weighted.auto_ == repeated.auto_
    assert_array_equal(np.repeat(weighted.labels_, weights), repeated.labels_)
    assert_array_equal(np.repeat(weighted.similarities_, weights), repeated.similarities_)
    assert weighted.objective_ == repeated.objective_


# A sample stands for all rows.


@pytest.mark.parametrize("n_columns", [2, 8, 50])
def test_a_sample_is_enough(small_samples, n_columns):
    X, y = far_blobs(4, n_columns, 100)
    model = chosen(X, noise="nearest")
    assert 130 < model.auto_.n_rows <= 150
    assert agreement(y, model.labels_) > 0.95
    assert agreement(model.predict(X), model.labels_) > 0.95


def test_clusters_are_numbered_by_their_size_in_all_rows(small_samples):
    X, y = far_blobs(6, n_each=100)
    X = X[np.arange(len(X)) % 100 > y]  # clusters of nearly equal sizes, in another order than here
    for seed in range(3):
        model = chosen(X, random_state=seed, noise="nearest")
        assert (np.diff(model.cluster_sizes_) <= 0).all()
        assert_array_equal(np.bincount(model.labels_), model.cluster_sizes_)
        assert_array_equal(model.relabel(n_clusters=model.n_clusters_), model.labels_)


def test_rows_beyond_the_sample_follow_as_they_are_predicted(small_samples, scattered):
    model = chosen(scattered, noise="nearest")
    differ = np.count_nonzero(model.predict(scattered) != model.labels_)
    assert differ <= 150
    given = PSKC(random_state=0, noise="nearest").fit(scattered[:150])
    assert len(given.labels_) == 150


def test_a_psi_beyond_the_sample_is_refused(small_samples, scattered):
    with pytest.raises(ValueError, match=r"psi=151 is more than the \d+ .* or set tau as well"):
        chosen(scattered, psi=151)
    too_many = len(scattered) + 1
    with pytest.raises(ValueError, match=r"is made on. Use psi <= \d+\.$"):
        chosen(scattered, psi=too_many)


# Few rows, and copies.


@pytest.mark.parametrize("n_rows", FEW)
@pytest.mark.parametrize("n_columns", [1, 2, 30])
def test_few_rows_are_one_cluster(n_rows, n_columns):
    model = chosen(RNG(0).randn(n_rows, n_columns), noise="nearest")
    assert model.n_clusters_ == 1
    assert_array_equal(model.labels_, 0)
    assert model.auto_.chosen.kind == "one"
    assert_array_equal(model.predict(np.zeros((1, n_columns))), 0)


@pytest.mark.parametrize("n_rows", FEW)
@pytest.mark.parametrize("n_columns", [1, 2, 30])
def test_few_rows_are_divided_if_that_is_asked_for(n_rows, n_columns):
    X = RNG(0).randn(n_rows, n_columns)
    for n_clusters in range(1, min(4, n_rows) + 1):
        model = chosen(X, n_clusters=n_clusters)
        assert model.n_clusters_ == n_clusters
        assert set(model.labels_) - {-1} == set(range(n_clusters))


@pytest.mark.parametrize("n_rows", [*FEW, 60, 400])
@pytest.mark.parametrize("n_columns", [2, 30])
def test_rows_that_are_all_equal_are_one_cluster(n_rows, n_columns):
    X = np.tile(RNG(0).randn(n_columns), (n_rows, 1))
    model = chosen(X)
    assert model.n_clusters_ == 1
    assert_array_equal(model.labels_, 0)
    with pytest.raises(ValueError, match="Use n_clusters <= 1"):
        chosen(X, n_clusters=2)


@pytest.mark.parametrize("n_different", [2, 3, 8, 30])
@pytest.mark.parametrize("n_columns", [2, 30])
@pytest.mark.parametrize("parameters", [{}, {"n_clusters": 2}], ids=str)
def test_copies_of_a_row_stay_together(n_different, n_columns, parameters):
    which = RNG(1).randint(0, n_different, 200)
    labels = chosen(RNG(0).randn(n_different, n_columns)[which], **parameters).labels_
    for row in range(n_different):
        assert len(set(labels[which == row])) <= 1


@pytest.mark.parametrize("n_copies", [2, 5])
def test_copies_of_all_rows_change_little(n_copies):
    X, y = far_blobs(3, n_each=15)
    labels = chosen(np.repeat(X, n_copies, axis=0)).labels_
    assert agreement(np.repeat(y, n_copies), labels) > 0.95


def test_rows_of_weight_zero_take_no_part():
    X, y = far_blobs(4)
    weights = (y > 0).astype(int)
    model, without = chosen(X, weights), chosen(X[y > 0])
    assert model.auto_ == without.auto_
    assert_array_equal(model.labels_[y > 0], without.labels_)


# What is given.


@pytest.mark.parametrize("n_clusters", [1, 2, 3, 7, 40])
def test_the_number_of_clusters_can_be_given(clear, n_clusters):
    model = chosen(clear[0], n_clusters=n_clusters)
    assert model.n_clusters_ == model.auto_.chosen.n_clusters == n_clusters
    assert set(model.labels_) - {-1} == set(range(n_clusters))
    assert {candidate.n_clusters for candidate in model.auto_.candidates} == {n_clusters}


def test_the_right_number_gives_the_right_clusters(clear):
    X, y = clear
    assert agreement(y, chosen(X, n_clusters=len(set(y))).labels_) > 0.95


def test_a_psi_that_is_given_is_the_only_one(clear):
    X, y = clear
    model = chosen(X, psi=48)
    assert {candidate.psi for candidate in model.auto_.candidates} == {48}
    assert model.psi_ == 48
    assert agreement(y, model.labels_) > 0.95


@pytest.mark.parametrize("n_rows", [12, 13, 15, 16, 31, 60])
@pytest.mark.parametrize("psi", ["auto", 2, 8, 10])
def test_any_psi_serves_few_rows(n_rows, psi):
    model = chosen(RNG(0).randn(n_rows, 2), psi=psi)
    assert model.n_clusters_ >= 1
    if psi != "auto":
        assert model.psi_ == psi


@pytest.mark.parametrize("psi", [60, 61, 100, 120])
def test_psi_may_be_as_large_as_the_sample(psi):
    model = chosen(far_blobs(3)[0], psi=psi, n_clusters=3)
    assert (model.n_clusters_, model.psi_) == (3, psi)


def test_psi_may_not_be_larger_than_what_noise_leaves():
    X = np.vstack([far_blobs(3)[0], [[5_000, 0], [0, -7_000], [9_000, 9_000]]])
    assert_array_equal(chosen(X).labels_[-3:], -1)
    with pytest.raises(ValueError, match="psi=123 is more than the 120 rows"):
        chosen(X, psi=123)


def test_given_tau_grows_and_nothing_is_chosen(scattered):
    model = PSKC(tau=0.05, random_state=0).fit(scattered)
    assert (model.auto_, model.merge_tree_, model.confidences_) == (None, None, None)
    assert (model.psi_, model.tau_) == (64, 0.05)
    assert model.growth_step_ is not None


def test_given_tau_and_number_link_what_grew(clear):
    X, y = clear
    n_clusters = len(set(y))
    model = PSKC(psi=64, tau=0.1, n_clusters=n_clusters, random_state=0).fit(X)
    assert agreement(y, model.labels_) > 0.95
    assert (model.auto_, model.confidences_) == (None, None)
    plain = PSKC(psi=64, tau=0.1, random_state=0, refine=False).fit(X)
    assert_array_equal(model.merge_tree_.masses, plain.cluster_sizes_)
    assert_array_equal(model.growth_step_, plain.growth_step_)
    assert_array_equal(model.predict(X), model.labels_)


@pytest.mark.parametrize("least", [10, 50, 110])
def test_no_cluster_is_smaller_than_asked_for(least):
    X, y = far_blobs(4)
    X = np.vstack([X[y != 3], X[y == 3][:12]])
    for weights in (None, RNG(0).randint(1, 3, len(X))):
        model = chosen(X, weights, min_cluster_size=least)
        units = np.ones(len(X)) if weights is None else weights
        sizes = np.bincount(model.labels_ + 1, units, model.n_clusters_ + 1)[1:]
        assert (sizes >= least).all()


def test_clusters_of_the_least_size_are_chosen():
    X, y = far_blobs(4, n_each=150)
    X[y == 1], X[y == 3] = X[y == 0] + [5.0, 0.0], X[y == 2] + [5.0, 0.0]  # two pairs
    assert chosen(X).n_clusters_ == 4
    model = chosen(X, min_cluster_size=160)
    assert agreement(model.labels_, y // 2) == 1
    assert model.auto_.reason.startswith("2 clusters")
    model = chosen(X, min_cluster_size=len(X))
    assert model.n_clusters_ == 1
    assert f"fewer than min_cluster_size={len(X)} rows" in model.auto_.reason
    assert model.auto_.reason.endswith("without this limit, 4 clusters")


def test_few_rows_are_in_dissolved_clusters_if_the_sample_is_smaller_than_the_data():
    X, _ = make_shapes(4_000, random_state=0)
    assert len(X) > _choose.MAX_ROWS
    # Not close to the size of a cluster, which a sample cannot tell from the limit.
    for least in (300, 350, 450):
        model = chosen(X, min_cluster_size=least)
        assert (model.cluster_sizes_ >= least).all()
        assert np.mean(model.labels_ < 0) < _choose.MAX_SHARE_TOO_SMALL + 0.03


def test_a_small_cluster_is_dissolved_and_the_reason_says_so():
    X, y = far_blobs(4)
    X = np.vstack([X[y != 3], X[y == 3][:12]])
    assert chosen(X).n_clusters_ == 4
    model = chosen(X, min_cluster_size=20)
    assert (model.n_clusters_, model.auto_.chosen.n_clusters) == (3, 4)
    found, dissolved, *others = model.auto_.reason.split("; ")
    assert found.startswith("4 clusters")
    assert dissolved == "1 of them is smaller than min_cluster_size=20 and therefore dissolved"
    assert all(words.startswith("second choice") for words in others)


def test_clusters_that_are_asked_for_and_too_small_are_named():
    X, _ = far_blobs(4)
    with pytest.raises(ValueError, match="None of n_clusters=4 clusters has min_cluster_size=60"):
        chosen(X, n_clusters=4, min_cluster_size=60)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_clusters": 0}, "n_clusters=0 is not allowed. Use a whole number of 1 or more"),
        (
            {"n_clusters": 121},
            r"n_clusters=121 is more than the \d+ clusters .*a sample has at most 2,000 rows",
        ),
        ({"psi": 8, "tau": 0.1, "n_clusters": 90}, "more than the .* clusters that grew"),
        ({"psi": 121}, r"psi=121 is more than the \d+ rows"),
        ({"growth_rate": 0.2}, "Give psi and tau, or leave growth_rate out"),
    ],
    ids=str,
)
def test_what_cannot_be_is_said(parameters, message):
    with pytest.raises(ValueError, match=message):
        chosen(far_blobs(3)[0], **parameters)


def test_linked_growth_goes_on_from_a_checkpoint(scattered, tmp_path):
    parameters = {"psi": 32, "tau": 0.1, "n_clusters": 4, "random_state": 0}

    def stop(progress):
        if progress.stage == "grow" and progress.n_clusters > 3:
            raise InterruptedError

    folder = tmp_path / "checkpoint"
    with pytest.raises(InterruptedError):
        PSKC(**parameters, checkpoint=folder, callback=stop).fit(scattered)
    heard = []
    model = PSKC(**parameters, checkpoint=folder, callback=heard.append).fit(scattered)
    assert next(event for event in heard if event.stage == "grow").n_clusters == 4
    assert_array_equal(model.labels_, PSKC(**parameters).fit(scattered).labels_)
    assert not folder.exists()


def test_the_largest_number_of_clusters_comes_with_a_warning():
    centres = np.array([[column, row] for column in range(9) for row in range(9)])
    rng = np.random.RandomState(0)
    X = np.repeat(centres, 20, axis=0) + 0.02 * rng.randn(20 * len(centres), 2)
    how = "(were chosen|have the highest odds of all numbers)"
    with pytest.warns(UserWarning, match=f"60 clusters {how}.*in layers_ or a smaller n_cl"):
        model = PSKC(random_state=0).fit(X)
    assert model.auto_.numbers[0].n_clusters == 60
    assert PSKC(n_clusters=81, random_state=0).fit(X).n_clusters_ == 81


def test_the_reason_calls_unstable_clusters_unclear():
    chosen = PSKC(random_state=0).fit(make_moons(300, noise=0.05, random_state=0)[0]).auto_
    assert chosen.chosen.stability >= reasons.STABLE
    assert "unclear" not in chosen.reason
    shaky = replace(chosen.chosen, stability=reasons.STABLE - 0.01)
    assert "unclear: random halves of the rows give partly different clusters" in reasons.reason_of(
        shaky, chosen.numbers, None
    )


def test_the_reason_says_once_that_clusters_are_unclear():
    chosen = PSKC(random_state=0).fit(make_moons(300, noise=0.05, random_state=0)[0]).auto_
    shaky = replace(chosen.chosen, stability=reasons.STABLE - 0.01)
    likelier = [
        replace(number, odds=0.3 + 0.4 * (not number.is_chosen)) for number in chosen.numbers
    ]
    reason = reasons.reason_of(shaky, likelier, None)
    assert reason.count("unclear") == 1
    assert "higher odds" in reason.partition("%). ")[2]


def test_the_reason_tells_how_few_rows_are_too_few():
    rows = np.random.RandomState(0).rand(_choose.MIN_ROWS_TO_DIVIDE - 1, 2)
    reason = PSKC(random_state=0).fit(rows).auto_.reason
    assert reason == (
        "1 cluster: fewer than 12 rows (here 11) are divided only if you set the number of clusters"
    )
