"""Strengths, outlier scores, memberships and layers of a fit, in every mode."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError

import pskclust
from pskclust import PSKC
from tests.helpers.row_blocks import in_blocks, shards_of

MODES = {
    "chosen": {},
    "chosen, without noise": {"noise": "nearest"},
    "chosen, refined": {"refine": True, "min_cluster_size": 40},
    "chosen, in hyperspheres": {"method": "hypersphere"},
    "chosen, number given": {"n_clusters": 4},
    "grown": {"psi": 64, "tau": 0.02},
    "grown, without noise": {"psi": 64, "tau": 0.1, "noise": "nearest"},
    "grown and linked": {"psi": 64, "tau": 0.1, "n_clusters": 3},
    "grown in trees": {"psi": 32, "tau": 0.1, "method": "tree"},
    "grown in hyperspheres": {"psi": 32, "tau": 0.1, "method": "hypersphere"},
}


def blobs_and_noise(n_rows=500, n_noise=40):
    X, _ = make_blobs(n_rows, centers=5, cluster_std=0.6, random_state=3)
    noise = np.random.RandomState(0).uniform(X.min(axis=0), X.max(axis=0), (n_noise, 2))
    return np.vstack([X, noise])


def fitted(X, weights=None, **parameters):
    estimator = PSKC(n_partitions=20, random_state=0, **parameters)
    return estimator.fit(X, sample_weight=weights)


@pytest.fixture(scope="module")
def rows():
    return blobs_and_noise()


@pytest.fixture(scope="module", params=MODES.values(), ids=MODES)
def model(request, rows):
    return fitted(rows, **request.param)


def log_sizes(partition):
    """The log distance of each centre to the nearest other one, by all distances."""
    sizes = np.zeros((partition.n_partitions, partition.psi))
    if partition.method == "tree":
        return sizes
    for own, centres in zip(sizes, partition.points[partition.centres], strict=True):
        gaps = cdist(centres, centres)
        own[:] = np.log(np.where(gaps > 0, gaps, np.inf).min(axis=1))
    return sizes


def test_strengths_are_from_0_to_1_and_0_for_noise_only(model):
    strengths = model.probabilities_
    assert_array_equal(strengths == 0, model.labels_ < 0)
    assert strengths.max() == 1
    for cluster in range(model.n_clusters_):
        own = model.similarities_[model.labels_ == cluster]
        shown = strengths[model.labels_ == cluster]
        assert_array_equal(shown[own > 0], own[own > 0] / own.max())
        # A member without a cell.
        assert (shown[own == 0] < 0.01).all()


def test_the_score_is_a_product_of_the_cells_of_a_row_and_a_value_of_each_cell(model, rows):
    partition = model.fitted_.partition
    cells = model.kernel_.transform(rows).toarray()
    counts = cells.sum(axis=0)
    dimension = 1 if partition.method == "tree" else rows.shape[1]
    with np.errstate(divide="ignore"):
        distances = log_sizes(partition).ravel() - np.log(counts / len(rows)) / dimension
    largest = distances[counts > 0].max()
    values = np.where(counts > 0, largest - distances, 0)
    scores = cells @ values / partition.n_partitions - largest
    span = values.reshape(partition.n_partitions, -1).max(axis=1).mean()
    scores -= span * (model.predict(rows) < 0)
    # Values are rounded to about a millionth.
    assert_allclose(model.score_samples(rows), scores, atol=1e-6)


def test_outlier_scores_have_the_order_of_scores_turned_round(model, rows):
    outlying, noise = model.outlier_scores_, model.labels_ < 0
    assert 0 <= outlying.min() <= outlying.max() <= 1
    assert (outlying[~noise] <= 0.5).all()
    assert (outlying[noise] >= 0.5).all()
    # Where predict gives the label of the fit.
    same = model.predict(rows) == model.labels_
    order = np.argsort(outlying[same], kind="stable")
    assert (np.diff(model.score_samples(rows)[same][order]) <= 1e-12).all()


def test_memberships_are_shares_of_the_rows_in_the_cells_of_a_row(model, rows):
    cells = model.kernel_.transform(rows).toarray()
    shared = cells @ cells.T
    expected = np.column_stack(
        [shared[:, model.labels_ == cluster].sum(axis=1) for cluster in range(model.n_clusters_)]
    ) / np.maximum(shared.sum(axis=1, keepdims=True), 1)
    if model.auto_ is not None:
        expected[model.predict(rows) < 0] = 0
    memberships = model.membership(rows)
    assert_array_equal(memberships, expected)
    assert (memberships >= 0).all()
    assert (memberships.sum(axis=1) <= 1 + 1e-12).all()


def test_an_outlier_is_a_member_of_no_cluster(blobs):
    outlier = [60.0, 60.0]
    model = PSKC(random_state=0).fit(np.vstack([blobs, outlier]))
    new = np.array([outlier, [1e9, 1e9], blobs[0]])
    assert list(model.predict(new) < 0) == [True, True, False]
    assert_array_equal(model.membership(new).any(axis=1), [False, False, True])
    shares, clusters = model.membership(new, top_k=2)
    assert_array_equal(shares.any(axis=1), [False, False, True])
    assert_array_equal(clusters[:2], [[0, 1], [0, 1]])
    nearest = PSKC(noise="nearest", random_state=0).fit(np.vstack([blobs, outlier]))
    assert nearest.membership(new).any(axis=1).all()


def test_the_largest_memberships_come_with_their_clusters(model, rows):
    everything = model.membership(rows)
    shares, clusters = model.membership(rows, top_k=2)
    assert shares.shape == clusters.shape == (len(rows), min(2, model.n_clusters_))
    assert_array_equal(np.take_along_axis(everything, clusters, axis=1), shares)
    assert_array_equal(shares[:, 0], everything.max(axis=1))
    with pytest.raises(ValueError, match="top_k"):
        model.membership(rows, top_k=0)


def n_most(model):
    with pytest.raises(ValueError, match="is more than the") as refused:
        model.relabel(n_clusters=10_000)
    return int(str(refused.value).split("more than the ")[1].split()[0])


def test_cuts_have_the_number_asked_for_and_nest(model):
    assert_array_equal(model.relabel(n_clusters=model.n_clusters_), model.labels_)
    noise = model.labels_ < 0
    coarser = np.where(noise, -1, 0)
    for number in range(1, n_most(model) + 1):
        labels = model.relabel(n_clusters=number)
        assert_array_equal(labels < 0, noise)
        assert_array_equal(np.unique(labels[~noise]), np.arange(number))
        # Each cluster is within one of the next coarser cut.
        assert len(np.unique(np.column_stack([coarser, labels])[~noise], axis=0)) == number
        coarser = labels


def test_layers_rise_and_hold_the_clusters_of_the_fit(model):
    numbers = [layer.n_clusters for layer in model.layers_]
    assert numbers == sorted(set(numbers))
    assert model.n_clusters_ in numbers
    for place, layer in enumerate(model.layers_):
        assert 0 <= layer.likeness <= 1
        labels = model.relabel(layer=place)
        assert_array_equal(labels, model.relabel(n_clusters=layer.n_clusters))
        # Clusters that share no cell have no evidence but their distance.
        if model.auto_ is not None and (layer.likeness or layer.n_clusters == model.n_clusters_):
            assert 0 <= layer.odds <= 1
    assert_array_equal(model.relabel(layer=-1), model.relabel(layer=len(numbers) - 1))


def test_layers_hold_the_clusters_that_are_left_of_those_chosen(rows):
    chosen = fitted(rows)
    smallest = chosen.cluster_sizes_.min()
    model = fitted(rows, min_cluster_size=int(smallest) + 1)
    assert model.n_clusters_ < chosen.n_clusters_
    assert model.n_clusters_ in [layer.n_clusters for layer in model.layers_]
    for place, layer in enumerate(model.layers_):
        assert model.relabel(layer=place).max() + 1 == layer.n_clusters
    assert_array_equal(model.relabel(n_clusters=model.n_clusters_), model.labels_)


def test_layers_find_clusters_of_clusters():
    middles = np.array([[0, 0], [60, 10], [25, 70]])
    around = np.array([[-6, 0], [6, 0], [0, 9]])
    centers = (middles[:, np.newaxis] + around).reshape(9, 2)
    X, y = make_blobs(900, centers=centers, cluster_std=0.7, random_state=0)
    for parameters in ({}, {"psi": 64, "tau": 0.05}):
        model = PSKC(random_state=0, **parameters).fit(X)
        assert {3, 9} <= {layer.n_clusters for layer in model.layers_}
        for number, truth in ((3, y // 3), (9, y)):
            pairs = np.column_stack([model.relabel(n_clusters=number), truth])
            assert len(np.unique(pairs, axis=0)) == number


def values_of(model, rows):
    """Return all that is new, for comparison."""
    return {
        "strengths": model.probabilities_,
        "outlier scores": model.outlier_scores_,
        "scores": model.score_samples(rows),
        "memberships": model.membership(rows),
        "layers": model.layers_,
        "coarsest": model.relabel(layer=0),
        "finest": model.relabel(n_clusters=n_most(model)),
    }


def assert_same_values(one, other, rows):
    expected = values_of(other, rows)
    for name, value in values_of(one, rows).items():
        assert_array_equal(value, expected[name], err_msg=name)


@pytest.mark.parametrize("parameters", MODES.values(), ids=MODES)
def test_values_are_the_same_on_every_engine(parameters, rows, tmp_path):
    plain = fitted(rows, **parameters)
    with shards_of(100):
        assert_same_values(fitted(in_blocks(rows, [77, 300]), **parameters), plain, rows)
    assert_same_values(fitted(rows, scratch_dir=tmp_path, n_jobs=2, **parameters), plain, rows)
    assert_same_values(copy.deepcopy(plain), plain, rows)
    plain.save(tmp_path / "model.npz")
    assert_same_values(pskclust.load(tmp_path / "model.npz"), plain, rows)


@pytest.mark.numba
@pytest.mark.slow
@pytest.mark.parametrize("parameters", [{}, {"psi": 64, "tau": 0.02}], ids=["chosen", "grown"])
def test_compiled_kernels_and_blocks_give_the_same_values(parameters, tmp_path):
    rows = blobs_and_noise(20_000, 1_000)
    plain = fitted(rows, **parameters)
    assert plain.backend_ == "numba"
    with shards_of(900):
        in_shards = fitted(in_blocks(rows, [8_000]), **parameters)
    assert_same_values(in_shards, plain, rows[::7])


@pytest.mark.parametrize("parameters", MODES.values(), ids=MODES)
def test_weight_two_equals_the_row_twice(parameters, rows):
    weights = np.random.RandomState(1).randint(1, 4, len(rows))
    weighted = fitted(rows, weights, **parameters)
    repeated = fitted(np.repeat(rows, weights, axis=0), **parameters)
    assert_array_equal(np.repeat(weighted.outlier_scores_, weights), repeated.outlier_scores_)
    assert_array_equal(np.repeat(weighted.probabilities_, weights), repeated.probabilities_)
    assert_array_equal(weighted.membership(rows), repeated.membership(rows))
    finest = n_most(weighted)
    assert_array_equal(
        np.repeat(weighted.relabel(n_clusters=finest), weights),
        repeated.relabel(n_clusters=finest),
    )


@pytest.mark.parametrize("parameters", MODES.values(), ids=MODES)
def test_rows_of_weight_0_change_nothing_for_others(parameters, rows):
    weights = np.ones(len(rows) + 30)
    weights[-30:] = 0
    more = fitted(np.vstack([rows, rows[:30] + 0.01]), weights, **parameters)
    plain = fitted(rows, **parameters)
    assert_array_equal(more.probabilities_[:-30], plain.probabilities_)
    assert_array_equal(more.outlier_scores_[:-30], plain.outlier_scores_)
    assert_array_equal(more.score_samples(rows), plain.score_samples(rows))
    assert_array_equal(more.membership(rows), plain.membership(rows))
    assert more.probabilities_.max() <= 1


@pytest.mark.parametrize(
    "parameters", [{}, {"method": "hypersphere", "psi": 32, "tau": 0.1}], ids=["chosen", "balls"]
)
def test_a_row_far_outside_scores_less_than_all_rows_of_clusters(parameters, rows):
    model = fitted(rows, **parameters)
    far = model.score_samples([[1e4, -1e4]])
    assert (far < model.score_samples(rows)[model.labels_ >= 0]).all()


def test_scores_of_a_file_are_those_of_its_rows(rows, tmp_path):
    np.save(tmp_path / "rows.npy", rows)
    model = fitted(tmp_path / "rows.npy")
    assert_array_equal(model.score_samples(tmp_path / "rows.npy"), model.score_samples(rows))


def test_equal_rows_and_equal_columns_have_finite_scores():
    for X in (np.ones((30, 2)), np.repeat([[0.0] * 12, [1.0] * 12], 20, axis=0)):
        for parameters in ({}, {"psi": 8, "tau": 0.1}):
            model = fitted(X, **parameters)
            assert np.isfinite(model.outlier_scores_).all()
            assert np.isfinite(model.score_samples(X + 0.5)).all()
            assert np.isfinite(model.probabilities_).all()


def test_without_clusters_all_rows_are_outliers(rows):
    model = fitted(rows, psi=32, tau=0.05, min_cluster_size=len(rows))
    assert model.n_clusters_ == 0
    assert (model.probabilities_ == 0).all()
    assert (model.outlier_scores_ >= 0.5).all()
    assert model.membership(rows).shape == (len(rows), 0)
    assert model.layers_ == ()
    with pytest.raises(ValueError, match="no clusters to relabel: all rows are noise"):
        model.relabel(n_clusters=1)


def test_the_way_out_is_named(rows):
    model = fitted(rows)
    with pytest.raises(ValueError, match="Give one of the two"):
        model.relabel()
    with pytest.raises(ValueError, match="Give one of the two"):
        model.relabel(n_clusters=2, layer=0)
    with pytest.raises(
        ValueError, match=r"layer=99 is out of range: layers_ has \d layers?. Use layer=0"
    ):
        model.relabel(layer=99)
    with pytest.raises(TypeError, match="layer='fine' is not an index. Pass a whole number"):
        model.relabel(layer="fine")
    with pytest.raises(ValueError, match="n_clusters"):
        model.relabel(n_clusters=0)
    assert_array_equal(model.relabel(2), model.relabel(n_clusters=2))
    one = fitted(rows, psi=2, tau=0.0001)
    assert one.n_clusters_ == 1
    with pytest.raises(ValueError, match="more than the 1 part of this fit"):
        one.relabel(2)
    with pytest.raises(ValueError, match="or fit again with n_clusters=500"):
        model.relabel(n_clusters=500)
    for name in ("probabilities_", "outlier_scores_", "layers_"):
        assert not hasattr(PSKC(), name)
    with pytest.raises(NotFittedError):
        PSKC().relabel(layer=0)
