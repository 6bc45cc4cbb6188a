"""Clusters of groups of rows."""

from __future__ import annotations

import pickle
import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from pskclust import PSKC, GroupPSKC, IsolationKernel
from pskclust._cells.mean_maps import mean_maps
from pskclust._data.groups import check_groups
from pskclust.datasets import make_trajectories
from tests.helpers import naive

METHODS = ("voronoi", "hypersphere", "tree")


@pytest.fixture(scope="module")
def trajectories():
    return make_trajectories(100, random_state=0)


@pytest.fixture(scope="module")
def model(trajectories):
    X, groups, _ = trajectories
    return GroupPSKC(random_state=0).fit(X, groups=groups)


@pytest.fixture
def small():
    """Forty rows of seven groups of different size, in no order, and a kernel for each method."""
    rng = np.random.RandomState(0)
    groups = rng.permutation(np.repeat(list("dacbgfe"), [1, 2, 3, 5, 7, 9, 13]))
    return rng.standard_normal((40, 2)), groups


def kernel_of(X, method="voronoi", psi=8):
    return IsolationKernel(psi=psi, n_partitions=10, method=method, random_state=0).fit(X)


def checks_that_cannot_pass(estimator):
    """Return the checks of scikit-learn that do not apply to groups, with reasons."""
    failing = {"check_clustering": "it fits without groups and expects a label for each row"}
    if estimator.group_tau != "auto":
        name = "check_methods_sample_order_invariance"
        failing[name] = "it asks for two clusters of three groups, which grow into one"
    return failing


@pytest.mark.filterwarnings("ignore:No groups are given")
@parametrize_with_checks(
    [GroupPSKC(), GroupPSKC(group_psi=2, group_tau=0.1, psi=8, n_components=3)],
    expected_failed_checks=checks_that_cannot_pass,
)
def test_it_meets_the_estimator_contract(estimator, check):
    check(estimator)


def test_trajectories_of_five_kinds_are_found_where_means_and_spreads_tell_nothing():
    X, groups, kinds = make_trajectories(random_state=7)
    found = GroupPSKC(random_state=0).fit(X, groups=groups)
    parts = np.split(X, np.flatnonzero(np.diff(groups)) + 1)
    features = [[*part.mean(axis=0), *part.std(axis=0)] for part in parts]
    by_features = KMeans(5, n_init=10, random_state=0).fit_predict(features)
    assert found.n_clusters_ == 5
    assert adjusted_rand_score(kinds, found.labels_) >= 0.9
    assert adjusted_rand_score(kinds, by_features) < 0.6


def test_new_trajectories_are_told_by_kind(model, trajectories):
    X, groups, kinds = make_trajectories(100, random_state=1)
    assert adjusted_rand_score(kinds, model.predict(X, groups)) >= 0.9
    assert adjusted_rand_score(trajectories[2], model.predict(*trajectories[:2])) >= 0.9


@pytest.mark.parametrize("method", METHODS)
def test_a_mean_map_is_the_mean_of_the_feature_maps_of_its_rows(small, method):
    X, groups = small
    kernel = kernel_of(X, method)
    features = kernel.transform(X).toarray()
    found = kernel.mean_maps(X, groups)
    assert isinstance(found, sparse.csr_array)
    expected = [features[groups == name].sum(axis=0) / np.sum(groups == name) for name in "abcdefg"]
    assert_array_equal(found.toarray(), expected)


def test_mean_maps_match_plain_loops(small):
    X, groups = small
    kernel = kernel_of(X)
    partition = kernel.partition_
    centres = partition.points[partition.centres]
    assert_array_equal(
        kernel.mean_maps(X, groups).toarray(), naive.mean_maps(X.tolist(), groups, centres.tolist())
    )


def test_the_product_of_mean_maps_is_the_mean_kernel_of_all_pairs(small):
    X, groups = small
    kernel = kernel_of(X)
    maps = kernel.mean_maps(X, groups)
    of_pairs = kernel.similarity(X[groups == "e"], X[groups == "g"]).mean()
    assert_allclose((maps @ maps.T)[4, 6] / 10, of_pairs, rtol=1e-12)


@pytest.mark.parametrize("rows_at_a_time", [1, 7, 40])
def test_mean_maps_do_not_depend_on_how_many_rows_are_counted_at_a_time(small, rows_at_a_time):
    X, groups = small
    kernel = kernel_of(X)

    def cells_of(rows):
        return kernel.cells(X[rows])

    parts = mean_maps(check_groups(groups, 40), kernel.partition_, cells_of, rows_at_a_time)
    assert_array_equal(parts.toarray(), kernel.mean_maps(X, groups).toarray())


def test_the_order_of_rows_does_not_matter_for_new_groups(model, trajectories):
    X, groups, _ = trajectories
    order = np.random.RandomState(0).permutation(len(X))
    assert_array_equal(model.embed(X[order], groups[order]), model.embedding_)
    assert_array_equal(model.predict(X[order], groups[order]), model.predict(X, groups))


def test_a_prediction_without_groups_warns(model, trajectories):
    X, _, _ = trajectories
    for verb in (model.predict, model.embed):
        with pytest.warns(UserWarning, match="each row of X is a group. Pass the group of"):
            assert len(verb(X[:5])) == 5


def test_a_group_is_placed_by_itself(model, trajectories):
    X, groups, _ = trajectories
    own = groups == 17
    assert_array_equal(model.embed(X[own], groups[own]), model.embedding_[[17]])
    assert_array_equal(model.predict(X[own], groups[own]), model.predict(X, groups)[[17]])


def test_a_group_twice_as_large_of_the_same_rows_is_the_same_group(model, trajectories):
    X, groups, _ = trajectories
    few = groups < 5
    twice = np.concatenate([X[few], X[few]]), np.concatenate([groups[few], groups[few]])
    assert_array_equal(model.embed(*twice), model.embedding_[:5])


