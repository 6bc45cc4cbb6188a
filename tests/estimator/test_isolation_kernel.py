"""The kernel by itself."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.cluster import KMeans

from pskclust import IsolationKernel

METHODS = ("voronoi", "hypersphere", "tree")


@pytest.fixture(params=METHODS)
def kernel(request, scattered):
    return IsolationKernel(psi=16, n_partitions=20, method=request.param, random_state=0).fit(
        scattered
    )


def test_cells_are_small_integers(kernel, scattered):
    cells = kernel.cells(scattered)
    assert cells.shape == (len(scattered), 20)
    assert cells.dtype == np.uint8
    no_cell = 16 if kernel.method == "hypersphere" else 15
    assert cells.max() <= no_cell


def test_the_feature_map_has_a_one_for_every_cell(kernel, scattered):
    cells, features = kernel.cells(scattered), kernel.transform(scattered)
    assert sparse.issparse(features)
    assert features.format == "csr"
    assert features.shape == (len(scattered), 20 * 16)
    assert_array_equal(features.sum(axis=1), (cells < 16).sum(axis=1))
    dense = features.toarray().reshape(len(scattered), 20, 16)
    rows, partitionings, found = np.nonzero(dense)
    assert_array_equal(found, cells[rows, partitionings])
    assert set(features.data) == {1.0}
    assert len(kernel.get_feature_names_out()) == 20 * 16


def test_the_feature_map_goes_into_a_pipeline(kernel, scattered):
    features = kernel.transform(scattered)
    assert features.indices.dtype == features.indptr.dtype == np.int32
    KMeans(2, n_init=1, random_state=0).fit(features)


def test_similarity_is_the_product_of_feature_maps(kernel, scattered):
    left, right = scattered[:50], scattered[30:]
    expected = (kernel.transform(left) @ kernel.transform(right).T).toarray() / 20
    similarity = kernel.similarity(left, right)
    assert_array_equal(similarity, expected)
    assert similarity.min() >= 0
    assert similarity.max() <= 1
    assert_array_equal(kernel.similarity(left), kernel.similarity(left, left))


def test_self_similarity_is_exactly_one(kernel, scattered):
    own = np.diag(kernel.similarity(scattered))
    if kernel.method == "hypersphere":
        has_cell = (kernel.cells(scattered) < 16).mean(axis=1)
        assert_array_equal(own, has_cell)
        assert own.min() < 1
    else:
        assert_array_equal(own, 1)


def test_point_set_similarity_is_the_mean_over_the_set(kernel, scattered):
    sets = [scattered[:1], scattered[10:60], scattered]
    found = kernel.point_set_similarity(scattered[:80], sets)
    expected = [kernel.similarity(scattered[:80], some).mean(axis=1) for some in sets]
    assert_allclose(found, np.transpose(expected), rtol=1e-12, atol=0)


def test_no_sets_give_no_columns(kernel, scattered):
    assert kernel.point_set_similarity(scattered[:7], []).shape == (7, 0)


def test_a_sparse_region_is_more_similar_than_a_dense_one():
    """The data-dependent property, Lemma 1 of the paper."""
    rng = np.random.RandomState(0)
    X = np.concatenate([rng.uniform(0, 1, 900), rng.uniform(1, 10, 100)])[:, np.newaxis]
    kernel = IsolationKernel(psi=32, n_partitions=500, random_state=0).fit(X)
    dense, sparse_region = kernel.similarity([[0.5]], [[0.6]]), kernel.similarity([[5.5]], [[5.6]])
    assert dense < sparse_region


def test_a_point_outside_all_balls_shares_nothing(scattered):
    kernel = IsolationKernel(psi=16, n_partitions=20, method="hypersphere", random_state=0).fit(
        scattered
    )
    far = [[1e6, 1e6]]
    assert_array_equal(kernel.cells(far), 16)
    assert kernel.transform(far).nnz == 0
    assert_array_equal(kernel.similarity(far, far), 0)


def test_hypersphere_of_256_cells_needs_a_number_for_none():
    X = np.random.RandomState(0).randn(300, 2)
    assert (
        IsolationKernel(psi=255, n_partitions=2, method="hypersphere").fit(X).cells(X).dtype
        == np.uint8
    )
    assert (
        IsolationKernel(psi=256, n_partitions=2, method="hypersphere").fit(X).cells(X).dtype
        == np.uint16
    )


def test_trees_isolate_every_row_drawn():
    X = np.random.RandomState(0).randn(30, 3)
    kernel = IsolationKernel(psi=30, n_partitions=10, method="tree", random_state=0).fit(X)
    assert_array_equal(np.sort(kernel.cells(X), axis=0), np.tile(np.arange(30), (10, 1)).T)


def test_trees_do_not_split_equal_rows():
    X = np.repeat(np.eye(3), 4, axis=0)
    kernel = IsolationKernel(psi=12, n_partitions=10, method="tree", random_state=0).fit(X)
    assert_array_equal(kernel.cells(X).max(axis=0), 2)


def test_the_default_has_a_quarter_as_many_cells_as_rows_up_to_64():
    rng = np.random.RandomState(0)
    assert [IsolationKernel().fit(rng.randn(n, 2)).psi_ for n in (2, 9, 80, 5000)] == [2, 2, 20, 64]


def test_the_feature_map_cannot_be_a_data_frame(kernel, scattered):
    """As scikit-learn's own sparse transformers answer."""
    with pytest.raises(ValueError, match="outputs a scipy sparse matrix"):
        kernel.set_output(transform="pandas").transform(scattered)
