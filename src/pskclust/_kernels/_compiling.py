"""How kernels are compiled."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

import numba


def compiled(function: Callable[..., Any]) -> Any:
    """Compile a function when it is first called; keep the code on disk if there is a place."""
    return _compile(function)


def compiled_loosely(function: Callable[..., Any]) -> Any:
    """Compile a function whose sums may be taken in any order: fast, and not for results."""
    return _compile(function, fastmath={"contract", "reassoc"})


def _compile(function: Callable[..., Any], **options: Any) -> Any:
    try:
        return numba.njit(nogil=True, cache=True, **options)(function)
    except RuntimeError:  # numba found no folder that it may write to
        _warn_of_no_cache()
        return numba.njit(nogil=True, **options)(function)


@functools.cache
def _warn_of_no_cache() -> None:
    warnings.warn(
        "There is no folder to keep compiled code in, so it is compiled again in every process. "
        "Name one that can be written to in the variable NUMBA_CACHE_DIR.",
        UserWarning,
        stacklevel=2,
    )
