"""Linkage: how the clusters of a fit were linked and chosen, as a model keeps it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .choose import AutoChoice, Option
from .merge_tree import MergeTree


@dataclass(frozen=True, eq=False)
class Linkage:
    """The merge tree, links and choice behind the clusters of a fit."""

    tree: MergeTree
    links: NDArray[np.int64]  # (m,)
    choice: AutoChoice | None = None
    confidences: NDArray[np.float64] | None = None  # (n,)

    def to_parts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the linkage as numbers and arrays that a file can hold."""
        arrays = {
            "tree_pairs": self.tree.pairs,
            "tree_similarities": self.tree.similarities,
            "tree_masses": self.tree.masses,
            "links": self.links,
        }
        if self.confidences is not None:
            arrays["confidences"] = self.confidences
        return {"choice": None if self.choice is None else asdict(self.choice)}, arrays

    @classmethod
    def from_parts(cls, numbers: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Linkage:
        """Return the linkage that `to_parts` took apart."""
        names = ("pairs", "similarities", "masses")
        tree = MergeTree(*(arrays[f"tree_{name}"] for name in names))
        choice = numbers["choice"]
        if choice is not None:
            options = tuple(Option(**option) for option in choice["candidates"])
            chosen = Option(**choice["chosen"])
            choice = AutoChoice(**{**choice, "chosen": chosen, "candidates": options})
        return cls(tree, arrays["links"], choice, arrays.get("confidences"))
