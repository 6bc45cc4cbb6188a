"""Generated data, and data from a folder."""

from __future__ import annotations

import hashlib
import os
import sys

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.ndimage import map_coordinates
from sklearn.metrics import adjusted_rand_score

from pskclust import PSKC
from pskclust.datasets import (
    _loaders,
    iter_mnist8m_like,
    load_mnist,
    load_painting,
    load_paper_set,
    make_mnist8m_like,
    make_ring_g,
    make_shapes,
    make_varied_densities,
)
from pskclust.datasets._digits import _sampled
from pskclust.metrics import matched_f1

needs_data = pytest.mark.skipif(
    "PSKCLUST_DATA" not in os.environ, reason="PSKCLUST_DATA names no data folder"
)


def test_shapes_are_reproducible():
    first, second = make_shapes(500, random_state=0), make_shapes(500, random_state=0)
    assert_array_equal(first[0], second[0])
    assert_array_equal(first[1], second[1])
    assert (first[0] != make_shapes(500, random_state=1)[0]).any()


def test_shapes_come_with_noise_as_asked():
    X, y = make_shapes(10_000, noise=0.1, random_state=0)
    assert X.shape == (10_000, 2)
    assert set(y) == set(range(-1, 9))
    assert np.mean(y == -1) == pytest.approx(0.1, abs=0.02)
    assert -1 not in make_shapes(1000, noise=0, random_state=0)[1]


@pytest.mark.slow
def test_shapes_are_what_pskc_finds():
    X, y = make_shapes(8000, random_state=0)
    model = PSKC(psi=96, tau=0.015, min_cluster_size=40, random_state=0).fit(X)
    assert model.n_clusters_ == 9
    assert adjusted_rand_score(y[y >= 0], model.labels_[y >= 0]) > 0.98


@pytest.mark.parametrize("wrong", [{"n_samples": 0}, {"noise": -0.1}, {"noise": 1.5}])
def test_bad_parameters_are_refused(wrong):
    with pytest.raises(ValueError, match="is not allowed. Use n_samples of 1 or more and noise"):
        make_shapes(**wrong)


@pytest.mark.parametrize("make", [make_ring_g, make_varied_densities])
def test_sets_of_the_figures_are_reproducible(make):
    first, second = make(500, random_state=0), make(500, random_state=0)
    assert_array_equal(first[0], second[0])
    assert_array_equal(first[1], second[1])
    assert (first[0] != make(500, random_state=1)[0]).any()


@pytest.mark.parametrize("make", [make_ring_g, make_varied_densities, make_mnist8m_like])
@pytest.mark.parametrize("wrong", [0, 2.5])
def test_numbers_of_rows_that_are_none_are_refused(make, wrong):
    with pytest.raises(ValueError, match=f"n_samples={wrong} is not allowed. Use a whole number"):
        make(wrong)


def test_ring_g_has_two_concentric_rings_and_two_gaussians():
    X, y = make_ring_g(4000, random_state=0)
    radius = np.hypot(*X.T)
    assert radius[y == 0].max() < radius[y == 1].min()
    # Even over a ring: as many rows inside as outside of the radius that halves its area.
    for ring in (0, 1):
        inner2, outer2 = np.square([radius[y == ring].min(), radius[y == ring].max()])
        inside = radius[y == ring] ** 2 < (inner2 + outer2) / 2
        assert np.mean(inside) == pytest.approx(0.5, abs=0.05)
    assert (X[y == 3].std(axis=0) > 2 * X[y == 2].std(axis=0)).all()


@pytest.mark.parametrize("seed", [0, 1])
def test_ring_g_is_what_pskc_finds(seed):
    X, y = make_ring_g(random_state=seed)
    model = PSKC(psi=128, tau=2e-3, growth_rate=0.26, random_state=42, replace=True).fit(X)
    assert model.n_clusters_ == 4
    assert matched_f1(y, model.labels_) > 0.98


def test_varied_densities_are_two_dense_clusters_and_a_sparse_one():
    X, y = make_varied_densities(5000, random_state=0)
    assert X.shape == (5000, 1)
    centres = [np.median(X[y == cluster]) for cluster in range(3)]
    widths = [X[y == cluster].std() for cluster in range(3)]
    assert centres[1] - centres[0] < (centres[2] - centres[1]) / 4
    assert min(np.bincount(y)[:2]) / max(widths[:2]) > 5 * np.bincount(y)[2] / widths[2]


@pytest.fixture
def strokes():
    """An upright and a flat stroke, as digits 28 pixels wide."""
    pictures = np.zeros((2, 28, 28), dtype=np.uint8)
    pictures[0, 4:24, 12:16] = pictures[1, 12:16, 4:24] = 255
    return pictures, np.array([1, 7])


