"""Listeners that are told when kernels are compiled."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

_listeners: list[Callable[[], None]] = []


@contextlib.contextmanager
def hearing_of_compilation(tell: Callable[[], None]) -> Iterator[None]:
    """Call `tell` whenever compilation of a kernel starts within the ``with`` block."""
    _listeners.append(tell)
    try:
        yield
    finally:
        _listeners.remove(tell)


def compilation_starts() -> None:
    """Tell the innermost listener that a kernel is about to be compiled."""
    for tell in _listeners[-1:]:
        tell()
