"""NamedColumns: the columns of X in words, and what to do with them, for messages."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from .sources import RowBlocks


class NamedColumns(NamedTuple):
    """The columns of X as messages name them: names, None if they have none, and their source."""

    names: Sequence[str] | None
    source: Literal["array", "table", "file", "blocks", "other"]

    @classmethod
    def of(cls, X: object, names: Sequence[str] | None) -> NamedColumns:
        """Return the columns of what a user passed to a fit."""
        if isinstance(X, str | os.PathLike):
            return cls(names, "file")
        if isinstance(X, RowBlocks):
            return cls(names, "blocks")
        if hasattr(X, "drop"):
            return cls(names, "other" if names is None else "table")
        return cls(names, "array" if isinstance(X, np.ndarray) else "other")

    def word(self, column: int) -> str:
        """Return a column in words: its name in quotes, or its index."""
        return f"{column}" if self.names is None else repr(self.names[column])

    def without(self, column: int) -> str:
        """Return how to leave a column out, for the end of a sentence."""
        if self.source == "array":
            return f" with np.delete(X, {column}, axis=1)"
        if self.source == "table":
            return f" with X.drop(columns=[{self.word(column)}])"
        name = f"'column_{column + 1}'" if self.names is None else self.word(column)
        return f" with pskclust.tables.stream_table(path, drop=[{name}])" * (self.source == "file")

    @property
    def scaled(self) -> str:
        """The advice on scaling that ends a warning."""
        pipeline = "make_pipeline(StandardScaler(), PSKC())"
        if self.source == "file":
            return (
                f"fit {pipeline} to pskclust.tables.read_table(path), or run pskclust fit --scale "
                "standard."
            )
        if self.source == "blocks":
            return (
                f"yield scaled blocks, or fit {pipeline} to an array, such as that of "
                "pskclust.tables.read_table(path)."
            )
        return f"scale the columns first: {pipeline}."
