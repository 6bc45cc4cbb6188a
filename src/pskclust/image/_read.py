"""Reader of image files into arrays of 8 or 16 bits."""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._utils.optional import optional

MAX_PIXELS = 100_000_000
_FORMATS = ("PNG", "JPEG", "TIFF", "WEBP")
_OTHER_ORDER = "B" if sys.byteorder == "little" else "L"
# Pillow drops the low byte of 16-bit channels. Each of their raw modes is mapped to the raw mode
# that reads the dropped byte.
_LOW_BYTES = {
    f"{mode};16{order}": f"{mode};16{opposite}"
    for mode in ("RGB", "RGBA")
    for order, opposite in (("L", "B"), ("B", "L"), ("N", _OTHER_ORDER))
}


class ImageFileError(ValueError):
    """Error for a file that is not a supported image, is damaged, or is too large.

    See Also
    --------
    read_image : Read the pixels of an image file.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from pskclust.image import ImageFileError, read_image
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "photo.png")
    ...     _ = path.write_text("not an image")
    ...     try:
    ...         read_image(path)
    ...     except ImageFileError as error:
    ...         print("Error:", error)
    Error: ...photo.png is not a PNG, JPEG, TIFF or WebP image.
    """


def read_image(
    path: str | os.PathLike[str], *, max_pixels: int = MAX_PIXELS
) -> NDArray[np.uint8] | NDArray[np.uint16]:
    """Read the pixels of a PNG, JPEG, TIFF or WebP file.

    The image is rotated according to its EXIF orientation. Only the first page or frame is read.

    Parameters
    ----------
    path : str or path-like
        The image file.
    max_pixels : int, default=100_000_000
        Largest number of pixels, 1 or more. A larger image is refused before it is decoded, which
        protects against small files that decode to images larger than memory.

    Returns
    -------
    image : ndarray of uint8 or uint16, shape (height, width) or (height, width, 2 to 4)
        The pixels: grey, grey and alpha, RGB, or RGB and alpha. The type is uint16 if the file has
        16 bits per channel.

    Raises
    ------
    ImageFileError
        If the file is not an image of these formats, is damaged or cut short, has too many pixels,
        or has 32 bits per channel.
    FileNotFoundError
        If the file does not exist.

    See Also
    --------
    segment : Segment an image by the colours of its pixels.
    pskclust.datasets.load_painting : Read a painting of the paper.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from PIL import Image
    >>> from pskclust.image import read_image
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "red.png")
    ...     Image.new("RGB", (30, 20), "red").save(path)
    ...     image = read_image(path)
    >>> image.shape, image[0, 0].tolist()
    ((20, 30, 3), [255, 0, 0])
    """
    with _named_errors(path):
        with _opened(path, max_pixels) as image:
            raw_mode = _raw_mode(image)
            if raw_mode == "LA;16B":
                pairs = _pixels(image, "RGBA")
                return _joined(pairs[..., ::2], pairs[..., 1::2])
            if raw_mode not in _LOW_BYTES:
                return _decoded(image)
            high = _pixels(image, raw_mode)
        with _opened(path, max_pixels) as image:
            return _joined(high, _pixels(image, _LOW_BYTES[raw_mode]))


@contextlib.contextmanager
def _named_errors(path: str | os.PathLike[str]) -> Iterator[None]:
    """Replace any exception of a decoder with an ImageFileError that names the file."""
    name = os.fspath(path)
    pil = optional("PIL.Image", "pskclust.image", "image")
    try:
        yield
    except (ImageFileError, MemoryError, FileNotFoundError, IsADirectoryError, PermissionError):
        raise
    except pil.UnidentifiedImageError as error:
        if not os.path.getsize(path):
            raise ImageFileError(f"{name} is empty.") from error
        raise ImageFileError(f"{name} is not a PNG, JPEG, TIFF or WebP image.") from error
    except pil.DecompressionBombError as error:
        raise ImageFileError(f"{name} has too many pixels: {error}") from error
    # Decoders raise exceptions of many types for damaged files.
    except Exception as error:
        raise ImageFileError(f"{name} is damaged or cut short: {error}.") from error


@contextlib.contextmanager
def _opened(path: str | os.PathLike[str], max_pixels: int) -> Iterator[Any]:
    pil = optional("PIL.Image", "pskclust.image", "image")
    with warnings.catch_warnings():
        # `max_pixels` replaces Pillow's own limit.
        warnings.simplefilter("ignore", pil.DecompressionBombWarning)
        opened = pil.open(path, formats=_FORMATS)
    with opened as image:
        width, height = image.size
        if width * height > max_pixels:
            raise ImageFileError(
                f"{os.fspath(path)} has {width} x {height} = {width * height / 1e6:,.1f} "
                f"megapixels, more than the limit of {max_pixels / 1e6:,.1f}. Scale it down first."
            )
        if image.mode in ("I", "F"):
            raise ImageFileError(
                f"{os.fspath(path)} has 32 bits per channel. Convert it to 8 or 16 bits first."
            )
        yield image


def _raw_mode(image: Any) -> Any:
    """Return Pillow's raw mode of the image; None if its tiles have different raw modes."""
    modes = {tile.args if isinstance(tile.args, str) else tile.args[0] for tile in image.tile}
    return modes.pop() if len(modes) == 1 else None


def _pixels(image: Any, raw_mode: str) -> NDArray[np.uint8]:
    """Return the pixels, decoded with the given raw mode."""
    image.tile = [
        tile._replace(args=raw_mode if isinstance(tile.args, str) else (raw_mode, *tile.args[1:]))
        for tile in image.tile
    ]
    return np.asarray(_turned(image))


def _joined(high: NDArray[np.uint8], low: NDArray[np.uint8]) -> NDArray[np.uint16]:
    joined = high.astype(np.uint16)
    joined <<= 8
    joined |= low
    return joined


def _turned(image: Any) -> Any:
    return optional("PIL.ImageOps", "pskclust.image", "image").exif_transpose(image)


def _decoded(image: Any) -> NDArray[np.uint8] | NDArray[np.uint16]:
    """Return the pixels of an image that Pillow decodes without loss."""
    transparent = image.has_transparency_data
    image = _turned(image)
    if image.mode.startswith("I;16"):
        return np.asarray(image).astype(np.uint16)
    grey = image.mode in ("1", "L", "LA", "La")
    wanted = ("LA" if transparent else "L") if grey else ("RGBA" if transparent else "RGB")
    return np.array(image if image.mode == wanted else image.convert(wanted))
