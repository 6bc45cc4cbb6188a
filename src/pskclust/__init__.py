"""Point-set kernel clustering: clusters of any shape, size and density, in linear time."""

import importlib
from typing import TYPE_CHECKING

from ._version import __version__

if TYPE_CHECKING:
    from ._estimator import PSKC, load
    from ._exceptions import (
        CheckpointError,
        InsufficientDiskError,
        InsufficientMemoryError,
        ModelFileError,
    )
    from ._isolation_kernel import IsolationKernel
    from ._progress import Progress
    from ._row_blocks import RowBlocks
    from ._sweep import SweepResult, sweep
    from .explorer import explore

__all__ = [
    "PSKC",
    "CheckpointError",
    "InsufficientDiskError",
    "InsufficientMemoryError",
    "IsolationKernel",
    "ModelFileError",
    "Progress",
    "RowBlocks",
    "SweepResult",
    "__version__",
    "explore",
    "load",
    "sweep",
]

# Imported when asked for: scikit-learn takes seconds, which completing a command cannot.
_HOMES = {
    "PSKC": "_estimator",
    "CheckpointError": "_exceptions",
    "InsufficientDiskError": "_exceptions",
    "InsufficientMemoryError": "_exceptions",
    "IsolationKernel": "_isolation_kernel",
    "ModelFileError": "_exceptions",
    "Progress": "_progress",
    "RowBlocks": "_row_blocks",
    "SweepResult": "_sweep",
    "explore": "explorer",
    "load": "_estimator",
    "sweep": "_sweep",
}


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
