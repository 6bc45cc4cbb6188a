"""NumPy files: NPY, and NPZ with a table X, named columns, or both."""

from __future__ import annotations

import lzma
import math
import tokenize
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from .base import Batch, NamedColumns, batch_rows, float_type, numbered, require_few_columns
from .errors import NotNumbersError, TableError, WrongFormatError

if TYPE_CHECKING:
    import pyarrow as pa

_PREFERRED = "X"
# Exceptions that numpy, zipfile and the decompressors raise for damaged files.
_DAMAGED = (
    EOFError,
    KeyError,
    NotImplementedError,
    OSError,
    RuntimeError,
    SyntaxError,
    ValueError,
    lzma.LZMAError,
    tokenize.TokenError,
    zipfile.BadZipFile,
    zlib.error,
)


class TooShortError(ValueError):
    """Error for an array whose file holds fewer bytes than its header declares."""

    def __init__(self, n_announced: int, n_stored: int) -> None:
        super().__init__(f"its header declares {n_announced:,} bytes, but it has {n_stored:,}")


@dataclass(frozen=True)
class _Stored:
    """An array in a file; only its header has been read."""

    path: Path
    member: str | None  # name of the array's file in an NPZ archive; None for NPY
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    by_columns: bool

    @classmethod
    def of(cls, path: Path, member: str | None) -> _Stored:
        with _opened(path, member) as stream:
            version = np.lib.format.read_magic(stream)
            read = {
                (1, 0): np.lib.format.read_array_header_1_0,
                (2, 0): np.lib.format.read_array_header_2_0,
            }.get(version)
            if read is None:
                raise ValueError(f"array format {version}")
            shape, by_columns, dtype = read(stream)
            n_stored = _n_bytes(path, member) - stream.tell()
        stored = cls(path, member, shape, dtype, by_columns and len(shape) > 1)
        # A damaged header can claim any number of rows and columns.
        n_announced = dtype.itemsize * math.prod(shape)
        if min(shape, default=0) < 0 or (n_announced > n_stored and not dtype.hasobject):
            raise TooShortError(n_announced, n_stored)
        return stored

    def pieces(self, n_rows: int) -> Iterator[NDArray[Any]]:
        """Yield the rows, `n_rows` at a time."""
        if self.by_columns:
            # A row is spread over the whole file, so the file is mapped into memory. An array in an
            # archive is read whole.
            array = self._whole()
            for start in range(0, self.shape[0], n_rows):
                yield array[start : start + n_rows]
            return
        row_shape = self.shape[1:]
        row_bytes = self.dtype.itemsize * int(np.prod(row_shape, dtype=np.int64))
        with _opened(self.path, self.member) as stream:
            self._skip_header(stream)
            for start in range(0, self.shape[0], n_rows):
                count = min(n_rows, self.shape[0] - start)
                content = stream.read(count * row_bytes)
                if len(content) < count * row_bytes:
                    raise EOFError("it ends too early")
                yield np.frombuffer(content, self.dtype).reshape(count, *row_shape)

    def _whole(self) -> NDArray[Any]:
        if self.member is None:
            mapped: NDArray[Any] = np.load(self.path, mmap_mode="r", allow_pickle=False)
            return mapped
        with _opened(self.path, self.member) as stream:
            return np.lib.format.read_array(stream, allow_pickle=False)

    @staticmethod
    def _skip_header(stream: BinaryIO) -> None:
        if np.lib.format.read_magic(stream) == (1, 0):
            np.lib.format.read_array_header_1_0(stream)
        else:
            np.lib.format.read_array_header_2_0(stream)


