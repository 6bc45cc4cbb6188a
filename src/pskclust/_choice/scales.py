"""The isolation kernel of a sample at several scales, from large cells to cells of a few rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from scipy import sparse

from .similarity import (
    Counts,
    Distances,
    Neighbours,
    draw_nested_cells,
    n_near_for,
    nearest_rows,
    shared_cells,
)
from .split_tree import SplitTree

# Values of psi, each four times the one before; with few rows, `PSI_FOR_FEW` only.
PSIS, PSI_FOR_FEW = (32, 128, 512), 8
# Cells of about this number of rows show which clusters touch, and the density around a row.
ROWS_PER_FINE_CELL = 6
# Borders and densities are also measured by the nearest rows: by few, and by more, because in a
# thin cluster hardly any row has both sides of a split among its few nearest rows.
N_FEW, N_MORE = 8, 32
N_NEIGHBOURS = 64
# Similarity to clusters and contact of clusters are means over at most this many rows.
MAX_EVIDENCE_ROWS = 500
_COARSER = 8
_MIN_DIMENSION, _MAX_DIMENSION = 0.5, 50.0
_TINY = 1e-12


class Around(NamedTuple):
    """The nearest other rows of each row, and their distances."""

    near: Neighbours  # (n, at most N_MORE) the nearest first
    log_few: NDArray[np.float64]  # (n,) log mean distance of the N_FEW nearest, up to a constant
    log_more: NDArray[np.float64]  # (n,) the same for all nearest rows

    @classmethod
    def of(cls, distances: Distances, near: Neighbours) -> Around:
        """Return the rows around each row; `near` has the row itself, or a copy of it, first."""
        others = near[:, 1:]
        # Copies of a row say nothing about its surroundings, so they come last.
        is_copy = np.take_along_axis(distances, others[:, :N_MORE], axis=1) == 0
        if is_copy.any():
            is_copy = np.take_along_axis(distances, others, axis=1) == 0
            others = np.take_along_axis(others, np.argsort(is_copy, axis=1, kind="stable"), axis=1)
        others = others[:, :N_MORE]
        # Relative to the largest distance, so that units do not matter.
        largest = math.sqrt(float(distances.max())) or 1.0
        gaps = np.sqrt(np.take_along_axis(distances, others, axis=1)) / largest
        return cls(
            others,
            np.log(gaps[:, :N_FEW].mean(axis=1) + _TINY),
            np.log(gaps.mean(axis=1) + _TINY),
        )

    def counts(self, within: NDArray[np.bool_]) -> tuple[NearCounts, NearCounts]:
        """Return how many of the few nearest rows, and of all nearest rows, lie in each of m nodes.

        `within` tells which nodes each of the n rows is in, (n, m).
        """
        belongs = within.astype(np.uint8)
        few, some = np.zeros_like(belongs), np.empty_like(belongs)
        lines = np.ascontiguousarray(self.near.T)
        for line in lines[:N_FEW]:
            # Row numbers are in range; without a check, they are looked up faster.
            few += belongs.take(line, axis=0, out=some, mode="clip")
        more = few.copy()
        for line in lines[N_FEW:]:
            more += belongs.take(line, axis=0, out=some, mode="clip")
        return few.astype(np.float32), more.astype(np.float32)


NearCounts = NDArray[np.float32]  # (n, m)


def sizes_for(points: NDArray[np.float64]) -> list[int]:
    """Return the values of psi for a sample: at least two different rows per cell on average."""
    return sizes_of(len(points), len(np.unique(points, axis=0)))


def sizes_of(n_rows: int, n_different: int) -> list[int]:
    """Return the same, given the numbers of rows and of different rows."""
    few = min(PSI_FOR_FEW, n_rows)
    return [psi for psi in PSIS if psi <= n_different // 2] or [few]


@dataclass(frozen=True, eq=False)
class Scales:
    """The cells that the rows of a sample share, at each psi that trees are grown from."""

    n_partitions: int
    counts: dict[int, Counts]  # by psi
    around: Around
    rows: NDArray[np.intp]  # (r,) rows for which meetings are counted, evenly spaced

    @classmethod
    def drawn(
        cls,
        points: NDArray[np.float64],
        distances: Distances,
        sizes: list[int],
        n_partitions: int,
        rng: RandomState,
    ) -> Scales:
        """Draw partitionings at each psi that leaves at least two rows per cell on average."""
        n_rows = len(points)
        most = max(2, n_rows // 2)
        smaller = [psi for psi in sizes if psi <= most] or [most]
        near = nearest_rows(distances, n_near_for(n_rows))
        cells = draw_nested_cells(distances, near, smaller, n_partitions, rng).cells
        counts = {psi: shared_cells(some, psi) for psi, some in zip(smaller, cells, strict=True)}
        rows = evenly_spaced(n_rows, MAX_EVIDENCE_ROWS // 2)
        around = Around.of(distances, near[:, :N_NEIGHBOURS])
        return cls(n_partitions, counts, around, rows)

    def nearest_psi(self, psi: int) -> int:
        """Return `psi` if it is available, else the largest available one."""
        return psi if psi in self.counts else max(self.counts)

    def meetings(self, psi: int, tree: SplitTree, leaves: NDArray[np.intp]) -> Meetings:
        """Return the number of cells that rows share with all other rows of each node, (r, m)."""
        psi = self.nearest_psi(psi)
        if psi not in self._shared:
            self._shared[psi] = with_others(self.counts[psi][self.rows], self.rows)
        return meetings_of(self._shared[psi], tree, leaves)

    @cached_property
    def _shared(self) -> dict[int, Shared]:
        return {}


# (n, r) number of cells that n rows share with r of them; a row does not count itself
Shared = NDArray[np.float32]
Meetings = NDArray[np.float32]  # (r, m)


def with_others(shared: Counts, rows: NDArray[np.intp]) -> Shared:
    """Return the number of cells that rows share with others, (n, r); a row does not count itself.

    `shared` is (r, n), and `rows` are the numbers of the r rows among all n rows.
    """
    others: Shared = np.ascontiguousarray(shared.T, dtype=np.float32)
    others[rows, np.arange(len(rows))] = 0
    return others


def meetings_of(shared: Shared, tree: SplitTree, leaves: NDArray[np.intp]) -> Meetings:
    """Return the sums of `shared`, (n, r), over the rows of each node, (r, m).

    `leaves` are the leaves of the n rows.
    """
    n_leaves, numbers = tree.n_splits + 1, tree.numbers_of_leaves[leaves]
    starts = np.cumsum(np.bincount(numbers + 1, minlength=n_leaves + 1))
    ones, order = np.ones(len(leaves), dtype=np.float32), np.argsort(numbers, kind="stable")
    # In a sparse product, each row is added to its leaf only.
    is_in_leaf = sparse.csr_array((ones, order, starts), shape=(n_leaves, len(leaves)))
    # Whole numbers below 2^24: exact in any order.
    met: Meetings = (is_in_leaf @ shared).T @ tree.leaf_within
    return met


def evenly_spaced(n_rows: int, most: int = MAX_EVIDENCE_ROWS) -> NDArray[np.intp]:
    """Return the numbers of at most `most` evenly spaced rows."""
    return np.linspace(0, n_rows - 1, min(n_rows, most)).astype(np.intp)


def fine_psi(n_rows: int) -> int:
    """Return the psi of the fine scale."""
    return max(2, n_rows // ROWS_PER_FINE_CELL)


def coarse_psi(n_rows: int) -> int:
    """Return the smaller of the two values of psi that `intrinsic_dimension` compares."""
    return max(2, fine_psi(n_rows) // _COARSER)


def intrinsic_dimension(
    coarse: NDArray[np.float64], fine: NDArray[np.float64], ratio: float
) -> float:
    """Return the intrinsic dimension: gaps are proportional to psi ** (-1 / dimension).

    A gap is the distance from a row to the nearest centre. `coarse` and `fine` are the log gaps of
    all rows at two values of psi, and `ratio` is the larger psi divided by the smaller.
    """
    if ratio <= 1:
        return _MIN_DIMENSION
    fall = max(float(coarse.mean() - fine.mean()), 1e-3)
    return float(np.clip(math.log(ratio) / fall, _MIN_DIMENSION, _MAX_DIMENSION))
