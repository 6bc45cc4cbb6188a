"""Linked clusters: the tables of what growth or a choice found, joined."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._cells.count_tables import ClusterTables
from .._data.weights import RowWeights
from .._engines.protocol import Engine
from .._pskc.growth import Growth
from .candidates import Cut
from .merge_tree import MergeTree, link_products
from .rule import AutoChoice, Chosen


@dataclass(frozen=True, eq=False)
class Linked:
    """Clusters that are made of parts."""

    clusters: ClusterTables  # of k clusters
    n_steps: NDArray[np.int64]  # (k,) growth steps of all parts of a cluster
    tree: MergeTree  # of m parts
    links: NDArray[np.int64]  # (m,) the cluster of each part; -1 for none

    def only(self, kept: NDArray[np.bool_]) -> Linked:
        """Return what is left when only some clusters are kept."""
        renamed = np.append(np.where(kept, np.cumsum(kept) - 1, -1), -1)
        return replace(
            self,
            clusters=self.clusters.only(kept),
            n_steps=self.n_steps[kept],
            links=renamed[self.links],
        )

    def without_small(self, min_size: int, weights: RowWeights) -> Linked:
        """Leave out clusters that hold too small a share of all rows to be of a size."""
        shares = self.clusters.masses / max(1, int(self.clusters.masses.sum()))
        return self.only(shares * (weights.total / weights.one) >= min_size)


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
    """Link the clusters that growth found to fewer ones."""
    n_parts = len(growth.clusters)
    # No cluster at all is as good as one.
    if n_clusters > max(1, n_parts):
        raise ValueError(
            f"n_clusters={n_clusters} is more than the {n_parts} clusters that growth found to "
            "link. Use a larger psi or tau, or a smaller n_clusters."
        )
    n_clusters = min(n_clusters, n_parts)
    tree = link_products(engine.products(growth.clusters), growth.clusters.masses)
    links = tree.cut(n_clusters)
    clusters = growth.clusters.joined(links, n_clusters)
    return Linked(clusters, _total_steps(growth.n_steps, links, n_clusters), tree, links)


def link_chosen(chosen: Chosen) -> Linked:
    """Return the clusters that the kernels of a choice agree on, as the first kernel sees them."""
    first, labels = chosen.parts[0], chosen.labels
    n_clusters = chosen.choice.chosen.n_clusters
    shared = np.zeros((len(first), n_clusters), dtype=np.int64)
    both = (first.labels >= 0) & (labels >= 0)
    np.add.at(shared, (first.labels[both], labels[both]), 1)
    links = np.where(shared.any(axis=1), shared.argmax(axis=1), -1)
    n_steps = _total_steps(first.n_steps, links, n_clusters)
    return Linked(first.tables(labels, n_clusters), n_steps, first.tree, links)


def _total_steps(
    n_steps: NDArray[np.int64], links: NDArray[np.int64], n_clusters: int
) -> NDArray[np.int64]:
    total = np.zeros(n_clusters + 1, dtype=np.int64)
    np.add.at(total, links, n_steps)
    return total[:-1]
