"""Trees of a sample, and the stability of their nodes in other trees.

Trees are built again from halves of the rows; each row outside a half follows its nearest row in
the half. The stability of a node is its Jaccard index with the most similar node of another tree.
Rows of the other half also show whether there is a valley where the tree of a half splits, because
they did not influence the split.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

from .._utils.parallel import map_items
from .sample import Sample
from .scales import (
    N_NEIGHBOURS,
    Around,
    Meetings,
    Scales,
    Shared,
    coarse_psi,
    evenly_spaced,
    fine_psi,
    intrinsic_dimension,
    meetings_of,
    with_others,
)
from .similarity import (
    Distances,
    Neighbours,
    cells_shared_with,
    draw_nested_cells,
    log_gaps,
    shared_cells,
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

# Paths through larger cells join everything; paths through smaller cells end at every gap.
_MIN_PSI_FOR_PATHS, _MAX_PSI_FOR_PATHS = 32, 128
N_HALVES = 4
_MIN_ROWS_OF_HALF = 6
# A cluster has at least 3 rows, and at least one row in 200.
MIN_ROWS, MAX_ROWS_SHARE = 3, 200
# Numbers of clusters to consider: all up to 16, then each about a tenth larger than the last.
NUMBERS = np.array([*range(2, 17), 18, 20, 22, 25, 28, 31, 35, 39, 44, 49, 55, MAX_LEAVES])
# Cuts with fewer rows per cluster than this, on average, are not considered.
ROWS_PER_CLUSTER = 8
# The number of a cell in the kernel that assigns all rows fits into one byte.
MAX_PLACING_PSI = 256


class HeldOut(NamedTuple):
    """A tree of one half of the rows, evaluated on the other half."""

    tree: SplitTree
    matches: NDArray[np.intp]  # (m,) for each node, the split here that makes its most similar node
    within: NDArray[np.bool_]  # (n, m) whether a row of the other half is in a node
    rows: NDArray[np.intp]  # (r,) rows of the other half for which meetings are counted
    meetings: Meetings  # (r, m)
    around: Around  # of the n rows


@dataclass(frozen=True, eq=False)
class GrownTree:
    """A tree, with the evidence for each of its m nodes."""

    tree: SplitTree
    meetings: Meetings  # (r, m) cells that a row shares with the rows of a node
    fine_meetings: Meetings  # (r, m) the same for fine cells
    found: NDArray[np.float64]  # (n_halves, m) how well each half finds a node again
    held_out: list[HeldOut]  # for each half
    numbers: NDArray[np.int64]  # numbers of clusters to cut the tree into
    same_number: NDArray[np.float64]  # (len(numbers),) agreement with equal cuts of halves


@dataclass(frozen=True, eq=False)
class Grown:
    """All trees over a sample, and the data that they share."""

    n_rows: int
    dimension: float  # intrinsic, from the fall of distances to the nearest centre with psi
    empty_gap: float  # see `widest_gap`
    trees: list[GrownTree]
    crossed: list[NDArray[np.float64]]  # (m,) for each tree: how well others find a node
    at_near_psi: list[NDArray[np.float64]]  # (m,) the same for trees of the next psi
    rows: NDArray[np.intp]  # (r,) rows for which meetings are counted
    log_gaps: NDArray[np.float64]  # (r,) log distance from these rows to the nearest fine centre
    around: Around  # of all rows
    axes: NDArray[np.float64]  # (n, a) coordinates of all rows along principal axes
    placing_centres: NDArray[np.intp]  # (t, psi) row numbers of the centres that assign rows
    placing_cells: NDArray[np.int32]  # (t, n)

    def without_tables(self) -> Grown:
        """Return the same without the values of rows and nodes that only evidence is made of."""
        none = np.empty((0, 0), dtype=np.float32)
        trees = [
            replace(each, meetings=none, fine_meetings=none, held_out=[]) for each in self.trees
        ]
        return replace(
            self,
            trees=trees,
            around=Around(np.empty((0, 0), dtype=np.intp), np.empty(0), np.empty(0)),
            axes=np.empty((0, 0)),
            # A copy, because the cells are part of a table with those of all psi.
            placing_cells=self.placing_cells.copy(),
        )


def grow_trees(
    sample: Sample,
    sizes: list[int],
    n_partitions: int,
    rng: RandomState,
    numbers: NDArray[np.int64] | None = None,
    n_jobs: int | None = 1,
) -> Grown:
    """Grow trees of every psi and kind from the rows of a sample, and again from halves of them.

    `sizes` are the values of psi. `numbers` are the numbers of clusters to cut trees into; None
    uses all numbers that the rows allow.
    """
    n_rows = len(sample)
    if numbers is None:
        most = max(2, n_rows // ROWS_PER_CLUSTER)
        numbers = NUMBERS[: np.searchsorted(NUMBERS, most, side="right")]
    distances, near = sample.distances, sample.near
    fine, coarse = fine_psi(sample.n_different), coarse_psi(sample.n_different)
    placing = min(fine, MAX_PLACING_PSI)
    every = sorted({*sizes, fine, coarse, placing})
    levels = {psi: level for level, psi in enumerate(every)}
    drawn = draw_nested_cells(distances, near, every, n_partitions, rng)
    counts = {psi: shared_cells(drawn.cells[levels[psi]], psi) for psi in sizes}
    whole = Scales(n_partitions, counts, sample.around, evenly_spaced(n_rows))
    fine_counts = cells_shared_with(drawn.cells[levels[fine]], fine, whole.rows)
    fine_shared = with_others(fine_counts, whole.rows)
    halves = [_Half.drawn(rows, sample, sizes, n_partitions, rng) for rows in _halves(sample, rng)]
    growing = _Growing(distances, near[:, :N_NEIGHBOURS], whole, fine_shared, halves)
    trees = map_items(
        lambda tree: growing.tree(*tree, numbers),
        [(kind, psi) for psi in sizes for kind in _kinds(psi)],
        n_jobs,
    )
    gaps = {
        psi: log_gaps(distances, drawn.centres, drawn.cells[levels[psi]], sample.largest)
        for psi in (coarse, fine)
    }
    crossed, at_near_psi = _crossed([each.tree for each in trees], trees)
    return Grown(
        n_rows,
        intrinsic_dimension(gaps[coarse], gaps[fine], fine / coarse),
        sample.empty_gap,
        trees,
        crossed,
        at_near_psi,
        whole.rows,
        gaps[fine][whole.rows],
        sample.around,
        sample.axes,
        drawn.centres[:, :placing],
        drawn.cells[levels[placing]],
    )


def _kinds(psi: int) -> tuple[str, ...]:
    return (AVERAGE, PATH) if _MIN_PSI_FOR_PATHS <= psi <= _MAX_PSI_FOR_PATHS else (AVERAGE,)


class _Half(NamedTuple):
    """Half of the rows, and the cells that they share."""

    rows: NDArray[np.intp]
    scales: Scales

    @classmethod
    def drawn(
        cls,
        rows: NDArray[np.intp],
        sample: Sample,
        sizes: list[int],
        n_partitions: int,
        rng: RandomState,
    ) -> _Half:
        own = sample.distances[rows].take(rows, axis=1)
        # Half of the partitionings are enough, because the results of four halves are averaged.
        n_partitions = max(1, n_partitions // 2)
        return cls(rows, Scales.drawn(sample.points[rows], own, sizes, n_partitions, rng))


def _halves(sample: Sample, rng: RandomState) -> Iterator[NDArray[np.intp]]:
    """Yield both halves of each of several random divisions of the rows.

    Copies of a row are in the same half, if that leaves both halves enough rows, because a row says
    nothing about its copies.
    """
    n_different, n_rows = sample.n_different, len(sample)
    for _ in range(N_HALVES // 2):
        order = rng.permutation(n_different)
        is_first = np.isin(sample.groups, order[: n_different // 2])
        if min(is_first.sum(), (~is_first).sum()) < _MIN_ROWS_OF_HALF:
            is_first = rng.permutation(n_rows) < n_rows // 2
        yield np.flatnonzero(is_first)
        yield np.flatnonzero(~is_first)


def min_rows_for(n_rows: int) -> int:
    """Return the smallest allowed number of rows in a cluster of a sample."""
    return max(MIN_ROWS, n_rows // MAX_ROWS_SHARE)


class _Growing(NamedTuple):
    """All rows of a sample and halves of them, from which trees are grown."""

    distances: Distances
    near: Neighbours
    whole: Scales
    fine_shared: Shared  # (n, r) fine cells that rows share
    halves: list[_Half]

    def tree(self, kind: str, psi: int, numbers: NDArray[np.int64]) -> GrownTree:
        """Grow a tree from all rows, and compare it with the trees of the halves."""
        least = min_rows_for(len(self.distances))
        joined = join_rows(self.whole.counts[psi], self.whole.n_partitions, kind)
        tree = condense(joined, kind, psi, least)
        tree = settle(tree, tree.nodes, self.distances, self.near)
        numbers = numbers[numbers <= tree.n_splits + 1]
        found, held_out, same_number = [], [], []
        for number in range(len(self.halves)):
            other = self._tree_of_half(kind, psi, number)
            jaccards = node_jaccards(tree, other)
            found.append(jaccards.max(axis=1))
            # Halves 2i and 2i + 1 complement each other.
            held_out.append(_held_out(other, jaccards, self.halves[number ^ 1], psi))
            same_number.append([_agreement(tree, other, jaccards, int(k)) for k in numbers])
        return GrownTree(
            tree,
            self.whole.meetings(psi, tree, tree.leaves),
            meetings_of(self.fine_shared, tree, tree.leaves),
            np.array(found, dtype=np.float64),
            held_out,
            numbers,
            np.mean(same_number, axis=0) if len(numbers) else np.empty(0),
        )

    def _tree_of_half(self, kind: str, psi: int, number: int) -> SplitTree:
        """Return the tree of a half of the rows, with all rows assigned to its leaves."""
        rows, scales = self.halves[number]
        psi = scales.nearest_psi(psi)
        joined = join_rows(scales.counts[psi], scales.n_partitions, kind)
        tree = condense(joined, kind, psi, max(2, min_rows_for(len(self.distances)) // 2))
        nodes = np.full(len(self.distances), -1)
        nodes[rows] = tree.nodes
        return settle(tree, nodes, self.distances, self.near)


def _held_out(tree: SplitTree, jaccards: NDArray[np.float32], rest: _Half, psi: int) -> HeldOut:
    """Return the tree of a half, evaluated on the rest of the rows."""
    # Split j makes nodes 2j + 1 and 2j + 2; no split makes node 0.
    matches = jaccards[:, 1:].argmax(axis=1) // 2 if tree.n_splits else np.empty(0, dtype=np.intp)
    leaves, scales = tree.leaves[rest.rows], rest.scales
    meetings = scales.meetings(psi, tree, leaves)
    return HeldOut(tree, matches, tree.within[leaves], scales.rows, meetings, scales.around)


def _agreement(
    tree: SplitTree, other: SplitTree, jaccards: NDArray[np.float32], n_clusters: int
) -> float:
    """Return the mean Jaccard index of matching clusters of two cuts into `n_clusters`."""
    own = tree.nodes_of_cut(n_clusters)
    others = other.nodes_of_cut(min(n_clusters, other.n_splits + 1))
    pairs = jaccards.take(own, axis=0).take(others, axis=1)
    best, best_of_others = pairs.max(axis=1), pairs.max(axis=0)
    # Sums divided by numbers are the same as `mean`, in half the time.
    means = best.sum() / np.float32(len(best)), best_of_others.sum() / np.float32(len(others))
    return float((means[0] + means[1]) / 2)


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
