"""Errors that a caller may want to tell apart from a plain ValueError."""

from __future__ import annotations


class InsufficientMemoryError(MemoryError):
    """The computation would not fit into the memory that is available now."""


class InsufficientDiskError(OSError):
    """The files of a fit would not fit on the disk."""


class CheckpointError(ValueError):
    """A checkpoint is of another fit, or cannot be read."""


class ModelFileError(ValueError):
    """A file is not a model that this version of pskclust can read."""
