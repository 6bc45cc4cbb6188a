"""DiskArrays: arrays in unnamed temporary files, mapped into memory."""

from __future__ import annotations

import contextlib
import mmap
import os
import shutil
import tempfile
from collections.abc import Sequence
from typing import Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from .._utils.exceptions import InsufficientDiskError
from .._utils.memory import readable_bytes

_ALIGNMENT = 64
# Each file keeps a descriptor open, so many arrays share one file of at least this size.
_MIN_FILE_BYTES = 1 << 30


class DiskArrays(contextlib.AbstractContextManager["DiskArrays"]):
    """Arrays in files of a folder: written in a ``with`` block, readable afterwards.

    The files have no names. The system removes them when the last array is released, even if this
    process is killed.
    """

    def __init__(
        self, folder: str | os.PathLike[str], min_file_bytes: int = _MIN_FILE_BYTES
    ) -> None:
        if not os.path.isdir(folder):
            raise FileNotFoundError(
                f"scratch_dir={os.fspath(folder)!r} is not a folder. Create it, or pass another "
                "folder."
            )
        self._folder = folder
        self._min_file_bytes = min_file_bytes
        self._file: BinaryIO | None = None
        self._used = self._size = 0

    def __exit__(self, *error: object) -> None:
        if self._file is not None:
            self._file.close()

    def require(self, size: int, what: str) -> None:
        """Raise InsufficientDiskError if the folder has less than `size` bytes free."""
        free = shutil.disk_usage(self._folder).free
        if size > free:
            raise InsufficientDiskError(
                f"{what} need about {readable_bytes(size)} of disk, but "
                f"scratch_dir={os.fspath(self._folder)!r} has {readable_bytes(free)} free. Pass a "
                "folder on a larger disk, or use a smaller n_partitions."
            )

    def keep(self, arrays: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        """Write arrays to disk; return them mapped into memory."""
        starts = np.cumsum([0, *(_room_for(array) for array in arrays)])
        if self._used + starts[-1] > self._size:
            self._new_file(max(int(starts[-1]), self._min_file_bytes))
        first, self._used = self._used, self._used + int(starts[-1])
        return [
            self._write(array, first + int(start))
            for array, start in zip(arrays, starts, strict=False)
        ]

    def _new_file(self, size: int) -> None:
        self.__exit__()
        # The `with` block around this object closes the file.
        file = cast(BinaryIO, tempfile.TemporaryFile(dir=self._folder))  # noqa: SIM115
        # This reserves no space on disk: unwritten parts of a file take none.
        os.truncate(file.fileno(), size)
        self._file, self._used, self._size = file, 0, size
        self._map = mmap.mmap(file.fileno(), size)

    def _write(self, array: NDArray[Any], start: int) -> NDArray[Any]:
        content = np.ascontiguousarray(array)
        assert self._file is not None
        self._file.seek(start)
        try:
            # On a full disk, a write raises an error; a write to mapped memory kills the process.
            self._file.write(content.data if content.size else b"")
            self._file.flush()
        except OSError as error:
            raise InsufficientDiskError(
                f"scratch_dir={os.fspath(self._folder)!r} cannot take another "
                f"{readable_bytes(content.nbytes)} ({error.strerror}). Pass a folder on a larger "
                "disk, or use a smaller n_partitions."
            ) from error
        flat = np.frombuffer(self._map, content.dtype, content.size, start)
        return flat.reshape(content.shape)


def _room_for(array: NDArray[Any]) -> int:
    return -(-array.nbytes // _ALIGNMENT) * _ALIGNMENT
