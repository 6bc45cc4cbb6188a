"""Every parameter acts in both kinds of fit, or is refused with a reason."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.metrics import adjusted_rand_score

from pskclust import PSKC, sweep
from pskclust._data.parameters import require_few_steps
from pskclust.baselines import GaussianPSKC

GIVEN = {"psi": 16, "tau": 0.05}
CHOSEN: dict = {}
MODES = {"given": GIVEN, "chosen": CHOSEN}

# A value for each parameter that changes the clusters of both kinds of fit.
CHANGES = {
    "psi": 40,
    "tau": 0.4,
    "n_partitions": 7,
    "n_clusters": 3,
    "method": "hypersphere",
    "metric": "cosine",
    "replace": True,
    "min_cluster_size": 90,
    "random_state": 3,
}
OF_GROWTH = ("growth_rate", "checkpoint")
ELSEWHERE = ("refine", "noise", "n_jobs", "device", "verbose", "callback", "scratch_dir")


def outcome(model):
    return model.n_clusters_, model.objective_, model.labels_.tolist()


def fit(mode, X, **changes):
    return PSKC(**{"random_state": 0, **MODES[mode], **changes}).fit(X)


def test_no_parameter_is_left_out_here():
    assert {*CHANGES, *OF_GROWTH, *ELSEWHERE} == set(PSKC().get_params())


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", CHANGES)
def test_a_parameter_changes_the_outcome(mode, name, scattered):
    X = scattered + 5
    assert outcome(fit(mode, X, **{name: CHANGES[name]})) != outcome(fit(mode, X))


def test_clusters_grow_if_tau_is_given_and_are_chosen_otherwise(scattered):
    for given in ({"tau": 0.05}, {"psi": 16, "tau": 0.05}):
        model = PSKC(random_state=0, **given).fit(scattered)
        assert (model.auto_, model.merge_tree_, model.confidences_) == (None, None, None)
        assert model.tau_ == 0.05
        assert model.growth_step_ is not None
    for given in ({}, {"psi": 16}, {"n_clusters": 3}, {"psi": 16, "n_clusters": 3}):
        model = PSKC(random_state=0, **given).fit(scattered)
        assert model.auto_ is not None
        assert (model.tau_, model.growth_step_, model.n_iter_) == (None, None, None)


def test_the_rate_of_growth_acts_or_is_refused(scattered):
    assert outcome(fit("given", scattered, growth_rate=0.6)) != outcome(fit("given", scattered))
    with pytest.raises(ValueError, match="growth_rate=0.6 .* Give psi and tau, or leave"):
        fit("chosen", scattered, growth_rate=0.6)
    assert fit("chosen", scattered, growth_rate=0.1).n_clusters_


@pytest.fixture
def background():
    """Four round clusters, and rows all over the place."""
    rng = np.random.RandomState(0)
    centres = 10 * np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    rows = centres[np.arange(600) % 4] + 0.3 * rng.randn(600, 2)
    return np.vstack([rows, rng.uniform(-6, 16, (150, 2)), [[900, 0], [0, 900]]])


@pytest.mark.parametrize("mode", MODES)
def test_noise_is_kept_out_or_given_to_clusters(mode, background):
    cells = {"psi": 100, "tau": 0.2} if mode == "given" else {}
    kept, given = (fit(mode, background, noise=noise, **cells) for noise in ("keep", "nearest"))
    assert np.count_nonzero(kept.labels_ < 0) > (5 if mode == "given" else 50)
    assert outcome(fit(mode, background, **cells)) == outcome(kept)
    member = kept.labels_ >= 0
    # Those that share no cell with any cluster stay noise where clusters grew.
    assert np.count_nonzero(given.labels_ < 0) <= (5 if mode == "given" else 0)
    # Clusters are numbered by size, and given rows count.
    assert adjusted_rand_score(given.labels_[member], kept.labels_[member]) == 1
    far = np.array([[3_000.0, 3_000.0], [-3_000.0, 0.0]])
    if mode == "chosen":
        assert_array_equal(kept.labels_[-2:], -1)
        assert_array_equal(kept.predict(far), -1)
        assert (given.predict(far) >= 0).all()


@pytest.mark.parametrize("mode", MODES)
def test_refinement_is_done_where_it_is_asked_for(mode, scattered):
    # The clusters that are chosen by themselves touch so little that no row moves.
    asked = {"n_clusters": 5} if mode == "chosen" else {}
    without, with_it = (fit(mode, scattered, refine=refine, **asked) for refine in (False, True))
    assert without.n_reassigned_ == 0
    assert without.objective_ == without.objective_before_refinement_
    assert with_it.n_reassigned_ > 0
    assert with_it.objective_ > with_it.objective_before_refinement_
    assert with_it.objective_before_refinement_ == without.objective_
    assert np.count_nonzero(with_it.labels_ != without.labels_) == with_it.n_reassigned_
    by_default = fit(mode, scattered, **asked)
    assert outcome(by_default) == outcome(with_it if mode == "given" else without)


@pytest.mark.parametrize("mode", MODES)
def test_the_number_of_threads_changes_nothing(mode, scattered):
    assert outcome(fit(mode, scattered, n_jobs=2)) == outcome(fit(mode, scattered, n_jobs=1))
    with pytest.raises(ValueError, match="n_jobs=0 is not allowed"):
        fit(mode, scattered, n_jobs=0)


@pytest.mark.parametrize("mode", MODES)
def test_progress_is_told(mode, scattered, capsys):
    heard = []
    fit(mode, scattered, callback=heard.append)
    assert heard
    assert capsys.readouterr().err == ""
    fit(mode, scattered, verbose=True)
    assert capsys.readouterr().err


@pytest.mark.parametrize("mode", MODES)
def test_cells_go_where_they_are_told(mode, scattered, tmp_path):
    model = fit(mode, scattered, scratch_dir=tmp_path)
    assert model.engine_ == "out of core"
    assert outcome(model) == outcome(fit(mode, scattered))


def test_a_checkpoint_is_noted_or_refused(scattered, tmp_path):
    folder = tmp_path / "noted"

    def stop(progress):
        if progress.n_clusters > 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fit("given", scattered, checkpoint=folder, callback=stop)
    assert list(folder.glob("cluster-*"))
    with pytest.raises(ValueError, match="Give psi and tau, or leave checkpoint out"):
        fit("chosen", scattered, checkpoint=folder)


@pytest.mark.parametrize("mode", MODES)
def test_weights_act(mode, scattered):
    weights = np.ones(len(scattered))
    weights[: len(weights) // 2] = 0
    model = PSKC(random_state=0, **MODES[mode]).fit(scattered, sample_weight=weights)
    assert outcome(model) != outcome(fit(mode, scattered))


@pytest.mark.parametrize("mode", [*MODES, "linked"])
def test_figures_mean_the_same_for_every_kind_of_clusters(mode, scattered):
    changes = {"n_clusters": 3, **GIVEN} if mode == "linked" else {}
    weights = np.random.RandomState(0).randint(1, 4, len(scattered))
    model = PSKC(random_state=0, **{**MODES.get(mode, {}), **changes})
    model.fit(scattered, sample_weight=weights)
    labels, member = model.labels_, model.labels_ >= 0
    kernel = model.kernel_.similarity(scattered)
    for cluster in range(model.n_clusters_):
        own = labels == cluster
        expected = kernel[own][:, own] @ weights[own] / weights[own].sum()
        np.testing.assert_allclose(model.similarities_[own], expected, rtol=1e-12)
        assert labels[model.seeds_[cluster]] == cluster
    assert_array_equal(model.similarities_[~member], 0)
    assert model.objective_ == pytest.approx((weights * model.similarities_).sum())
    assert_array_equal(model.cluster_sizes_, np.bincount(labels[member]))
    assert (model.growth_step_ is None) == (model.n_iter_ is None) == (mode == "chosen")


@pytest.mark.parametrize("growth_rate", [1e-16, 1e-12, 1e-8, 1e-6])
def test_a_growth_that_takes_forever_is_refused_at_once(growth_rate, scattered):
    message = r"growth_rate=1e-\d+ takes .* steps until the threshold has fallen to tau=0.05, more"
    for estimator in (PSKC(psi=16, tau=0.05), GaussianPSKC(tau=0.05)):
        with pytest.raises(ValueError, match=message):
            estimator.set_params(growth_rate=growth_rate).fit(scattered)
    with pytest.raises(ValueError, match=message):
        sweep(scattered, psi=[8], tau=[0.5, 0.05], growth_rate=growth_rate)


def test_the_least_rate_of_growth_that_an_error_names_is_taken(scattered):
    with pytest.raises(ValueError, match="Use a growth_rate of 3e-06 or more"):
        PSKC(psi=16, tau=0.05, growth_rate=1e-6).fit(scattered)
    require_few_steps(0.05, 3e-6)


@pytest.mark.parametrize("mode", MODES)
def test_more_partitionings_than_can_be_drawn_are_refused_at_once(mode, scattered):
    with pytest.raises(ValueError, match="n_partitions=1000000000 is not allowed. Use a whole num"):
        fit(mode, scattered, n_partitions=10**9)
    with pytest.raises(ValueError, match="n_partitions=20000 is more than the limit of 10,000"):
        fit("chosen", scattered, n_partitions=20_000)
