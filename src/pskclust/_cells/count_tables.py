"""Count tables: the mass of a set of rows in each cell, in whole numbers.

Divided by its mass |G|, the table of a set G is the mean map of the paper (Eq. 2). The score of a
row against a table is the sum of the counts in the row's cells, an integer. One division in float64
turns it into the similarity (Eq. 1).
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

# Tables up to this size are sent faster with their empty cells than without.
_SMALL_TABLE_BYTES = 1 << 15
_LARGEST_INTEGER = 2**63 - 1
# Type of cells in messages, for machines of any byte order.
_CELL = np.dtype("<u4")


@dataclass(eq=False)
class CountTable:
    """Count table of a set that may change: counts, (t, n_cells), and mass in units of weight."""

    counts: NDArray[np.int64]
    mass: int

    def add(self, other: CountTable) -> None:
        self.counts += other.counts
        self.mass += other.mass

    def subtract(self, other: CountTable) -> None:
        self.counts -= other.counts
        self.mass -= other.mass

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle compactly: counts in the smallest type; a large table without its empty cells."""
        counts, cells = self.counts, None
        smallest_type = np.min_scalar_type(counts.max(initial=0))
        if counts.size * smallest_type.itemsize > _SMALL_TABLE_BYTES:
            places = np.flatnonzero(counts)
            counts, cells = counts.ravel()[places], places.astype(_CELL).tobytes()
        # Counts are pickled as bytes, because arrays take twice as long.
        packed = counts.astype(smallest_type).tobytes()
        return _from_packed, (self.counts.shape, cells, smallest_type.str, packed, self.mass)


def _from_packed(
    shape: tuple[int, int], cells: bytes | None, kind: str, packed: bytes, mass: int
) -> CountTable:
    """Return a table from packed counts: of all cells, or of the cells in `cells` only."""
    counts = np.frombuffer(packed, kind)
    if cells is None:
        return CountTable(counts.astype(np.int64).reshape(shape), mass)
    table = np.zeros(shape, dtype=np.int64)
    table.ravel()[np.frombuffer(cells, _CELL)] = counts
    return CountTable(table, mass)


