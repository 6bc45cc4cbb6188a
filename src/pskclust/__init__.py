"""Point-set kernel clustering: clusters of any shape, size and density, in linear time."""

from ._estimator import PSKC, load
from ._exceptions import InsufficientMemoryError, ModelFileError
from ._isolation_kernel import IsolationKernel
from ._progress import Progress
from ._sweep import SweepResult, sweep
from ._version import __version__

__all__ = [
    "PSKC",
    "InsufficientMemoryError",
    "IsolationKernel",
    "ModelFileError",
    "Progress",
    "SweepResult",
    "__version__",
    "load",
    "sweep",
]
