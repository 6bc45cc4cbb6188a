"""Linked clusters: parts that growth or the choice found, joined into larger clusters."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._cells.count_tables import ClusterTables, TableStack
from .._engines.protocol import Engine
from .._pskc.growth import Growth
from .candidates import Cut
from .merge_tree import MergeTree, link_products
from .rule import AutoChoice, Chosen


@dataclass(frozen=True, eq=False)
class Linked:
    """Clusters that are made of parts."""

    clusters: ClusterTables  # of k clusters
    n_steps: NDArray[np.int64] | None  # (k,) of all parts; None if they are a sample's
    tree: MergeTree  # of m parts
    links: NDArray[np.int64]  # (m,) the cluster of each part; -1 for none
    numbers: NDArray[np.int64]  # (k,) of these clusters among those that were linked at first

    def only(self, kept: NDArray[np.bool_]) -> Linked:
        """Return the linked clusters that are kept, numbered anew."""
        renumbered = np.append(np.where(kept, np.cumsum(kept) - 1, -1), -1)
        return replace(
            self,
            clusters=self.clusters.only(kept),
            n_steps=None if self.n_steps is None else self.n_steps[kept],
            links=renumbered[self.links],
            numbers=self.numbers[kept],
        )


@dataclass(frozen=True, eq=False)
class Linkage:
    """How the clusters of a fit were linked and chosen."""

    tree: MergeTree
    links: NDArray[np.int64]  # (m,)
    choice: AutoChoice | None = None
    confidences: NDArray[np.float64] | None = None  # (n,)

    def to_parts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the linkage as numbers and arrays that a file can hold."""
        arrays = {
            "tree_pairs": self.tree.pairs,
            "tree_similarities": self.tree.similarities,
            "tree_separations": self.tree.separations,
            "tree_masses": self.tree.masses,
            "links": self.links,
        }
        if self.confidences is not None:
            arrays["confidences"] = self.confidences
        return {"choice": None if self.choice is None else asdict(self.choice)}, arrays

    @classmethod
    def from_parts(cls, numbers: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Linkage:
        """Return the linkage that `to_parts` took apart."""
        names = ("pairs", "similarities", "separations", "masses")
        tree = MergeTree(*(arrays[f"tree_{name}"] for name in names))
        n_parts = len(tree.masses)
        if tree.pairs.shape != (max(0, n_parts - 1), 2) or arrays["links"].shape != (n_parts,):
            raise ValueError(f"a tree of {n_parts} parts with pairs {tree.pairs.shape}")
        choice = numbers["choice"]
        if choice is not None:
            cuts = {name: choice[name] and Cut(**choice[name]) for name in ("chosen", "runner_up")}
            every = tuple(Cut(**cut) for cut in choice["cuts"])
            choice = AutoChoice(**{**choice, **cuts, "cuts": every})
        return cls(tree, arrays["links"], choice, arrays.get("confidences"))


def link_growth(engine: Engine, growth: Growth, n_clusters: int) -> Linked:
    """Link the clusters that growth found to exactly `n_clusters`, at most as many as it found."""
    parts = growth.clusters
    tree = link_products(parts.products(), parts.masses)
    if not len(parts):
        # Growth found nothing, and one cluster is asked for: it holds all rows.
        everything = TableStack()
        everything.push(engine.total())
        one = everything.clusters(parts.shape, parts.resolution)
        return Linked(one, np.zeros(1, dtype=np.int64), tree, np.empty(0, np.int64), np.arange(1))
    links = tree.cut(n_clusters)
    n_steps = np.zeros(n_clusters, dtype=np.int64)
    np.add.at(n_steps, links, growth.n_steps)
    return Linked(parts.joined(links, n_clusters), n_steps, tree, links, np.arange(n_clusters))


def link_chosen(chosen: Chosen) -> Linked:
    """Return the clusters that the kernels of a choice agree on, as the first kernel sees them."""
    first, labels = chosen.parts[0], chosen.labels
    n_clusters = chosen.choice.chosen.n_clusters
    shared = np.zeros((len(first), n_clusters), dtype=np.int64)
    both = (first.labels >= 0) & (labels >= 0)
    np.add.at(shared, (first.labels[both], labels[both]), 1)
    links = np.where(shared.any(axis=1), shared.argmax(axis=1), -1)
    return Linked(first.tables(labels, n_clusters), None, first.tree, links, np.arange(n_clusters))