def padded(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return tables with a last column of zeros, for the cell number of mixed blocks."""
    *shape, width = counts.shape
    wider = np.zeros((*shape, width + 1), dtype=np.int64)
    wider[..., :-1] = counts
    return wider


def smallest_passing_score(threshold: float, denominator: int) -> int:
    """Return the smallest integer S for which S / denominator, in float64, exceeds `threshold`."""
    score = math.floor(threshold * denominator)
    while score / denominator > threshold:
        score -= 1
    while not score / denominator > threshold:
        score += 1
    return score


class TableStack:
    """Tables of finished clusters, collected as sparse rows."""

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
    """Count tables of all clusters of a clustering; each row of `counts` is a flattened table."""

    counts: sparse.csr_array  # (k, t * n_cells) int64
    masses: NDArray[np.int64]  # (k,)
    shape: tuple[int, int]  # (t, n_cells) of each table
    resolution: int  # score of a row against a table of itself alone: t

    def __post_init__(self) -> None:
        if self.counts.shape != (len(self.masses), math.prod(self.shape)):
            raise ValueError(
                f"counts of shape {self.counts.shape} are not tables of shape {self.shape}"
            )

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the fields only, not cached properties."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __len__(self) -> int:
        return len(self.masses)

    def table(self, cluster: int) -> CountTable:
        """Return the table of one cluster."""
        counts = self.counts[[cluster]].toarray().reshape(self.shape)
        return CountTable(counts, int(self.masses[cluster]))

    def changed(self, change: ClusterTables) -> ClusterTables:
        """Return the sum of these tables and `change`, in which leaving rows count negatively."""
        counts = (self.counts + change.counts).tocsr()
        counts.eliminate_zeros()
        return replace(self, counts=counts, masses=self.masses + change.masses)

    def only(self, kept: NDArray[np.bool_]) -> ClusterTables:
        """Return the tables of the clusters for which `kept` is True."""
        return replace(self, counts=self.counts[kept], masses=self.masses[kept])

    def joined(self, links: NDArray[np.int64], n_clusters: int) -> ClusterTables:
        """Return the tables of unions of clusters; `links[i]` is the union that cluster i joins."""
        ones = np.ones(len(links), dtype=np.int64)
        shape = n_clusters, len(links)
        sums = sparse.csr_array((ones, (links, np.arange(len(links)))), shape=shape)
        return replace(self, counts=(sums @ self.counts).tocsr(), masses=sums @ self.masses)

    def followed_by(self, others: ClusterTables) -> ClusterTables:
        """Return the tables of these clusters, followed by those of `others`."""
        counts = sparse.vstack([self.counts, others.counts], format="csr")
        return replace(self, counts=counts, masses=np.append(self.masses, others.masses))

    def repeated(self, n_times: int) -> ClusterTables:
        """Return `n_times` copies of the first cluster's table."""
        firsts = np.zeros(n_times, dtype=np.intp)
        return replace(self, counts=self.counts[firsts], masses=self.masses[firsts])

    def by_number(self) -> ClusterTables:
        """Return tables in which a similarity is a number of members, not a fraction of them.

        Each mass is set to 1. The cluster most similar to a row is then the one with the most
        members in the row's cells, not the one with the largest fraction of its members there.
        """
        return replace(self, masses=np.ones_like(self.masses))

    def similarities(self, scores: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the similarities for scores, (m, k), by one division each."""
        return scores / (self.resolution * self.masses)

    def scores(self, cells: Cells, kernels: Any = reference) -> NDArray[np.int64]:
        """Return the score of each row of cells against each cluster, (m, k)."""
        scores = np.empty((len(cells), len(self)), dtype=np.int64)
        by_cell = self.by_cell
        kernels.score_clusters(cells, by_cell.indptr, by_cell.indices, by_cell.data, scores)
        return scores

    @cached_property
    def by_cell(self) -> sparse.csr_array:
        """Counts, with one row for each cell and one column for each cluster."""
        by_cell = self.counts.T.tocsr()
        # The type is fixed, because the kernels would be compiled again for every other type.
        by_cell.indptr = by_cell.indptr.astype(np.int64)
        by_cell.indices = by_cell.indices.astype(np.int64)
        return by_cell

    @cached_property
    def padded(self) -> NDArray[np.int64]:
        """All tables as dense arrays, (k, t, n_cells + 1), with a last column of zeros."""
        return padded(self.counts.toarray().reshape(len(self), *self.shape))

    def products(self) -> NDArray[Any]:
        """Return the inner products of all pairs of tables; floats if integers might overflow."""
        counts = self.counts
        if self.resolution * int(self.masses.sum()) ** 2 > _LARGEST_INTEGER:
            counts = counts.astype(np.float64)
        products: NDArray[Any] = sparse.csr_array(counts @ counts.T).toarray()
        return products

    def inner_scores(self) -> list[int]:
        """Return the total score of each cluster's members: the sum of its squared counts."""
        starts = self.counts.indptr
        return [
            _sum_of_squares(self.counts.data[start:end])
            for start, end in itertools.pairwise(starts)
        ]


def most_similar(similarities: NDArray[np.float64], threshold: float) -> NDArray[np.int64]:
    """Return the most similar cluster of each row; -1 if no similarity exceeds `threshold`."""
    if not similarities.shape[1]:
        return np.full(len(similarities), -1)
    best = similarities.argmax(axis=1)
    return np.where(similarities.max(axis=1) > threshold, best, -1)


def _sum_of_squares(counts: NDArray[np.int64]) -> int:
    largest = int(counts.max(initial=0))
    if largest**2 * max(len(counts), 1) < 1 << 63:
        return int(counts @ counts)
    return sum(int(count) ** 2 for count in counts)
