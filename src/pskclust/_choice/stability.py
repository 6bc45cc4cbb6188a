"""Trees of a sample, and how well each of their nodes is found again by other trees.

Trees are grown again from halves of the rows, where the other rows follow their nearest row in the
half. A node is found again as well as the most similar node of the other tree, by Jaccard index.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

from .similarity import (
    Counts,
    Distances,
    Neighbours,
    draw_nested_cells,
    nearest_rows,
    shared_cells,
    squared_distances,
)
from .split_tree import (
    AVERAGE,
    MAX_LEAVES,
    PATH,
    SplitTree,
    condense,
    join_rows,
    node_jaccards,
    settle,
)

# From few large cells to cells of a few rows, each psi four times the one before.
PSIS = (8, 32, 128, 512)
_MIN_PSI_FOR_PATHS = 32
N_HALVES = 4
# A cluster has at least 3 rows, and one row in 200.
MIN_ROWS, MAX_ROWS_SHARE = 3, 200
# Numbers of clusters that are looked at: all small ones, then about every tenth.
NUMBERS = np.array([*range(2, 17), 18, 20, 22, 25, 28, 31, 35, 39, 44, 49, 55, MAX_LEAVES])
# Cells of so few rows tell which clusters touch, and how dense it is around a row.
ROWS_PER_FINE_CELL = 6
_COARSER = 8
# Cells of the kernel that places all rows are numbered by one byte.
MAX_PLACING_PSI = 256
_N_NEIGHBOURS = 64
_MAX_EVIDENCE_ROWS = 500
_MAX_DIMENSION, _MIN_DIMENSION = 50.0, 0.5


@dataclass(frozen=True, eq=False)
class GrownTree:
    """A tree, and what is known of each of its m nodes."""

    tree: SplitTree
    joined: NDArray[np.float64]  # (n - 1, 4) the hierarchy of all rows that it is condensed from
    found: NDArray[np.float64]  # (n_halves, m) how well each half finds a node again
    numbers: NDArray[np.int64]  # of clusters that the tree is cut into
    same_number: NDArray[np.float64]  # (len(numbers),) agreement of cuts into as many clusters
    meetings: NDArray[np.float32]  # (r, m) cells that rows share with those of a node
    fine_meetings: NDArray[np.float32]  # (r, m) the same, of fine cells


@dataclass(frozen=True, eq=False)
class Grown:
    """All trees of a sample, and what they have in common."""

    n_rows: int
    dimension: float  # intrinsic, by how distances to the nearest centre fall with psi
    trees: list[GrownTree]
    crossed: list[NDArray[np.float64]]  # (m,) of each tree: how well all others find a node again
    at_near_psi: list[NDArray[np.float64]]  # (m,) the same, of trees of a psi beside this one
    rows: NDArray[np.intp]  # (r,) the rows that meetings are counted for
    log_gaps: NDArray[np.float64]  # (n,) log distance of each row to the nearest of fine centres
    placing_centres: NDArray[np.intp]  # (t, psi) row numbers of the kernel that places rows
    placing_cells: NDArray[np.int32]  # (t, n)


def sizes_for(n_rows: int) -> list[int]:
    """Return the psi to look at: cells hold two rows or more."""
    sizes = [psi for psi in PSIS if psi <= max(PSIS[0], n_rows // 2)]
    return [min(sizes[0], n_rows), *sizes[1:]]


def grow_trees(
    points: NDArray[np.float64],
    sizes: list[int],
    n_partitions: int,
    rng: RandomState,
    numbers: NDArray[np.int64] = NUMBERS,
) -> Grown:
    """Grow trees of every size and kind from the rows of a sample, and again from halves."""
    n_rows = len(points)
    distances = squared_distances(points)
    near = nearest_rows(distances, min(n_rows, _N_NEIGHBOURS), points)
    fine = max(2, n_rows // ROWS_PER_FINE_CELL)
    coarse = max(2, fine // _COARSER)
    placing = min(fine, MAX_PLACING_PSI)
    every = sorted({*sizes, fine, coarse, placing})
    drawn = draw_nested_cells(distances, near, every, n_partitions, rng)
    levels = {psi: every.index(psi) for psi in every}
    counts = {psi: shared_cells(drawn.cells[levels[psi]], psi) for psi in {*sizes, fine}}
    halves = [
        _Half.drawn(rows, points, distances, sizes, n_partitions, rng)
        for rows in _halves(n_rows, rng)
    ]
    rows = np.linspace(0, n_rows - 1, min(n_rows, _MAX_EVIDENCE_ROWS)).astype(np.intp)
    whole = _Whole(distances, near, n_partitions, counts, fine, rows)
    trees = [
        _grow(kind, psi, whole, halves, numbers)
        for psi in sizes
        for kind in ((AVERAGE, PATH) if psi >= _MIN_PSI_FOR_PATHS else (AVERAGE,))
    ]
    crossed, at_near_psi = _crossed([each.tree for each in trees], trees)
    dimension = _dimension(drawn.log_gaps, levels[coarse], levels[fine], fine / coarse)
    return Grown(
        n_rows,
        dimension,
        trees,
        crossed,
        at_near_psi,
        rows,
        drawn.log_gaps[levels[fine]],
        drawn.centres[:, :placing],
        drawn.cells[levels[placing]],
    )


class _Whole(NamedTuple):
    """All rows of a sample, and the cells they share."""

    distances: Distances
    near: Neighbours
    n_partitions: int
    counts: dict[int, Counts]
    fine: int
    rows: NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class _Half:
    """Half of the rows, and the cells they share among themselves."""

    rows: NDArray[np.intp]
    counts: dict[int, Counts]

    @classmethod
    def drawn(
        cls,
        rows: NDArray[np.intp],
        points: NDArray[np.float64],
        distances: Distances,
        sizes: list[int],
        n_partitions: int,
        rng: RandomState,
    ) -> _Half:
        own = distances[np.ix_(rows, rows)]
        most = max(2, len(rows) // 2)
        smaller = [psi for psi in sizes if psi <= most] or [most]
        near = nearest_rows(own, min(len(rows), _N_NEIGHBOURS), points[rows])
        cells = draw_nested_cells(own, near, smaller, n_partitions, rng).cells
        return cls(
            rows, {psi: shared_cells(some, psi) for psi, some in zip(smaller, cells, strict=True)}
        )


def _halves(n_rows: int, rng: RandomState) -> Iterator[NDArray[np.intp]]:
    """Yield the two halves of several random divisions of the rows."""
    for _ in range(N_HALVES // 2):
        order = rng.permutation(n_rows)
        yield np.sort(order[: n_rows // 2])
        yield np.sort(order[n_rows // 2 :])


def min_rows_for(n_rows: int) -> int:
    """Return how many rows a cluster of a sample has at least."""
    return max(MIN_ROWS, n_rows // MAX_ROWS_SHARE)


def _grow(
    kind: str, psi: int, whole: _Whole, halves: list[_Half], numbers: NDArray[np.int64]
) -> GrownTree:
    distances, near, n_partitions = whole.distances, whole.near, whole.n_partitions
    least = min_rows_for(len(distances))
    joined = join_rows(whole.counts[psi], n_partitions, kind)
    tree = condense(joined, kind, psi, least)
    tree = settle(tree, tree.nodes, distances, near)
    numbers = numbers[numbers <= tree.n_splits + 1]
    found, same_number = [], []
    for half in halves:
        other_psi = psi if psi in half.counts else max(half.counts)
        other_joined = join_rows(half.counts[other_psi], n_partitions, kind)
        other = condense(other_joined, kind, other_psi, max(2, least // 2))
        nodes = np.full(len(distances), -1)
        nodes[half.rows] = other.nodes
        jaccards = node_jaccards(tree, settle(other, nodes, distances, near))
        found.append(jaccards.max(axis=1))
        same_number.append([_agreement(tree, other, jaccards, int(k)) for k in numbers])
    return GrownTree(
        tree,
        joined,
        np.array(found, dtype=np.float64),
        numbers,
        np.mean(same_number, axis=0) if len(numbers) else np.empty(0),
        _meetings(whole.counts[psi], whole.rows, tree),
        _meetings(whole.counts[whole.fine], whole.rows, tree),
    )


def _agreement(
    tree: SplitTree, other: SplitTree, jaccards: NDArray[np.float32], n_clusters: int
) -> float:
    """Return how well the clusters of two cuts into as many find each other."""
    own = tree.cut_nodes(n_clusters)[0]
    others = other.cut_nodes(min(n_clusters, other.n_splits + 1))[0]
    pairs = jaccards[np.ix_(own, others)]
    return float((pairs.max(axis=1).mean() + pairs.max(axis=0).mean()) / 2)


def _meetings(counts: Counts, rows: NDArray[np.intp], tree: SplitTree) -> NDArray[np.float32]:
    """Return how many cells rows share with all other rows of each node."""
    shared = counts[rows].copy()
    shared[np.arange(len(rows)), rows] = 0
    belongs = tree.within[tree.leaves].astype(np.float32)
    # Whole numbers below 2^24: exact in any order.
    met: NDArray[np.float32] = shared @ belongs
    return met


def _crossed(
    trees: list[SplitTree], grown: list[GrownTree]
) -> tuple[list[NDArray[np.float64]], list[NDArray[np.float64]]]:
    best: dict[tuple[int, int], NDArray[np.float32]] = {}
    for a in range(len(trees)):
        for b in range(a):
            jaccards = node_jaccards(trees[a], trees[b])
            best[a, b], best[b, a] = jaccards.max(axis=1), jaccards.max(axis=0)
    crossed, at_near_psi = [], []
    for a, tree in enumerate(trees):
        others = [b for b in range(len(trees)) if b != a]
        mean = np.mean([best[a, b] for b in others], axis=0) if others else grown[a].found.mean(0)
        beside = [
            best[a, b]
            for b in others
            if trees[b].kind == tree.kind and trees[b].psi in (tree.psi // 4, tree.psi * 4)
        ]
        crossed.append(np.asarray(mean, dtype=np.float64))
        at_near_psi.append(np.mean(beside, axis=0) if beside else crossed[-1])
    return crossed, at_near_psi


def _dimension(log_gaps: NDArray[np.float64], coarse: int, fine: int, ratio: float) -> float:
    """Return the intrinsic dimension: gaps fall with psi to the power of -1 / dimension."""
    fall = float(log_gaps[coarse].mean() - log_gaps[fine].mean())
    if ratio <= 1:
        return _MIN_DIMENSION
    return float(np.clip(math.log(ratio) / max(fall, 1e-3), _MIN_DIMENSION, _MAX_DIMENSION))
