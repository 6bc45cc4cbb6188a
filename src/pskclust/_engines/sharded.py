"""The engine for rows in several places: each part answers for its own, answers are put together.

An answer is a sum, or the best of several, so it does not depend on how rows are cut up.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._tables import ClusterTables, CountTable
from .base import (
    Absorbed,
    Candidate,
    Members,
    Moved,
    ProposalRule,
    ResumableEngine,
    RowResults,
)


class Shard:
    """Rows of one engine that stand together among all rows, by their numbers there.

    Verbs that are about one row do nothing, and answer None, where the row is elsewhere.
    """

    def __init__(self, engine: ResumableEngine, first_row: int, n_rows: int) -> None:
        self._engine = engine
        self.first_row = first_row
        self.n_rows = n_rows
        self.one, self.resolution = engine.one, engine.resolution

    @property
    def n_rows_left(self) -> int:
        return self._engine.n_rows_left

    def best_row(self, table: CountTable, besides: int | None = None) -> Candidate | None:
        excluded = None if besides is None or not self._has(besides) else besides - self.first_row
        if self._engine.n_rows_left <= (excluded is not None):
            return None
        best = self._engine.best_row(table, excluded)
        return best._replace(row=best.row + self.first_row)

    def table_of(self, row: int, units: int) -> CountTable | None:
        return self._engine.table_of(row - self.first_row, units) if self._has(row) else None

    def claim(self, row: int, cluster: int) -> None:
        if self._has(row):
            self._engine.claim(row - self.first_row, cluster)

    def absorb(
        self, table: CountTable, min_score: int, cluster: int, step: int
    ) -> tuple[Absorbed, CountTable]:
        """Return what was absorbed, and its table; the cluster's stays as it is."""
        grown = CountTable(table.counts.copy(), table.mass)
        absorbed = self._engine.absorb(grown, min_score, cluster, step)
        grown.subtract(table)
        return absorbed, grown

    def members(self, cluster: int) -> Members:
        members = self._engine.members(cluster)
        return members._replace(rows=members.rows + self.first_row)

    def restore(self, members: Members, cluster: int) -> None:
        first, last = np.searchsorted(members.rows, [self.first_row, self.first_row + self.n_rows])
        own = Members(members.rows[first:last] - self.first_row, members.steps[first:last])
        self._engine.restore(own, cluster)

    def answer(self, verb: str, *arguments: Any) -> Any:
        """Return the answer to a verb; one that is not here is about no row, and the engine's."""
        owner = self if hasattr(self, verb) else self._engine
        return getattr(owner, verb)(*arguments)

    def _has(self, row: int) -> bool:
        return self.first_row <= row < self.first_row + self.n_rows


class CombinedRows(ABC):
    """The verbs of an engine, put together from the answers of all parts."""

    @abstractmethod
    def _ask(self, verb: str, *arguments: Any) -> list[Any]:
        """Return the answer of each part."""

    def total(self) -> CountTable:
        return _sum_of_tables(self._ask("total"))

    def best_row(self, table: CountTable, besides: int | None = None) -> Any:
        found = [best for best in self._ask("best_row", table, besides) if best is not None]
        return max(found, key=lambda best: (best.score, -best.row), default=None)

    def table_of(self, row: int, units: int) -> Any:
        answers = self._ask("table_of", row, units)
        return next((table for table in answers if table is not None), None)

    def claim(self, row: int, cluster: int) -> None:
        self._ask("claim", row, cluster)

    def propose(
        self, rule: ProposalRule, clusters: ClusterTables, sources: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        weakest: NDArray[np.float64] = np.min(self._ask("propose", rule, clusters, sources), axis=0)
        return weakest

    def move(self, below: NDArray[np.float64]) -> Moved:
        first, *others = self._ask("move", below)
        change, n_rows = first
        for other in others:
            counts = change.counts + other.change.counts
            change = replace(change, counts=counts, masses=change.masses + other.change.masses)
            n_rows += other.n_rows
        return Moved(change, n_rows)

    def undo_move(self) -> None:
        self._ask("undo_move")

    def remember_labels(self) -> None:
        self._ask("remember_labels")

    def n_changed_labels(self) -> int:
        return sum(self._ask("n_changed_labels"))

    def renumber(self, new_labels: NDArray[np.int64]) -> None:
        self._ask("renumber", new_labels)

    def label_absent(self, rule: ProposalRule, clusters: ClusterTables) -> None:
        self._ask("label_absent", rule, clusters)

    def inner_scores(self, clusters: ClusterTables) -> list[int]:
        return clusters.inner_scores()

    def _absorb(
        self, table: CountTable, min_score: int, cluster: int, step: int
    ) -> tuple[Absorbed, CountTable]:
        answers = self._ask("absorb", table, min_score, cluster, step)
        n_rows = sum(absorbed.n_rows for absorbed, _ in answers)
        best_score_left = max(absorbed.best_score_left for absorbed, _ in answers)
        return Absorbed(n_rows, best_score_left), _sum_of_tables([added for _, added in answers])


class ShardedEngine(CombinedRows):
    """Shards in this process, in the order of their rows."""

    def __init__(self, shards: Sequence[Shard], name: str, kernels: str) -> None:
        self._shards = list(shards)
        self.name, self.kernels = name, kernels
        self.one, self.resolution = shards[0].one, shards[0].resolution

    @property
    def n_rows_left(self) -> int:
        return sum(shard.n_rows_left for shard in self._shards)

    def absorb(self, table: CountTable, min_score: int, cluster: int, step: int) -> Absorbed:
        absorbed, added = self._absorb(table, min_score, cluster, step)
        table.add(added)
        return absorbed

    def members(self, cluster: int) -> Members:
        return Members(*map(np.concatenate, zip(*self._ask("members", cluster), strict=True)))

    def restore(self, members: Members, cluster: int) -> None:
        self._ask("restore", members, cluster)

    def row_results(self, clusters: ClusterTables) -> RowResults:
        n_rows = sum(shard.n_rows for shard in self._shards)
        results = RowResults(
            np.empty(n_rows, np.int64), np.empty(n_rows), np.empty(n_rows, np.int32)
        )
        for shard in self._shards:
            # One shard at a time, since all of them could be much.
            own: RowResults = shard.answer("row_results", clusters)
            rows = slice(shard.first_row, shard.first_row + shard.n_rows)
            results.labels[rows] = own.labels
            results.similarities[rows] = own.similarities
            results.growth_steps[rows] = own.growth_steps
        return results

    def _ask(self, verb: str, *arguments: Any) -> list[Any]:
        return [shard.answer(verb, *arguments) for shard in self._shards]


def _sum_of_tables(tables: Sequence[CountTable]) -> CountTable:
    first, *others = tables
    total = CountTable(first.counts.copy(), first.mass)
    for other in others:
        total.add(other)
    return total
