"""PSKC as scikit-learn users know estimators."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from pskclust import PSKC, IsolationKernel
from pskclust._fit import prediction
from tests.helpers.fits import assert_same_fit


def expected_failures(estimator):
    """The check shuffles rows, so other centres are drawn, as scikit-learn's KMeans fails it too.

    What holds instead is in test_exactness: for the same draws, weights are repeated rows.
    """
    if isinstance(estimator, PSKC):
        return {"check_sample_weight_equivalence_on_dense_data": "random draws"}
    return {}


# Small numbers for psi: the checks fit as few as ten rows.
@parametrize_with_checks(
    [
        PSKC(),
        PSKC(psi=8, tau=0.1),
        IsolationKernel(),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(
    [
        PSKC(method="tree"),
        PSKC(noise="nearest"),
        PSKC(psi=8, tau=0.1, noise="nearest"),
    ],
    expected_failed_checks=expected_failures,
)
def test_scikit_learns_own_checks_of_variants(estimator, check):
    check(estimator)


def test_constructing_only_remembers():
    model = PSKC(psi=-5, tau="nonsense")
    assert vars(model) == model.get_params()


def test_the_same_seed_gives_the_same_fit(scattered):
    assert_same_fit(
        PSKC(psi=32, tau=0.02, random_state=3).fit(scattered),
        PSKC(psi=32, tau=0.02, random_state=3).fit(scattered),
    )


def test_a_second_fit_forgets_the_first(scattered, blobs):
    refitted = PSKC(psi=32, tau=0.02, random_state=3).fit(blobs).fit(scattered)
    assert_same_fit(refitted, PSKC(psi=32, tau=0.02, random_state=3).fit(scattered))


def test_a_failed_fit_leaves_the_model_as_it_was(scattered, blobs):
    def stop(progress):
        raise InterruptedError

    model = PSKC(psi=32, tau=0.05, random_state=0).fit(scattered)
    with pytest.raises(InterruptedError):
        model.set_params(callback=stop).fit(blobs)
    assert_same_fit(model, PSKC(psi=32, tau=0.05, random_state=0).fit(scattered))
    with pytest.raises(InterruptedError):
        PSKC(callback=stop).fit(blobs)


def test_numbers_of_numpy_are_numbers(scattered):
    weights = np.full(len(scattered), 0.5)
    plain = PSKC(
        psi=32, tau=0.05, growth_rate=float(np.float32(0.1)), min_cluster_size=5, random_state=0
    )
    numpy = PSKC(
        psi=np.int8(32),
        tau=np.float64(0.05),
        growth_rate=np.float32(0.1),
        n_partitions=np.int8(100),
        min_cluster_size=np.int8(5),
        random_state=0,
    )
    assert_same_fit(
        numpy.fit(scattered, sample_weight=weights), plain.fit(scattered, sample_weight=weights)
    )


def test_a_pickle_does_not_grow_by_use(scattered):
    model = PSKC(psi=32, tau=0.05, random_state=0).fit(scattered)
    before = len(pickle.dumps(model))
    model.predict(scattered)
    assert len(pickle.dumps(model)) == before


def test_fit_leaves_its_input_alone(scattered):
    weights = np.arange(len(scattered)) % 3 + 0.5
    X, w = scattered.copy(), weights.copy()
    PSKC(psi=32, tau=0.02, random_state=0, noise="nearest").fit(X, sample_weight=w).predict(X)
    assert_array_equal(X, scattered)
    assert_array_equal(w, weights)


def test_attributes_fit_together(scattered):
    model = PSKC(psi=32, tau=0.05, random_state=0).fit(scattered)
    labels, members = model.labels_, model.labels_ >= 0
    assert model.n_clusters_ == labels.max() + 1
    assert members.any()
    assert not members.all()
    assert_array_equal(model.cluster_sizes_, np.bincount(labels[members]))
    assert_array_equal(model.growth_step_ >= 0, members)
    assert_array_equal(model.similarities_ > 0, members)
    assert_array_equal(model.growth_step_[model.seeds_], 0)
    assert model.growth_step_.max() <= model.n_iter_.max()
    own = model.similarity(scattered)[members, labels[members]]
    assert_array_equal(model.similarities_[members], own)
    assert model.objective_ == pytest.approx(model.similarities_.sum())
    assert model.objective_ >= model.objective_before_refinement_


def test_the_number_of_steps_is_bounded_by_tau_and_the_growth_rate(scattered):
    """Proposition 2 of the paper."""
    model = PSKC(psi=32, tau=0.05, growth_rate=0.2, random_state=0).fit(scattered)
    assert model.n_iter_.max() <= np.floor(np.log(0.05) / np.log(1 - 0.2))


def test_what_refinement_moved_is_counted(scattered):
    refined = PSKC(psi=32, tau=0.05, random_state=0).fit(scattered)
    grown = PSKC(psi=32, tau=0.05, random_state=0, refine=False).fit(scattered)
    assert refined.n_reassigned_ == np.count_nonzero(refined.labels_ != grown.labels_) > 0
    assert refined.objective_ > refined.objective_before_refinement_ == grown.objective_
    assert grown.n_reassigned_ == 0


def test_predict_is_the_most_similar_cluster_above_tau(scattered):
    model = PSKC(psi=32, tau=0.2, random_state=0).fit(scattered)
    new = scattered + 0.05
    similarities = model.similarity(new)
    best = similarities.argmax(axis=1)
    expected = np.where(similarities.max(axis=1) > 0.2, best, -1)
    assert_array_equal(model.predict(new), expected)
    assert -1 in expected


def test_predict_differs_from_labels_only_where_another_answer_is_more_similar(scattered):
    """The relation that the docs state between predict(X_train) and labels_."""
    model = PSKC(psi=32, tau=0.05, random_state=0).fit(scattered)
    predicted, labels = model.predict(scattered), model.labels_
    similarities = model.similarity(scattered)
    best = similarities.max(axis=1)
    member = labels >= 0
    own_is_best = np.zeros(len(labels), dtype=bool)
    own_is_best[member] = similarities[member, labels[member]] == best[member]
    agree = np.where(member, own_is_best & (best > model.tau_), best <= model.tau_)
    assert_array_equal(predicted == labels, agree)
    assert 0.9 < agree.mean() < 1


def test_predict_agrees_with_labels_on_separated_clusters(blobs):
    model = PSKC(random_state=0).fit(blobs)
    assert_array_equal(model.predict(blobs), model.labels_)


def test_top_k_are_the_most_similar_clusters(scattered):
    model = PSKC(psi=32, tau=0.05, random_state=0).fit(scattered)
    everything = model.similarity(scattered)
    similarities, clusters = model.similarity(scattered, top_k=3)
    assert_array_equal(np.sort(everything, axis=1)[:, :-4:-1], similarities)
    assert_array_equal(np.take_along_axis(everything, clusters, axis=1), similarities)
    assert_array_equal(clusters[:, 0], everything.argmax(axis=1))


def test_top_k_beyond_the_number_of_clusters_gives_all(blobs):
    model = PSKC(random_state=0).fit(blobs)
    assert model.similarity(blobs, top_k=50)[0].shape == (300, 3)


@pytest.mark.parametrize("n_columns", [2, 5, 20])
@pytest.mark.parametrize("method", ["voronoi", "hypersphere", "tree"])
def test_values_of_new_rows_do_not_depend_on_batches(method, n_columns, monkeypatch):
    """Many rows are encoded in blocks by compiled code, few one by one by NumPy."""
    rng = np.random.RandomState(0)
    X = rng.randn(12_000, n_columns) + 4 * rng.randint(3, size=(12_000, 1))
    model = PSKC(psi=16, tau=0.05, n_partitions=10, method=method, random_state=0).fit(X[:400])
    few = [X[start : start + 100] for start in range(0, 2_000, 100)]
    monkeypatch.setattr(prediction, "_ROWS_AT_A_TIME", 7_000)
    for values in (model.similarity, model.membership, model.score_samples):
        assert_array_equal(values(X)[:2_000], np.concatenate([values(some) for some in few]))
        assert_array_equal(values(X)[6_950:7_050], values(X[6_950:7_050]))


@pytest.mark.parametrize("n_columns", [2, 20])
def test_any_number_of_threads_needs_only_the_memory_of_the_rows(n_columns):
    """Memory was asked for a chunk of rows for each thread, which no machine has."""
    X = np.random.RandomState(0).randn(60, n_columns)
    model = PSKC(psi=8, tau=0.1, n_jobs=2**60, random_state=0).fit(X)
    assert model.similarity(X).shape == (60, model.n_clusters_)


def test_transform_is_similarity(blobs):
    model = PSKC(random_state=0).fit(blobs)
    assert_array_equal(model.transform(blobs), model.similarity(blobs))
    assert list(model.get_feature_names_out()) == ["pskc0", "pskc1", "pskc2"]


def test_noise_nearest_leaves_noise_only_where_nothing_is_similar(scattered):
    kept = PSKC(psi=32, tau=0.05, random_state=0).fit(scattered)
    given = PSKC(psi=32, tau=0.05, random_state=0, noise="nearest").fit(scattered)
    noise = kept.labels_ < 0
    assert noise.any()
    assert_array_equal(given.labels_[~noise], kept.labels_[~noise])
    assert_array_equal(given.labels_[noise], given.predict(scattered)[noise])
    assert (given.similarity(scattered)[given.labels_ < 0] == 0).all()


def test_min_cluster_size_dissolves_fragments(scattered):
    small = PSKC(psi=32, tau=0.05, random_state=0).fit(scattered).cluster_sizes_.min()
    model = PSKC(psi=32, tau=0.05, random_state=0, min_cluster_size=20).fit(scattered)
    assert small < 20 <= model.cluster_sizes_.min()
    assert len(model.seeds_) == len(model.n_iter_) == model.n_clusters_


def test_all_clusters_too_small_leaves_noise_only(blobs):
    model = PSKC(psi=16, tau=0.05, random_state=0, min_cluster_size=250).fit(blobs)
    assert model.n_clusters_ == 0
    assert (model.labels_ == -1).all()
    assert (model.predict(blobs) == -1).all()
    assert model.similarity(blobs).shape == (300, 0)


@pytest.mark.parametrize("parameters", [{}, {"psi": 16, "tau": 0.05}], ids=str)
def test_clusters_cannot_be_larger_than_all_rows(blobs, parameters):
    with pytest.raises(ValueError, match="min_cluster_size=301 is more than the 300 rows"):
        PSKC(min_cluster_size=301, **parameters).fit(blobs)
    few = np.full(len(blobs), 0.001)
    with pytest.raises(ValueError, match="min_cluster_size=2 is more than the 0.3 rows"):
        PSKC(psi=16, tau=0.05, min_cluster_size=2).fit(blobs, sample_weight=few)
    with pytest.raises(ValueError, match="min_cluster_size=151 is more than the 150 rows"):
        PSKC(min_cluster_size=151, **parameters).fit(blobs, sample_weight=np.full(300, 0.5))


def test_rows_of_weight_zero_take_no_part_and_are_predicted(scattered):
    weights = np.ones(len(scattered))
    weights[::5] = 0
    model = PSKC(psi=32, tau=0.05, random_state=0).fit(scattered, sample_weight=weights)
    without = PSKC(psi=32, tau=0.05, random_state=0).fit(scattered[weights > 0])
    assert_array_equal(model.labels_[weights > 0], without.labels_)
    assert_array_equal(model.labels_[weights == 0], without.predict(scattered[weights == 0]))


@pytest.mark.parametrize("weight", [1e-3, 1 / 3, 0.9])
def test_equal_fractional_weights_are_no_weights(scattered, weight):
    """Up to weight 1, where a row starts to count as more than one."""
    weights = np.full(len(scattered), weight)
    weighted = PSKC(psi=32, tau=0.05, random_state=0).fit(scattered, sample_weight=weights)
    assert_array_equal(
        weighted.labels_, PSKC(psi=32, tau=0.05, random_state=0).fit(scattered).labels_
    )


def test_the_objective_counts_weight(scattered):
    weights = np.full(len(scattered), 0.3)
    model = PSKC(psi=32, tau=0.05, random_state=0).fit(scattered, sample_weight=weights)
    assert model.objective_ == pytest.approx((weights * model.similarities_).sum())


def test_min_cluster_size_counts_weight(scattered):
    sizes = PSKC(psi=32, tau=0.05, random_state=0).fit(scattered).cluster_sizes_
    weights = np.full(len(scattered), 0.5)
    model = PSKC(psi=32, tau=0.05, random_state=0, min_cluster_size=20)
    model.fit(scattered, sample_weight=weights)
    assert model.n_clusters_ == np.count_nonzero(sizes >= 40) > 0


def test_rows_of_weight_zero_have_a_similarity_too(scattered):
    weights = np.ones(len(scattered))
    weights[::5] = 0
    model = PSKC(psi=32, tau=0.05, random_state=0).fit(scattered, sample_weight=weights)
    absent = (weights == 0) & (model.labels_ >= 0)
    own = model.similarity(scattered)[absent, model.labels_[absent]]
    assert_array_equal(model.similarities_[absent], own)


def test_fractional_weights_count(scattered):
    """A heavy corner of the plane draws more centres, and so more clusters."""
    heavy = scattered[:, 0] > 2
    weights = np.where(heavy, 2.5, 0.1)
    model = PSKC(psi=32, tau=0.05, random_state=0).fit(scattered, sample_weight=weights)
    partition = model.kernel_._partition
    drawn = partition.points[partition.centres.ravel()]
    assert np.mean(drawn[:, 0] > 2) == pytest.approx(weights[heavy].sum() / weights.sum(), abs=0.03)


def test_parameters_changed_after_the_fit_do_not_change_the_metric(scattered):
    model = PSKC(psi=32, tau=0.05, random_state=0).fit(scattered)
    before = model.predict(scattered)
    assert_array_equal(model.set_params(metric="cosine", tau=0.9).predict(scattered), before)


@pytest.mark.parametrize(
    "other", [clone, copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))]
)
def test_copies_behave_as_the_original(other, scattered):
    model = PSKC(psi=32, tau=0.05, random_state=0)
    assert_same_fit(other(model).fit(scattered), model.fit(scattered))


@pytest.mark.parametrize("other", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))])
def test_copies_of_a_fitted_model_predict_the_same(other, scattered):
    model = PSKC(psi=32, tau=0.05, random_state=0).fit(scattered)
    assert_same_fit(other(model), model)
    assert_array_equal(other(model).similarity(scattered), model.similarity(scattered))


def test_it_works_in_a_pipeline(scattered):
    pipeline = make_pipeline(StandardScaler(), PSKC(psi=32, tau=0.05, random_state=0))
    labels = pipeline.fit_predict(scattered * [1, 1000])
    assert len(set(labels)) > 2
    assert pipeline.transform(scattered * [1, 1000]).shape == (len(scattered), labels.max() + 1)


FINE_DATA = {
    "two rows": np.array([[0.0, 1.0], [2.0, 3.0]]),
    "two equal rows": np.ones((2, 3)),
    "all rows equal": np.full((50, 2), 7.0),
    "a constant column": np.column_stack([np.arange(50.0), np.zeros(50)]),
    "huge": np.arange(100.0).reshape(50, 2) * 1e150,
    "tiny": np.arange(100.0).reshape(50, 2) * 1e-150,
    "many duplicates": np.repeat(np.eye(3), 30, axis=0),
    "one column": np.arange(30.0)[:, np.newaxis],
}


@pytest.mark.slow
@pytest.mark.parametrize("method", ["voronoi", "hypersphere", "tree"])
@pytest.mark.parametrize("X", FINE_DATA.values(), ids=FINE_DATA)
def test_unusual_data_is_fine(X, method):
    model = PSKC(method=method, random_state=0).fit(X)
    assert model.labels_.shape == (len(X),)
    assert_array_equal(PSKC(method=method, random_state=0).fit(X * 2).labels_, model.labels_)
    assert model.predict(X).shape == (len(X),)


def test_equal_rows_are_one_cluster():
    model = PSKC(psi=5, tau=0.1, random_state=0).fit(np.full((50, 2), 7.0))
    assert_array_equal(model.labels_, np.zeros(50))
    assert_array_equal(model.similarities_, np.ones(50))


def test_as_many_cells_as_rows():
    X = np.random.RandomState(0).randn(40, 2)
    model = PSKC(psi=40, tau=0.001, random_state=0).fit(X)
    # Every row is its own centre in every partitioning: nothing is similar to anything.
    assert (model.labels_ == -1).all()


@pytest.mark.parametrize(("psi", "dtype"), [(256, "uint8"), (257, "uint16"), (65537, "uint32")])
def test_any_number_of_cells(psi, dtype):
    X = np.random.RandomState(0).randn(20, 2)
    model = PSKC(psi=psi, tau=0.1, n_partitions=3, replace=True, random_state=0).fit(X)
    assert model.kernel_.cells(X).dtype == dtype
    assert model.labels_.shape == (20,)


@pytest.mark.parametrize("metric", ["cosine", "haversine"])
def test_metrics_look_past_what_does_not_count(metric):
    rng = np.random.RandomState(0)
    X = np.vstack([centre + rng.randn(40, 2) for centre in ([60, 10], [10, 60])])
    same = X * rng.uniform(0.5, 2, (80, 1)) if metric == "cosine" else X + [0, 360 - 90 - 10]
    model = PSKC(psi=8, tau=0.1, metric=metric, random_state=0).fit(X)
    assert model.n_clusters_ == 2
    assert_array_equal(
        PSKC(psi=8, tau=0.1, metric=metric, random_state=0).fit(same).labels_, model.labels_
    )


def test_haversine_joins_both_sides_of_the_date_line():
    rng = np.random.RandomState(0)
    fiji = [-17, 180] + rng.randn(60, 2)
    fiji[:, 1] = (fiji[:, 1] + 180) % 360 - 180
    X = np.vstack([fiji, [50, 10] + rng.randn(60, 2)])
    assert PSKC(psi=8, tau=0.1, random_state=0, metric="haversine").fit(X).n_clusters_ == 2
    assert PSKC(psi=8, tau=0.1, random_state=0).fit(X).n_clusters_ == 3
