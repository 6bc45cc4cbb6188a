"""Fits that link grown clusters, and fits that assign all rows to chosen clusters."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from .._cells.count_tables import ClusterTables
from .._choice.choose import Chosen
from .._choice.confidence import Confidence
from .._choice.layers import Parts
from .._choice.linkage import Linkage
from .._choice.linking import Linked, link_growth
from .._choice.options import AutoChoice
from .._choice.placing import SampleKernel, link_chosen
from .._data.parameters import Parameters
from .._engines.protocol import Engine
from .._pskc.assignment import OwnLabels, give_rows
from .._pskc.growth import Journal, grow
from .._pskc.refinement import adopt_noise
from .._pskc.result import Result
from .._utils.progress import Progress, Report, ignore
from .._utils.wording import counted
from .refining import best_rows, min_mass, refined
from .whole_set import WholeSet, see_whole


def grow_and_link(
    engine: Engine,
    tau: float,
    parameters: Parameters,
    report: Report = ignore,
    journal: Journal | None = None,
) -> tuple[Result, Linkage]:
    """Grow clusters on all rows, and link them until ``n_clusters`` are left."""
    n_clusters = parameters.n_clusters or 1
    growth = grow(engine, tau, parameters.growth_rate, report, journal)
    most = max(1, len(growth.clusters))
    if n_clusters > most:
        raise ValueError(
            f"n_clusters={n_clusters} is more than the {counted(len(growth.clusters), 'cluster')} "
            f"that grew; linking only joins them. Use n_clusters <= {most}, or a larger psi or tau."
        )
    linked = link_growth(engine, growth, n_clusters)
    engine.remember_labels()
    left = give_rows(engine, linked.clusters, min_mass(engine, parameters))
    references = linked.clusters.by_number()
    if not left.all():
        _refuse_too_small(left, parameters)
        # A cluster would lose all its rows to others, so rows stay with the parts they grew in.
        engine.recall_labels()
        engine.renumber(np.append(linked.links, -1))
        adopt_noise(engine, linked.clusters)
        references = linked.clusters
    result = _finish_linked(engine, linked, references, parameters, report)
    return result, Linkage(linked.tree, linked.links)


def finish_chosen(
    engine: Engine,
    chosen: Chosen,
    kernel: SampleKernel,
    left_out: NDArray[np.intp] | None,
    parameters: Parameters,
    report: Report = ignore,
) -> tuple[Result, Linkage, WholeSet]:
    """Assign all rows to chosen clusters; rows of the sample keep their labels.

    Rows that are `left_out` are noise.
    """
    chosen, linked, left = _assigned(engine, chosen, kernel, left_out, parameters)
    if not left.all():
        _refuse_too_small(left, parameters)
    references = linked.clusters.by_number()
    result = _finish_linked(engine, linked, references, parameters, report)
    labels = np.append(np.where(left, np.cumsum(left) - 1, -1), -1)[chosen.labels]
    confidence = Confidence.of(chosen.rows, labels, chosen.confidences, len(linked.clusters))
    confidences = engine.map_rows(confidence.of_rows, result.labels)
    parts = Parts.of(chosen, kernel, linked.tree, linked.links)
    whole, of_rows = see_whole(engine, result, kernel.partition, parts, parameters.n_jobs)
    choice = _with_dissolved(chosen.choice, left, parameters)
    n_most = max(parts.n_held(labels), len(linked.clusters))
    layers = tuple(layer for layer in choice.layers if layer.n_clusters <= n_most)
    choice = replace(choice, layers=layers)
    linkage = Linkage(linked.tree, linked.links, choice, confidences, of_rows, len(parts))
    return result, linkage, whole


def _assigned(
    engine: Engine,
    chosen: Chosen,
    kernel: SampleKernel,
    left_out: NDArray[np.intp] | None,
    parameters: Parameters,
) -> tuple[Chosen, Linked, NDArray[np.bool_]]:
    """Assign all rows to chosen clusters, numbered by size; return a mask of the clusters left.

    Clusters are numbered by their sizes in the sample first. If their sizes in all rows are in
    another order, rows are assigned once more with other numbers, because ties go to the cluster
    with the lowest number, in `predict` as well.
    """
    for last in (False, True):
        linked = link_chosen(chosen, kernel)
        own = OwnLabels(chosen.rows, chosen.labels).with_noise(left_out)
        left = give_rows(engine, linked.clusters, min_mass(engine, parameters), own)
        sizes = np.full(len(left), -1)
        sizes[left] = engine.weight_of_members(int(left.sum()))
        order = np.argsort(-sizes, kind="stable")
        if last or np.array_equal(order, np.arange(len(order))):
            break
        numbers = np.argsort(order)
        chosen = replace(chosen, cut=numbers[chosen.cut], labels=numbers[chosen.labels])
    return chosen, linked.only(left), left


def _with_dissolved(
    choice: AutoChoice, left: NDArray[np.bool_], parameters: Parameters
) -> AutoChoice:
    """Return the choice, with the number of dissolved clusters, if any, in its reason."""
    number = np.count_nonzero(~left)
    if not number or parameters.min_cluster_size < 2:
        return choice
    words = "1 of them is" if number == 1 else f"{number} of them are"
    limit = f"min_cluster_size={parameters.min_cluster_size}"
    dissolved = f"{words} smaller than {limit} and therefore dissolved"
    first, mark, rest = choice.reason.partition("; ")
    return replace(choice, reason=f"{first}; {dissolved}{mark}{rest}")


def _finish_linked(
    engine: Engine,
    linked: Linked,
    references: ClusterTables | None,
    parameters: Parameters,
    report: Report,
) -> Result:
    """Refine linked clusters if `refine` is set, and collect the result."""
    clusters = engine.tables(len(linked.clusters))
    refinement = refined(engine, clusters, parameters, report, by_default=False)
    if refinement.n_reassigned:
        references = None
    report(Progress("link", 1, 1, len(clusters)))
    seeds = best_rows(engine, refinement.clusters)
    return Result.of(engine, refinement, seeds, linked.n_steps, 0.0, references)


def _refuse_too_small(left: NDArray[np.bool_], parameters: Parameters) -> None:
    if parameters.n_clusters is not None and parameters.min_cluster_size > 1:
        n_left = np.count_nonzero(left)
        have = "has" if n_left == 1 else "have"
        raise ValueError(
            f"{f'Only {n_left}' if n_left else 'None'} of n_clusters={parameters.n_clusters} "
            f"clusters {have if n_left else 'has'} min_cluster_size={parameters.min_cluster_size} "
            "rows or more. Use a smaller min_cluster_size or n_clusters."
        )
