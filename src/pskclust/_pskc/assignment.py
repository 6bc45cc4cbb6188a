"""Linked clusters to the labels of all rows, wherever the rows are."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._cells.count_tables import ClusterTables, most_similar
from .._choice.consensus import share_agreeing
from .._choice.linked import Linked
from .._choice.rule import Chosen
from .._engines.protocol import Engine, RowResults
from .._kernels.reference import one_hot
from .result import Result

_LARGEST_INTEGER = 2**63 - 1
_ROWS_PER_TALLY = 1 << 18
_NO_SEED = (-1.0, 0)


@dataclass(frozen=True)
class Tally:
    """What is known of the rows of each cluster. Sums are of whole numbers, and exact."""

    n_rows: list[int]
    scores: list[int]  # total score of the rows against their cluster, each times its units
    seeds: list[tuple[float, int]]  # similarity of the most similar row, and minus its number

    def __add__(self, other: Tally) -> Tally:
        """Return the tally of the rows of both."""
        return Tally(
            [a + b for a, b in zip(self.n_rows, other.n_rows, strict=True)],
            [a + b for a, b in zip(self.scores, other.scores, strict=True)],
            [max(a, b) for a, b in zip(self.seeds, other.seeds, strict=True)],
        )


def tally(
    labels: NDArray[np.int64],
    similarities: NDArray[np.float64],
    units: NDArray[np.int64] | None,
    clusters: ClusterTables,
    first_row: int = 0,
) -> Tally:
    """Return the tally of some rows, of which the first has a number; no units mean 1 each."""
    n_clusters = len(clusters)
    found = Tally([0] * n_clusters, [0] * n_clusters, [_NO_SEED] * n_clusters)
    # Some rows at a time: to sort all of them would take as much memory as their cells.
    for start in range(0, len(labels), _ROWS_PER_TALLY):
        some = slice(start, start + _ROWS_PER_TALLY)
        own_units = None if units is None else units[some]
        found += _tally_some(
            labels[some], similarities[some], own_units, clusters, first_row + start
        )
    return found


def _tally_some(
    labels: NDArray[np.int64],
    similarities: NDArray[np.float64],
    units: NDArray[np.int64] | None,
    clusters: ClusterTables,
    first_row: int,
) -> Tally:
    found = Tally([], [], [])
    order = np.argsort(labels, kind="stable")
    ends = np.searchsorted(labels[order], np.arange(len(clusters) + 1))
    for number, mass in enumerate(clusters.masses.tolist()):
        own = order[ends[number] : ends[number + 1]]
        # A similarity is one division, which this undoes.
        scores = np.rint(similarities[own] * (clusters.resolution * mass)).astype(np.int64)
        found.n_rows.append(len(own))
        found.scores.append(int(scores.sum()) if units is None else _dot(scores, units[own]))
        best = int(similarities[own].argmax()) if len(own) else -1
        seed = (float(similarities[own[best]]), -int(own[best]) - first_row) if len(own) else None
        found.seeds.append(seed or _NO_SEED)
    return found


def _dot(scores: NDArray[np.int64], units: NDArray[np.int64]) -> int:
    if int(scores.max(initial=0)) * int(units.sum()) <= _LARGEST_INTEGER:
        return int(scores @ units)
    return int(scores.astype(object) @ units.astype(object))


def place_rows(
    engine: Engine, linked: Linked, tally_of: Callable[[RowResults, ClusterTables], Tally]
) -> tuple[Result, Linked]:
    """Give each row the cluster with most members in its cells, noise where nobody is.

    A cluster that no row is given to is left out.
    """
    while True:
        engine.place(linked.clusters.by_number(), 0.0)
        rows = engine.row_results(linked.clusters)
        found = tally_of(rows, linked.clusters)
        if all(found.n_rows):
            break
        linked = linked.only(np.array(found.n_rows) > 0)
    seeds = np.array([-minus_row for _, minus_row in found.seeds], dtype=np.int64)
    resolution, masses = linked.clusters.resolution, linked.clusters.masses.tolist()
    gamma = math.fsum(
        score / (resolution * mass * engine.one)
        for score, mass in zip(found.scores, masses, strict=True)
    )
    # A copy, without what was made of it meanwhile.
    clusters = replace(linked.clusters)
    sizes = np.array(found.n_rows, dtype=np.int64)
    return Result(*rows, seeds, linked.n_steps, sizes, gamma, gamma, 0, True, clusters), linked


@dataclass(frozen=True, eq=False)
class Confidence:
    """How sure the labels are, by how many kernels of a choice agree with them."""

    rows: NDArray[np.intp]  # (m,) that were looked at
    agreeing: NDArray[np.float64]  # (m,) share of the kernels that agree with the row's label
    means: NDArray[np.float64]  # (k + 1,) of each cluster; 0 for noise, at the end

    @classmethod
    def of(cls, chosen: Chosen, clusters: ClusterTables) -> Confidence:
        """Return how sure labels by some clusters are."""
        labels = _labels_of_sample(chosen, clusters.by_number())
        n_clusters = max(chosen.choice.chosen.n_clusters, 1)
        agreeing = share_agreeing(chosen.choice.clusterings(chosen.parts), labels, n_clusters)
        totals = np.zeros(len(clusters) + 1)
        np.add.at(totals, labels, agreeing)
        counts = np.bincount(labels[labels >= 0], minlength=len(clusters))
        means = np.append(totals[:-1] / np.maximum(counts, 1), 0.0)
        return cls(chosen.rows, agreeing, means)

    def of_rows(self, labels: NDArray[np.int64], first_row: int) -> NDArray[np.float64]:
        """Return the confidence of each of some rows, of which the first has a number."""
        confidences = self.means[labels]
        _overlay(confidences, first_row, self.rows, self.agreeing)
        return confidences


def overlay(
    values: NDArray[Any], first_row: int, rows: NDArray[np.intp], own: NDArray[Any]
) -> NDArray[Any]:
    """Return values of rows in succession, with others for some of the rows, in rising order."""
    answer = values.copy()
    _overlay(answer, first_row, rows, own)
    return answer


def _overlay(
    values: NDArray[Any], first_row: int, rows: NDArray[np.intp], own: NDArray[Any]
) -> None:
    some = slice(*np.searchsorted(rows, [first_row, first_row + len(values)]))
    values[rows[some] - first_row] = own[some]


def _labels_of_sample(chosen: Chosen, judges: ClusterTables) -> NDArray[np.int64]:
    first = chosen.parts[0]
    features = one_hot(first.cells, first.partition.n_cells, first.partition.no_cell)
    scores = (features @ judges.counts.T).toarray()
    return most_similar(judges.similarities(scores), 0.0)
