"""Growth of clusters, one after another, each from its seed (Algorithm 1 of the paper).

Rows may be in any engine and may have any weight.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import NamedTuple, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from .._cells.count_tables import ClusterTables, CountTable, TableStack, smallest_passing_score
from .._engines.protocol import Candidate, Engine, ResumableEngine
from .._utils.progress import Progress, Report, ignore


@dataclass(frozen=True, eq=False)
class Growth:
    """The clusters that were grown, in the order found."""

    clusters: ClusterTables
    seeds: NDArray[np.int64]  # (k,) x_p of each cluster
    n_steps: NDArray[np.int64]  # (k,) steps until the threshold had fallen to tau

    def only(self, kept: NDArray[np.bool_]) -> Growth:
        """Return the growth of the clusters that are kept."""
        return Growth(self.clusters.only(kept), self.seeds[kept], self.n_steps[kept])


class GrownCluster(NamedTuple):
    """The table, the seed and the number of steps of a grown cluster, without its rows."""

    table: CountTable
    seed: int
    n_steps: int


class Journal(Protocol):
    """Store of grown clusters, from which a later fit can continue."""

    def restore(self, engine: ResumableEngine) -> Iterable[GrownCluster]:
        """Restore the saved clusters in the engine, one after another, and yield them."""

    def note(self, engine: ResumableEngine, number: int, cluster: GrownCluster) -> None:
        """Save a cluster that has grown."""


@dataclass(frozen=True)
class _SeedPair:
    """Seed x_p, its most similar row x_q, and gamma = (1 - growth_rate) * K-hat(x_q, {x_p})."""

    first: Candidate
    second: Candidate
    threshold: float


def grow(
    engine: Engine,
    tau: float,
    growth_rate: float,
    report: Report = ignore,
    journal: Journal | None = None,
) -> Growth:
    """Grow clusters until the best pair of the remaining rows is not similar enough to start one.

    With a journal, the engine must be a `ResumableEngine`.
    """
    unassigned = engine.total()
    n_rows = engine.n_rows_left
    stack = TableStack()
    seeds: list[int] = []
    n_steps: list[int] = []

    def add(cluster: GrownCluster) -> None:
        unassigned.subtract(cluster.table)
        stack.push(cluster.table)
        seeds.append(cluster.seed)
        n_steps.append(cluster.n_steps)

    def tell() -> None:
        report(Progress("grow", n_rows - engine.n_rows_left, n_rows, len(stack) + 1))

    for cluster in journal.restore(cast(ResumableEngine, engine)) if journal else ():
        add(cluster)
    while _more_than_one_row(engine, unassigned):
        pair = _find_seed_pair(engine, unassigned, growth_rate)
        if pair.threshold <= tau:
            break
        table, steps = _grow_cluster(engine, pair, len(stack), tau, growth_rate, tell)
        cluster = GrownCluster(table, pair.first.row, steps)
        if journal:
            journal.note(cast(ResumableEngine, engine), len(stack), cluster)
        add(cluster)
    clusters = stack.clusters(unassigned.counts.shape, engine.resolution)
    return Growth(clusters, np.array(seeds, dtype=np.int64), np.array(n_steps, dtype=np.int64))


def _more_than_one_row(engine: Engine, unassigned: CountTable) -> bool:
    """Return whether more than one row is left; a row with weight above 1 counts as several."""
    return engine.n_rows_left > 1 or unassigned.mass > engine.one


def _find_seed_pair(engine: Engine, unassigned: CountTable, growth_rate: float) -> _SeedPair:
    first = engine.best_row(unassigned)
    alone = engine.table_of(first.row, first.units)
    # A row with weight above 1 stands for several copies; a copy is its most similar row.
    besides = None if first.units > engine.one else first.row
    second = engine.best_row(alone, besides)
    similarity = second.score / (engine.resolution * alone.mass)
    return _SeedPair(first, second, (1 - growth_rate) * similarity)


def _grow_cluster(
    engine: Engine,
    pair: _SeedPair,
    number: int,
    tau: float,
    growth_rate: float,
    tell: Callable[[], None],
) -> tuple[CountTable, int]:
    """Return the table of the grown cluster and the number of steps it took."""
    table, copies_left = _start_cluster(engine, pair, number)
    threshold = pair.threshold
    best_score_left = None
    for step in itertools.count(1):
        min_score = smallest_passing_score(threshold, engine.resolution * table.mass)
        # A step that adds nothing does not end growth: the threshold still falls, and a later,
        # lower one may admit rows. Until then, scores do not change and are not computed again.
        if best_score_left is None or best_score_left >= min_score:
            absorbed = engine.absorb(table, min_score, number, step)
            best_score_left = None if absorbed.n_rows else absorbed.best_score_left
            tell()
        if copies_left is not None:
            table.add(copies_left)
            copies_left = best_score_left = None
        threshold *= 1 - growth_rate
        if threshold <= tau:
            break
    return table, step


def _start_cluster(
    engine: Engine, pair: _SeedPair, number: int
) -> tuple[CountTable, CountTable | None]:
    """Return the table of {x_p, x_q}, and that of the copies of x_q that join in step 1, if any.

    A row of weight w is w equal rows, of which only one is x_q. The others always exceed
    the first threshold. If x_q is a copy of x_p, the number of copies changes no similarity.
    """
    first, second = pair.first, pair.second
    engine.claim(first.row, number)
    table = engine.table_of(first.row, first.units)
    if first.row == second.row:
        return table, None
    engine.claim(second.row, number)
    if second.units <= engine.one:
        table.add(engine.table_of(second.row, second.units))
        return table, None
    table.add(engine.table_of(second.row, engine.one))
    return table, engine.table_of(second.row, second.units - engine.one)
