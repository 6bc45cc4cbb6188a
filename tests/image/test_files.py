"""Image files are read as they are, and segmentations written whole or not at all."""

from __future__ import annotations

import struct
import zlib

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pskclust.image import ImageFileError, read_image, segment

Image = pytest.importorskip("PIL.Image")
tifffile = pytest.importorskip("tifffile")

RNG = np.random.RandomState(0)
GREY, RGB = RNG.randint(0, 256, (9, 14)), RNG.randint(0, 256, (9, 14, 3))
RGBA, GREY16 = RNG.randint(0, 256, (9, 14, 4)), RNG.randint(0, 65536, (9, 14))
RGB16, RGBA16 = RNG.randint(0, 65536, (9, 14, 3)), RNG.randint(0, 65536, (9, 14, 4))
COLOUR_TYPES = {1: 0, 2: 4, 3: 2, 4: 6}


def png(pixels):
    """Return a PNG of 16 bits, which Pillow writes for grey only."""

    def chunk(name, content):
        body = name + content
        return struct.pack(">I", len(content)) + body + struct.pack(">I", zlib.crc32(body))

    height, width = pixels.shape[:2]
    colour_type = COLOUR_TYPES[1 if pixels.ndim == 2 else pixels.shape[2]]
    rows = b"".join(b"\0" + row.astype(">u2").tobytes() for row in pixels)
    header = struct.pack(">IIBBBBB", width, height, 16, colour_type, 0, 0, 0)
    start = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header)
    return start + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


@pytest.mark.parametrize("pixels", [GREY, RGB, RGBA], ids=["grey", "rgb", "rgba"])
@pytest.mark.parametrize("ending", ["png", "tiff", "webp"])
def test_eight_bits_are_read_as_they_are(tmp_path, pixels, ending):
    if ending == "webp" and pixels.ndim == 2:
        pixels = np.repeat(pixels[..., np.newaxis], 3, axis=2)  # it has no grey
    path = tmp_path / f"image.{ending}"
    options = {"lossless": True, "exact": True} if ending == "webp" else {}
    Image.fromarray(pixels.astype(np.uint8)).save(path, **options)
    image = read_image(path)
    assert image.dtype == np.uint8
    assert_array_equal(image, pixels)


def test_a_jpeg_is_read(tmp_path):
    smooth = np.linspace(0, 200, 64 * 64 * 3).reshape(64, 64, 3).astype(np.uint8)
    Image.fromarray(smooth).save(tmp_path / "image.jpg", quality=95)
    image = read_image(tmp_path / "image.jpg")
    assert np.abs(image.astype(int) - smooth).mean() < 5


@pytest.mark.parametrize(
    "pixels",
    [GREY16, RGBA16[..., :2], RGB16, RGBA16],
    ids=["grey", "grey and alpha", "rgb", "rgba"],
)
def test_a_png_of_sixteen_bits_keeps_them_all(tmp_path, pixels):
    (tmp_path / "image.png").write_bytes(png(pixels))
    image = read_image(tmp_path / "image.png")
    assert image.dtype == np.uint16
    assert_array_equal(image, pixels)


@pytest.mark.parametrize("byte_order", ["<", ">"])
@pytest.mark.parametrize("compression", [None, "zlib"])
@pytest.mark.parametrize("pixels", [GREY16, RGB16], ids=["grey", "rgb"])
def test_a_tiff_of_sixteen_bits_keeps_them_all(tmp_path, pixels, compression, byte_order):
    tifffile.imwrite(
        tmp_path / "image.tif",
        pixels.astype(np.uint16),
        byteorder=byte_order,
        compression=compression,
        photometric="minisblack" if pixels.ndim == 2 else "rgb",
    )
    image = read_image(tmp_path / "image.tif")
    assert image.dtype == np.uint16
    assert_array_equal(image, pixels)


