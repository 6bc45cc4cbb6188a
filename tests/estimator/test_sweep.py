"""A sweep finds what separate fits find, and says how far seeds agree."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.metrics import adjusted_rand_score

import pskclust._sweep as sweep_module
from pskclust import PSKC, SweepResult, sweep
from pskclust._data.agreement import adjusted_rand
from pskclust._data.parameters import Parameters
from pskclust._data.rows import Data
from pskclust._data.weights import check_weights
from pskclust._fit import pipeline
from pskclust._fit.in_process import engine_of
from pskclust._kernels import select as kernels
from tests.helpers.compiled import marked

GRID = {"psi": [8, 24], "tau": [0.02, 0.3, 0.08]}
WAYS = marked("local", "compiled", "blocked", "merged", "merged and blocked")


@pytest.fixture(params=WAYS)
def rows(request, monkeypatch, scattered):
    """Rows, and the engine they are clustered by: each of them has its own state to reset."""
    X = scattered
    if request.param == "compiled":
        # Too many columns for blocks; with few rows to a cell, members are indexed.
        X = np.column_stack([X, np.random.RandomState(0).randn(len(X), 8) / 5])
    if request.param != "local":
        monkeypatch.setattr(kernels, "MIN_ROWS_FOR_COMPILED", 1)
    if request.param.startswith("merged"):
        monkeypatch.setattr("pskclust._data.duplicates._MIN_ROWS", 10)
        X = np.repeat(X[::3], 3, axis=0)
    if request.param == "merged":
        monkeypatch.setattr(kernels, "MIN_ROWS_FOR_COMPILED", 10**9)
    data = Data(X, "euclidean", check_weights(None, len(X), 100))
    parameters = Parameters.checked(PSKC(psi=8, tau=0.1, random_state=0).get_params())
    engine = engine_of(data, pipeline.draw(data, parameters), parameters)
    expected = {"merged": "MergedEngine", "blocked": "NeighbourBlocksEngine"}
    assert type(engine).__name__ == expected.get(request.param.split()[0], "DenseEngine")
    return X


def sweep_and_its_fits(X, monkeypatch, **options):
    """Return the result of a sweep and the models that it went through, as they were."""
    fits = []
    inner = sweep_module._results

    def watched(rows, parameters, tau):
        for value, result in zip(tau, inner(rows, parameters, tau), strict=True):
            state = {name: np.copy(getattr(result, field)) for name, field in ATTRIBUTES.items()}
            fits.append((parameters.psi, value, parameters.random_state, state))
            yield result

    monkeypatch.setattr(sweep_module, "_results", watched)
    return sweep(X, **options), fits


# Attributes of a fit, with the fields of a result that they are.
ATTRIBUTES = {
    "labels_": "labels",
    "similarities_": "similarities",
    "growth_step_": "growth_steps",
    "seeds_": "seeds",
    "n_iter_": "n_steps",
    "cluster_sizes_": "sizes",
    "objective_": "objective",
    "objective_before_refinement_": "objective_before_refinement",
    "n_reassigned_": "n_reassigned",
}


def test_every_entry_is_a_separate_fit_to_the_bit(rows, monkeypatch):
    result, fits = sweep_and_its_fits(rows, monkeypatch, **GRID, n_seeds=2, random_state=1)
    assert {fit[:3] for fit in fits} == set(
        itertools.product(GRID["psi"], GRID["tau"], result.seeds.tolist())
    )
    for psi, tau, seed, found in fits:
        alone = PSKC(psi=psi, tau=tau, random_state=seed).fit(rows)
        for name in ATTRIBUTES:
            assert_array_equal(found[name], getattr(alone, name), err_msg=f"{psi} {tau} {name}")


@pytest.mark.parametrize(
    "options",
    [
        {"min_cluster_size": 20, "noise": "nearest"},
        {"refine": False, "method": "hypersphere"},
        {"method": "tree", "growth_rate": 0.3, "n_partitions": 30},
    ],
)
def test_other_parameters_are_those_of_the_fits(scattered, monkeypatch, options):
    weights = np.random.RandomState(0).randint(0, 4, len(scattered))
    _, fits = sweep_and_its_fits(
        scattered, monkeypatch, **GRID, n_seeds=2, random_state=0, sample_weight=weights, **options
    )
    for psi, tau, seed, found in fits:
        alone = PSKC(psi=psi, tau=tau, random_state=seed, **options).fit(
            scattered, sample_weight=weights
        )
        assert_array_equal(found["labels_"], alone.labels_)


def test_what_is_reported_of_an_entry_is_so(scattered):
    result = sweep(scattered, **GRID, random_state=0, method="hypersphere")
    for place in itertools.product(range(2), range(3)):
        psi, tau = GRID["psi"][place[0]], GRID["tau"][place[1]]
        models = [
            PSKC(psi=psi, tau=tau, method="hypersphere", random_state=seed).fit(scattered)
            for seed in result.seeds.tolist()
        ]
        assert result.n_clusters[place] == sorted(model.n_clusters_ for model in models)[1]
        noise = np.mean([np.mean(model.labels_ < 0) for model in models])
        assert result.noise[place] == pytest.approx(noise)
        objective = np.mean([model.objective_ for model in models])
        assert result.objective[place] == pytest.approx(objective)
        pairs = itertools.combinations([model.labels_ for model in models], 2)
        agreement = np.mean([adjusted_rand_score(*pair) for pair in pairs])
        assert result.stability[place] == pytest.approx(agreement)
    assert 0 < result.noise.max() < 1
    assert result.stability.min() < result.stability.max()


def test_agreement_counts_a_row_as_often_as_it_weighs():
    rng = np.random.RandomState(0)
    one, other = rng.randint(-1, 4, (2, 60)).astype(np.int32)
    other[:40] = one[:40]
    weights = rng.randint(0, 5, 60)
    expected = adjusted_rand_score(np.repeat(one, weights), np.repeat(other, weights))
    assert adjusted_rand(one, other, weights) == pytest.approx(expected)
    assert adjusted_rand(one, one, weights) == 1
    nothing = np.full(60, -1, dtype=np.int32)
    assert adjusted_rand(nothing, nothing, weights) == 1


def test_the_best_entry_is_one_that_seeds_agree_on(blobs):
    result = sweep(blobs, psi=[4, 16, 32], tau=[0.001, 0.02, 0.5], random_state=0)
    best = result.best()
    assert PSKC(**best, random_state=7).fit(blobs).n_clusters_ == 3
    place = list(result.psi).index(best["psi"]), list(result.tau).index(best["tau"])
    assert result.stability[place] == pytest.approx(1.0)


def test_the_best_entry_has_clusters_in_it(blobs):
    result = sweep(blobs, psi=[4], tau=[0.999, 0.2], random_state=0)
    assert result.n_clusters[0, 0] == 0
    assert result.stability[0, 0] == 1
    assert result.best() == {"psi": 4, "tau": 0.2}
    assert sweep(blobs, psi=[4], tau=[0.999]).best() == {"psi": 4, "tau": 0.999}


def test_of_entries_that_are_equal_otherwise_the_most_stable_is_best():
    shape = (2, 1)
    result = SweepResult(
        np.array([4, 8]),
        np.array([0.1]),
        np.arange(3),
        n_clusters=np.full(shape, 3.0),
        noise=np.zeros(shape),
        stability=np.array([[0.995], [1.0]]),
        objective=np.ones(shape),
    )
    assert result.best() == {"psi": 8, "tau": 0.1}


def test_progress_is_told_after_each_fit(blobs, capsys):
    heard = []
    sweep(blobs, psi=[4, 8], tau=[0.1, 0.2], n_seeds=2, callback=heard.append, verbose=True)
    assert [(p.stage, p.done, p.total) for p in heard] == [("sweep", n, 8) for n in range(1, 9)]
    assert capsys.readouterr().err.strip().endswith("8 of 8 fits")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"psi": []}, "psi is empty"),
        ({"tau": []}, "tau is empty"),
        ({"psi": [4, 1]}, "psi=1 is not allowed"),
        ({"psi": ["auto"]}, "psi='auto' is not allowed"),
        ({"tau": [0.1, 1.5]}, "tau=1.5 is not allowed"),
        ({"n_seeds": 1}, "n_seeds=1 is not allowed. Use a whole number of 2 or more"),
        ({"psi": [4, 301]}, "psi=301 is more than the 300 rows"),
        ({"growth_rate": 2}, "growth_rate=2"),
    ],
)
def test_a_grid_that_cannot_be_is_named_before_any_fit(blobs, options, message):
    heard = []
    with pytest.raises(ValueError, match=message):
        sweep(blobs, **{"psi": [4], "tau": [0.1], **options}, callback=heard.append)
    assert not heard


def test_the_same_seed_gives_the_same_sweep(blobs):
    first, second = (sweep(blobs, psi=[8], tau=[0.1], random_state=3) for _ in range(2))
    assert_array_equal(first.seeds, second.seeds)
    assert_array_equal(first.stability, second.stability)
    assert len(set(first.seeds.tolist())) == 3


def test_known_classes_are_compared_with_every_entry(scattered):
    classes = np.repeat([0, 1, 2, -1], [200, 120, 60, 40])
    result = sweep(scattered, psi=[16], tau=[0.02, 0.1], random_state=0, y=classes)
    assert result.agreement.shape == (1, 2)
    known = classes >= 0
    for column, tau in enumerate(result.tau):
        models = [PSKC(psi=16, tau=tau, random_state=s).fit(scattered) for s in result.seeds]
        each = [adjusted_rand_score(classes[known], model.labels_[known]) for model in models]
        assert result.agreement[0, column] == pytest.approx(np.mean(each))
    assert sweep(scattered, psi=[16], tau=[0.02], random_state=0).agreement is None
    with pytest.raises(ValueError, match=r"y has shape \(3,\), but X has 420 rows"):
        sweep(scattered, psi=[16], tau=[0.02], y=[0, 1, 2])


def test_a_result_is_shown_and_returned_as_a_table(scattered):
    result = sweep(scattered, psi=[8, 16], tau=[0.05, 0.1], n_seeds=2, random_state=0)
    frame = result.to_frame()
    assert list(frame) == ["psi", "tau", "n_clusters", "noise", "stability", "objective"]
    assert_array_equal(frame["psi"], [8, 8, 16, 16])
    assert_array_equal(frame["tau"], [0.05, 0.1, 0.05, 0.1])
    assert frame["n_clusters"][1] == result.n_clusters[0, 1]
    first, header, *lines = repr(result).splitlines()
    assert first == "SweepResult of 2 seeds"
    assert header.split() == list(frame)
    assert [line.split()[:2] for line in lines] == [
        [f"{psi}", f"{tau}"] for psi in (8, 16) for tau in (0.05, 0.1)
    ]
    known = sweep(scattered, psi=[8], tau=[0.1], y=np.zeros(len(scattered)), random_state=0)
    assert list(known.to_frame())[-1] == "agreement"


def test_one_psi_and_one_tau_are_a_grid_of_one_pair(scattered):
    one = sweep(scattered, psi=16, tau=0.1, n_seeds=2, random_state=0)
    listed = sweep(scattered, psi=[16], tau=[0.1], n_seeds=2, random_state=0)
    assert one.n_clusters.shape == (1, 1)
    assert repr(one) == repr(listed)
    with pytest.raises(ValueError, match="psi='auto' is not allowed"):
        sweep(scattered, psi="auto", tau=0.1)
