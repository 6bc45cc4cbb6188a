"""MemoryRows: base class of engines with rows in memory, with their labels, moves and tables."""

from __future__ import annotations

import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from types import ModuleType
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._cells.count_tables import ClusterTables, CountTable, TableStack, most_similar
from .._cells.partition import Partition
from .._data.rows import Data
from .._kernels.reference import Cells, one_hot
from .._utils.memory import require_memory
from .._utils.parallel import map_chunks, rows_per_chunk
from .protocol import Candidate, Moved, ProposalRule, RowFunction

T = TypeVar("T")

# Function that moves read-only arrays to their storage and returns the stored arrays.
Keep = Callable[[Sequence[NDArray[Any]]], Sequence[NDArray[Any]]]

# Moving rows are added to tables in parts, to limit memory.
_ROWS_PER_CHANGE = 1 << 14


def in_memory(arrays: Sequence[NDArray[Any]]) -> Sequence[NDArray[Any]]:
    """Return arrays unchanged."""
    return arrays


class MemoryRows(ABC):
    """Rows in memory, each with a label.

    An engine may reorder its rows. The place of a row is its index in the arrays of the engine; its
    number is its index in the data.
    """

    resolution: int
    _partition: Partition
    _kernels: ModuleType

    def __init__(
        self,
        data: Data,
        table_shape: tuple[int, int],
        resolution: int,
        *,
        n_jobs: int | None = None,
        chunk_rows: int | None = None,
    ) -> None:
        self._n_rows = len(data)
        self._table_shape = table_shape
        self.resolution = resolution
        self._n_jobs = n_jobs
        self._chunk_rows = chunk_rows
        self._units = data.weights.units
        self.one = data.weights.one

    def reset(self) -> None:
        # Arrays are not reused, because the old ones may be part of a result.
        self._labels = np.full(self._n_rows, -1, dtype=np.int64)
        self._steps = np.full(self._n_rows, -1, dtype=np.int32)

    @abstractmethod
    def _cells_of(self, rows: NDArray[np.intp]) -> Cells:
        """Return the cells of some rows, (m, t)."""

    @abstractmethod
    def _numbers_of(self, places: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the numbers of the rows at the given places."""

    @abstractmethod
    def _places_of(self, numbers: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the places of the rows with the given numbers."""

    def place(self, clusters: ClusterTables, threshold: float) -> None:
        def place_chunk(chunk: slice) -> None:
            scores = self._cluster_scores(np.arange(chunk.start, chunk.stop), clusters)
            self._labels[chunk] = most_similar(clusters.similarities(scores), threshold)

        for _ in self._map(place_chunk, len(self._labels), max(len(clusters), self.resolution)):
            pass

    def propose(
        self, rule: ProposalRule, clusters: ClusterTables, sources: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        rows, weakest_staying = self._rows_to_judge(rule, clusters, sources)

        def propose_chunk(chunk: slice) -> tuple[_Proposals, NDArray[np.float64]]:
            chosen = rows[chunk]
            scores = self._cluster_scores(chosen, clusters)
            return _propose(rule, chosen, self._labels[chosen], clusters.similarities(scores))

        width = max(len(clusters), self.resolution)
        parts = list(self._map(propose_chunk, len(rows), width))
        self._proposals = _Proposals.joined([proposals for proposals, _ in parts])
        self._proposed_for = clusters
        for _, weakest in parts:
            np.minimum(weakest_staying, weakest, out=weakest_staying)
        return weakest_staying

    def move(self, below: NDArray[np.float64]) -> Moved:
        weak = self._proposals.own_similarities < below[self._proposals.old]
        self._moved = self._proposals.only(weak)
        self._labels[self._moved.rows] = self._moved.new
        return Moved(self._change(self._moved), len(self._moved.rows))

    def undo_move(self) -> None:
        self._labels[self._moved.rows] = self._moved.old

    def remember_labels(self) -> None:
        # int32 takes half the memory of int64 and is always enough for the number of clusters.
        self._remembered = self._labels.astype(np.int32)

    def recall_labels(self) -> None:
        self._labels = self._remembered.astype(np.int64)

    def set_labels(self, rows: NDArray[np.intp], labels: NDArray[np.int64]) -> None:
        self._labels[self._places_of(rows)] = labels

    def n_changed_labels(self) -> int:
        return int(np.count_nonzero(self._labels != self._remembered))

    def weight_of_changed_labels(self) -> int:
        return int(self._units[self._labels != self._remembered].sum())

    def n_members(self, n_clusters: int) -> NDArray[np.int64]:
        counts: NDArray[np.int64] = np.bincount(self._labels + 1, minlength=n_clusters + 1)
        return counts[1:]

    def weight_of_members(self, n_clusters: int) -> NDArray[np.int64]:
        totals = np.zeros(n_clusters + 1, dtype=np.int64)
        np.add.at(totals, self._labels, self._units)
        return totals[:-1]

    def tables(self, n_clusters: int) -> ClusterTables:
        stack = TableStack()
        for rows in self._rows_by_cluster(n_clusters):
            stack.push(self._table(rows, self._units[rows]))
        return stack.clusters(self._table_shape, self.resolution)

    def best_members(self, clusters: ClusterTables) -> list[Candidate | None]:
        found: list[Candidate | None] = []
        for cluster, rows in enumerate(self._rows_by_cluster(len(clusters))):
            members = rows[self._units[rows] > 0]
            if not len(members):
                found.append(None)
                continue
            scores = self._scores(members, clusters.table(cluster))
            best = members[scores == scores.max()]
            place = best[self._numbers_of(best).argmin()]
            row = int(self._numbers_of(np.array([place]))[0])
            found.append(Candidate(row, int(scores.max()), int(self._units[place])))
        return found

    def map_rows(self, function: RowFunction, labels: NDArray[np.int64]) -> NDArray[np.float64]:
        return function(labels, first_row=0)

    def renumber(self, new_labels: NDArray[np.int64]) -> None:
        self._labels = new_labels[self._labels]

    def label_absent(self, rule: ProposalRule, clusters: ClusterTables) -> None:
        rows = np.flatnonzero(self._units == 0)

        def label_chunk(chunk: slice) -> None:
            absent = rows[chunk]
            similarities = clusters.similarities(self._cluster_scores(absent, clusters))
            self._labels[absent] = rule(self._labels[absent], similarities)

        for _ in self._map(label_chunk, len(rows), max(len(clusters), self.resolution)):
            pass

    # Counting and scoring of rows, which engines with other kernels override.

    def _count(self, rows: NDArray[np.intp], units: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the counts of some rows, given their weights, (t, n_cells)."""

        def count_chunk(chunk: slice) -> NDArray[np.int64]:
            return self._partition.count(self._cells_of(rows[chunk]), units[chunk], self._kernels)

        counts = np.zeros(self._table_shape, dtype=np.int64)
        for part in self._map(count_chunk, len(rows), width=self.resolution):
            counts += part
        return counts

    def _scores(self, rows: NDArray[np.intp], table: CountTable) -> NDArray[np.int64]:
        """Return the score of some rows against one table."""
        scores = np.empty(len(rows), dtype=np.int64)

        def score_chunk(chunk: slice) -> None:
            self._kernels.score_cells(self._cells_of(rows[chunk]), table.counts, scores[chunk])

        for _ in self._map(score_chunk, len(rows), width=self.resolution):
            pass
        return scores

    def _cluster_scores(self, rows: NDArray[np.intp], clusters: ClusterTables) -> NDArray[np.int64]:
        """Return the score of some rows against each cluster, (m, k)."""
        return clusters.scores(self._cells_of(rows), self._kernels)

    def _features(self, rows: NDArray[np.intp]) -> sparse.csr_array:
        """Return the feature maps of some rows: the counts that a row adds to a flattened table."""
        return one_hot(self._cells_of(rows), self._partition.n_cells, self._partition.no_cell)

    def _rows_by_cluster(self, n_clusters: int) -> Iterable[NDArray[np.intp]]:
        """Yield, for each cluster, the positions of its rows in ascending order."""
        by_label = np.argsort(self._labels, kind="stable")
        ends = np.searchsorted(self._labels[by_label], np.arange(-1, n_clusters), side="right")
        return (by_label[start:end] for start, end in itertools.pairwise(ends))

    def _table(self, rows: NDArray[np.intp], units: NDArray[np.int64]) -> CountTable:
        return CountTable(self._count(rows, units), int(units.sum()))

    def _rows_to_judge(
        self, rule: ProposalRule, clusters: ClusterTables, sources: NDArray[np.bool_]
    ) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
        """Return the rows of the source clusters, except rows that are known to stay there.

        Also return the smallest similarity of the omitted rows in each cluster, as `propose` does.
        """
        return np.flatnonzero(sources[self._labels]), np.full(len(clusters) + 1, np.inf)

    def _change(self, moved: _Proposals) -> ClusterTables:
        """Return the change in the clusters' tables when rows move from old to new labels."""
        clusters = self._proposed_for
        counts = sparse.csr_array(clusters.counts.shape, dtype=np.int64)
        masses = np.zeros(len(clusters), dtype=np.int64)
        step = self._chunk_rows or _ROWS_PER_CHANGE
        for start in range(0, len(moved.rows), step):
            some = moved.only(slice(start, start + step))
            moves = self._moves(some)
            counts = counts + moves @ self._features(some.rows)
            masses += moves.sum(axis=1)
        return replace(clusters, counts=counts, masses=masses)

    def _moves(self, moved: _Proposals) -> sparse.csr_array:
        """Return the weight that each move adds to each cluster, negative for a loss, (k, m)."""
        units, number = self._units[moved.rows], np.arange(len(moved.rows))
        came, went = moved.new >= 0, moved.old >= 0
        signed_units = np.concatenate([units[came], -units[went]])
        clusters = np.concatenate([moved.new[came], moved.old[went]])
        rows = np.concatenate([number[came], number[went]])
        shape = len(self._proposed_for), len(number)
        return sparse.csr_array((signed_units, (clusters, rows)), shape=shape)

    def _map(self, work: Callable[[slice], T], n_rows: int, width: int) -> Iterable[T]:
        return map_chunks(work, n_rows, self._chunk_rows or rows_per_chunk(width), self._n_jobs)


class _Proposals(NamedTuple):
    """Rows for which a rule proposes a new label."""

    rows: NDArray[np.intp]
    old: NDArray[np.int64]
    new: NDArray[np.int64]
    own_similarities: NDArray[np.float64]

    def only(self, kept: NDArray[np.bool_] | slice) -> _Proposals:
        return _Proposals(
            self.rows[kept], self.old[kept], self.new[kept], self.own_similarities[kept]
        )

    @classmethod
    def joined(cls, parts: list[_Proposals]) -> _Proposals:
        none = np.empty(0, dtype=np.int64)
        return cls(
            np.concatenate([none, *(part.rows for part in parts)]),
            np.concatenate([none, *(part.old for part in parts)]),
            np.concatenate([none, *(part.new for part in parts)]),
            np.concatenate([np.empty(0), *(part.own_similarities for part in parts)]),
        )


def _propose(
    rule: ProposalRule,
    rows: NDArray[np.intp],
    labels: NDArray[np.int64],
    similarities: NDArray[np.float64],
) -> tuple[_Proposals, NDArray[np.float64]]:
    """Return the proposed moves, and each label's lowest similarity among the rows that stay."""
    own_or_zero = np.column_stack([similarities, np.zeros(len(labels))])
    own = own_or_zero[np.arange(len(labels)), labels]
    proposals = _Proposals(rows, labels, rule(labels, similarities), own)
    moves = proposals.new != labels
    weakest_staying = np.full(similarities.shape[1] + 1, np.inf)
    np.minimum.at(weakest_staying, labels[~moves], own[~moves])
    return proposals.only(moves), weakest_staying


def require_memory_to_fit(
    n_rows: int, partition: Partition, bytes_per_row: int = 36, **others: int
) -> None:
    """Raise InsufficientMemoryError if the cells and labels of all rows do not fit into memory.

    An engine needs `bytes_per_row` for labels, growth steps, the rows in no cluster and, during a
    step, for new scores. `others` are further needs, in bytes by purpose.
    """
    cell_bytes = partition.cell_bytes(n_rows)
    row_bytes = n_rows * bytes_per_row
    table_bytes = 4 * partition.n_partitions * partition.n_cells * 8
    require_memory(
        {"cells": cell_bytes, "rows": row_bytes, "tables": table_bytes, **others},
        f"Fitting {n_rows} rows with n_partitions={partition.n_partitions} and psi={partition.psi}",
        "Pass scratch_dir to keep cells on disk, use a smaller n_partitions, or fit a sample of "
        "the rows and predict the rest.",
    )
