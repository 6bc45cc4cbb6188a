"""Whether a piece of work fits into memory, asked before anything is allocated."""

from __future__ import annotations

import os
from pathlib import Path

from ._exceptions import InsufficientMemoryError

_CONTROL_GROUPS = Path("/sys/fs/cgroup")


def require_memory(needs: dict[str, int], what: str, way_out: str) -> None:
    """Raise InsufficientMemoryError if `needs`, bytes by purpose, exceed what is available.

    >>> require_memory({"cells": 1 << 60}, "encoding X", "Use fewer rows.")
    Traceback (most recent call last):
    ...
    pskclust._exceptions.InsufficientMemoryError: encoding X needs about ...
    """
    available = available_bytes()
    total = sum(needs.values())
    if available is None or total <= available:
        return
    parts = ", ".join(f"{purpose} {readable(size)}" for purpose, size in needs.items())
    raise InsufficientMemoryError(
        f"{what} needs about {readable(total)} ({total} bytes: {parts}), but only "
        f"{readable(available)} of memory are available. {way_out}"
    )


def available_bytes() -> int | None:
    """Return the memory this process may still take, or None where that cannot be told."""
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
    """Return what a container's limit leaves (control groups, version 2 or 1)."""
    root = _CONTROL_GROUPS
    for limit, used in (
        (root / "memory.max", root / "memory.current"),
        (root / "memory/memory.limit_in_bytes", root / "memory/memory.usage_in_bytes"),
    ):
        try:
            return int(limit.read_text()) - int(used.read_text())
        except (OSError, ValueError):  # no such group, or its limit is the word "max"
            continue
    return None


def _address_space_bytes() -> int | None:
    """Return what ``ulimit -v`` leaves."""
    try:
        import resource

        limit, _ = resource.getrlimit(resource.RLIMIT_AS)
        if limit == resource.RLIM_INFINITY:
            return None
        pages_used = int(Path("/proc/self/statm").read_text().split()[0])
        return limit - pages_used * os.sysconf("SC_PAGE_SIZE")
    except (ImportError, OSError, ValueError):
        return None


def readable(size: int) -> str:
    amount = float(size)
    for unit in ("bytes", "kB", "MB", "GB", "TB"):
        if amount < 1000 or unit == "TB":
            break
        amount /= 1000
    return f"{amount:.3g} {unit}" if amount < 1000 else f"{amount:,.0f} {unit}"
