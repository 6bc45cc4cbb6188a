"""The engine for rows in the memory of this process."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._kernels import numpy as kernels
from .._memory import require_memory
from .._parallel import map_chunks, rows_per_chunk
from .._partition import Partition
from .._progress import Progress, Report, ignore
from .._tables import ClusterTables, CountTable, one_hot
from .._validation import Data
from .base import Absorbed, Candidate, Moved, ProposalRule, RowResults

T = TypeVar("T")


class LocalEngine:
    """All cells of all rows in one array; chunks of rows in threads."""

    name = "local"
    kernels = "numpy"
    resolution: int

    def __init__(
        self, data: Data, *, n_jobs: int | None = None, chunk_rows: int | None = None
    ) -> None:
        self._data = data
        self._n_jobs = n_jobs
        self._chunk_rows = chunk_rows
        self._units = data.weights.units
        self.one = data.weights.one
        self._labels = np.full(len(data), -1, dtype=np.int64)
        self._steps = np.full(len(data), -1, dtype=np.int32)
        # Rows of weight 0 are no rows to growth.
        self._open = np.flatnonzero(self._units)

    def encode(self, partition: Partition, report: Report = ignore) -> None:
        """Find the cells of all rows."""
        n_rows = len(self._data)
        self.resolution = partition.n_partitions
        self._partition = partition
        _require_memory_to_fit(n_rows, partition)
        self._cells = np.empty((n_rows, partition.n_partitions), dtype=partition.cell_type)

        def encode_chunk(chunk: slice) -> int:
            self._cells[chunk] = partition.cells(self._data.points(chunk))
            return int(chunk.stop)

        for done in self._map(encode_chunk, n_rows, width=partition.n_cells):
            report(Progress("encode", done, n_rows))

    @property
    def n_rows_left(self) -> int:
        return len(self._open)

    def total(self) -> CountTable:
        return self._table(self._open)

    def best_row(self, table: CountTable, besides: int | None = None) -> Candidate:
        rows = self._open if besides is None else self._open[self._open != besides]
        scores = self._scores(rows, table)
        best = int(scores.argmax())
        row = int(rows[best])
        return Candidate(row, int(scores[best]), int(self._units[row]))

    def table_of(self, row: int, units: int) -> CountTable:
        return CountTable(self._count(np.array([row]), np.array([units])), units)

    def claim(self, row: int, cluster: int) -> None:
        self._labels[row] = cluster
        self._steps[row] = 0
        self._open = self._open[self._open != row]

    def absorb(self, table: CountTable, min_score: int, cluster: int, step: int) -> Absorbed:
        scores = self._scores(self._open, table)
        passing = scores >= min_score
        rows = self._open[passing]
        self._labels[rows] = cluster
        self._steps[rows] = step
        self._open = self._open[~passing]
        return Absorbed(self._table(rows), len(rows), int(scores[~passing].max(initial=-1)))

    def propose(
        self, rule: ProposalRule, clusters: ClusterTables, sources: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        rows = np.flatnonzero(sources[self._labels])

        def propose_chunk(chunk: slice) -> tuple[_Proposals, NDArray[np.float64]]:
            chosen = rows[chunk]
            scores = self._cluster_scores(chosen, clusters)
            return _propose(rule, chosen, self._labels[chosen], clusters.similarities(scores))

        width = max(len(clusters), self.resolution)
        parts = list(self._map(propose_chunk, len(rows), width))
        self._proposals = _Proposals.joined([proposals for proposals, _ in parts])
        self._proposed_for = clusters
        weakest_staying = np.full(len(clusters) + 1, np.inf)
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
        self._remembered = self._labels.copy()

    def n_changed_labels(self) -> int:
        return int(np.count_nonzero(self._labels != self._remembered))

    def renumber(self, new_labels: NDArray[np.int64]) -> None:
        self._labels = new_labels[self._labels]

    def inner_scores(self, clusters: ClusterTables) -> list[int]:
        return clusters.inner_scores()

    def row_results(self, clusters: ClusterTables) -> RowResults:
        similarities = np.zeros(len(self._data))
        by_label = np.argsort(self._labels, kind="stable")
        ends = np.searchsorted(self._labels[by_label], np.arange(-1, len(clusters)), side="right")
        for cluster, (start, end) in enumerate(itertools.pairwise(ends)):
            rows = by_label[start:end]
            table = clusters.table(cluster)
            similarities[rows] = self._scores(rows, table) / (self.resolution * table.mass)
        return RowResults(self._labels, similarities, self._steps)

    def _table(self, rows: NDArray[np.intp]) -> CountTable:
        units = self._units[rows]
        return CountTable(self._count(rows, units), int(units.sum()))

    def _change(self, moved: _Proposals) -> ClusterTables:
        """Return what the clusters' tables gain and lose when rows go from label to label."""
        units, number = self._units[moved.rows], np.arange(len(moved.rows))
        came, went = moved.new >= 0, moved.old >= 0
        signed_units = np.concatenate([units[came], -units[went]])
        clusters = np.concatenate([moved.new[came], moved.old[went]])
        rows = np.concatenate([number[came], number[went]])
        shape = len(self._proposed_for), len(number)
        moves = sparse.csr_array((signed_units, (clusters, rows)), shape=shape)
        change = moves @ self._features(moved.rows)
        return replace(self._proposed_for, counts=change, masses=moves.sum(axis=1))

    # How sets are counted and scored: all that another kernel has to do in its own way.

    def _count(self, rows: NDArray[np.intp], units: NDArray[np.int64]) -> NDArray[np.int64]:
        def count_chunk(chunk: slice) -> NDArray[np.int64]:
            return self._partition.count(self._cells[rows[chunk]], units[chunk])

        counts = np.zeros(self._partition.table_shape, dtype=np.int64)
        for part in self._map(count_chunk, len(rows), width=self.resolution):
            counts += part
        return counts

    def _scores(self, rows: NDArray[np.intp], table: CountTable) -> NDArray[np.int64]:
        scores = np.empty(len(rows), dtype=np.int64)

        def score_chunk(chunk: slice) -> None:
            kernels.score_cells(self._cells[rows[chunk]], table.counts, scores[chunk])

        for _ in self._map(score_chunk, len(rows), width=self.resolution):
            pass
        return scores

    def _cluster_scores(self, rows: NDArray[np.intp], clusters: ClusterTables) -> NDArray[np.int64]:
        return clusters.scores(self._cells[rows])

    def _features(self, rows: NDArray[np.intp]) -> sparse.csr_array:
        return one_hot(self._cells[rows], self._partition.n_cells, self._partition.no_cell)

    def _map(self, work: Callable[[slice], T], n_rows: int, width: int) -> Iterable[T]:
        return map_chunks(work, n_rows, self._chunk_rows or rows_per_chunk(width), self._n_jobs)


