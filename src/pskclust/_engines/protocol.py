"""The Engine protocol: every question that growth and refinement ask about the rows.

A method of an engine is called a verb. `VERBS` states two facts of each: whether it answers, and
whether it changes the state of the rows. Engines that pass verbs on to other machines read them
there: a verb without an answer need not be sent at once, and a verb that changes the state is sent
again to a worker that takes over rows of a lost one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from .._cells.count_tables import ClusterTables, CountTable
from .._kernels.select import Backend


class Verb(NamedTuple):
    """Whether a verb has an answer, and whether it changes the state of the rows."""

    answers: bool
    changes: bool


_ASKS = Verb(answers=True, changes=False)
_TELLS = Verb(answers=False, changes=True)
_ASKS_AND_TELLS = Verb(answers=True, changes=True)

# Every method of the protocols below, in their order.
VERBS: Mapping[str, Verb] = {
    "total": _ASKS,
    "best_row": _ASKS,
    "table_of": _ASKS,
    "claim": _TELLS,
    "absorb": _ASKS_AND_TELLS,
    "place": _TELLS,
    "propose": _ASKS_AND_TELLS,
    "move": _ASKS_AND_TELLS,
    "undo_move": _TELLS,
    "remember_labels": _TELLS,
    "recall_labels": _TELLS,
    "set_labels": _TELLS,
    "n_changed_labels": _ASKS,
    "n_members": _ASKS,
    "weight_of_members": _ASKS,
    "tables": _ASKS,
    "best_members": _ASKS,
    "renumber": _TELLS,
    "label_absent": _TELLS,
    "row_results": _ASKS,
    "map_rows": _ASKS,
    "reset": _TELLS,
    "members": _ASKS,
    "restore": _TELLS,
    "weight_of_changed_labels": _ASKS,
    "absorbed": _ASKS_AND_TELLS,
}


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


class RowFunction(Protocol):
    """Computes a value for each of successive rows."""

    def __call__(self, labels: NDArray[np.int64], /, first_row: int) -> NDArray[np.float64]:
        """Return the values of the rows from `first_row` on, given their labels."""


class Candidate(NamedTuple):
    """A row that was looked for, its score, and its weight in units."""

    row: int
    score: int
    units: int


def better_candidate(one: Candidate | None, other: Candidate | None) -> Candidate | None:
    """Return the candidate of higher score, of equal ones that of the lower row number."""
    if one is None or other is None:
        return one or other
    return max(one, other, key=lambda candidate: (candidate.score, -candidate.row))


class Absorbed(NamedTuple):
    """Number of rows that a cluster took in one step, and the best score of the rows left."""

    n_rows: int
    best_score_left: int


class Moved(NamedTuple):
    """Number of rows that changed their label, and the change in the clusters' tables."""

    change: ClusterTables
    n_rows: int


class Members(NamedTuple):
    """The rows that a cluster took when it grew, rising, and the step at which it took each."""

    rows: NDArray[np.int64]
    steps: NDArray[np.int32]


class RowResults(NamedTuple):
    """Label, similarity to its cluster, and growth step of each row."""

    labels: NDArray[np.int64]
    similarities: NDArray[np.float64]
    growth_steps: NDArray[np.int32]

    def only(self, chosen: slice) -> RowResults:
        return RowResults(self.labels[chosen], self.similarities[chosen], self.growth_steps[chosen])

    def copied(self) -> RowResults:
        return RowResults(self.labels.copy(), self.similarities.copy(), self.growth_steps.copy())


class Engine(Protocol):
    """Encoded rows in some place: in memory, on disk, on other machines.

    An engine can be used as soon as it is made: its constructor finds the cells of the rows.
    """

    name: str
    backend: Backend

    @property
    def resolution(self) -> int:
        """The score of a row against its own copy."""

    @property
    def one(self) -> int:
        """Weight of one row, in units."""

    @property
    def n_rows_left(self) -> int:
        """Number of rows of positive weight that are in no cluster."""

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
        """Note the labels of all rows, for `n_changed_labels` and `recall_labels`."""

    def recall_labels(self) -> None:
        """Give all rows the labels that `remember_labels` noted."""

    def set_labels(self, rows: NDArray[np.intp], labels: NDArray[np.int64]) -> None:
        """Give some rows, whose numbers rise, new labels; all others keep theirs."""

    def n_changed_labels(self) -> int:
        """Return how many rows have another label than when labels were remembered."""

    def n_members(self, n_clusters: int) -> NDArray[np.int64]:
        """Return how many rows each cluster has."""

    def weight_of_members(self, n_clusters: int) -> NDArray[np.int64]:
        """Return the total weight of the rows of each cluster, in units."""

    def tables(self, n_clusters: int) -> ClusterTables:
        """Return the tables of the clusters, counted from the labels that rows have now."""

    def best_members(self, clusters: ClusterTables) -> list[Candidate | None]:
        """Return the member of each cluster with the highest score against the cluster's table.

        Members are the rows of positive weight with the cluster's label. Of members with equal
        scores the first one is returned, and None for a cluster without members.
        """

    def renumber(self, new_labels: NDArray[np.int64]) -> None:
        """Replace each label by the entry of `new_labels` at its place; the last is for -1."""

    def label_absent(self, rule: ProposalRule, clusters: ClusterTables) -> None:
        """Give the rows of weight 0 the labels that `rule` proposes."""

    def row_results(self, clusters: ClusterTables) -> RowResults:
        """Return the label of each row, its similarity to that cluster, and its growth step."""

    def map_rows(self, function: RowFunction, labels: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return a value for each row, given the labels that `row_results` returned.

        Where rows are in several blocks, the function is called for each block, with the number
        of its first row.
        """

    def reset(self) -> None:
        """Take all rows out of their clusters, so that growth can start anew on the same cells."""


class ResumableEngine(Engine, Protocol):
    """An engine whose clusters can be noted as they are grown, and taken up again."""

    def members(self, cluster: int) -> Members:
        """Return the rows of a cluster."""

    def restore(self, members: Members, cluster: int) -> None:
        """Put rows into a cluster again that had grown before."""


class ShardableEngine(ResumableEngine, Protocol):
    """An engine that may hold some of the rows only, or one row in place of several equal ones."""

    def weight_of_changed_labels(self) -> int:
        """Return the total weight of the rows that `n_changed_labels` counts, in units."""

    def absorbed(
        self, table: CountTable, min_score: int, cluster: int, step: int
    ) -> tuple[Absorbed, CountTable]:
        """Absorb as `absorb` does, but return the table of the rows, and add them nowhere."""