@pytest.mark.parametrize("ending", ["png", "jpg", "tiff", "webp"])
def test_an_image_is_turned_as_its_orientation_says(tmp_path, ending):
    upright = np.zeros((40, 24, 3), dtype=np.uint8)
    upright[:20] = 255
    exif = Image.Exif()
    exif[0x0112] = 6  # a quarter turn to the right is needed
    path = tmp_path / f"image.{ending}"
    Image.fromarray(np.rot90(upright)).save(path, exif=exif)
    image = read_image(path)
    assert image.shape == (40, 24, 3)
    assert np.abs(image.astype(int) - upright).max() < 10


def test_sixteen_bits_are_turned_too(tmp_path):
    tifffile.imwrite(
        tmp_path / "image.tif",
        RGB16.astype(np.uint16),
        photometric="rgb",
        extratags=[(274, "H", 1, 6, True)],
    )
    assert_array_equal(read_image(tmp_path / "image.tif"), np.rot90(RGB16, -1))


def test_palettes_and_single_bits_become_colours_and_grey(tmp_path):
    few = np.array([[200, 30, 30], [30, 160, 60]], dtype=np.uint8)[GREY % 2]
    palette = Image.fromarray(few).quantize(2)
    palette.save(tmp_path / "palette.png")
    assert_array_equal(read_image(tmp_path / "palette.png"), few)
    palette.save(tmp_path / "transparent.png", transparency=0)
    alpha = read_image(tmp_path / "transparent.png")[..., 3]
    assert set(np.unique(alpha)) == {0, 255}
    Image.fromarray(GREY % 2 == 0).save(tmp_path / "bits.png")
    assert_array_equal(read_image(tmp_path / "bits.png"), np.where(GREY % 2 == 0, 255, 0))


def test_a_file_that_is_no_image_is_named(tmp_path):
    path = tmp_path / "notes.png"
    path.write_text("x,y\n1,2\n")
    with pytest.raises(ImageFileError, match=r"notes\.png is not a PNG, JPEG, TIFF or WebP image"):
        read_image(path)
    path.write_bytes(b"")
    with pytest.raises(ImageFileError, match=r"notes\.png is empty"):
        read_image(path)
    with pytest.raises(FileNotFoundError, match=r"absent\.png"):
        read_image(tmp_path / "absent.png")
    with pytest.raises(IsADirectoryError):
        read_image(tmp_path)


@pytest.mark.parametrize("ending", ["png", "jpg", "tiff", "webp"])
def test_a_file_cut_short_is_named(tmp_path, ending):
    path = tmp_path / f"image.{ending}"
    Image.fromarray(RNG.randint(0, 256, (60, 60, 3)).astype(np.uint8)).save(path)
    content = path.read_bytes()
    for share in (0.9, 0.5, 0.1):
        path.write_bytes(content[: int(share * len(content))])
        with pytest.raises(ImageFileError, match=rf"image\.{ending} is (damaged|no PNG)"):
            read_image(path)


def test_a_damaged_file_of_sixteen_bits_is_named(tmp_path):
    (tmp_path / "image.png").write_bytes(png(RGB16)[:200])
    with pytest.raises(ImageFileError, match=r"image\.png is damaged or cut short"):
        read_image(tmp_path / "image.png")


def test_a_file_with_too_many_pixels_is_refused_before_they_are_read(tmp_path):
    Image.fromarray(RGB.astype(np.uint8)).save(tmp_path / "image.png")
    with pytest.raises(ImageFileError, match=r"14 x 9 = 0\.0 megapixels, more than the limit"):
        read_image(tmp_path / "image.png", max_pixels=100)
    header = struct.pack(">IIBBBBB", 30_000, 30_000, 8, 2, 0, 0, 0)
    content = png(RGB16)
    body = b"IHDR" + header
    bomb = content[:8] + struct.pack(">I", 13) + body + struct.pack(">I", zlib.crc32(body))
    (tmp_path / "bomb.png").write_bytes(bomb + content[33:])
    with pytest.raises(ImageFileError, match=r"bomb\.png has .*pixels"):
        read_image(tmp_path / "bomb.png")


