"""Images of every kind are segmented by colour."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pskclust import PSKC
from pskclust.image import segment
from pskclust.image.colour_spaces import to_space
from pskclust.image.pixels import Colours, Pixels

skimage = pytest.importorskip("skimage")


@pytest.fixture
def flag():
    """Three stripes, each of a colour with a little variation, of 30, 20 and 10 rows."""
    rng = np.random.RandomState(0)
    colours = np.repeat([[200, 30, 30], [30, 160, 60], [40, 60, 200]], [30, 20, 10], axis=0)
    image = np.broadcast_to(colours[:, np.newaxis], (60, 40, 3)) + rng.randint(-8, 9, (60, 40, 3))
    return image.astype(np.uint8)


def found(image, psi=8, tau=0.15, **options):
    return segment(image, psi, tau, random_state=0, **options)


@pytest.mark.parametrize("space", ["lab", "rgb", "hsv"])
def test_colours_come_apart_the_largest_first(flag, space):
    result = found(flag, color_space=space)
    assert_array_equal(
        result.labels, np.repeat([0, 1, 2], [30, 20, 10])[:, np.newaxis] * [[1] * 40]
    )
    assert_array_equal(result.sizes, [1200, 800, 400])
    assert np.abs(result.colors.astype(int)[0] - [200, 30, 30]).max() < 3


def test_labels_are_those_of_all_pixels_in_the_order_of_their_colours(flag):
    result = found(flag)
    colours, numbers, counts = np.unique(
        flag.reshape(-1, 3), axis=0, return_inverse=True, return_counts=True
    )
    pixels = np.repeat(to_space(colours, "lab"), counts, axis=0)
    plain = PSKC(psi=8, tau=0.15, random_state=0).fit(pixels)
    first_pixel = np.cumsum(counts) - counts
    by_pixel = plain.labels_[first_pixel][numbers].reshape(60, 40)
    pairs = {(a, b) for a, b in zip(by_pixel.ravel(), result.labels.ravel(), strict=True)}
    assert len(pairs) == plain.n_clusters_ == result.n_clusters


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32, float])
def test_all_types_of_numbers_give_the_same_clusters(flag, dtype):
    scale = {np.uint8: 1, np.uint16: 257}.get(dtype, 1 / 255)
    image = (flag.astype(float) * scale).astype(dtype)
    assert_array_equal(found(image).labels, found(flag).labels)


def test_grey_images_have_three_equal_channels(flag):
    grey = np.where(flag[..., 0] > 100, 220, 30).astype(np.uint8)
    expected = found(np.repeat(grey[..., np.newaxis], 3, axis=2), tau=0.5)
    assert expected.n_clusters == 2
    for image in (grey, grey[..., np.newaxis]):
        assert_array_equal(found(image, tau=0.5).labels, expected.labels)
    assert_array_equal(found(grey > 100, tau=0.5).labels, expected.labels)


def test_transparent_pixels_are_left_out(flag):
    alpha = np.full((60, 40, 1), 255, dtype=np.uint8)
    alpha[50:] = 0
    result = found(np.concatenate([flag, alpha], axis=2))
    assert (result.labels[50:] == -1).all()
    assert (result.labels[:50] >= 0).all()
    assert (result.image[50:] == 255).all()
    assert (result.mean_color_image()[50:] == 255).all()
    grey_and_alpha = np.concatenate([flag[..., :1], alpha], axis=2)
    assert (found(grey_and_alpha).labels[50:] == -1).all()


def test_position_tells_places_of_one_colour_apart():
    image = np.zeros((20, 60, 3), dtype=np.uint8)
    image[:, 25:35] = 255
    assert found(image, tau=0.5).n_clusters == 2
    assert found(image, position=4.0).n_clusters > 2


def test_a_cutout_is_the_cluster_on_white(flag):
    picture = found(flag).cutout(1)
    assert_array_equal(picture[30:50], flag[30:50])
    assert (picture[:30] == 255).all()
    with pytest.raises(ValueError, match="cluster=3 does not exist.*0 to 2"):
        found(flag).cutout(3)
    with pytest.raises(ValueError, match="cluster=0 does not exist. The image has no clusters"):
        found(np.random.RandomState(0).randint(0, 256, (9, 9, 3), np.uint8), tau=0.99).cutout(0)


@pytest.mark.parametrize("path", ["photo.jpg", Path("photo.jpg")])
def test_a_path_is_to_be_read_first(path):
    with pytest.raises(TypeError, match=r"'photo.jpg'.*segment\(read_image\(path\)\)"):
        segment(path)


def test_a_segmentation_is_shown_in_one_line(flag):
    image = np.dstack([flag, np.full(flag.shape[:2], 255, dtype=np.uint8)])
    image[0, :2, 3] = 0
    result = segment(image, psi=4, tau=0.3, random_state=0)
    height, width = flag.shape[:2]
    expected = f"{width} x {height} pixels, {result.n_clusters} clusters, 2 pixels in no cluster"
    assert repr(result) == f"Segmentation({expected})"


def test_the_contact_sheet_holds_the_image_and_its_clusters(flag):
    result = found(np.repeat(flag, 5, axis=1))
    sheet = result.contact_sheet()
    assert_array_equal(sheet[16:76, 16:216], result.image)
    assert_array_equal(sheet[16:76, 232:432], result.cutout(0))
    # Under a picture, a patch of the cluster's mean colour.
    assert_array_equal(sheet[92, 240], result.colors[0])
    one_row, two_rows = result.contact_sheet(max_clusters=1), sheet
    assert len(one_row) < len(two_rows)
    wide = np.repeat(np.repeat(flag, 20, axis=0), 30, axis=1)
    assert found(wide).contact_sheet().shape[1] < 1700


@pytest.mark.parametrize("bands", [1, 100, 10**6])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
@pytest.mark.parametrize("n_channels", [1, 2, 3, 4])
def test_colours_are_counted_and_spread_again(monkeypatch, bands, dtype, n_channels):
    monkeypatch.setattr("pskclust.image.pixels._PIXELS_PER_BAND", bands)
    rng = np.random.RandomState(0)
    image = rng.randint(0, 3, (30, 17, n_channels)).astype(dtype) * dtype(np.iinfo(dtype).max // 2)
    pixels = Pixels.of(image)
    colours = Colours(pixels, 2)
    opaque = image[..., -1] > 0 if n_channels in (2, 4) else np.ones((30, 17), dtype=bool)
    plain = image[..., : 3 if n_channels > 2 else 1]
    expected, counts = np.unique(plain[opaque], axis=0, return_counts=True)
    assert_array_equal(colours.rgb, np.broadcast_to(expected, (len(expected), 3)))
    assert_array_equal(colours.counts, counts)
    numbers = colours.spread(np.arange(len(counts), dtype=np.int32))
    assert_array_equal(expected[numbers[opaque]], plain[opaque])
    assert (numbers[~opaque] == -1).all()


@pytest.mark.parametrize(
    ("image", "message"),
    [
        (np.zeros((3, 4, 5)), "shape \\(3, 4, 5\\)"),
        (np.zeros(5), "shape \\(5,\\)"),
        (np.zeros((0, 3, 3)), "shape \\(0, 3, 3\\)"),
        (np.zeros((3, 3), dtype=int), "type int64"),
        (np.full((3, 3), 2.0), "floats outside 0 to 1"),
        (np.full((3, 3), np.nan), "missing values"),
        (np.zeros((3, 3, 4), dtype=np.uint8), "fewer than two pixels"),
    ],
)
def test_what_is_no_image_is_named(image, message):
    with pytest.raises(ValueError, match=message):
        segment(image)


def test_wrong_parameters_are_named(flag):
    with pytest.raises(ValueError, match="color_space='xyz'"):
        segment(flag, color_space="xyz")
    with pytest.raises(ValueError, match="position=-1"):
        segment(flag, position=-1)
    with pytest.raises(ValueError, match="psi"):
        segment(flag, psi=1)


def test_an_image_of_one_colour_is_named(flag):
    flag[:] = 200, 30, 30
    with pytest.raises(ValueError, match="only one colour, so there is nothing to segment"):
        found(flag)
    assert found(flag, position=1.0).labels.shape == (60, 40)
