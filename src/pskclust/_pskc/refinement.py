"""Refinement of clusters: dissolve fragments, move weak members, assign noise.

Each step has a rule that proposes new labels for rows from their similarities to all clusters. The
engine applies the rule to the rows, wherever they are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._cells.count_tables import ClusterTables, most_similar
from .._engines.protocol import Engine
from .._utils.progress import Progress, Report, ignore
from .growth import Growth

# On the benchmark sets, later passes moved few rows and did not improve clusters.
MAX_PASSES = 3


@dataclass(frozen=True, eq=False)
class Refinement:
    """Clusters after refinement, the objective before and after, and the number of rows moved."""

    clusters: ClusterTables
    objective_before: float
    objective: float
    n_reassigned: int


@dataclass(frozen=True, eq=False)
class MostSimilar:
    """Rule: the most similar of `targets`, or noise if no similarity exceeds `threshold`."""

    threshold: float
    targets: NDArray[np.bool_]  # (k,)
    offsets: None = None

    def __call__(
        self, labels: NDArray[np.int64], similarities: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        return most_similar(np.where(self.targets, similarities, -1.0), self.threshold)


@dataclass(frozen=True, eq=False)
class NearestMean:
    """Rule that proposes the cluster with the nearest mean, if it is nearer than the row's own.

    The squared distance from a row to the mean of G is K-hat(x, x) - 2 K-hat(x, G) + K-hat(G, G),
    where K-hat(G, G) is the mean similarity of G's members to G. The sum of
    these distances over all rows and their own clusters is a constant minus Gamma. So moves to
    nearer means raise Gamma, just as they lower the cost in Lloyd's algorithm: one move, or any
    number of moves at once.
    """

    offsets: NDArray[np.float64]  # (k,) K-hat(G, G)

    def __call__(
        self, labels: NDArray[np.int64], similarities: NDArray[np.float64]
    ) -> NDArray[np.int64]:
        closeness = 2 * similarities - self.offsets
        row = np.arange(len(labels))
        best = closeness.argmax(axis=1)
        return np.where(closeness[row, best] > closeness[row, labels], best, labels)


def refine(
    engine: Engine,
    clusters: ClusterTables,
    min_mass: int = 1,
    max_passes: int = MAX_PASSES,
    report: Report = ignore,
) -> Refinement:
    """Move the weakest members of each cluster if that raises Gamma (Eq. 4).

    The paper re-examines the points least similar to their cluster. In a pass, the members of each
    cluster are examined, starting with the least similar. They move to the cluster with the nearest
    mean, until a member is found that should stay. Moving every row that could move would be kernel
    k-means, which makes clusters similar in size and undoes the result of growth.

    A cluster that would be left with a mass below `min_mass` keeps its members in that pass.
    """
    inner = clusters.inner_scores()
    before = objective = _objective(clusters, inner, engine.one)
    if not max_passes:
        return Refinement(clusters, before, objective, n_reassigned=0)
    engine.remember_labels()
    members = np.append(np.ones(len(clusters), dtype=bool), False)
    for n_passes in range(max_passes):
        report(Progress("refine", n_passes, max_passes, len(clusters)))
        rule = NearestMean(_mean_similarities(clusters, inner))
        weakest_staying = engine.propose(rule, clusters, members)
        candidate = _move_weakest(engine, clusters, weakest_staying, min_mass)
        if candidate is None:
            break
        inner = candidate.inner_scores()
        gained = _objective(candidate, inner, engine.one)
        # Rounding can make a tie look like a gain, so the whole pass must raise Gamma.
        if not gained > objective:
            engine.undo_move()
            break
        clusters, objective = candidate, gained
    report(Progress("refine", max_passes, max_passes, len(clusters)))
    return Refinement(clusters, before, objective, engine.n_changed_labels())


def dissolve_small(engine: Engine, growth: Growth, min_mass: int, tau: float) -> Growth:
    """Assign the members of clusters below `min_mass` to their most similar remaining cluster.

    If that similarity does not exceed tau, the row is noise.
    """
    clusters = growth.clusters
    kept = clusters.masses >= min_mass
    if kept.all():
        return growth
    engine.propose(MostSimilar(tau, kept), clusters, np.append(~kept, False))
    grown = clusters.changed(engine.move(np.full(len(clusters) + 1, np.inf)).change)
    engine.renumber(np.append(np.where(kept, np.cumsum(kept) - 1, -1), -1))
    return Growth(grown, growth.seeds, growth.n_steps).only(kept)


def adopt_noise(engine: Engine, clusters: ClusterTables) -> None:
    """Assign noise rows to their most similar cluster; rows similar to none stay noise.

    The tables of the clusters do not change.
    """
    everywhere = np.ones(len(clusters), dtype=bool)
    engine.propose(MostSimilar(0.0, everywhere), clusters, np.append(~everywhere, True))
    engine.move(np.full(len(clusters) + 1, np.inf))


def label_absent(engine: Engine, clusters: ClusterTables, threshold: float) -> None:
    """Assign rows of weight 0, which do not take part in a fit, to their most similar cluster.

    If that similarity does not exceed `threshold`, the row is noise.
    """
    everywhere = np.ones(len(clusters), dtype=bool)
    engine.label_absent(MostSimilar(threshold, everywhere), clusters)


def _move_weakest(
    engine: Engine, clusters: ClusterTables, weakest_staying: NDArray[np.float64], min_mass: int
) -> ClusterTables | None:
    """Move the weakest members as proposed, and return the tables; None if no row moves."""
    while True:
        moved = engine.move(weakest_staying)
        if not moved.n_rows:
            return None
        candidate = clusters.changed(moved.change)
        too_small = (candidate.masses < min_mass) & (moved.change.masses < 0)
        if not too_small.any():
            return candidate
        engine.undo_move()
        weakest_staying = np.where(np.append(too_small, False), -np.inf, weakest_staying)


def _objective(clusters: ClusterTables, inner: list[int], one: int) -> float:
    """Return Gamma, the total similarity of all members to their own cluster."""
    return math.fsum(
        score / (clusters.resolution * int(mass) * one)
        for score, mass in zip(inner, clusters.masses, strict=True)
    )


def _mean_similarities(clusters: ClusterTables, inner: list[int]) -> NDArray[np.float64]:
    """Return the mean similarity of the members of each cluster to the cluster, K-hat(G, G)."""
    return np.array(
        [
            score / (clusters.resolution * int(mass) ** 2)
            for score, mass in zip(inner, clusters.masses, strict=True)
        ]
    )
