"""The verbs of an engine: all that growth and refinement may ask of the rows."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from .._cells.count_tables import ClusterTables, CountTable
from .._utils.progress import Report, ignore


class ProposalRule(Protocol):
    """Proposes new labels for rows.

    A rule with `offsets` proposes the cluster of largest 2 * similarity - offset where that is
    more than for the row's own cluster, which lets an engine pass over many rows at once.
    """

    @property
    def offsets(self) -> NDArray[np.float64] | None: ...

    def __call__(
        self, labels: NDArray[np.int64], similarities: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        """Return new labels, given the old ones (m,) and similarities to all clusters (m, k)."""


class Candidate(NamedTuple):
    """A row that was looked for, its score, and its weight in units."""

    row: int
    score: int
    units: int


class Absorbed(NamedTuple):
    """How many rows a growing cluster took in one step; no other row scores above the last."""

    n_rows: int
    best_score_left: int


class Moved(NamedTuple):
    """How many rows changed their label, and what that changed in the clusters' tables."""

    change: ClusterTables
    n_rows: int


class Members(NamedTuple):
    """The rows that a cluster took when it grew, rising, and the step at which it took each."""

    rows: NDArray[np.int64]
    steps: NDArray[np.int32]


class RowResults(NamedTuple):
    """What is known of each row at the end."""

    labels: NDArray[np.int64]
    similarities: NDArray[np.float64]
    growth_steps: NDArray[np.int32]

    def only(self, chosen: slice) -> RowResults:
        return RowResults(self.labels[chosen], self.similarities[chosen], self.growth_steps[chosen])


class Engine(Protocol):
    """Rows in some place: in memory, on disk, on other machines."""

    @property
    def resolution(self) -> int:
        """The score of a row against its own copy."""

    @property
    def one(self) -> int:
        """How many units of weight are one row."""

    @property
    def n_rows_left(self) -> int:
        """How many rows of positive weight are in no cluster."""

    def total(self) -> CountTable:
        """Return the table of all rows that are in no cluster."""

    def best_row(self, table: CountTable, besides: int | None = None) -> Candidate:
        """Return the row in no cluster with the highest score, the first one if there are ties."""

    def table_of(self, row: int, units: int) -> CountTable:
        """Return the table of one row, as if it weighed `units`."""

    def claim(self, row: int, cluster: int) -> None:
        """Put one row into a cluster that starts to grow."""

    def absorb(self, table: CountTable, min_score: int, cluster: int, step: int) -> Absorbed:
        """Put every row in no cluster with at least `min_score` against `table` into a cluster.

        When all are found they are added to the table.
        """

    def place(self, clusters: ClusterTables, threshold: float) -> None:
        """Give every row its most similar cluster if that exceeds `threshold`, else none."""

    def propose(
        self, rule: ProposalRule, clusters: ClusterTables, sources: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        """Note the new labels that `rule` proposes for the rows of the clusters in `sources`.

        Return, for each cluster, the least similarity to it of a row that the rule would leave
        there (infinity if there is none). `sources` and what is returned have an entry for each
        cluster, then one for the rows in no cluster.
        """

    def move(self, below: NDArray[np.float64]) -> Moved:
        """Give rows their proposed labels where their similarity to the old one is `below`."""

    def undo_move(self) -> None:
        """Give the rows the labels back that they had before the latest `move`."""

    def remember_labels(self) -> None:
        """Note the labels of all rows, for `n_changed_labels`."""

    def n_changed_labels(self) -> int:
        """Return how many rows have another label than when labels were remembered."""

    def n_members(self, n_clusters: int) -> NDArray[np.int64]:
        """Return how many rows each cluster has."""

    def renumber(self, new_labels: NDArray[np.int64]) -> None:
        """Replace each label by the entry of `new_labels` at its place; the last is for -1."""

    def label_absent(self, rule: ProposalRule, clusters: ClusterTables) -> None:
        """Give the rows of weight 0 the labels that `rule` proposes."""

    def inner_scores(self, clusters: ClusterTables) -> list[int]:
        """Return the total score of each cluster's members against it."""

    def products(self, clusters: ClusterTables) -> NDArray[Any]:
        """Return the total score of each cluster's members against each cluster, (k, k)."""

    def row_results(self, clusters: ClusterTables) -> RowResults:
        """Return what is known of each row, similarities being to each one's own cluster."""

    def reset(self) -> None:
        """Take all rows out of their clusters, so that growth can start anew on the same cells."""


class ResumableEngine(Engine, Protocol):
    """An engine whose clusters can be noted as they are grown, and taken up again."""

    def members(self, cluster: int) -> Members:
        """Return the rows of a cluster."""

    def restore(self, members: Members, cluster: int) -> None:
        """Put rows into a cluster again that had grown before."""


class EncodingEngine(Engine, Protocol):
    """An engine that finds the cells of its rows by itself."""

    name: str
    kernels: str

    def encode(self, partition: Any, report: Report = ignore) -> None:
        """Find the cells of all rows."""


class WeighingEngine(EncodingEngine, Protocol):
    """An engine whose rows may each stand for several equal ones."""

    def weight_of_changed_labels(self) -> int:
        """Return the total units of the rows that `n_changed_labels` counts."""

    def weight_of_members(self, n_clusters: int) -> NDArray[np.int64]:
        """Return the total units of the rows of each cluster."""


class ShardableEngine(WeighingEngine, ResumableEngine, Protocol):
    """An engine that may hold some of the rows only."""

    def absorbed(
        self, table: CountTable, min_score: int, cluster: int, step: int
    ) -> tuple[Absorbed, CountTable]:
        """Absorb as `absorb` does, but return the table of the rows, and add them nowhere."""
