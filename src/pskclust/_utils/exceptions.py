"""Errors that a caller may want to tell apart from a plain ValueError."""

from __future__ import annotations


class InsufficientMemoryError(MemoryError):
    """The work asked for would not fit into the memory that is available now."""


class InsufficientDiskError(OSError):
    """What has to be kept on disk would not fit there."""


class CheckpointError(ValueError):
    """A checkpoint is of another fit, or cannot be read."""


class ModelFileError(ValueError):
    """A file is not a model that this version of pskclust can read."""
