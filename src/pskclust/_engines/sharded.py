"""ShardedEngine: rows in several shards, whose answers are combined.

A combined answer is a sum or the best answer of all, so it does not depend on the division into
shards.
"""

from __future__ import annotations

import functools
import itertools
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._cells.count_tables import ClusterTables, CountTable
from .protocol import (
    VERBS,
    Absorbed,
    Candidate,
    Members,
    Moved,
    ProposalRule,
    RowFunction,
    RowResults,
    ShardableEngine,
    better_candidate,
)


class Shard:
    """Rows of one engine, addressed by their numbers among all rows.

    The rows are one or more runs of consecutive rows, in ascending order. A method that concerns a
    single row does nothing and returns None if the row is in another shard.
    """

    def __init__(self, engine: ShardableEngine, runs: Sequence[range]) -> None:
        if any(run.stop > later.start for run, later in itertools.pairwise(runs)):
            raise ValueError("runs of rows must be ascending, so that ties go to the lowest row.")
        self._engine = engine
        self.backend = engine.backend
        self.runs = list(runs)
        self._firsts = np.array([run.start for run in runs])
        self._places = np.cumsum([0, *(len(run) for run in runs)])
        self.one, self.resolution = engine.one, engine.resolution

    @property
    def n_rows(self) -> int:
        return int(self._places[-1])

    @property
    def n_rows_left(self) -> int:
        return self._engine.n_rows_left

    def best_row(self, table: CountTable, besides: int | None = None) -> Candidate | None:
        excluded = None if besides is None else self._own_number(besides)
        if self._engine.n_rows_left <= (excluded is not None):
            return None
        return self._with_global_number(self._engine.best_row(table, excluded))

    def table_of(self, row: int, units: int) -> CountTable | None:
        own = self._own_number(row)
        return None if own is None else self._engine.table_of(own, units)

    def claim(self, row: int, cluster: int) -> None:
        own = self._own_number(row)
        if own is not None:
            self._engine.claim(own, cluster)

    def members(self, cluster: int) -> Members:
        members = self._engine.members(cluster)
        run = np.searchsorted(self._places, members.rows, side="right") - 1
        return members._replace(rows=members.rows - self._places[run] + self._firsts[run])

    def restore(self, members: Members, cluster: int) -> None:
        rows, steps = self._own_rows(members.rows, members.steps)
        self._engine.restore(Members(rows, steps), cluster)

    def set_labels(self, rows: NDArray[np.intp], labels: NDArray[np.int64]) -> None:
        self._engine.set_labels(*self._own_rows(rows, labels))

    def best_members(self, clusters: ClusterTables) -> list[Candidate | None]:
        found = self._engine.best_members(clusters)
        return [None if best is None else self._with_global_number(best) for best in found]

    def row_results(self, clusters: ClusterTables) -> list[RowResults]:
        """Return the results of the rows of each run."""
        found = self._engine.row_results(clusters)
        return [found.only(slice(*ends)) for ends in itertools.pairwise(self._places)]

    def answer(self, verb: str, *arguments: Any) -> Any:
        """Call a method of the engine by its name; translate row numbers if it uses any."""
        if verb not in VERBS:
            raise ValueError(f"{verb!r} is not a verb of an engine")
        owner = self if hasattr(self, verb) else self._engine
        return getattr(owner, verb)(*arguments)

    def _with_global_number(self, own: Candidate) -> Candidate:
        run = int(np.searchsorted(self._places, own.row, side="right")) - 1
        return own._replace(row=int(own.row - self._places[run] + self._firsts[run]))

    def _own_rows(
        self, rows: NDArray[np.intp], values: NDArray[Any]
    ) -> tuple[NDArray[np.intp], NDArray[Any]]:
        """Select the rows in this shard; return their numbers in its engine, and their values."""
        own_rows, own_values = [], []
        for run, place in zip(self.runs, self._places, strict=False):
            own = slice(*np.searchsorted(rows, [run.start, run.stop]))
            own_rows.append(rows[own] - run.start + place)
            own_values.append(values[own])
        return np.concatenate(own_rows), np.concatenate(own_values)

    def _own_number(self, row: int) -> int | None:
        run = int(np.searchsorted(self._firsts, row, side="right")) - 1
        if run < 0 or row not in self.runs[run]:
            return None
        return int(row - self._firsts[run] + self._places[run])


