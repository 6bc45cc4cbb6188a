"""The pipeline of a fit, as functions over rows and an engine.

    first clusters:  grown on all rows (psi and tau given)
                     or chosen on a sample (psi, tau or the number of clusters left open)
    then, for both:  give rows to clusters, dissolve small ones, refine, noise, result

Estimators, ``sweep`` and the explorer call these functions. Each step is a module of ``_pskc`` or
``_choice``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from .._cells.count_tables import ClusterTables
from .._cells.methods import draw_for_fit
from .._cells.partition import Partition
from .._choice.confidence import Confidence
from .._choice.linked import Linkage, Linked, link_chosen, link_growth
from .._choice.rule import PART_TAUS, Chosen, choose
from .._choice.sample import Recipe
from .._data.checks import check_distances, check_psi
from .._data.defaults import choose_tau
from .._data.parameters import Parameters
from .._data.rows import Data, FitRows
from .._data.streamed import StreamedRows
from .._engines.protocol import Engine
from .._pskc.assignment import give_rows
from .._pskc.checkpoint import Checkpoint
from .._pskc.growth import Growth, Journal, grow
from .._pskc.refinement import (
    MAX_PASSES,
    Refinement,
    adopt_noise,
    dissolve_small,
    label_absent,
    refine,
)
from .._pskc.result import Result
from .._utils.json_values import plain_value
from .._utils.progress import Progress, Report, ignore

MakeEngine = Callable[[Partition], Engine]


class Columns(NamedTuple):
    """How many columns the rows have, and their names if they have any."""

    number: int
    names: list[str] | None = None


@dataclass(frozen=True, eq=False)
class Fitted:
    """All that a fit found and chose."""

    result: Result
    partition: Partition
    metric: str
    tau: float
    engine: str  # where the rows were
    backend: str  # which compute kernels worked on them
    columns: Columns
    linkage: Linkage | None = None  # None unless clusters are linked

    @property
    def psi(self) -> int:
        return self.partition.psi


def fit(
    rows: FitRows,
    columns: Columns,
    parameters: Parameters,
    make_engine: MakeEngine,
    report: Report = ignore,
) -> Fitted:
    """Find the clusters of rows; `make_engine` returns the engine that holds their cells."""
    if parameters.chooses:
        chosen = choose_clusters(rows, parameters, report)
        partition, tau, journal = chosen.parts[0].partition, chosen.tau, None
    else:
        partition = draw(rows, parameters)
        tau = choose_tau(partition.psi) if parameters.tau is None else parameters.tau
        journal = _journal(rows, parameters, partition, tau)
        partition = partition if journal is None else journal.partition
    engine = make_engine(partition)
    linkage = None
    if parameters.chooses:
        result, linkage = finish_chosen(engine, chosen, parameters, report)
        tau = chosen.tau
    elif parameters.n_clusters is not None:
        result, linkage, tau = grow_and_link(engine, parameters, report, journal)
    else:
        result = grow_and_finish(engine, tau, parameters, report, journal)
    if journal is not None:
        journal.remove()
    return Fitted(
        result, partition, rows.metric, tau, engine.name, engine.backend, columns, linkage
    )


def draw(rows: FitRows, parameters: Parameters) -> Partition:
    """Draw the partition of a fit that grows clusters on all rows."""
    return draw_for_fit(
        rows,
        psi=parameters.psi,
        n_partitions=parameters.n_partitions,
        method=parameters.method,
        replace=parameters.replace,
        random_state=parameters.random_state,
    )


def choose_clusters(rows: FitRows, parameters: Parameters, report: Report = ignore) -> Chosen:
    """Choose psi, tau and the number of clusters, as far as they are left open, on a sample."""
    if rows.metric == "euclidean" and isinstance(rows, Data):
        check_distances(rows.rows)
    weights = rows.weights
    if parameters.psi is not None:
        check_psi(parameters.psi, weights.n_slots, parameters.replace, weighted=not weights.uniform)
    taus = PART_TAUS if parameters.tau is None else (parameters.tau,)
    recipe = Recipe(
        parameters.method,
        parameters.n_partitions,
        parameters.replace,
        taus[0],
        parameters.growth_rate,
    )
    rng = check_random_state(parameters.random_state)
    return choose(
        rows, recipe, parameters.psi, taus, parameters.n_clusters, rng, parameters.n_jobs, report
    )


def grow_and_finish(
    engine: Engine,
    tau: float,
    parameters: Parameters,
    report: Report = ignore,
    journal: Journal | None = None,
) -> Result:
    """Cluster the rows of an engine by the paper's algorithm."""
    growth = grow(engine, tau, parameters.growth_rate, report, journal)
    growth = dissolve_small(engine, growth, _min_mass(engine, parameters), tau)
    refinement = _refined(engine, growth.clusters, parameters, report, by_default=True)
    threshold = 0.0 if parameters.noise == "nearest" else tau
    _give_noise(engine, refinement.clusters, threshold)
    return Result.of(engine, refinement, growth.seeds, growth.n_steps, threshold)


