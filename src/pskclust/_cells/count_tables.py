"""Count tables: what is known of a set of rows, in whole numbers.

A table holds, for a set G, how much of it lies in each cell of each partitioning; divided by
|G| it is the kernel mean map of the paper (Eq. 2). The score of a row against a table is an
integer, and its similarity (Eq. 1) is that score divided once, in float64.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._kernels import reference
from .._kernels.reference import Cells

# To leave empty cells out takes longer than to send a table of this size.
_SMALL_TABLE_BYTES = 1 << 15
_LARGEST_INTEGER = 2**63 - 1
# As they are sent, to machines of any byte order.
_CELL = np.dtype("<u4")


@dataclass(eq=False)
class CountTable:
    """A set that changes: counts (t, n_cells) and its mass, the total weight in units."""

    counts: NDArray[np.int64]
    mass: int

    def add(self, other: CountTable) -> None:
        self.counts += other.counts
        self.mass += other.mass

    def subtract(self, other: CountTable) -> None:
        self.counts -= other.counts
        self.mass -= other.mass

    def __reduce__(self) -> tuple[Any, ...]:
        """Take little room on the way to another process: counts are small, and many are none."""
        counts, cells = self.counts, None
        smallest_type = np.min_scalar_type(counts.max(initial=0))
        if counts.size * smallest_type.itemsize > _SMALL_TABLE_BYTES:
            places = np.flatnonzero(counts)
            counts, cells = counts.ravel()[places], places.astype(_CELL).tobytes()
        # Bytes, since arrays take twice as long to pickle.
        packed = counts.astype(smallest_type).tobytes()
        return _from_packed, (self.counts.shape, cells, smallest_type.str, packed, self.mass)


def _from_packed(
    shape: tuple[int, int], cells: bytes | None, kind: str, packed: bytes, mass: int
) -> CountTable:
    """Return a table of which all counts were sent, or those of some cells."""
    counts = np.frombuffer(packed, kind)
    if cells is None:
        return CountTable(counts.astype(np.int64).reshape(shape), mass)
    table = np.zeros(shape, dtype=np.int64)
    table.ravel()[np.frombuffer(cells, _CELL)] = counts
    return CountTable(table, mass)


def padded(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return tables with a last column of zeros, the cell of a mixed block."""
    *shape, width = counts.shape
    wider = np.zeros((*shape, width + 1), dtype=np.int64)
    wider[..., :-1] = counts
    return wider


def smallest_passing_score(threshold: float, denominator: int) -> int:
    """Return the least integer S for which the float64 S / denominator exceeds `threshold`."""
    score = math.floor(threshold * denominator)
    while score / denominator > threshold:
        score -= 1
    while not score / denominator > threshold:
        score += 1
    return score


class TableStack:
    """Finished tables, kept as sparse rows until all of them are there."""

    def __init__(self) -> None:
        self._rows: list[sparse.csr_array] = []
        self._masses: list[int] = []

    def __len__(self) -> int:
        return len(self._rows)

    def push(self, table: CountTable) -> None:
        self._rows.append(sparse.csr_array(table.counts.reshape(1, -1)))
        self._masses.append(table.mass)

    def clusters(self, shape: tuple[int, int], resolution: int) -> ClusterTables:
        empty = sparse.csr_array((0, math.prod(shape)), dtype=np.int64)
        counts = sparse.vstack([empty, *self._rows], format="csr")
        masses = np.array(self._masses, dtype=np.int64)
        return ClusterTables(counts, masses, shape, resolution)


