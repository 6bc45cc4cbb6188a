"""Engine protocol: the operations on rows that growth and refinement use.

A method of an engine is called a verb. `VERBS` states whether each verb has an answer and whether
it changes the state of the rows. Engines that send verbs to other machines need both facts: a verb
without an answer can be delayed, and a verb that changes the state is repeated on the worker that
replaces a lost one.
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

# All methods of the protocols below, in their order.
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
    """Rule that proposes new labels for rows.

    A rule with `offsets` proposes the cluster with the largest value of 2 * similarity - offset, if
    it exceeds the value of the row's own cluster. An engine can then skip many rows at once.
    """

    @property
    def offsets(self) -> NDArray[np.float64] | None: ...

    def __call__(
        self, labels: NDArray[np.int64], similarities: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        """Return new labels, (m,), given old labels, (m,), and similarities to clusters, (m, k)."""


class RowFunction(Protocol):
    """Function that computes one value for each row of a run of consecutive rows."""

    def __call__(self, labels: NDArray[np.int64], /, first_row: int) -> NDArray[np.float64]:
        """Return the values of the rows from `first_row` on, given their labels."""


class Candidate(NamedTuple):
    """A row with a high score: its number, its score, and its weight in units."""

    row: int
    score: int
    units: int


def better_candidate(one: Candidate | None, other: Candidate | None) -> Candidate | None:
    """Return the candidate with the higher score, or the lower row number if scores are equal."""
    if one is None or other is None:
        return one or other
    return max(one, other, key=lambda candidate: (candidate.score, -candidate.row))


class Absorbed(NamedTuple):
    """Number of rows that joined a cluster in one step, and the best score of the rows left."""

    n_rows: int
    best_score_left: int


class Moved(NamedTuple):
    """Change in the clusters' tables, and number of rows that changed their label."""

    change: ClusterTables
    n_rows: int


class Members(NamedTuple):
    """The rows of a grown cluster, ascending, and the growth step in which each row joined."""

    rows: NDArray[np.int64]
    steps: NDArray[np.int32]


class RowResults(NamedTuple):
    """Label of each row, its similarity to its own cluster, and its growth step."""

    labels: NDArray[np.int64]
    similarities: NDArray[np.float64]
    growth_steps: NDArray[np.int32]

    def only(self, chosen: slice) -> RowResults:
        return RowResults(self.labels[chosen], self.similarities[chosen], self.growth_steps[chosen])

    def copied(self) -> RowResults:
        return RowResults(self.labels.copy(), self.similarities.copy(), self.growth_steps.copy())


class Engine(Protocol):
    """Encoded rows in memory, on disk or on other machines.

    The constructor finds the cells of the rows, so that an engine is ready for use.
    """

    name: str
    backend: Backend

    @property
    def resolution(self) -> int:
        """Score of a row against a table of itself alone: the number of partitionings."""

    @property
    def one(self) -> int:
        """Weight of one row, in units."""

    @property
    def n_rows_left(self) -> int:
        """Number of rows of positive weight that are in no cluster."""

    def total(self) -> CountTable:
        """Return the table of all rows that are in no cluster."""

    def best_row(self, table: CountTable, besides: int | None = None) -> Candidate:
        """Return the row in no cluster, other than `besides`, with the highest score.

        Ties go to the first row.
        """

    def table_of(self, row: int, units: int) -> CountTable:
        """Return the table of one row with weight `units`."""

    def claim(self, row: int, cluster: int) -> None:
        """Assign one row to a cluster that starts to grow."""

    def absorb(self, table: CountTable, min_score: int, cluster: int, step: int) -> Absorbed:
        """Assign all rows in no cluster with at least `min_score` against `table` to a cluster.

        The rows are added to the table only after all of them are found.
        """

    def place(self, clusters: ClusterTables, threshold: float) -> None:
        """Assign each row to its most similar cluster.

        A row whose similarities do not exceed `threshold` is in no cluster.
        """

    def propose(
        self, rule: ProposalRule, clusters: ClusterTables, sources: NDArray[np.bool_]
    ) -> NDArray[np.float64]:
        """Store the labels that `rule` proposes for the rows of the clusters in `sources`.

        Return, for each cluster, the smallest similarity of a row that would stay in it; infinity
        if no row would stay. `sources` and the result have an entry for each cluster, and a last
        entry for rows in no cluster.
        """

    def move(self, below: NDArray[np.float64]) -> Moved:
        """Assign proposed labels to rows whose similarity to their cluster is less than `below`.

        `below` has an entry for each cluster, and a last entry for rows in no cluster.
        """

    def undo_move(self) -> None:
        """Restore the labels from before the latest `move`."""

    def remember_labels(self) -> None:
        """Store the labels of all rows, for `n_changed_labels` and `recall_labels`."""

    def recall_labels(self) -> None:
        """Restore the labels that `remember_labels` stored."""

    def set_labels(self, rows: NDArray[np.intp], labels: NDArray[np.int64]) -> None:
        """Set the labels of some rows, whose numbers are ascending; others keep their labels."""

    def n_changed_labels(self) -> int:
        """Return the number of rows whose label differs from the one that was stored."""

    def n_members(self, n_clusters: int) -> NDArray[np.int64]:
        """Return the number of rows of each cluster."""

    def weight_of_members(self, n_clusters: int) -> NDArray[np.int64]:
        """Return the total weight of the rows of each cluster, in units."""

    def tables(self, n_clusters: int) -> ClusterTables:
        """Return the tables of the clusters, counted from the current labels."""

    def best_members(self, clusters: ClusterTables) -> list[Candidate | None]:
        """Return the member of each cluster with the highest score against its table.

        Members are the rows of positive weight with the cluster's label. Of members with equal
        scores, the first is returned. A cluster without members has None.
        """

    def renumber(self, new_labels: NDArray[np.int64]) -> None:
        """Replace each label with its entry in `new_labels`; the last entry replaces label -1."""

    def label_absent(self, rule: ProposalRule, clusters: ClusterTables) -> None:
        """Give rows of weight 0 the labels that `rule` proposes."""

    def row_results(self, clusters: ClusterTables) -> RowResults:
        """Return the label of each row, its similarity to its own cluster, and its growth step."""

    def map_rows(self, function: RowFunction, labels: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the value of `function` for each row, given the labels from `row_results`.

        If rows are in several blocks, the function is called for each block, with the number of its
        first row.
        """

    def reset(self) -> None:
        """Remove all rows from their clusters, so that growth can start again on the same cells."""


class ResumableEngine(Engine, Protocol):
    """Engine whose clusters can be saved as they grow, and restored."""

    def members(self, cluster: int) -> Members:
        """Return the rows of a cluster and their growth steps."""

    def restore(self, members: Members, cluster: int) -> None:
        """Assign saved rows, with their growth steps, to a cluster."""


class ShardableEngine(ResumableEngine, Protocol):
    """Engine that may hold a part of the rows, or one row in place of several equal rows."""

    def weight_of_changed_labels(self) -> int:
        """Return the total weight, in whole units, of the rows that `n_changed_labels` counts."""

    def absorbed(
        self, table: CountTable, min_score: int, cluster: int, step: int
    ) -> tuple[Absorbed, CountTable]:
        """Assign rows like `absorb`, but return their table instead of adding them to `table`."""
