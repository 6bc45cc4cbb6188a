"""The one place that picks between plain NumPy and compiled code."""

from __future__ import annotations

from typing import Any

from . import reference

# Below, plain NumPy is done before compiled code is loaded.
MIN_ROWS_FOR_COMPILED = 5_000


def kernels_for(n_rows: int) -> Any:
    """Return the kernels, as a module, that suit a number of rows."""
    if n_rows < MIN_ROWS_FOR_COMPILED:
        return reference
    from . import compiled

    return compiled


def name_of(kernels: Any) -> str:
    """Return "numpy" or "numba"."""
    return "numpy" if kernels is reference else "numba"
