"""Choice between plain NumPy and compiled code."""

from __future__ import annotations

import functools
import importlib
from typing import Any, Literal

from . import reference

Backend = Literal["numpy", "numba"]

# With fewer rows, NumPy finishes a fit before compiled code is loaded.
MIN_ROWS_FOR_COMPILED = 6_000


@functools.cache
def can_compile() -> bool:
    """Return whether numba is installed; without it, as in Pyodide, NumPy does all the work."""
    try:
        importlib.import_module("numba")
    except ImportError:
        return False
    return True


def backend_for(n_rows: int) -> Backend:
    """Return the faster backend for a number of rows."""
    return "numba" if n_rows >= MIN_ROWS_FOR_COMPILED and can_compile() else "numpy"


def kernels_for(n_rows: int, backend: Backend | None = None) -> Any:
    """Return the module of kernels of a backend; by default, of the faster one."""
    if (backend or backend_for(n_rows)) == "numpy":
        return reference
    from . import compiled

    return compiled


def name_of(kernels: Any) -> Backend:
    """Return the name of a kernel module's backend."""
    return "numpy" if kernels is reference else "numba"