def test_values_of_32_bits_are_refused(tmp_path):
    Image.fromarray(GREY.astype(np.float32)).save(tmp_path / "image.tif")
    with pytest.raises(ImageFileError, match=r"image\.tif has 32 bits per channel"):
        read_image(tmp_path / "image.tif")


@pytest.fixture
def segmentation():
    stripes = np.zeros((12, 20, 3), dtype=np.uint8)
    stripes[:, 12:] = 250, 20, 20
    return segment(stripes, psi=8, tau=0.5, random_state=0)


def test_a_segmentation_is_saved_as_files_that_say_the_same(segmentation, tmp_path):
    paths = segmentation.save(tmp_path / "new" / "folder")
    assert {path.name for path in paths} == {
        path.name for path in (tmp_path / "new/folder").iterdir()
    }
    read = {path.name: path for path in paths}
    assert set(read) == {
        *("labels.npy", "labels.png", "mean_color.png", "contact_sheet.png"),
        *("cluster_0.png", "cluster_1.png"),
    }
    assert_array_equal(np.load(read["labels.npy"]), segmentation.labels)
    palette = Image.open(read["labels.png"])
    assert palette.mode == "P"
    assert_array_equal(np.asarray(palette), segmentation.labels)
    assert_array_equal(read_image(read["mean_color.png"]), segmentation.mean_color_image())
    assert_array_equal(read_image(read["cluster_1.png"]), segmentation.cutout(1))
    assert_array_equal(read_image(read["contact_sheet.png"]), segmentation.contact_sheet())


def test_noise_and_late_clusters_have_numbers_of_their_own_in_the_palette(segmentation):
    from pskclust.image._label_map import label_map

    labels = np.array([[-1, 0, 253], [254, 255, 3000]], dtype=np.int32)
    numbers, palette = label_map(labels, 3001)
    assert_array_equal(numbers, [[255, 0, 253], [254, 254, 254]])
    assert palette.shape == (256, 3)
    assert tuple(palette[255]) == (184, 184, 184)


def test_files_that_exist_are_kept_unless_forced(segmentation, tmp_path):
    (tmp_path / "cluster_1.png").write_text("mine")
    with pytest.raises(FileExistsError, match=r"cluster_1\.png exists. Use force=True"):
        segmentation.save(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["cluster_1.png"]
    segmentation.save(tmp_path, force=True)
    assert_array_equal(read_image(tmp_path / "cluster_1.png"), segmentation.cutout(1))


def test_pictures_of_more_clusters_of_an_earlier_run_are_deleted(segmentation, tmp_path):
    others = {"cluster_1.jpg", "cluster_old.png", "my_cluster_7.png"}
    for name in {"cluster_2.png", "cluster_07.png", *others}:
        (tmp_path / name).write_text("earlier")
    written = {path.name for path in segmentation.save(tmp_path, force=True)}
    assert {path.name for path in tmp_path.iterdir()} == written | others


def test_a_failure_while_writing_leaves_the_old_file(segmentation, tmp_path, monkeypatch):
    segmentation.save(tmp_path)
    before = (tmp_path / "labels.png").read_bytes()

    def fail(*arguments, **options):
        raise OSError("No space left on device")

    monkeypatch.setattr(Image.Image, "save", fail)
    with pytest.raises(OSError, match="No space left"):
        segmentation.save(tmp_path, force=True)
    assert (tmp_path / "labels.png").read_bytes() == before
    assert not list(tmp_path.glob(".*"))


def test_only_the_largest_clusters_are_written_if_asked(segmentation, tmp_path):
    names = {path.name for path in segmentation.save(tmp_path, max_clusters=1)}
    assert "cluster_0.png" in names
    assert "cluster_1.png" not in names