@dataclass(frozen=True, eq=False)
class ClusterTables:
    """The tables of all clusters of a clustering, one flattened table a row."""

    counts: sparse.csr_array  # (k, t * n_cells) int64
    masses: NDArray[np.int64]  # (k,)
    shape: tuple[int, int]  # (t, n_cells) of each table
    resolution: int  # the score of a row against its own copy: t

    def __post_init__(self) -> None:
        if self.counts.shape != (len(self.masses), math.prod(self.shape)):
            raise ValueError(f"counts {self.counts.shape} are no tables of shape {self.shape}")

    def __getstate__(self) -> dict[str, Any]:
        """Leave out everything that can be computed from the rest."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __len__(self) -> int:
        return len(self.masses)

    def table(self, cluster: int) -> CountTable:
        """Return the table of one cluster by itself."""
        counts = self.counts[[cluster]].toarray().reshape(self.shape)
        return CountTable(counts, int(self.masses[cluster]))

    def changed(self, change: ClusterTables) -> ClusterTables:
        """Return the tables after rows came (counted in `change`) and went (counted negative)."""
        counts = (self.counts + change.counts).tocsr()
        counts.eliminate_zeros()
        return replace(self, counts=counts, masses=self.masses + change.masses)

    def only(self, kept: NDArray[np.bool_]) -> ClusterTables:
        """Return the tables of the clusters that are kept."""
        return replace(self, counts=self.counts[kept], masses=self.masses[kept])

    def joined(self, links: NDArray[np.int64], n_clusters: int) -> ClusterTables:
        """Return the tables of unions: `links` says into which one each cluster goes."""
        ones = np.ones(len(links), dtype=np.int64)
        shape = n_clusters, len(links)
        sums = sparse.csr_array((ones, (links, np.arange(len(links)))), shape=shape)
        return replace(self, counts=(sums @ self.counts).tocsr(), masses=sums @ self.masses)

    def followed_by(self, others: ClusterTables) -> ClusterTables:
        """Return these tables, then others."""
        counts = sparse.vstack([self.counts, others.counts], format="csr")
        return replace(self, counts=counts, masses=np.append(self.masses, others.masses))

    def repeated(self, n_times: int) -> ClusterTables:
        """Return the table of the first cluster for each of several clusters."""
        firsts = np.zeros(n_times, dtype=np.intp)
        return replace(self, counts=self.counts[firsts], masses=self.masses[firsts])

    def by_number(self) -> ClusterTables:
        """Return tables that make of a similarity the number of members in a row's cells.

        Each cluster weighs as much as one row: the most similar one is that which has most
        members there, not that which has most of its members there.
        """
        return replace(self, masses=np.ones_like(self.masses))

    def similarities(self, scores: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the similarities that scores (m, k) stand for: one division each."""
        return scores / (self.resolution * self.masses)

    def scores(self, cells: Cells, kernels: Any = reference) -> NDArray[np.int64]:
        """Return the score of each row of cells against each cluster, (m, k)."""
        scores = np.empty((len(cells), len(self)), dtype=np.int64)
        by_cell = self.by_cell
        kernels.score_clusters(cells, by_cell.indptr, by_cell.indices, by_cell.data, scores)
        return scores

    @cached_property
    def by_cell(self) -> sparse.csr_array:
        """The counts with a row for each cell."""
        by_cell = self.counts.T.tocsr()
        # Always of one type, since code is compiled anew for others.
        by_cell.indptr = by_cell.indptr.astype(np.int64)
        by_cell.indices = by_cell.indices.astype(np.int64)
        return by_cell

    @cached_property
    def padded(self) -> NDArray[np.int64]:
        """All tables in full, (k, t, n_cells + 1), with a last column of zeros."""
        return padded(self.counts.toarray().reshape(len(self), *self.shape))

    def products(self) -> NDArray[Any]:
        """Return the products of all tables: whole numbers, unless they are too large for that."""
        counts = self.counts
        if self.resolution * int(self.masses.sum()) ** 2 > _LARGEST_INTEGER:
            counts = counts.astype(np.float64)
        products: NDArray[Any] = sparse.csr_array(counts @ counts.T).toarray()
        return products

    def inner_scores(self) -> list[int]:
        """Return the total score of each cluster's members against it: its squared counts."""
        starts = self.counts.indptr
        return [
            _sum_of_squares(self.counts.data[start:end])
            for start, end in itertools.pairwise(starts)
        ]


def most_similar(similarities: NDArray[np.float64], threshold: float) -> NDArray[np.int64]:
    """Return the most similar cluster of each row if it exceeds `threshold`, else -1 for noise."""
    if not similarities.shape[1]:
        return np.full(len(similarities), -1)
    best = similarities.argmax(axis=1)
    return np.where(similarities.max(axis=1) > threshold, best, -1)


def _sum_of_squares(counts: NDArray[np.int64]) -> int:
    largest = int(counts.max(initial=0))
    if largest**2 * max(len(counts), 1) < 1 << 63:
        return int(counts @ counts)
    return sum(int(count) ** 2 for count in counts)
