"""Checked pixels of an image, and the number of pixels of each colour."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .._utils.parallel import map_chunks

T = TypeVar("T")

WHITE = 255
# Number of pixels in a band, the unit of work of a thread.
_PIXELS_PER_BAND = 1 << 18
# Colours of up to this many bits are looked up in a table with an entry for each possible colour.
_MAX_BITS_FOR_TABLE = 24


@dataclass(frozen=True, eq=False)
class Pixels:
    """The pixels of an image, and a mask of those that are not fully transparent."""

    channels: NDArray[Any]  # (h, w, 1 or 3) uint8 or uint16
    opaque: NDArray[np.bool_] | None  # (h, w), None if no pixel is fully transparent

    @classmethod
    def of(cls, image: ArrayLike) -> Pixels:
        """Return the pixels of an image; raise an error if `segment` does not accept it."""
        if isinstance(image, str | os.PathLike):
            raise TypeError(
                f"image is a path, {os.fspath(image)!r}. Read it first: segment(read_image(path))."
            )
        array = np.asarray(image)
        if array.ndim == 2:
            array = array[..., np.newaxis]
        if array.ndim != 3 or not 1 <= array.shape[2] <= 4 or not array.size:
            raise ValueError(
                f"image has shape {array.shape}. Pass (height, width) or (height, width, 1 to 4): "
                "grey, grey and alpha, RGB, or RGB and alpha."
            )
        array = _whole_numbers(array)
        if array.shape[2] in (1, 3):
            pixels = cls(array, None)
        else:
            opaque = array[..., -1] > 0
            pixels = cls(array[..., :-1], None if opaque.all() else opaque)
        if pixels.n_opaque < 2:
            raise ValueError(
                "image has fewer than two pixels that are not transparent. Pass at least two."
            )
        return pixels

    @property
    def shape(self) -> tuple[int, int]:
        return self.channels.shape[0], self.channels.shape[1]

    @property
    def n_opaque(self) -> int:
        n_all = self.shape[0] * self.shape[1]
        return n_all if self.opaque is None else int(np.count_nonzero(self.opaque))

    def shown(self) -> NDArray[np.uint8]:
        """Return the image in 8 bits, (h, w, 3), white where it is transparent."""
        shown = np.array(np.broadcast_to(to_eight_bits(self.channels), (*self.shape, 3)))
        if self.opaque is not None:
            shown[~self.opaque] = WHITE
        return shown

    def bands(self, n_jobs: int | None, work: Callable[[slice], T]) -> Iterator[T]:
        """Call `work` with slices of the image's rows, in threads; yield its results in order."""
        height, width = self.shape
        rows = max(1, _PIXELS_PER_BAND // width)
        return map_chunks(work, height, rows, n_jobs)

    def codes(self, band: slice) -> NDArray[np.unsignedinteger[Any]]:
        """Return the colour of each pixel of a band as a single number, (rows, w)."""
        channels = self.channels[band]
        width = 8 * channels.dtype.itemsize
        codes = channels[..., 0].astype(_type_for(self.n_bits))
        for number in range(1, channels.shape[2]):
            codes <<= width
            codes |= channels[..., number]
        return codes

    @property
    def n_bits(self) -> int:
        """Number of bits per colour."""
        return int(8 * self.channels.dtype.itemsize * self.channels.shape[2])


class Colours:
    """The different colours of an image, in the order of their codes.

    Attributes
    ----------
    rgb : ndarray of uint8 or uint16, shape (m, 3)
        Red, green and blue of each colour.
    counts : ndarray of int64, shape (m,)
        Number of pixels of each colour.
    """

    def __init__(self, pixels: Pixels, n_jobs: int | None) -> None:
        self._pixels = pixels
        self._n_jobs = n_jobs
        self._codes, self.counts = self._counted()
        self.rgb = self._unpacked()

    def _counted(self) -> tuple[NDArray[Any], NDArray[np.int64]]:
        def count(band: slice) -> tuple[NDArray[Any], NDArray[np.intp]]:
            codes, opaque = self._pixels.codes(band), self._pixels.opaque
            return np.unique(codes if opaque is None else codes[opaque[band]], return_counts=True)

        parts = self._pixels.bands(self._n_jobs, count)
        if self._pixels.n_bits <= _MAX_BITS_FOR_TABLE:
            table = np.zeros(1 << self._pixels.n_bits, dtype=np.uint32)
            for codes, counts in parts:
                table[codes] += counts.astype(np.uint32)
            present = np.flatnonzero(table)
            return present.astype(np.uint32), table[present].astype(np.int64)
        all_codes, all_counts = (np.concatenate(some) for some in zip(*parts, strict=True))
        codes, numbers = np.unique(all_codes, return_inverse=True)
        counts = np.zeros(len(codes), dtype=np.int64)
        np.add.at(counts, numbers, all_counts)
        return codes, counts

    def _unpacked(self) -> NDArray[Any]:
        kind, n_channels = self._pixels.channels.dtype, self._pixels.channels.shape[2]
        width = 8 * kind.itemsize
        # Casting to the narrow type keeps only the bits of the channel.
        channels = [
            (self._codes >> (width * place)).astype(kind) for place in reversed(range(n_channels))
        ]
        return np.stack(channels * (3 // n_channels), axis=1)

    def spread(self, values: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return an image, (h, w), of the value of each pixel's colour; -1 where transparent."""
        answer = np.empty(self._pixels.shape, dtype=np.int32)
        look_up = self._look_up(values)

        def fill(band: slice) -> None:
            look_up(self._pixels.codes(band), answer[band])
            if self._pixels.opaque is not None:
                answer[band][~self._pixels.opaque[band]] = -1

        for _ in self._pixels.bands(self._n_jobs, fill):
            pass
        return answer

    def _look_up(
        self, values: NDArray[np.int32]
    ) -> Callable[[NDArray[Any], NDArray[np.int32]], object]:
        """Return a function that writes the values of given codes to an array."""
        if self._pixels.n_bits > _MAX_BITS_FOR_TABLE:
            # The code of a transparent pixel may exceed all known codes: its index is clipped.
            return lambda codes, out: np.take(
                values, np.searchsorted(self._codes, codes), out=out, mode="clip"
            )
        # The table may be large, but only its pages that are written to occupy memory.
        table = np.empty(1 << self._pixels.n_bits, dtype=np.int32)
        table[self._codes] = values
        return lambda codes, out: np.take(table, codes, out=out, mode="clip")


def to_eight_bits(channels: NDArray[Any]) -> NDArray[np.uint8]:
    """Return channels of 8 or 16 bits as 8 bits."""
    if channels.dtype == np.uint8:
        return channels
    return ((channels.astype(np.uint32) + 128) // 257).astype(np.uint8)


def _whole_numbers(array: NDArray[Any]) -> NDArray[Any]:
    if array.dtype == bool:
        return array.astype(np.uint8) * np.uint8(WHITE)
    if array.dtype in (np.uint8, np.uint16):
        return array
    if array.dtype.kind != "f":
        raise ValueError(
            f"image is of type {array.dtype}. Pass uint8, uint16, bool, or floats from 0 to 1."
        )
    if not np.isfinite(array).all() or array.min() < 0 or array.max() > 1:
        raise ValueError(
            "image holds floats outside 0 to 1, or missing values. Divide it by its largest value, "
            "or convert it to uint8."
        )
    return np.asarray(np.rint(array * np.iinfo(np.uint16).max), dtype=np.uint16)


def _type_for(n_bits: int) -> type[np.unsignedinteger[Any]]:
    return np.uint32 if n_bits <= 32 else np.uint64
