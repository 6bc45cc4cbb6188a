"""Point-set kernel clustering: clusters of any shape, size and density, in linear time."""

import importlib

from ._version import __version__

# Type checkers treat this name as True. The package loads faster if it does not import typing, so
# Ctrl-C at the start of a command seldom arrives before the command can handle it.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._data.sources import RowBlocks
    from ._drift import Drift, DriftMonitor
    from ._estimator import PSKC
    from ._groups import GroupPSKC
    from ._isolation_kernel import IsolationKernel
    from ._loading import load
    from ._sweep import SweepResult, sweep
    from ._utils.exceptions import (
        CheckpointError,
        ColumnsWarning,
        InsufficientDiskError,
        InsufficientMemoryError,
        ModelFileError,
    )
    from ._utils.progress import Progress
    from .explorer import explore

__all__ = [
    "PSKC",
    "CheckpointError",
    "ColumnsWarning",
    "Drift",
    "DriftMonitor",
    "GroupPSKC",
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

# Imported on first use: scikit-learn takes seconds to import, too long for shell completion.
_HOMES = {
    "PSKC": "_estimator",
    "CheckpointError": "_utils.exceptions",
    "ColumnsWarning": "_utils.exceptions",
    "Drift": "_drift",
    "DriftMonitor": "_drift",
    "GroupPSKC": "_groups",
    "InsufficientDiskError": "_utils.exceptions",
    "InsufficientMemoryError": "_utils.exceptions",
    "IsolationKernel": "_isolation_kernel",
    "ModelFileError": "_utils.exceptions",
    "Progress": "_utils.progress",
    "RowBlocks": "_data.sources",
    "SweepResult": "_sweep",
    "explore": "explorer",
    "load": "_loading",
    "sweep": "_sweep",
}

# Imported on first use as well: pskclust.metrics works after "import pskclust".
_MODULES = ("baselines", "datasets", "image", "metrics", "plotting", "report", "tables")


def __getattr__(name: str) -> object:
    if name in _MODULES:
        return importlib.import_module(f".{name}", __name__)
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*__all__, *_MODULES, *(name for name in globals() if name.startswith("__"))})