def test_names_of_groups_may_be_numbers_or_strings(trajectories):
    X, groups, _ = trajectories
    names = np.array([f"trajectory {number:03d}" for number in groups])
    by_name = GroupPSKC(random_state=0).fit(X, groups=names)
    by_number = GroupPSKC(random_state=0).fit(X, groups=groups * 10 - 500)
    assert_array_equal(by_name.labels_, by_number.labels_)
    assert by_name.groups_[3] == "trajectory 003"
    assert by_number.groups_[3] == -470
    assert_array_equal(by_name.group_sizes_, np.bincount(groups))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_labels_are_the_same_every_time(model, trajectories, n_jobs):
    X, groups, _ = trajectories
    again = clone(model).set_params(n_jobs=n_jobs).fit(X, groups=groups)
    assert_array_equal(again.embedding_, model.embedding_)
    assert_array_equal(again.labels_, model.labels_)
    restored = pickle.loads(pickle.dumps(again))
    assert_array_equal(restored.predict(X, groups), model.predict(X, groups))


def test_groups_weigh_the_same_unless_they_are_weighted_by_size(model, trajectories):
    X, groups, _ = trajectories
    assert model.clusterer_.cluster_sizes_.sum() == 100
    weighted = clone(model).set_params(weight_by_size=True).fit(X, groups=groups)
    expected = clone(weighted.clusterer_).fit(
        weighted.embedding_, sample_weight=weighted.group_sizes_
    )
    assert_array_equal(weighted.labels_, expected.labels_)
    assert_array_equal(weighted.embedding_, model.embedding_)
    assert weighted.clusterer_.objective_ != model.clusterer_.objective_


def test_parameters_of_the_second_level_are_those_of_pskc(trajectories):
    X, groups, _ = trajectories
    found = GroupPSKC(group_psi=8, group_tau=0.02, min_cluster_size=3, random_state=0).fit(
        X, groups=groups
    )
    clusterer = found.clusterer_
    assert isinstance(clusterer, PSKC)
    assert (clusterer.psi, clusterer.tau, clusterer.min_cluster_size) == (8, 0.02, 3)
    assert GroupPSKC(n_clusters=3, random_state=0).fit(X, groups=groups).n_clusters_ == 3


def test_memory_follows_the_mean_maps_and_not_the_feature_maps_of_rows():
    """The feature maps of all rows would take 300 MB, and dense mean maps 150 MB."""
    rng = np.random.RandomState(0)
    X = rng.standard_normal((250_000, 2))
    kernel = IsolationKernel(psi=256, n_partitions=100, random_state=0).fit(X[:5000])
    # Groups of places: each one touches few cells.
    groups = np.floor(2 * X) @ [1000, 1]
    tracemalloc.start()
    maps = kernel.mean_maps(X, groups)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert maps.nnz < 0.2 * np.prod(maps.shape)
    assert peak < 150e6


def test_groups_that_are_all_alike_are_one_cluster():
    X = np.tile([[0.0, 1.0], [2.0, 3.0], [4.0, 4.0]], (6, 1))
    found = GroupPSKC(psi=2, random_state=0).fit(X, groups=np.repeat(np.arange(6), 3))
    assert_array_equal(found.labels_, np.zeros(6))


def test_groups_can_be_routed():
    with config_context(enable_metadata_routing=True):
        requests = GroupPSKC().set_fit_request(groups=True).get_metadata_routing()
    assert requests.fit.requests["groups"] is True


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ([0, 1], r"groups has shape \(2,\), but X has 3 rows"),
        ([0, 0, 0], r"All rows of X are in one group, 0\. .*use PSKC"),
        (["a", "a", "a"], r"All rows of X are in one group, 'a'\."),
        ("gid", r"groups='gid' is one name.*X.drop\(columns='gid'\), groups=X\['gid'\]"),
        (None, r"no groups are given. Pass the group of each row: fit\(X, groups=...\).*use PSKC"),
        ([0, np.nan, 1], r"groups\[1\] is nan. Every row needs a group"),
        ([None, "a", "b"], r"groups\[0\] is None. Every row needs a group"),
    ],
)
def test_groups_that_cannot_be_are_refused(groups, message):
    with pytest.raises(ValueError, match=message):
        GroupPSKC().fit([[0.0], [1.0], [2.0]], groups=groups)


def test_groups_may_be_the_second_argument(model, trajectories):
    X, groups, kinds = trajectories
    second = clone(model).fit(X, groups)
    assert_array_equal(second.groups_, model.groups_)
    assert_array_equal(second.labels_, model.labels_)
    assert_array_equal(clone(model).fit_predict(X, groups), model.labels_)
    assert_array_equal(clone(model).fit(X, kinds, groups).labels_, model.labels_)


def test_names_of_several_types_are_refused():
    groups = np.array([1, "a", 2], dtype=object)
    with pytest.raises(TypeError, match="names of several types .* numbers only, or strings only"):
        GroupPSKC().fit([[0.0], [1.0], [2.0]], groups=groups)


def test_more_cells_than_groups_are_refused():
    with pytest.raises(ValueError, match="group_psi=3 is more than the 2 groups"):
        GroupPSKC(group_psi=3, psi=2).fit([[0.0], [1.0], [2.0], [3.0]], groups=[0, 0, 1, 1])


def test_a_parameter_that_is_not_allowed_is_named():
    with pytest.raises(ValueError, match="n_components=0 is not allowed"):
        GroupPSKC(n_components=0).fit([[0.0], [1.0]])
    with pytest.raises(ValueError, match="group_tau=2 is not allowed"):
        GroupPSKC(group_tau=2).fit([[0.0], [1.0]])
