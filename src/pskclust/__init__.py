"""Point-set kernel clustering: clusters of any shape, size and density, in linear time."""

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
from ._version import __version__

__all__ = [
    "PSKC",
    "CheckpointError",
    "InsufficientDiskError",
    "InsufficientMemoryError",
    "IsolationKernel",
    "ModelFileError",
    "Progress",
    "RowBlocks",
    "__version__",
    "load",
]
