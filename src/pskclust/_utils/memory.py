"""Checks of the available memory, made before anything large is allocated."""

from __future__ import annotations

import ctypes
import functools
import os
from collections.abc import Iterator
from pathlib import Path

from .exceptions import InsufficientMemoryError

_CONTROL_GROUPS = Path("/sys/fs/cgroup")
_OWN_GROUPS = Path("/proc/self/cgroup")


def require_memory(needs: dict[str, int], what: str, way_out: str) -> None:
    """Raise InsufficientMemoryError if `needs`, bytes by purpose, exceed the available memory.

    >>> require_memory({"cells": 1 << 60}, "encoding X", "Use fewer rows.")
    Traceback (most recent call last):
    ...
    pskclust._utils.exceptions.InsufficientMemoryError: encoding X needs about ...
    """
    available = available_bytes()
    total = sum(needs.values())
    if available is None or total <= available:
        return
    parts = ", ".join(
        f"{purpose} {readable_bytes(size)}" for purpose, size in needs.items() if size
    )
    raise InsufficientMemoryError(
        f"{what} needs about {readable_bytes(total)} ({total} bytes: {parts}), but only "
        f"{readable_bytes(available)} of memory is available. {way_out}"
    )


def release_free_memory() -> None:
    """Return freed memory to the system; glibc would keep it for each thread."""
    trim = getattr(_c_library(), "malloc_trim", None)
    if trim is not None:
        trim(0)


@functools.cache
def _c_library() -> object:
    try:
        return ctypes.CDLL(None)
    except (OSError, TypeError):  # a system without a C library to load
        return None


def available_bytes() -> int | None:
    """Return the bytes that this process can still allocate, or None if they are unknown."""
    limits = [_machine_bytes(), _control_group_bytes(), _address_space_bytes()]
    known = [limit for limit in limits if limit is not None]
    return max(0, min(known)) if known else None


def _machine_bytes() -> int | None:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def _control_group_bytes() -> int | None:
    """Return the bytes left below the memory limits of control groups (version 2 or 1)."""
    rooms = []
    for folder, limit, used, cache in _control_groups():
        try:
            room = int((folder / limit).read_text()) - int((folder / used).read_text())
            rooms.append(room + _cached_bytes(folder, cache))
        except (OSError, ValueError):  # no such group, or its limit is the word "max"
            continue
    return min(rooms, default=None)


def _control_groups() -> Iterator[tuple[Path, str, str, str]]:
    """Yield the folder of each control group of this process, and the names of its files.

    Inside a container the group names may be those of the host, so the outermost folder is always
    included.
    """
    try:
        lines = _OWN_GROUPS.read_text().splitlines()
    except OSError:
        lines = []
    own = dict(line.split(":", 2)[1:] for line in lines)
    for root, controller, *files in (
        (_CONTROL_GROUPS, "", "memory.max", "memory.current", "inactive_file"),
        (
            _CONTROL_GROUPS / "memory",
            "memory",
            "memory.limit_in_bytes",
            "memory.usage_in_bytes",
            "total_inactive_file",
        ),
    ):
        inner = root / own.get(controller, "/").lstrip("/")
        for folder in (inner, *inner.parents):
            if folder == root or root in folder.parents:
                yield folder, files[0], files[1], files[2]


def _cached_bytes(folder: Path, name: str) -> int:
    """Return the bytes of cached files, which the system frees on demand."""
    try:
        lines = (folder / "memory.stat").read_text().splitlines()
    except OSError:
        return 0
    return int(dict(line.split() for line in lines).get(name, 0))


def _address_space_bytes() -> int | None:
    """Return the bytes left below the limit of ``ulimit -v``."""
    try:
        import resource

        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        if limit == resource.RLIM_INFINITY:
            return None
        pages_used = int(Path("/proc/self/statm").read_text().split()[0])
        return limit - pages_used * os.sysconf("SC_PAGE_SIZE")
    except (ImportError, OSError, ValueError):
        return None


def readable_bytes(size: int) -> str:
    """Return a number of bytes as text with a unit."""
    amount = float(size)
    for unit in ("bytes", "kB", "MB", "GB", "TB"):
        if amount < 1000 or unit == "TB":
            break
        amount /= 1000
    return f"{amount:.3g} {unit}" if amount < 1000 else f"{amount:,.0f} {unit}"
