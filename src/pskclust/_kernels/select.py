"""The choice between plain NumPy and compiled code."""

from __future__ import annotations

import functools
import importlib
from typing import Any, Literal

from . import reference

Backend = Literal["numpy", "numba"]

# Below, a fit by plain NumPy is done before compiled code is loaded.
MIN_ROWS_FOR_COMPILED = 6_000


@functools.cache
def can_compile() -> bool:
    """Whether numba is there; plain NumPy does all the work where it is not, as in Pyodide."""
    try:
        importlib.import_module("numba")
    except ImportError:
        return False
    return True


def backend_for(n_rows: int) -> Backend:
    """Return the backend that is faster for a number of rows."""
    return "numba" if n_rows >= MIN_ROWS_FOR_COMPILED and can_compile() else "numpy"


def kernels_for(n_rows: int, backend: Backend | None = None) -> Any:
    """Return the kernels, as a module, of a backend; by default, of the one that is faster."""
    if (backend or backend_for(n_rows)) == "numpy":
        return reference
    from . import compiled

    return compiled


def name_of(kernels: Any) -> Backend:
    """Return the backend that a module of kernels is."""
    return "numpy" if kernels is reference else "numba"