def grow_and_link(
    engine: Engine, parameters: Parameters, report: Report = ignore, journal: Journal | None = None
) -> tuple[Result, Linkage, float]:
    """Grow parts on all rows and link them to ``n_clusters``; return also the tau of the parts."""
    growth, tau = _grow_parts(engine, parameters, report, journal)
    linked = link_growth(engine, growth, parameters.n_clusters or 1)
    engine.remember_labels()

    def keep_own() -> None:
        engine.recall_labels()
        engine.renumber(np.append(linked.links, -1))

    result, linked = _finish_linked(engine, linked, keep_own, parameters, report)
    return result, Linkage(linked.tree, linked.links), tau


def finish_chosen(
    engine: Engine, chosen: Chosen, parameters: Parameters, report: Report = ignore
) -> tuple[Result, Linkage]:
    """Give all rows to the clusters that were chosen on a sample of them."""
    linked = link_chosen(chosen)

    def keep_own() -> None:
        engine.place(linked.clusters.only(np.zeros(len(linked.clusters), dtype=bool)), 0.0)
        labelled = chosen.labels >= 0
        engine.set_labels(chosen.rows[labelled], chosen.labels[labelled])

    result, kept = _finish_linked(engine, linked, keep_own, parameters, report)
    confidence = Confidence.of(chosen, kept.numbers)
    confidences = engine.map_rows(confidence.of_rows, result.labels)
    return result, Linkage(kept.tree, kept.links, chosen.choice, confidences)


def _finish_linked(
    engine: Engine,
    linked: Linked,
    keep_own: Callable[[], None],
    parameters: Parameters,
    report: Report,
) -> tuple[Result, Linked]:
    """Give all rows to linked clusters, and go on as for clusters that grew.

    Where a number of clusters is asked for and one of them has the most members in no cell, rows
    keep the clusters that they have by themselves, which `keep_own` gives back to them.
    """
    references: ClusterTables | None
    left = give_rows(engine, linked.clusters, _min_mass(engine, parameters))
    if left.all() or parameters.n_clusters is None:
        linked = linked.only(left)
        references = linked.clusters.by_number()
    else:
        _refuse_too_small(left, parameters)
        keep_own()
        adopt_noise(engine, linked.clusters)
        references = linked.clusters
    clusters = engine.tables(len(linked.clusters))
    refinement = _refined(engine, clusters, parameters, report, by_default=False)
    if refinement.n_reassigned:
        references = None
    report(Progress("link", 1, 1, len(clusters)))
    best = engine.best_members(refinement.clusters)
    seeds = np.array([member.row for member in best if member is not None], dtype=np.int64)
    return Result.of(engine, refinement, seeds, linked.n_steps, 0.0, references), linked


def _grow_parts(
    engine: Engine, parameters: Parameters, report: Report, journal: Journal | None
) -> tuple[Growth, float]:
    """Grow as many clusters as are asked for; return them and the tau at which growth stopped."""
    n_clusters, most = parameters.n_clusters or 1, 0
    for tau in PART_TAUS if parameters.tau is None else (parameters.tau,):
        engine.reset()
        growth = grow(engine, tau, parameters.growth_rate, report, journal)
        most = max(most, len(growth.clusters))
        if len(growth.clusters) >= n_clusters or n_clusters == 1:
            return growth, tau
    raise ValueError(
        f"n_clusters={n_clusters} is more than the {most} parts that growth finds to link. Use "
        f"n_clusters <= {max(1, most)}, or a larger psi or tau."
    )


def _refined(
    engine: Engine,
    clusters: ClusterTables,
    parameters: Parameters,
    report: Report,
    *,
    by_default: bool,
) -> Refinement:
    refining = by_default if parameters.refine is None else parameters.refine
    n_passes = MAX_PASSES if refining else 0
    return refine(engine, clusters, max(1, _min_mass(engine, parameters)), n_passes, report)


def _give_noise(engine: Engine, clusters: ClusterTables, threshold: float) -> None:
    """Give noise to clusters if no similarity is asked for, and label rows of weight 0."""
    if not threshold:
        adopt_noise(engine, clusters)
    label_absent(engine, clusters, threshold)


def _min_mass(engine: Engine, parameters: Parameters) -> int:
    return parameters.min_cluster_size * engine.one


def _refuse_too_small(left: NDArray[np.bool_], parameters: Parameters) -> None:
    if parameters.min_cluster_size > 1:
        raise ValueError(
            f"Only {np.count_nonzero(left)} of n_clusters={parameters.n_clusters} clusters have "
            f"min_cluster_size={parameters.min_cluster_size} rows or more. Use a smaller "
            "min_cluster_size or n_clusters."
        )


def _journal(
    rows: FitRows, parameters: Parameters, partition: Partition, tau: float
) -> Checkpoint | None:
    """Return the journal that a checkpoint is noted in, if one is wanted."""
    if parameters.checkpoint is None or not isinstance(rows, StreamedRows):
        return None
    names = ("growth_rate", "n_partitions", "method", "metric", "replace", "random_state")
    values = {name: plain_value(getattr(parameters, name)) for name in names}
    # Anything else that clusters grow from is of another fit.
    identity = {"data": rows.fingerprint, "psi": partition.psi, "tau": tau, **values}
    return Checkpoint(parameters.checkpoint, identity, partition)
