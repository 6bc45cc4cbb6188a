"""What is chosen when psi, tau or the number of clusters is not given."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import make_moons
from sklearn.metrics import adjusted_rand_score

import pskclust
from pskclust import PSKC
from pskclust._choice import candidates as _cuts
from pskclust._choice import rule as _auto
from pskclust._choice.candidates import Cut
from pskclust._choice.rule import decide
from tests.helpers.row_blocks import assert_same_but_for_the_engine, in_blocks, shards_of


@pytest.fixture(scope="module")
def moons():
    return make_moons(300, noise=0.05, random_state=0)


@pytest.fixture(scope="module")
def arms():
    """Three arms of a spiral, 100 rows each."""
    rng = np.random.RandomState(0)
    turned = np.sqrt(np.linspace(0.04, 1, 100)) * 2.8 * np.pi
    points = [
        np.column_stack([np.cos(turned + start), np.sin(turned + start)]) * turned[:, np.newaxis]
        for start in (0, 2 * np.pi / 3, 4 * np.pi / 3)
    ]
    X = np.concatenate(points)
    return X + rng.normal(0, 0.05, X.shape), np.repeat([0, 1, 2], 100)


@pytest.fixture(scope="module")
def model(moons):
    return PSKC(random_state=0).fit(moons[0])


def chosen(*cuts, n_clusters=None, n_rows=4_000):
    return decide(cuts, 8, n_clusters, n_rows)


def test_more_clusters_are_worth_more_if_they_are_reproduced():
    two, three = Cut(8, 2, 1.0, 0.9, 0.7), Cut(16, 3, 0.99, 0.9, 0.7)
    choice = chosen(two, three, Cut(16, 4, 0.95, 0.9, 0.7))
    assert choice.chosen == three
    assert choice.runner_up == two
    assert choice.reason.startswith("3 clusters are reproduced (0.99) and separated (0.90)")


@pytest.mark.parametrize("lacking", [{"separated": 0.0}, {"weakest": 0.0}])
def test_clusters_that_are_not_separated_are_worth_less(lacking):
    two, three = Cut(8, 2, 1.0, 0.9, 0.9), Cut(16, 3, 1.0, 0.9, 0.9)
    assert chosen(two, three).chosen == three
    assert chosen(two, replace(three, **lacking)).chosen == two


def test_clusters_that_share_nothing_are_cut_further_only_at_a_joint():
    """Two rings, and arcs of them."""
    rings, arcs = Cut(128, 2, 1.0, 1.0, 1.0), Cut(256, 6, 0.985, 0.62, 0.44)
    assert arcs.worth > rings.worth
    assert chosen(rings, arcs).chosen == rings
    assert chosen(rings, replace(arcs, weakest=0.5)).chosen.n_clusters == 6
    assert chosen(replace(rings, weakest=0.9), arcs).chosen == arcs


def test_clusters_that_hardly_touch_are_not_cut_to_parts_that_do():
    """Three waves in noise, and their halves."""
    waves, halves = Cut(128, 3, 0.998, 0.46, 0.34, 0.08), Cut(64, 12, 0.94, 0.74, 0.44, 0.5)
    assert halves.worth > waves.worth
    assert chosen(waves, halves).chosen == waves
    for cut_at_joints in (replace(halves, weakest=0.5), replace(halves, contact=0.2)):
        assert chosen(waves, cut_at_joints).chosen == cut_at_joints
    for less_apart in (replace(waves, contact=0.11), replace(waves, reproduced=0.97)):
        assert chosen(less_apart, halves).chosen == halves
    unknown = replace(halves, contact=None)
    assert chosen(waves, unknown).chosen == unknown


def test_of_equal_numbers_the_better_reproduced_is_chosen():
    assert chosen(Cut(8, 3, 0.96, 0.9, 0.7), Cut(64, 3, 0.98, 0.8, 0.7)).chosen.psi == 64
    assert chosen(Cut(8, 3, 0.98, 0.9, 0.7), Cut(64, 3, 0.98, 0.9, 0.7)).chosen.psi == 8


def test_many_clusters_that_are_hardly_reproduced_do_not_count():
    two, many = Cut(8, 2, 0.96, 0.8, 0.8), Cut(8, 60, 0.9, 0.9, 0.7)
    assert many.worth > two.worth
    assert chosen(two, many).chosen == two


def test_clusters_that_are_nearly_reproduced_may_still_be_worth_more():
    """Overlapping clusters, and a cut through the middle of all of them."""
    many = Cut(64, 14, 0.923, 0.74, 0.36)
    assert chosen(Cut(256, 2, 0.952, 0.23, 0.17), many).chosen == many


def test_without_reproduced_cuts_the_best_will_do():
    choice = chosen(Cut(8, 2, 0.92, 0.9, 0.7), Cut(8, 3, 0.91, 0.8, 0.7), Cut(8, 9, 0.89, 0.9, 0.7))
    assert choice.chosen.n_clusters == 3
    assert "no cut is reproduced as well as 0.93" in choice.reason


@pytest.mark.parametrize("reproduced", [0.8, 0.89])
def test_without_any_there_is_one_cluster(reproduced):
    choice = chosen(Cut(8, 2, reproduced, 0.6, 0.4), Cut(8, 3, 0.7, 0.9, 0.7))
    assert (choice.chosen.psi, choice.chosen.n_clusters) == (8, 1)
    assert choice.reason.endswith("one cluster")
    assert chosen().chosen.n_clusters == 1
    assert chosen().runner_up is None


def test_of_few_rows_more_must_be_reproduced():
    touching, apart = Cut(8, 2, 0.91, 0.9, 0.9), Cut(8, 2, 0.91, 0.9, 0.9, contact=0.0)
    assert chosen(touching, n_rows=1_000).chosen == touching
    assert chosen(touching, n_rows=999).chosen.n_clusters == 1
    assert "no cut is reproduced as well as 0.92" in chosen(touching, n_rows=999).reason
    assert chosen(apart, n_rows=999).chosen == apart


def test_of_few_rows_those_reproduced_as_well_as_the_best_are_compared():
    two, six = Cut(8, 2, 1.0, 0.9, 0.9), Cut(16, 6, 0.955, 0.9, 0.9)
    assert chosen(two, six, n_rows=1_000).chosen == six
    assert chosen(two, six, n_rows=999).chosen == two
    assert chosen(replace(two, reproduced=0.97), six, n_rows=999).chosen == six


@pytest.mark.parametrize("n_rows", [999, 1_000])
def test_a_cut_that_counts_for_too_little_is_of_one_cluster(n_rows):
    two = Cut(8, 2, 0.925, 0.0, 0.0)
    assert chosen(two, n_rows=n_rows).reason == "no cut counts for as much as -1.75: one cluster"
    separated = chosen(replace(two, separated=0.9, weakest=0.9), n_rows=n_rows)
    assert separated.chosen.n_clusters == 2
    assert ("as well as 0.93" in separated.reason) == (n_rows == 1_000)


def test_clusters_that_a_vote_does_not_tell_apart_touch():
    """Kernels that agree on nothing: a vote leaves one cluster, which touches nobody."""

    class Odd:
        def __init__(self, alone):
            self.labels = np.zeros(6, dtype=np.int64)
            self.labels[alone] = 1

        def cut(self, n_clusters):
            return self.labels

    class Nobody:
        def with_members(self, labels, n_clusters):
            return np.zeros((len(labels), n_clusters))

    cut = Cut(8, 2, 0.6, 0.5, 0.5)
    assert _cuts.look_closer(cut, [Odd(row) for row in range(6)], Nobody()).contact == 1
    assert _cuts.look_closer(cut, [Odd(0)] * 6, Nobody()).contact == 0


def test_one_cluster_may_be_asked_for(moons):
    model = PSKC(n_clusters=1, random_state=0).fit(moons[0])
    assert model.n_clusters_ == 1
    assert model.auto_.reason == "one cluster was asked for"


def test_of_few_rows_clusters_that_are_apart_are_cut_at_clear_joints_only():
    """Three arcs of few rows, and one of them cut where it has a gap by chance."""
    arcs, gap = Cut(128, 3, 1.0, 1.0, 1.0, 0.0), Cut(64, 4, 1.0, 0.9, 0.69, 0.03)
    assert chosen(arcs, gap, n_rows=999).chosen == arcs
    assert chosen(arcs, gap, n_rows=1_000).chosen == gap
    assert chosen(arcs, replace(gap, weakest=0.7), n_rows=999).chosen.n_clusters == 4
    hardly = replace(arcs, separated=0.6, weakest=0.45)
    for contact, n_clusters in ((0.1, 4), (0.11, 3)):
        cut = replace(gap, weakest=0.45, contact=contact)
        assert chosen(hardly, cut, n_rows=999).chosen.n_clusters == n_clusters
        assert chosen(hardly, cut, n_rows=1_000).chosen.n_clusters == 4


def test_much_of_what_is_lacking_is_forgiven_where_clusters_do_not_touch():
    credits = [Cut(8, 2, 0.8, 0.9, 0.9, contact).credit for contact in (0, 0.05, 0.125, 0.2, 1)]
    assert credits == pytest.approx([0.95, 0.95, 0.875, 0.8, 0.8])
    across, along = Cut(16, 2, 0.95, 0.4, 0.3, 0.6), Cut(128, 2, 0.8, 0.5, 0.4, 0.04)
    assert chosen(across, along, n_rows=999).chosen == along
    assert chosen(across, replace(along, contact=0.6), n_rows=999).chosen == across


@pytest.mark.parametrize(("n_odd", "expected"), [(1, 1.0), (3, 1.0), (4, 1 - 0.5 * 12 / 78)])
def test_kernels_that_are_alone_do_not_count(n_odd, expected):
    """13 of 16 kernels count: of four odd ones, each alone, one is among them."""
    agreements = {(a, b): 1.0 if b < 16 - n_odd else 0.5 for b in range(16) for a in range(b)}
    assert _cuts._mean_of_most_alike(agreements, 16, 13) == pytest.approx(expected)
    everyone = np.mean(list(agreements.values()))
    assert _cuts._mean_of_most_alike(agreements, 16, 16) == pytest.approx(everyone)


def test_where_pairs_were_not_compared_the_mean_of_the_others_counts():
    round_of_pairs = {(a, a + 1): 0.1 * a for a in range(7)} | {(0, 7): 0.8}
    mean = np.mean(list(round_of_pairs.values()))
    assert _cuts._mean_of_most_alike(round_of_pairs, 8, 6) == pytest.approx(mean)


def test_the_next_best_is_another_number():
    two, three = Cut(8, 2, 0.7, 0.9, 0.9), Cut(8, 3, 0.6, 0.9, 0.9)
    alone = chosen(two, three)
    assert (alone.chosen.n_clusters, alone.runner_up) == (1, two)
    assert str(alone).endswith("; next best are 2 at psi 8")
    best = replace(two, reproduced=1.0)
    assert str(chosen(best, three)).endswith("; next best is one cluster")


@pytest.mark.slow
def test_of_few_rows_there_are_more_kernels(moons, model):
    assert model.auto_.n_kernels == 16
    many = PSKC(random_state=0).fit(np.concatenate([moons[0]] * 4))
    assert many.auto_.n_kernels == 8


@pytest.mark.slow
def test_thin_arms_of_few_rows_are_found(arms):
    """No kernel with large cells can follow them, and of small cells few rows are in one."""
    X, y = arms
    for seed in range(3):
        model = PSKC(random_state=seed).fit(X)
        assert adjusted_rand_score(y, model.labels_) == 1
        assert model.auto_.chosen.contact < 0.1
    given = PSKC(n_clusters=3, random_state=0).fit(X)
    assert adjusted_rand_score(y, given.labels_) == 1


def test_without_contact_looked_at_they_are_not(arms, monkeypatch):
    monkeypatch.setattr(_cuts, "contact", lambda *arguments: 1.0)
    X, y = arms
    assert adjusted_rand_score(y, PSKC(random_state=1).fit(X).labels_) < 0.5


def test_more_clusters_than_rows_are_refused(moons):
    with pytest.raises(ValueError, match="n_clusters=301 is more than the .* parts"):
        PSKC(n_clusters=301).fit(moons[0])


def test_with_a_number_given_psi_is_chosen():
    choice = chosen(Cut(8, 4, 0.8, 0.9, 0.7), Cut(16, 4, 0.7, 0.9, 0.7), n_clusters=4)
    assert choice.chosen.psi == 8
    assert choice.reason == "4 clusters were asked for"


def test_moons_are_found(moons, model):
    X, y = moons
    assert adjusted_rand_score(y, model.labels_) == 1
    assert model.n_clusters_ == model.auto_.chosen.n_clusters == 2
    assert model.psi_ == model.kernel_.psi_ == model.auto_.chosen.psi
    assert model.tau_ == 0.1
    assert model.auto_.n_rows == len(X)
    assert model.auto_.chosen in model.auto_.cuts
    assert model.auto_.runner_up.n_clusters != 2
    assert 0.9 < model.confidences_.mean() <= 1


def test_labels_are_what_predict_says(moons, model):
    assert_array_equal(model.predict(moons[0]), model.labels_)


def test_attributes_fit_together(moons, model):
    X, labels = moons[0], model.labels_
    assert_array_equal(model.cluster_sizes_, np.bincount(labels))
    own = model.similarity(X)[np.arange(len(X)), labels]
    assert_array_equal(model.similarities_, own)
    assert model.objective_ == pytest.approx(own.sum())
    for cluster, seed in enumerate(model.seeds_):
        assert labels[seed] == cluster
        assert own[seed] == own[labels == cluster].max()
    assert len(model.merge_tree_) == (model.merge_tree_.masses > 0).sum()
    assert model.n_iter_ is model.growth_step_ is None


def test_one_round_cluster_is_left_whole():
    X = np.random.RandomState(0).normal(size=(1_200, 2))
    model = PSKC(random_state=0).fit(X)
    assert model.n_clusters_ == 1
    assert_array_equal(model.labels_, 0)


def round_clusters(side, n_rows):
    """Rows of side * side round clusters on a grid, far apart."""
    rng = np.random.RandomState(0)
    y = rng.randint(0, side * side, n_rows)
    return np.column_stack(np.divmod(y, side)) + rng.normal(0, 0.12, (n_rows, 2)), y


@pytest.mark.slow
def test_many_clusters_are_found_with_larger_psi(monkeypatch):
    X, y = round_clusters(12, 3_600)
    model = PSKC(random_state=0).fit(X)
    assert model.n_clusters_ == 144
    assert model.psi_ == 512
    assert adjusted_rand_score(y, model.labels_) > 0.99
    given = PSKC(n_clusters=144, random_state=0).fit(X)
    assert given.psi_ == 512
    assert adjusted_rand_score(y, given.labels_) > 0.99
    monkeypatch.setattr(_auto, "FINER_PSIS", ())
    assert PSKC(random_state=0).fit(X).n_clusters_ == 1


@pytest.mark.parametrize(
    ("best", "too_many"),
    [
        (Cut(256, 52, 0.79, 0.8, 0.2), True),
        (Cut(256, 51, 0.79, 0.8, 0.2), False),
        (Cut(256, 52, 0.78, 0.8, 0.2), False),
        (Cut(256, 100, 0.57, 0.8, 0.2), True),
        (Cut(256, 100, 0.56, 0.8, 0.2), False),
        (Cut(256, 100, 0.98, 0.8, 0.2), False),
        (Cut(128, 52, 0.79, 0.8, 0.2), False),
    ],
)
def test_more_clusters_show_than_cells_can_tell_apart(best, too_many):
    cuts = (Cut(256, 2, 0.5, 0.8, 0.2), best, Cut(128, 2, 0.5, 0.8, 0.2))
    assert _auto.shows_too_many(cuts, 256) == too_many
    assert not _auto.shows_too_many((Cut(8, 200, 1.0, 1.0, 1.0), *cuts), 256)
    assert not _auto.shows_too_many((), 256)


def test_larger_psi_have_four_rows_in_a_cell_at_the_least():
    assert _auto.sizes_for(2_047, None, 100)[-1] == 256
    assert _auto.sizes_for(2_048, None, 100)[-1] == 512
    assert _auto.sizes_for(2_048, None, 51)[-1] == 256
    assert _auto.sizes_for(10**6, None, 10**5)[-1] == 1024
    assert _auto.sizes_for(10**6, 64, 10**5) == (64,)


def test_a_psi_that_is_given_may_be_larger_than_the_sample_usually_is(monkeypatch):
    monkeypatch.setattr(_auto, "MAX_ROWS", 100)
    X, y = round_clusters(3, 400)
    model = PSKC(psi=130, n_clusters=9, n_partitions=20, random_state=0).fit(X)
    assert model.auto_.n_rows == 400
    assert adjusted_rand_score(y, model.labels_) > 0.99
    monkeypatch.setattr(_auto, "MOST_ROWS", 120)
    with pytest.raises(ValueError, match=r"psi=130 is more than the 120 rows to choose"):
        PSKC(psi=130, random_state=0).fit(X)


@pytest.fixture
def small_psis(monkeypatch):
    """Thirty-six clusters, more than the first psi can tell apart."""
    monkeypatch.setattr(_auto, "PSIS", (8, 16, 32, 64))
    monkeypatch.setattr(_auto, "FINER_PSIS", (128, 256))
    monkeypatch.setattr(_auto, "MAX_ROWS", 600)
    monkeypatch.setattr(_cuts, "FEW_ROWS", 100)
    return round_clusters(6, 1_200)


@pytest.mark.slow
@pytest.mark.parametrize("method", ["voronoi", "hypersphere"])
def test_larger_psi_are_looked_at_with_more_rows(small_psis, method):
    X, y = small_psis
    model = PSKC(method=method, random_state=0).fit(X)
    assert model.psi_ == 128
    assert model.auto_.n_rows == 8 * 128
    assert adjusted_rand_score(y, model.labels_) > 0.99


@pytest.mark.slow
def test_larger_psi_serve_weights_and_blocks(small_psis):
    X, _ = small_psis
    whole = PSKC(random_state=0).fit(X)
    blocks = PSKC(random_state=0).fit(in_blocks(X, [7, 250, 1_000]))
    assert_same_but_for_the_engine(blocks, whole)
    counts = np.random.RandomState(0).randint(1, 3, len(X))
    weighted = PSKC(random_state=0).fit(X, sample_weight=counts)
    repeated = PSKC(random_state=0).fit(np.repeat(X, counts, axis=0))
    assert weighted.psi_ == repeated.psi_ > 64
    assert_array_equal(np.repeat(weighted.labels_, counts), repeated.labels_)


def test_cuts_that_may_win_are_looked_at_closer(monkeypatch):
    """As many as change the choice: it is the same if all are looked at."""
    monkeypatch.setattr(_cuts, "FEW_ROWS", 100)
    X = np.vstack([make_moons(300, noise=0.05, random_state=0)[0], round_clusters(2, 200)[0] + 2])
    some = PSKC(random_state=0).fit(X).auto_
    monkeypatch.setattr(_auto, "_beaten", lambda cuts: set())
    every = PSKC(random_state=0).fit(X).auto_
    assert 0 < n_looked_at(some) < n_looked_at(every) == n_worth_a_look(every)
    assert (some.chosen.n_clusters, some.chosen.psi) == (every.chosen.n_clusters, every.chosen.psi)


def n_looked_at(choice):
    return sum(cut.contact is not None for cut in choice.cuts)


def n_worth_a_look(choice):
    return sum(cut.reproduced >= 0.75 for cut in choice.cuts)


def test_a_cut_is_beaten_only_by_one_that_may_be_chosen():
    two, five = Cut(32, 2, 0.96, 0.7, 0.5), Cut(64, 5, 0.92, 0.7, 0.5)
    hardly_reproduced, of_parts = Cut(256, 50, 0.86, 0.8, 0.6), Cut(256, 50, 1.0, 0.8, 0.4)
    assert five not in _auto._beaten((two, five, hardly_reproduced))
    assert five not in _auto._beaten((two, five, of_parts))
    assert five in _auto._beaten((two, five, replace(of_parts, weakest=0.5)))


def test_the_number_of_clusters_can_be_given(scattered):
    model = PSKC(n_clusters=5, random_state=0).fit(scattered)
    assert model.n_clusters_ == 5
    assert {cut.n_clusters for cut in model.auto_.cuts} == {5}


def test_with_psi_and_tau_given_too_all_rows_are_grown_and_linked(moons):
    X, y = moons
    model = PSKC(psi=64, tau=0.1, n_clusters=2, random_state=0).fit(X)
    assert adjusted_rand_score(y, model.labels_) == 1
    assert (model.auto_, model.confidences_) == (None, None)
    assert len(model.merge_tree_) > 2
    assert_array_equal(model.predict(X), model.labels_)
    plain = PSKC(psi=64, tau=0.1, random_state=0, refine=False).fit(X)
    assert_array_equal(model.merge_tree_.masses, plain.cluster_sizes_)
    assert_array_equal(model.growth_step_, plain.growth_step_)


def test_with_psi_and_tau_given_the_number_can_be_chosen(moons):
    model = PSKC(psi=64, tau=0.1, linking=True, random_state=0).fit(moons[0])
    assert model.n_clusters_ == 2
    assert {cut.psi for cut in model.auto_.cuts} == {64}


def test_given_psi_and_tau_alone_mean_the_paper(scattered):
    model = PSKC(psi=32, tau=0.05, random_state=0).fit(scattered)
    assert (model.auto_, model.merge_tree_, model.confidences_) == (None, None, None)
    assert (
        model.n_clusters_
        == PSKC(psi=32, tau=0.05, linking=False, random_state=0).fit(scattered).n_clusters_
    )


def test_without_linking_the_values_are_fixed(scattered):
    model = PSKC(linking=False, random_state=0).fit(scattered)
    assert (model.psi_, model.tau_, model.auto_) == (64, 0.01, None)


def test_a_sample_is_enough(monkeypatch, moons):
    monkeypatch.setattr(_auto, "MAX_ROWS", 150)
    monkeypatch.setattr(_auto, "_ROWS_PER_CELL", 1)
    X, y = moons
    model = PSKC(random_state=0).fit(X)
    assert model.auto_.n_rows == 150
    assert adjusted_rand_score(y, model.labels_) > 0.95
    assert_array_equal(model.predict(X), model.labels_)
    assert ((model.confidences_ > 0) & (model.confidences_ <= 1)).all()


@pytest.mark.parametrize("limit", [40, 5000])
def test_weights_are_repeated_rows(monkeypatch, limit):
    monkeypatch.setattr(_auto, "MAX_ROWS", limit)
    monkeypatch.setattr(_auto, "_ROWS_PER_CELL", 1)
    rng = np.random.RandomState(0)
    X = rng.normal(size=(40, 2)) + 6 * rng.randint(0, 2, (40, 1))
    weights = rng.randint(1, 4, len(X))
    weighted = PSKC(random_state=0).fit(X, sample_weight=weights)
    repeated = PSKC(random_state=0).fit(np.repeat(X, weights, axis=0))
    assert weighted.auto_ == repeated.auto_
    assert_array_equal(np.repeat(weighted.labels_, weights), repeated.labels_)
    assert_array_equal(np.repeat(weighted.similarities_, weights), repeated.similarities_)


@pytest.mark.slow
def test_results_do_not_depend_on_threads_or_kernels(monkeypatch, scattered):
    plain = PSKC(random_state=0, n_jobs=1).fit(scattered)
    monkeypatch.setattr("pskclust._choice.sample.MIN_SAMPLE_ROWS_FOR_COMPILED", 10**6)
    other = PSKC(random_state=0, n_jobs=2).fit(scattered)
    assert other.auto_ == plain.auto_
    assert_array_equal(other.labels_, plain.labels_)
    assert_array_equal(other.confidences_, plain.confidences_)


def test_results_do_not_depend_on_the_engine(monkeypatch):
    X, _ = make_moons(5000, noise=0.05, random_state=0)
    parameters = {"psi": 64, "tau": 0.1, "n_clusters": 2, "random_state": 0}
    blocked = PSKC(**parameters).fit(X)
    monkeypatch.setattr("pskclust._kernels.select.MIN_ROWS_FOR_COMPILED", 10**6)
    plain = PSKC(**parameters).fit(X)
    assert (blocked.backend_, plain.backend_) == ("numba", "numpy")
    assert_array_equal(blocked.merge_tree_.similarities, plain.merge_tree_.similarities)
    assert_array_equal(blocked.labels_, plain.labels_)
    assert_array_equal(blocked.similarities_, plain.similarities_)


@pytest.mark.slow
@pytest.mark.parametrize(
    "parameters", [{}, {"psi": 32, "tau": 0.1, "n_clusters": 4}, {"metric": "cosine"}], ids=str
)
@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
def test_rows_may_be_read_block_by_block(parameters, weighted, scattered, tmp_path):
    weights = np.random.RandomState(0).randint(0, 4, len(scattered)) if weighted else None
    plain = PSKC(**parameters, random_state=0).fit(scattered, sample_weight=weights)
    with shards_of(100):
        model = PSKC(**parameters, random_state=0, scratch_dir=tmp_path).fit(
            in_blocks(scattered, [7, 7, 250]), sample_weight=weights
        )
    assert model.auto_ == plain.auto_
    assert_same_but_for_the_engine(model, plain)
    assert_array_equal(model.merge_tree_.similarities, plain.merge_tree_.similarities)
    if not parameters.get("n_clusters"):
        assert_array_equal(model.confidences_, plain.confidences_)


@pytest.mark.slow
def test_the_objective_is_the_similarity_of_all_rows(scattered):
    weights = np.random.RandomState(0).randint(0, 4, len(scattered))
    model = PSKC(random_state=0).fit(scattered, sample_weight=weights)
    assert model.objective_ == pytest.approx(model.similarities_ @ weights, rel=1e-12)
    for cluster, seed in enumerate(model.seeds_):
        own = np.flatnonzero(model.labels_ == cluster)
        assert seed == own[model.similarities_[own].argmax()]


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
    assert_same_but_for_the_engine(model, PSKC(**parameters).fit(scattered))
    assert not folder.exists()


@pytest.mark.slow
def test_a_choice_takes_no_checkpoint(scattered, tmp_path):
    with pytest.raises(ValueError, match="Give psi and tau, or leave checkpoint out"):
        PSKC(random_state=0, checkpoint=tmp_path / "checkpoint").fit(scattered)
    assert not (tmp_path / "checkpoint").exists()


def naive_products(model, X):
    """Return the total similarity of the rows of any two clusters, as growth found them."""
    members = [model._result.clusters.counts[[k]].indices for k in range(model.n_clusters_)]
    differences = X[:, np.newaxis] - X[np.newaxis]
    kernel = np.exp(-model.kernel_.gamma * np.square(differences).sum(axis=2))
    return np.array([[kernel[np.ix_(a, b)].sum() for b in members] for a in members])


@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
def test_no_chosen_cluster_is_smaller_than_asked_for(scattered, weighted):
    weights = np.random.RandomState(0).randint(0, 3, len(scattered)) if weighted else None
    least = 80
    model = PSKC(min_cluster_size=least, random_state=0).fit(scattered, sample_weight=weights)
    units = np.ones(len(scattered)) if weights is None else weights
    sizes = np.bincount(model.labels_ + 1, units, model.n_clusters_ + 1)[1:]
    assert model.n_clusters_
    assert sizes.min() >= least
    small = PSKC(random_state=0).fit(scattered, sample_weight=weights)
    assert small.cluster_sizes_.min() < least


def test_clusters_that_are_asked_for_and_too_small_are_named(scattered):
    with pytest.raises(ValueError, match="of n_clusters=12 clusters have min_cluster_size=30"):
        PSKC(psi=64, tau=0.1, n_clusters=12, min_cluster_size=30, random_state=0).fit(scattered)


def test_a_model_file_keeps_the_choice(model, moons, tmp_path):
    model.save(tmp_path / "model.npz")
    loaded = pskclust.load(tmp_path / "model.npz")
    assert loaded.auto_ == model.auto_
    assert_array_equal(loaded.predict(moons[0]), model.labels_)
    assert_array_equal(loaded.confidences_, model.confidences_)
    assert_array_equal(loaded.merge_tree_.to_scipy(), model.merge_tree_.to_scipy())


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_clusters": 3, "linking": False}, "n_clusters=3 needs linking, but linking=False"),
        (
            {"n_clusters": 0},
            "n_clusters=0 is not allowed. Use a whole number of 1 or more, or None",
        ),
        ({"linking": "yes"}, "linking='yes' is not allowed. Use True or False, or 'auto'"),
        ({"psi": 8, "tau": 0.1, "n_clusters": 90}, "more than the .* parts that growth finds"),
        ({"n_clusters": 290}, "n_clusters=290 is more than the .* parts"),
    ],
)
def test_what_cannot_be_is_said(parameters, message, moons):
    with pytest.raises(ValueError, match=message):
        PSKC(**parameters, random_state=0).fit(moons[0])


def test_the_choice_is_reported(moons):
    heard = []
    PSKC(random_state=0, callback=heard.append).fit(moons[0])
    assert heard[0].stage == "choose"
    assert heard[-1].stage == "link"
    assert heard[-1].n_clusters == 2


def test_clusters_have_twenty_rows_on_average_at_the_least(moons):
    numbers = [cut.n_clusters for cut in PSKC(random_state=0).fit(moons[0]).auto_.cuts]
    assert max(numbers) == len(moons[0]) // 20