class ArrayTable(NamedColumns):
    """Table of arrays with the same number of rows: a matrix, named columns, or both."""

    def __init__(self, path: Path, name: str, kind: str) -> None:
        try:
            arrays = _arrays_in(path, kind)
        except TooShortError as error:
            raise TableError(f"{name} is damaged: {error}. Save or copy it again.") from error
        except _DAMAGED as error:
            raise WrongFormatError(name, kind.upper(), None) from error
        main = _main_array(arrays, name)
        n_rows = arrays[main].shape[0] if main is not None else _n_rows_of_first(arrays)
        beside = tuple(
            key for key, array in arrays.items() if key != main and array.shape == (n_rows,)
        )
        if main is None:
            super().__init__(name, beside, n_rows=n_rows)
        else:
            shape = arrays[main].shape
            n_columns = shape[1] if len(shape) > 1 else 1
            require_few_columns(n_columns, name)
            columns = numbered(n_columns)
            super().__init__(name, columns, beside, has_names=False, n_rows=n_rows)
        self._arrays, self._main = arrays, main
        self._strange = {
            key: _words(arrays[key].dtype) for key in beside if arrays[key].dtype.kind not in "biuf"
        }
        if main is not None and arrays[main].dtype.kind not in "biuf":
            raise NotNumbersError({main: _words(arrays[main].dtype)})

    def batches(self, numbers: Sequence[str], others: Sequence[str] = ()) -> Iterator[Batch]:
        wanted = list(dict.fromkeys([*numbers, *others]))
        from_main = [name for name in wanted if self._main is not None and name in self.columns]
        keys = [name for name in wanted if name not in from_main]
        places = {name: number for number, name in enumerate(self.columns)}
        width = len(self.columns) if from_main else 1
        pieces = {key: self._arrays[key].pieces(batch_rows(width)) for key in keys}
        main = self._arrays[self._main or ""].pieces(batch_rows(width)) if from_main else None
        n_done, n_rows = 0, self.n_rows or 0
        while n_done < n_rows:
            try:
                values = {key: next(piece) for key, piece in pieces.items()}
                table = _as_table(next(main)) if main is not None else None
            except _DAMAGED as error:
                raise TableError(f"{self.name} is damaged ({error}).") from error
            if table is not None:
                values |= {name: table[:, places[name]] for name in from_main}
            n_new = len(next(iter(values.values())))
            n_done += n_new
            if table is not None and tuple(numbers) == self.columns:
                block = table.astype(float_type([table.dtype]), copy=False)
            else:
                block = _stacked([values[name] for name in numbers], n_new)
            yield Batch(block, [_to_arrow(values[name], name) for name in others], n_done / n_rows)


def _n_rows_of_first(arrays: dict[str, _Stored]) -> int:
    return next(iter(arrays.values())).shape[0]


def _arrays_in(path: Path, kind: str) -> dict[str, _Stored]:
    if kind == "npy":
        only = _Stored.of(path, None)
        return {"array": only} if only.shape else {}
    with zipfile.ZipFile(path) as archive:
        members = [name for name in archive.namelist() if name.endswith(".npy")]
    arrays = {member.removesuffix(".npy"): _Stored.of(path, member) for member in members}
    return {key: array for key, array in arrays.items() if array.shape}


def _main_array(arrays: dict[str, _Stored], name: str) -> str | None:
    """Return the name of the array that holds the matrix; None if all are named columns."""
    if not arrays:
        raise TableError(f"{name} contains no array with rows.")
    tables = [key for key, array in arrays.items() if len(array.shape) == 2]
    if len(arrays) == 1:
        only = next(iter(arrays))
        if len(arrays[only].shape) > 2:
            shape = arrays[only].shape
            raise TableError(f"{name} holds an array of shape {shape}. It must be (rows, columns).")
        return only
    if _PREFERRED in tables:
        return _PREFERRED
    if len(tables) > 1:
        raise TableError(
            f"{name} holds several tables ({', '.join(tables)}). Name one of them X, or save one "
            "of them alone."
        )
    if tables:
        return tables[0]
    if len({array.shape for array in arrays.values()}) > 1:
        raise TableError(f"{name} holds columns of different lengths. Save one array X.")
    return None


def _n_bytes(path: Path, member: str | None) -> int:
    if member is None:
        return path.stat().st_size
    with zipfile.ZipFile(path) as archive:
        return archive.getinfo(member).file_size


def _opened(path: Path, member: str | None) -> BinaryIO:
    if member is None:
        return open(path, "rb")
    # The archive stays open as long as the opened member.
    return zipfile.ZipFile(path).open(member)  # type: ignore[return-value]


def _as_table(array: NDArray[Any]) -> NDArray[Any]:
    return array if array.ndim == 2 else array[:, np.newaxis]


def _stacked(values: list[NDArray[Any]], n_rows: int) -> NDArray[Any]:
    block = np.empty((n_rows, len(values)), float_type([array.dtype for array in values]))
    for number, array in enumerate(values):
        block[:, number] = array
    return block


def _words(dtype: np.dtype[Any]) -> str:
    if dtype.kind in "SUO":
        return "is text"
    return "is a date or time" if dtype.kind in "mM" else f"is {dtype}"


def _to_arrow(values: NDArray[Any], name: str) -> pa.Array:
    import pyarrow as pa

    # Arrow supports neither foreign byte orders nor floats of more than 64 bits.
    kind = np.dtype(np.float64) if values.dtype == np.longdouble else values.dtype.newbyteorder("=")
    try:
        return pa.array(np.ascontiguousarray(values, dtype=kind))
    except (pa.ArrowException, TypeError) as error:
        raise TableError(
            f'column "{name}" has the type {values.dtype}, but only numbers and text can be used '
            "here."
        ) from error
