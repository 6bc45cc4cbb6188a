"""MergedEngine: another engine on the distinct rows, each weighted by its number of copies."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._cells.count_tables import ClusterTables, CountTable
from .._data.duplicates import EqualRows
from .protocol import (
    Absorbed,
    Candidate,
    Moved,
    ProposalRule,
    RowFunction,
    RowResults,
    ShardableEngine,
)


class MergedEngine:
    """Engine that merges equal rows; callers use the numbers of the original rows."""

    def __init__(self, engine: ShardableEngine, equal: EqualRows) -> None:
        self._engine = engine
        self._equal = equal
        self.name, self.backend = engine.name, engine.backend
        self.resolution, self.one = engine.resolution, engine.one
        self._seed_pairs: dict[int, list[int]] = {}

    @property
    def n_rows_left(self) -> int:
        return self._engine.n_rows_left

    def total(self) -> CountTable:
        return self._engine.total()

    def best_row(self, table: CountTable, besides: int | None = None) -> Candidate:
        excluded = None if besides is None else self._number(besides)
        best = self._engine.best_row(table, excluded)
        return best._replace(row=int(self._equal.first_copies[best.row]))

    def table_of(self, row: int, units: int) -> CountTable:
        return self._engine.table_of(self._number(row), units)

    def claim(self, row: int, cluster: int) -> None:
        number = self._number(row)
        pair = self._seed_pairs.setdefault(cluster, [])
        if len(pair) < 2:
            pair.append(row)
        if len(pair) == 1 and self._equal.n_copies[number] > 1:
            pair.append(self._second_seed(number))
        self._engine.claim(number, cluster)

    def absorb(self, table: CountTable, min_score: int, cluster: int, step: int) -> Absorbed:
        return self._engine.absorb(table, min_score, cluster, step)

    def place(self, clusters: ClusterTables, threshold: float) -> None:
        self._engine.place(clusters, threshold)

    def propose(
        self, rule: ProposalRule, clusters: ClusterTables, sources: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        return self._engine.propose(rule, clusters, sources)

    def move(self, below: NDArray[np.float64]) -> Moved:
        return self._engine.move(below)

    def undo_move(self) -> None:
        self._engine.undo_move()

    def remember_labels(self) -> None:
        self._engine.remember_labels()

    def recall_labels(self) -> None:
        self._engine.recall_labels()

    def set_labels(self, rows: NDArray[np.intp], labels: NDArray[np.int64]) -> None:
        """Set the labels of rows and all their copies."""
        numbers, firsts = np.unique(self._equal.numbers[rows], return_index=True)
        self._engine.set_labels(numbers, labels[firsts])

    def n_changed_labels(self) -> int:
        return self._engine.weight_of_changed_labels()

    def n_members(self, n_clusters: int) -> NDArray[np.int64]:
        return self._engine.weight_of_members(n_clusters)

    def weight_of_members(self, n_clusters: int) -> NDArray[np.int64]:
        return self._engine.weight_of_members(n_clusters)

    def tables(self, n_clusters: int) -> ClusterTables:
        return self._engine.tables(n_clusters)

    def best_members(self, clusters: ClusterTables) -> list[Candidate | None]:
        return [
            best and best._replace(row=int(self._equal.first_copies[best.row]))
            for best in self._engine.best_members(clusters)
        ]

    def map_rows(self, function: RowFunction, labels: NDArray[np.int64]) -> NDArray[np.float64]:
        return function(labels, first_row=0)

    def renumber(self, new_labels: NDArray[np.int64]) -> None:
        self._engine.renumber(new_labels)

    def label_absent(self, rule: ProposalRule, clusters: ClusterTables) -> None:
        """Do nothing, because rows with weights are never merged, so no row has weight 0."""

    def row_results(self, clusters: ClusterTables) -> RowResults:
        merged = self._engine.row_results(clusters)
        numbers = self._equal.numbers
        steps = merged.growth_steps[numbers]
        # Only two rows start a cluster; their copies join in the first step.
        steps[steps == 0] = 1
        for pair in self._seed_pairs.values():
            steps[pair] = 0
        return RowResults(merged.labels[numbers], merged.similarities[numbers], steps)

    def reset(self) -> None:
        self._engine.reset()
        self._seed_pairs = {}

    def _second_seed(self, number: int) -> int:
        """Return x_q for a seed with copies: its next copy, or an earlier row just as similar."""
        copy = self._equal.second_copy(number)
        if self._engine.n_rows_left == 1:
            return copy
        alone = self._engine.table_of(number, self.one)
        own, other = self._engine.best_row(alone), self._engine.best_row(alone, number)
        first_copy = int(self._equal.first_copies[other.row])
        return min(copy, first_copy) if other.score == own.score else copy

    def _number(self, row: int) -> int:
        return int(self._equal.numbers[row])
