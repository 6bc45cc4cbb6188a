"""Errors that a caller may want to tell apart from a plain ValueError."""

from __future__ import annotations


class InsufficientMemoryError(MemoryError):
    """The work asked for would not fit into the memory that is available now."""


class ModelFileError(ValueError):
    """A file is not a model that this version of pskclust can read."""