class _Proposals(NamedTuple):
    """Rows that a rule would give a new label."""

    rows: NDArray[np.intp]
    old: NDArray[np.int64]
    new: NDArray[np.int64]
    own_similarities: NDArray[np.float64]

    def only(self, kept: NDArray[np.bool_]) -> _Proposals:
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
    """Return the moves that a rule proposes, and the weakest row of each cluster that stays."""
    own_or_zero = np.column_stack([similarities, np.zeros(len(labels))])
    own = own_or_zero[np.arange(len(labels)), labels]
    proposals = _Proposals(rows, labels, rule(labels, similarities), own)
    moves = proposals.new != labels
    weakest_staying = np.full(similarities.shape[1] + 1, np.inf)
    np.minimum.at(weakest_staying, labels[~moves], own[~moves])
    return proposals.only(moves), weakest_staying


def _require_memory_to_fit(n_rows: int, partition: Partition) -> None:
    cell_bytes = n_rows * partition.n_partitions * partition.cell_type.itemsize
    # Labels, steps, the list of rows left and, for a step, their scores and the next such list.
    row_bytes = n_rows * (8 + 4 + 8 + 8 + 8)
    table_bytes = 4 * partition.n_partitions * partition.n_cells * 8
    require_memory(
        {"cells": cell_bytes, "rows": row_bytes, "tables": table_bytes},
        f"Fitting {n_rows} rows with n_partitions={partition.n_partitions} and psi={partition.psi}",
        "Use a smaller n_partitions, or fit a sample of the rows and predict the rest.",
    )
