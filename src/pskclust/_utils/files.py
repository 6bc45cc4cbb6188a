"""Files that are written completely or not at all, and temporary files that are always removed.

A process that is killed cannot remove its temporary files. Each file is therefore locked while in
use, and the system releases the lock when the process ends. The next run removes all temporary
files that are not locked.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

try:
    import fcntl
except ImportError:  # on Windows, where open files cannot be removed
    fcntl = None  # type: ignore[assignment]

# Suffix of the names of all temporary files and folders.
ENDING = ".pskclust-part"
# Error numbers of a full disk, a file that is too large, and an exhausted quota.
FULL = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Yield a stream to a new file that replaces `path` once it is written completely.

    After an exception the new file is removed and the old one stays.
    """
    target = Path(path)
    if not target.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {str(target.parent)!r} to write to.")
    remove_leftovers(target.parent)
    descriptor, temporary = _new_file(target.parent, f".{target.name}.")
    try:
        with _staying_locked(descriptor):
            with os.fdopen(descriptor, "wb") as stream:
                yield stream
                stream.flush()
                os.fsync(stream.fileno())
            os.chmod(temporary, _usual_mode())
            os.replace(temporary, target)
    except BaseException as error:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
        # The error of the system does not name the file.
        if isinstance(error, OSError) and error.errno in FULL:
            error.filename = os.fspath(target)
        raise


@contextlib.contextmanager
def temporary_file() -> Iterator[tuple[BinaryIO, Path]]:
    """Yield a stream to a new temporary file, and the path of the file."""
    remove_leftovers(tempfile.gettempdir())
    descriptor, path = _new_file(tempfile.gettempdir(), "pskclust-")
    stream = os.fdopen(descriptor, "r+b")
    try:
        yield stream, Path(path)
    finally:
        # On a full disk, closing fails if data is still unwritten; this data is not needed.
        with contextlib.suppress(OSError):
            stream.close()
        os.unlink(path)


@contextlib.contextmanager
def temporary_folder() -> Iterator[Path]:
    """Yield the path of a new folder that is removed afterwards."""
    remove_leftovers(tempfile.gettempdir())
    descriptor, path = _new_folder(tempfile.gettempdir(), "pskclust-")
    try:
        yield Path(path)
    finally:
        shutil.rmtree(path)
        if descriptor is not None:
            os.close(descriptor)


def remove_leftovers(folder: str | os.PathLike[str]) -> None:
    """Remove temporary files and folders that this user's processes left when they ended."""
    if fcntl is None:
        return
    with contextlib.suppress(OSError):
        for path in [entry.path for entry in os.scandir(folder) if entry.name.endswith(ENDING)]:
            with contextlib.suppress(OSError):
                _remove_unless_locked(path)


def _remove_unless_locked(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        if os.fstat(descriptor).st_uid != os.getuid():
            return
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.isdir(path):
            shutil.rmtree(path)
        else:
            os.unlink(path)
    finally:
        os.close(descriptor)


def _new_file(folder: str | os.PathLike[str], prefix: str) -> tuple[int, str]:
    """Return the descriptor and the path of a new, locked file."""
    while True:
        descriptor, path = tempfile.mkstemp(dir=folder, prefix=prefix, suffix=ENDING)
        _lock(descriptor)
        # Another process may have removed it as a leftover before it was locked.
        if os.fstat(descriptor).st_nlink:
            return descriptor, path
        os.close(descriptor)


def _new_folder(folder: str | os.PathLike[str], prefix: str) -> tuple[int | None, str]:
    """Return the descriptor, None on Windows, and the path of a new, locked folder."""
    while True:
        path = tempfile.mkdtemp(dir=folder, prefix=prefix, suffix=ENDING)
        if fcntl is None:
            return None, path
        with contextlib.suppress(FileNotFoundError):
            descriptor = os.open(path, os.O_RDONLY)
            _lock(descriptor)
            if os.path.isdir(path):
                return descriptor, path
            os.close(descriptor)


@contextlib.contextmanager
def _staying_locked(descriptor: int) -> Iterator[None]:
    """Hold the lock of a file until the end of the block, even if the file is closed in it."""
    if fcntl is None:
        yield
        return
    same_lock = os.dup(descriptor)
    try:
        yield
    finally:
        os.close(same_lock)


def _lock(descriptor: int) -> None:
    # On a file system without locks, files are never removed as leftovers.
    if fcntl is not None:
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)


def _usual_mode() -> int:
    """Return the permissions of an ordinary new file; temporary files are private."""
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
