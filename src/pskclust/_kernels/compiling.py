"""Decorators that compile kernels, and keep their code on disk."""

from __future__ import annotations

import functools
import hashlib
import inspect
import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numba
from numba.core import event

from .compilation import compilation_starts

# Nothing is divided by zero, and nobody calls from C.
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}
# Functions that others call do as those do with the next option.
_WITHIN: dict[str, Any] = {**_OPTIONS, "no_cpython_wrapper": True}
# Nobody counts references to arrays where none is made: there is less to compile.
_NO_ARRAYS: dict[str, Any] = {**_OPTIONS, "_nrt": False}


class _Listener(event.Listener):
    """Hears of functions that are compiled; those whose code is on disk are not."""

    def on_start(self, event: Any) -> None:
        compilation_starts()

    def on_end(self, event: Any) -> None:
        pass


event.register("numba:compile", _Listener())  # type: ignore[no-untyped-call]


def compiled(function: Callable[..., Any]) -> Any:
    """Compile a function that makes no arrays when it is first called; keep the code on disk."""
    return _compiled(function, _NO_ARRAYS)


def compiled_with_arrays(function: Callable[..., Any]) -> Any:
    """Compile a function that makes arrays in the same way."""
    return _compiled(function, _OPTIONS)


def _compiled(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    try:
        return numba.njit(cache=True, **options)(function)
    except RuntimeError:  # numba found no folder that it may write to
        _warn_of_no_cache()
        return numba.njit(**options)(function)


def compiled_with(*modules: ModuleType) -> Callable[[Callable[..., Any]], Any]:
    """Return `compiled` for functions that call functions of other modules.

    Code that is kept on disk is compiled again when the function's own file changes; with this,
    when another of the files changes as well.
    """
    sources = "".join(map(inspect.getsource, modules))
    source = hashlib.sha256(sources.encode()).hexdigest()

    def compiled_with_module(function: Callable[..., Any]) -> Any:
        dispatcher = compiled(function)
        # There is no public way to tell numba of a second file. Where this one is gone, only those
        # who edit kernels have to empty the cache themselves.
        index: Any = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
        if hasattr(index, "_source_stamp"):
            index._source_stamp = (index._source_stamp, source)
        return dispatcher

    return compiled_with_module


def compiled_within(function: Callable[..., Any]) -> Any:
    """Compile a function that only compiled ones call, and that is kept with their code."""
    return numba.njit(**_WITHIN)(function)


def compiled_into(function: Callable[..., Any]) -> Any:
    """Copy a function into the compiled one that calls it: for those that are called once.

    Other functions that compiled ones call are compiled by themselves first, and then with these.
    """
    return numba.njit(inline="always", **_WITHIN)(function)


def compiled_loosely(function: Callable[..., Any]) -> Any:
    """Compile such a function whose sums may be taken in any order: fast, and not for results."""
    return numba.njit(fastmath={"contract", "reassoc"}, **_WITHIN)(function)


@functools.cache
def _warn_of_no_cache() -> None:
    warnings.warn(
        "There is no folder to keep compiled code in, so it is compiled again in every process. "
        "Name one that can be written to in the variable NUMBA_CACHE_DIR.",
        UserWarning,
        stacklevel=2,
    )