def test_deformed_digits_do_not_depend_on_chunks_or_on_how_many_are_made(strokes):
    X, y = make_mnist8m_like(600, random_state=0, source=strokes)
    for n_samples, chunk_size in ((600, 600), (500, 200), (257, 1)):
        chunks = list(
            iter_mnist8m_like(n_samples, random_state=0, source=strokes, chunk_size=chunk_size)
        )
        assert [len(some) for some, _ in chunks[:-1]] == [chunk_size] * (len(chunks) - 1)
        assert_array_equal(np.concatenate([some for some, _ in chunks]), X[:n_samples])
        assert_array_equal(np.concatenate([some for _, some in chunks]), y[:n_samples])


def test_deformed_digits_differ_and_depend_on_the_seed(strokes):
    X, _ = make_mnist8m_like(600, random_state=0, source=strokes)
    assert X.dtype == np.uint8
    assert len(np.unique(X, axis=0)) == len(X)
    other, _ = make_mnist8m_like(600, random_state=1, source=strokes)
    assert (other != X).any()


def test_deformed_digits_stay_what_they_were(strokes):
    X, y = make_mnist8m_like(500, random_state=0, source=strokes)
    assert set(y) == {1, 7}
    pictures = X.reshape(-1, 28, 28) / 255
    height, width = ((pictures.max(axis=axis) > 0.5).sum(axis=1) for axis in (2, 1))
    assert_array_equal(height > width, y == 1)
    originals = strokes[0] / 255
    assert pictures.sum(axis=(1, 2)).mean() == pytest.approx(originals[0].sum(), rel=0.05)
    # On average nothing has moved.
    assert np.abs(pictures[y == 1].mean(axis=0) - originals[0]).mean() < 0.1


def test_pictures_are_sampled_as_scipy_samples_them():
    rng = np.random.default_rng(0)
    pictures = rng.integers(256, size=(3, 28, 28)).astype(np.uint8)
    places = rng.uniform(0, 28.999, (2, 3, 784)).astype(np.float32)
    expected = [
        map_coordinates(np.pad(picture, 1).astype(float), places[:, number], order=1)
        for number, picture in enumerate(pictures)
    ]
    assert np.abs(_sampled(pictures, places) - np.array(expected)).max() < 0.51


def test_flat_pictures_are_the_same_digits(strokes):
    pictures, labels = strokes
    square = make_mnist8m_like(300, random_state=0, source=strokes)[0]
    flat = make_mnist8m_like(300, random_state=0, source=(pictures.reshape(2, 784), labels))[0]
    assert_array_equal(square, flat)


