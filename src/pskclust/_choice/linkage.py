"""Linkage: how the clusters of a fit were linked and chosen, as stored in a model."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .merge_tree import MergeTree
from .options import AutoChoice, NumberOption, Option, numbers_of

# Fields with a value for each row.
_OF_ROWS = ("confidences", "parts")


@dataclass(frozen=True, eq=False)
class Linkage:
    """The merge tree, links and choice behind the clusters of a fit."""

    tree: MergeTree
    links: NDArray[np.int64]  # (m,)
    choice: AutoChoice | None = None
    confidences: NDArray[np.float64] | None = None  # (n,)
    parts: NDArray[Any] | None = None  # (n,) part of the tree of each row; `n_parts` for noise
    n_parts: int = 0

    def to_parts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the linkage as numbers and arrays that a file can hold."""
        arrays = {
            "tree_pairs": self.tree.pairs,
            "tree_similarities": self.tree.similarities,
            "tree_masses": self.tree.masses,
            "links": self.links,
        }
        for name in _OF_ROWS:
            if getattr(self, name) is not None:
                arrays[name] = getattr(self, name)
        choice = None if self.choice is None else asdict(self.choice)
        return {"choice": choice, "n_parts": self.n_parts}, arrays

    @classmethod
    def from_parts(cls, numbers: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Linkage:
        """Return the linkage, restored from the output of `to_parts`."""
        names = ("pairs", "similarities", "masses")
        tree = MergeTree(*(arrays[f"tree_{name}"] for name in names))
        choice = numbers["choice"]
        if choice is not None:
            options = {
                name: tuple(Option(**option) for option in choice.get(name, ()))
                for name in ("candidates", "layers")
            }
            chosen = Option(**choice["chosen"])
            # Model files of earlier versions have candidates without a list of numbers.
            n_options = tuple(NumberOption(**number) for number in choice.get("numbers", ()))
            n_options = n_options or numbers_of(options["candidates"], chosen)
            choice = AutoChoice(**{**choice, "chosen": chosen, **options, "numbers": n_options})
        confidences, parts = (arrays.get(name) for name in _OF_ROWS)
        return cls(tree, arrays["links"], choice, confidences, parts, numbers.get("n_parts", 0))
