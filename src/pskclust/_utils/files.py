"""Files that are there whole or not at all, and temporary ones that nothing leaves behind.

A process that is killed cannot remove its temporary files. Each is locked while it is in use, and
the system ends a lock with its process: the next run removes those that nobody has locked.
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
except ImportError:  # on Windows, which does not remove files that are open
    fcntl = None  # type: ignore[assignment]

# The end of the name of every temporary file and folder.
ENDING = ".pskclust-part"
# Errors of a disk, or of a user's share of it, that is full.
FULL = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Give a stream to a new file beside `path` that takes its place when all is written.

    If anything is raised meanwhile, the new file is removed and the old one stays.
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
        # The system does not say which file it has no room for.
        if isinstance(error, OSError) and error.errno in FULL:
            error.filename = os.fspath(target)
        raise


@contextlib.contextmanager
def temporary_file() -> Iterator[tuple[BinaryIO, Path]]:
    """Give a stream to a new file in the folder for such files, and its path."""
    remove_leftovers(tempfile.gettempdir())
    descriptor, path = _new_file(tempfile.gettempdir(), "pskclust-")
    stream = os.fdopen(descriptor, "r+b")
    try:
        yield stream, Path(path)
    finally:
        # A full disk does not take what is left to write, which nobody will read.
        with contextlib.suppress(OSError):
            stream.close()
        os.unlink(path)


@contextlib.contextmanager
def temporary_folder() -> Iterator[Path]:
    """Give a new folder that is removed afterwards."""
    remove_leftovers(tempfile.gettempdir())
    descriptor, path = _new_folder(tempfile.gettempdir(), "pskclust-")
    try:
        yield Path(path)
    finally:
        shutil.rmtree(path)
        if descriptor is not None:
            os.close(descriptor)


def remove_leftovers(folder: str | os.PathLike[str]) -> None:
    """Remove temporary files and folders of processes that are no more, of this user only."""
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
    """Return the descriptor and the path of a new file, locked."""
    while True:
        descriptor, path = tempfile.mkstemp(dir=folder, prefix=prefix, suffix=ENDING)
        _lock(descriptor)
        # Another process may have taken it for a leftover before it was locked.
        if os.fstat(descriptor).st_nlink:
            return descriptor, path
        os.close(descriptor)


def _new_folder(folder: str | os.PathLike[str], prefix: str) -> tuple[int | None, str]:
    """Return the descriptor, if folders have any, and the path of a new folder, locked."""
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
    """Keep the lock of a file that is closed meanwhile."""
    if fcntl is None:
        yield
        return
    same_lock = os.dup(descriptor)
    try:
        yield
    finally:
        os.close(same_lock)


def _lock(descriptor: int) -> None:
    # Where a file system has no locks, none of its files is ever taken for a leftover.
    if fcntl is not None:
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)


def _usual_mode() -> int:
    """Return the permissions that a new file gets here; temporary files are private."""
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
