"""Decorators that compile kernels and cache their code on disk."""

from __future__ import annotations

import functools
import gc
import hashlib
import inspect
import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numba
from numba.core import event

from .compilation import compilation_starts

# Kernels never divide by zero and are not called from C.
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
# Functions called from compiled code need no Python wrapper, and inherit `_nrt` from their callers.
_WITHIN: dict[str, Any] = {**_OPTIONS, "no_cpython_wrapper": True}
# Functions that allocate no arrays need no reference counting; without it, they compile faster.
_NO_ARRAYS: dict[str, Any] = {**_OPTIONS, "_nrt": False}


class _Listener(event.Listener):
    """Listener for compilations by numba; functions loaded from disk are not reported.

    Garbage collection pauses meanwhile: it would repeatedly search the many objects that numba
    keeps. numba compiles in one thread at a time.
    """

    def __init__(self) -> None:
        self._depth = 0  # a function is compiled within the compilation of its caller
        self._collects = False

    def on_start(self, event: Any) -> None:
        compilation_starts()
        if not self._depth:
            self._collects = gc.isenabled()
            gc.disable()
        self._depth += 1

    def on_end(self, event: Any) -> None:
        self._depth -= 1
        if not self._depth and self._collects:
            gc.enable()


event.register("numba:compile", _Listener())  # type: ignore[no-untyped-call]


def compiled(function: Callable[..., Any]) -> Any:
    """Compile a function on its first call and cache the code; it may not allocate arrays."""
    return _compiled(function, _NO_ARRAYS)


def compiled_with_arrays(function: Callable[..., Any]) -> Any:
    """Compile a function on its first call and cache the code; it may allocate arrays."""
    return _compiled(function, _OPTIONS)


def _compiled(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    try:
        return numba.njit(cache=True, **options)(function)
    except RuntimeError:  # numba found no writable folder
        _warn_of_no_cache()
        return numba.njit(**options)(function)


def compiled_with(*modules: ModuleType) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator like `compiled` for functions that call functions of other modules.

    numba compiles cached code again when the function's own file changes. With this decorator, it
    also does so when the file of one of `modules` changes.
    """
    sources = "".join(map(inspect.getsource, modules))
    source = hashlib.sha256(sources.encode()).hexdigest()

    def compiled_with_module(function: Callable[..., Any]) -> Any:
        dispatcher = compiled(function)
        # numba has no public way to name a second file. If this private attribute disappears, only
        # those who edit kernels are affected: they have to empty the cache themselves.
        index: Any = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
        if hasattr(index, "_source_stamp"):
            index._source_stamp = (index._source_stamp, source)
        return dispatcher

    return compiled_with_module


def compiled_within(function: Callable[..., Any]) -> Any:
    """Compile a function that only compiled functions call; its code is cached with theirs."""
    return numba.njit(**_WITHIN)(function)


def compiled_into(function: Callable[..., Any]) -> Any:
    """Inline a function into the compiled function that calls it once.

    This saves time: a function that is not inlined is compiled twice, alone and with its caller.
    """
    return numba.njit(inline="always", **_WITHIN)(function)


def compiled_loosely(function: Callable[..., Any]) -> Any:
    """Compile like `compiled_within`, but allow sums in any order: faster, but not exact."""
    return numba.njit(fastmath={"contract", "reassoc"}, **_WITHIN)(function)


@functools.cache
def _warn_of_no_cache() -> None:
    warnings.warn(
        "numba found no writable folder for compiled code, so every process compiles it again. "
        "Set the environment variable NUMBA_CACHE_DIR to a writable folder.",
        UserWarning,
        stacklevel=2,
    )