def test_digits_that_are_none_are_refused(strokes):
    pictures, labels = strokes
    for wrong in (pictures.astype(float), pictures[:, :27], pictures[:0]):
        with pytest.raises(ValueError, match=r"X of source is .* Pass uint8 of shape \(n, 784\)"):
            make_mnist8m_like(10, source=(wrong, labels))
    with pytest.raises(ValueError, match=r"y of source has shape \(1,\). Pass a label for each"):
        make_mnist8m_like(10, source=(pictures, labels[:1]))
    with pytest.raises(ValueError, match="chunk_size=0 is not allowed"):
        iter_mnist8m_like(10, source=strokes, chunk_size=0)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A data folder of small made-up files, which count as the known ones."""
    from PIL import Image

    (tmp_path / "paper").mkdir()
    (tmp_path / "images").mkdir()
    np.savez(tmp_path / "paper/s3.npz", X=[[0.5, 1], [0, 0]], y=np.array([2, 1], dtype=np.uint8))
    digits = np.arange(2 * 784).reshape(2, 28, 28).astype(np.uint8)
    np.savez(tmp_path / "mnist70k.npz", X=digits, y=np.array([5, 0], dtype=np.uint8))
    Image.new("L", (3, 2), 7).save(tmp_path / "images/autumn_colors.png")
    for file in ("paper/s3.npz", "mnist70k.npz", "images/autumn_colors.png"):
        checksum = hashlib.sha256((tmp_path / file).read_bytes()).hexdigest()
        monkeypatch.setitem(_loaders._SHA256, file, checksum)
    monkeypatch.delenv("PSKCLUST_DATA", raising=False)
    return tmp_path


def test_sets_come_from_the_folder_given_or_from_the_variable(folder, monkeypatch):
    for X, y in (load_paper_set("s3", folder), load_paper_set("s3", folder=str(folder))):
        assert_array_equal(X, [[0.5, 1], [0, 0]])
        assert_array_equal(y, [2, 1])
    monkeypatch.setenv("PSKCLUST_DATA", str(folder))
    assert_array_equal(load_paper_set("s3")[1], [2, 1])


def test_mnist_has_a_row_for_each_digit(folder):
    X, y = load_mnist(folder)
    assert_array_equal(X, np.arange(2 * 784).reshape(2, 784) % 256)
    assert X.dtype == np.uint8
    assert_array_equal(y, [5, 0])


def test_digits_are_deformed_from_mnist(folder):
    X, y = make_mnist8m_like(50, random_state=0, folder=folder)
    source = load_mnist(folder)
    expected = make_mnist8m_like(50, random_state=0, source=source)
    assert_array_equal(X, expected[0])
    assert_array_equal(y, expected[1])


def test_paintings_are_read_in_colour(folder):
    assert_array_equal(load_painting("autumn_colors", folder), np.full((2, 3, 3), 7))


LOADERS = {
    "paper/s3.npz": lambda folder=None: load_paper_set("s3", folder),
    "mnist70k.npz": load_mnist,
    "images/autumn_colors.png": lambda folder=None: load_painting("autumn_colors", folder),
}
SOURCES = {
    "paper/s3.npz": "clustering benchmark page http://www.cs.uef.fi/sipu",
    "mnist70k.npz": 'Pass download=True .*fetch_openml\\("mnist_784"\\)',
    "images/autumn_colors.png": "National Palace Museum, Taipei, is in the public domain",
}


@pytest.mark.parametrize("file", LOADERS)
def test_what_is_missing_is_named_with_its_source(file, tmp_path, monkeypatch):
    monkeypatch.delenv("PSKCLUST_DATA", raising=False)
    with pytest.raises(FileNotFoundError, match=f"{file} .*PSKCLUST_DATA. .*{SOURCES[file]}"):
        LOADERS[file]()
    with pytest.raises(FileNotFoundError, match=f"There is no {file} in .*{SOURCES[file]}"):
        LOADERS[file](tmp_path)


@pytest.mark.parametrize("file", LOADERS)
def test_a_file_that_is_not_the_known_one_is_refused(file, folder, monkeypatch):
    monkeypatch.setitem(_loaders._SHA256, file, "0" * 64)
    with pytest.raises(ValueError, match=f"is not the known {file}: .* or pass verify=False"):
        LOADERS[file](folder)


def test_a_file_is_used_as_it_is_if_asked(folder, monkeypatch):
    for file in LOADERS:
        monkeypatch.setitem(_loaders._SHA256, file, "0" * 64)
    assert len(load_paper_set("s3", folder, verify=False)[0]) == 2
    assert len(load_mnist(folder, verify=False)[0]) == 2
    assert load_painting("autumn_colors", folder, verify=False).shape == (2, 3, 3)


def test_every_known_file_has_a_checksum():
    files = [file for file, _ in [*_loaders._PAPER_SETS.values(), *_loaders._PAINTINGS.values()]]
    assert {*files, "mnist70k.npz"} == set(_loaders._SHA256)


def test_mnist_is_downloaded_only_if_asked(tmp_path, monkeypatch):
    def fetch(name, **options):
        return np.full((3, 784), 255.0), np.array(["4", "0", "1"], dtype=object)

    monkeypatch.setattr(_loaders, "fetch_openml", fetch)
    X, y = load_mnist(tmp_path, download=True)
    assert_array_equal(X, np.full((3, 784), 255))
    assert X.dtype == np.uint8
    assert_array_equal(y, [4, 0, 1])
    with pytest.raises(FileNotFoundError):
        load_mnist(tmp_path)


@pytest.mark.parametrize("load", [load_paper_set, load_painting])
def test_unknown_names_are_refused_with_the_known_ones(load, tmp_path):
    with pytest.raises(ValueError, match="name='S5' is not known. Use one of '"):
        load("S5", tmp_path)


def test_paintings_say_how_to_get_pillow(monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(ImportError, match='pip install "pskclust\\[image\\]"'):
        load_painting("autumn_colors")


@needs_data
@pytest.mark.parametrize(
    ("name", "n_rows", "n_classes"),
    [
        ("AC", 1004, 2),
        ("aggregation", 788, 7),
        ("spiral", 312, 3),
        ("s3", 5000, 15),
        ("4C", 1000, 4),
    ],
)
def test_the_known_sets_are_as_in_the_paper(name, n_rows, n_classes):
    X, y = load_paper_set(name)
    assert X.shape == (n_rows, 2)
    assert set(y) == set(range(1, n_classes + 1))


@needs_data
def test_the_known_digits_and_paintings_are_as_expected():
    X, y = load_mnist()
    assert X.shape == (70_000, 784)
    assert_array_equal(np.unique(y), range(10))
    assert load_painting("autumn_colors").shape == (450, 1804, 3)
    assert load_painting("starry_night_over_the_rhone").shape == (992, 1280, 3)