class CombinedRows(ABC):
    """Methods of an engine whose answers are combined from the answers of all parts."""

    @abstractmethod
    def _ask(self, verb: str, *arguments: Any) -> list[Any]:
        """Call a method of each part by its name, and return the answers."""

    def total(self) -> CountTable:
        return _sum_of_tables(self._ask("total"))

    def best_row(self, table: CountTable, besides: int | None = None) -> Candidate:
        best = self.best_row_if_any(table, besides)
        if best is None:
            raise ValueError("best_row found no row, because every row is in a cluster")
        return best

    def best_row_if_any(self, table: CountTable, besides: int | None = None) -> Candidate | None:
        """Return the best row like `best_row`, or None if every row is in a cluster."""
        found: list[Candidate | None] = self._ask("best_row", table, besides)
        return functools.reduce(better_candidate, found)

    def table_of(self, row: int, units: int) -> CountTable:
        answers: list[CountTable | None] = self._ask("table_of", row, units)
        return next(table for table in answers if table is not None)

    def claim(self, row: int, cluster: int) -> None:
        self._ask("claim", row, cluster)

    def place(self, clusters: ClusterTables, threshold: float) -> None:
        self._ask("place", clusters, threshold)

    def propose(
        self, rule: ProposalRule, clusters: ClusterTables, sources: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        weakest: NDArray[np.float64] = np.min(self._ask("propose", rule, clusters, sources), axis=0)
        return weakest

    def move(self, below: NDArray[np.float64]) -> Moved:
        answers = self._ask("move", below)
        change = _sum_of_clusters([answer.change for answer in answers])
        return Moved(change, sum(answer.n_rows for answer in answers))

    def undo_move(self) -> None:
        self._ask("undo_move")

    def remember_labels(self) -> None:
        self._ask("remember_labels")

    def recall_labels(self) -> None:
        self._ask("recall_labels")

    def set_labels(self, rows: NDArray[np.intp], labels: NDArray[np.int64]) -> None:
        self._ask("set_labels", rows, labels)

    def n_changed_labels(self) -> int:
        return sum(self._ask("n_changed_labels"))

    def n_members(self, n_clusters: int) -> NDArray[np.int64]:
        counts: NDArray[np.int64] = np.sum(self._ask("n_members", n_clusters), axis=0)
        return counts

    def weight_of_members(self, n_clusters: int) -> NDArray[np.int64]:
        weights: NDArray[np.int64] = np.sum(self._ask("weight_of_members", n_clusters), axis=0)
        return weights

    def tables(self, n_clusters: int) -> ClusterTables:
        return _sum_of_clusters(self._ask("tables", n_clusters))

    def best_members(self, clusters: ClusterTables) -> list[Candidate | None]:
        answers = self._ask("best_members", clusters)
        return [functools.reduce(better_candidate, some) for some in zip(*answers, strict=True)]

    def renumber(self, new_labels: NDArray[np.int64]) -> None:
        self._ask("renumber", new_labels)

    def reset(self) -> None:
        self._ask("reset")

    def label_absent(self, rule: ProposalRule, clusters: ClusterTables) -> None:
        self._ask("label_absent", rule, clusters)


class ShardedEngine(CombinedRows):
    """Engine of several shards in this process, in the order of their rows."""

    def __init__(self, shards: Sequence[Shard], name: str) -> None:
        self._shards = list(shards)
        self.name, self.backend = name, shards[0].backend
        self.one, self.resolution = shards[0].one, shards[0].resolution

    @property
    def n_rows_left(self) -> int:
        return sum(shard.n_rows_left for shard in self._shards)

    def absorb(self, table: CountTable, min_score: int, cluster: int, step: int) -> Absorbed:
        absorbed, added = self.absorbed(table, min_score, cluster, step)
        table.add(added)
        return absorbed

    def absorbed(
        self, table: CountTable, min_score: int, cluster: int, step: int
    ) -> tuple[Absorbed, CountTable]:
        """Assign rows like `absorb`, but return their table instead of adding them to `table`."""
        return summed_up(self._ask("absorbed", table, min_score, cluster, step))

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
            # Shards are asked one at a time, to limit memory.
            for run, own in zip(shard.runs, shard.row_results(clusters), strict=True):
                rows = slice(run.start, run.stop)
                results.labels[rows] = own.labels
                results.similarities[rows] = own.similarities
                results.growth_steps[rows] = own.growth_steps
        return results

    def map_rows(self, function: RowFunction, labels: NDArray[np.int64]) -> NDArray[np.float64]:
        return function(labels, first_row=0)

    def _ask(self, verb: str, *arguments: Any) -> list[Any]:
        return [shard.answer(verb, *arguments) for shard in self._shards]


def summed_up(answers: Sequence[tuple[Absorbed, CountTable]]) -> tuple[Absorbed, CountTable]:
    """Return the combined answer to `absorbed`: summed rows and tables, and the best score left."""
    n_rows = sum(absorbed.n_rows for absorbed, _ in answers)
    best_score_left = max(absorbed.best_score_left for absorbed, _ in answers)
    return Absorbed(n_rows, best_score_left), _sum_of_tables([added for _, added in answers])


def _sum_of_tables(answers: Sequence[CountTable]) -> CountTable:
    """Return the sum of tables; the first table is overwritten."""
    total, *others = answers
    for other in others:
        total.add(other)
    return total


def _sum_of_clusters(answers: Sequence[ClusterTables]) -> ClusterTables:
    """Return the sum of each cluster's tables over all parts."""
    total, *others = answers
    for other in others:
        counts = (total.counts + other.counts).tocsr()
        total = replace(total, counts=counts, masses=total.masses + other.masses)
    return total
