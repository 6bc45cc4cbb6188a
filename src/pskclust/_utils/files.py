"""Files that are written completely or not at all, and temporary files that are always removed.

An interrupt may come at any moment, even before a function returns the file that it has made. The
path is therefore recorded before the file is made, and `remove_own` removes recorded files at exit.

A process that is killed cannot remove its temporary files. Each file is therefore locked while in
use, and the system releases the lock when the process ends. The next run removes all temporary
files that are not locked.
"""

from __future__ import annotations

import atexit
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
# The process of each temporary file or folder, by its path; a forked process inherits the paths.
_PROCESSES: dict[str, int] = {}


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """Yield a stream to a new file that replaces `path` once it is written completely.

    After an exception the new file is removed and the old one stays.
    """
    target = Path(path)
    if not target.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {str(target.parent)!r} to write to.")
    remove_leftovers(target.parent)
    temporary = _new_path(target.parent, f".{target.name}.")
    try:
        with _staying_locked(_new_file(temporary)) as stream:
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
            stream.close()
            os.chmod(temporary, _usual_mode())
            os.replace(temporary, target)
    except OSError as error:
        # The error of the system does not name the file.
        if error.errno in FULL:
            error.filename = os.fspath(target)
        raise
    finally:
        _remove(temporary)


@contextlib.contextmanager
def temporary_file() -> Iterator[tuple[BinaryIO, Path]]:
    """Yield a stream to a new temporary file, and the path of the file."""
    remove_leftovers(tempfile.gettempdir())
    path = _new_path(tempfile.gettempdir(), "pskclust-")
    try:
        with _staying_locked(_new_file(path)) as stream:
            yield stream, Path(path)
    finally:
        _remove(path)


@contextlib.contextmanager
def temporary_folder() -> Iterator[Path]:
    """Yield the path of a new folder that is removed afterwards."""
    remove_leftovers(tempfile.gettempdir())
    path = _new_path(tempfile.gettempdir(), "pskclust-")
    try:
        descriptor = _new_folder(path)
        try:
            yield Path(path)
        finally:
            if descriptor is not None:
                os.close(descriptor)
    finally:
        _remove(path)


@atexit.register
def remove_own() -> None:
    """Remove the temporary files and folders of this process."""
    for path, process in list(_PROCESSES.items()):
        if process == os.getpid():
            _remove(path)


def remove_leftovers(folder: str | os.PathLike[str]) -> None:
    """Remove temporary files and folders that this user's processes left when they ended."""
    if fcntl is None:
        return
    with contextlib.suppress(OSError):
        for name in os.listdir(folder):
            if name.endswith(ENDING):
                with contextlib.suppress(OSError):
                    _remove_unless_locked(os.path.join(folder, name))


def _remove_unless_locked(path: str) -> None:
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        if os.fstat(descriptor).st_uid != os.getuid():
            return
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Another process may have removed the file that is locked here, and its owner may have
        # created a new one at the same path.
        if not os.path.samestat(os.fstat(descriptor), os.lstat(path)):
            return
        if os.path.isdir(path):
            shutil.rmtree(path)
        else:
            os.unlink(path)
    finally:
        os.close(descriptor)


def _new_path(folder: str | os.PathLike[str], prefix: str) -> str:
    """Return the path of a temporary file or folder that does not exist yet, and record it."""
    path = os.path.join(folder, f"{prefix}{os.urandom(8).hex()}{ENDING}")
    _PROCESSES[path] = os.getpid()
    return path


def _remove(path: str) -> None:
    """Remove a file or folder of this process, if it is there."""
    with contextlib.suppress(FileNotFoundError):
        if os.path.isdir(path):
            shutil.rmtree(path)
        else:
            os.unlink(path)
    _PROCESSES.pop(path, None)


def _new_file(path: str) -> BinaryIO:
    """Return the stream of a new, private and locked file."""
    while True:
        stream = open(path, "x+b", opener=_private)  # noqa: SIM115
        _lock(stream.fileno())
        # Another process may have removed it as a leftover before it was locked.
        if os.fstat(stream.fileno()).st_nlink:
            return stream
        stream.close()


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _new_folder(path: str) -> int | None:
    """Make a new, private and locked folder; return its descriptor (None on Windows)."""
    while True:
        os.mkdir(path, 0o700)
        if fcntl is None:
            return None
        with contextlib.suppress(FileNotFoundError):
            descriptor = os.open(path, os.O_RDONLY)
            _lock(descriptor)
            if os.path.isdir(path):
                return descriptor
            os.close(descriptor)


@contextlib.contextmanager
def _staying_locked(stream: BinaryIO) -> Iterator[BinaryIO]:
    """Hold the lock of a file until the end of the block, even if the file is closed in it."""
    same_lock = None if fcntl is None else os.dup(stream.fileno())
    try:
        yield stream
    finally:
        # On a full disk, closing fails if data is still unwritten; this data is not needed.
        with contextlib.suppress(OSError):
            stream.close()
        if same_lock is not None:
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
