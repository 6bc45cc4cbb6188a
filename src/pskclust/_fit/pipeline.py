"""The pipeline of a fit, as functions over rows and an engine.

    first clusters:  grown on all rows (with tau)
                     or chosen on a sample (without tau)
    then, for both:  assign rows, dissolve small clusters, refine, label noise, collect the result

Estimators, ``sweep`` and the explorer call these functions. Each step is a module of ``_pskc`` or
``_choice``.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from .._cells.count_tables import ClusterTables
from .._cells.methods import draw_for_fit
from .._cells.on_device import on_device
from .._cells.partition import Partition
from .._choice.choose import Chosen, choose
from .._choice.layers import Hierarchy, first_leaves
from .._choice.linkage import Linkage
from .._choice.noise import NoiseRule
from .._choice.placing import kernel_for
from .._data.checks import check_overflow
from .._data.few_values import Found, find_few_values
from .._data.parameters import Parameters
from .._data.rows import Data, FitRows
from .._data.streamed import StreamedRows
from .._data.weights import RowWeights
from .._engines.protocol import Engine
from .._pskc.checkpoint import Checkpoint
from .._pskc.growth import Journal, grow
from .._pskc.refinement import (
    adopt_noise,
    dissolve_small,
    label_absent,
    refine,
)
from .._pskc.result import Result
from .._utils.callers import stack_level
from .._utils.json_values import plain_value
from .._utils.memory import release_free_memory
from .._utils.progress import Report, ignore
from .linked import finish_chosen, grow_and_link
from .refining import best_rows, min_mass, refined
from .whole_set import CellValues, WholeSet, see_whole

MakeEngine = Callable[[Partition], Engine]


class Columns(NamedTuple):
    """Number of columns, and their names if they have any."""

    number: int
    names: list[str] | None = None


@dataclass(frozen=True, eq=False)
class Fitted:
    """The outcome of a fit."""

    result: Result
    partition: Partition
    metric: str
    tau: float | None  # None if clusters were chosen: nothing grew
    engine: str  # where the rows were kept
    backend: str  # which compute kernels worked on them
    columns: Columns
    linkage: Linkage | None = None  # None unless clusters were chosen or linked
    noise: NoiseRule | None = None  # None unless clusters were chosen with noise="keep"
    whole: WholeSet | None = None  # None only for files of earlier versions
    few_values: Found = ()  # columns that split the clusters, few rows; not kept in files

    @property
    def psi(self) -> int:
        return self.partition.psi

    def on(self, device: str | None) -> Self:
        """Return the same fit, set to find the cells of new rows on a device."""
        partition = on_device(self.partition, device)
        return self if partition is self.partition else replace(self, partition=partition)

    @property
    def seen_whole(self) -> WholeSet:
        """Scores relative to all rows of the fit; AttributeError if the model file has none."""
        if self.whole is None:
            raise AttributeError(
                "The model is from a file of an earlier version, which contains neither noise rows "
                "nor scores. Fit and save the model again."
            )
        return self.whole

    @cached_property
    def cell_values(self) -> CellValues:
        """The value of each cell, from which the scores of rows are computed."""
        return CellValues.of(self.partition, self.result.clusters, self.seen_whole.noise)

    @cached_property
    def hierarchy(self) -> Hierarchy:
        """The cuts of a choice's tree, or of a tree that links grown clusters."""
        clusters, linkage = self.result.clusters, self.linkage
        middles = self.partition.middles(clusters.counts)
        if linkage is None or linkage.parts is None:
            return Hierarchy.of_clusters(clusters, middles)
        links = linkage.links[first_leaves(linkage.tree, linkage.n_parts)]
        return Hierarchy.of(linkage.tree, links, clusters.masses, middles)

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields only; cached properties can be computed again."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


def fit(
    rows: FitRows,
    columns: Columns,
    parameters: Parameters,
    make_engine: MakeEngine,
    report: Report = ignore,
) -> Fitted:
    """Find the clusters of rows; `make_engine` returns the engine that holds their cells."""
    _check_min_cluster_size(parameters.min_cluster_size, rows.weights)
    if parameters.tau is None:
        return _fit_chosen(rows, columns, parameters, make_engine, report)
    return _fit_grown(rows, columns, parameters, parameters.tau, make_engine, report)


def _fit_chosen(
    rows: FitRows,
    columns: Columns,
    parameters: Parameters,
    make_engine: MakeEngine,
    report: Report,
) -> Fitted:
    rng = check_random_state(parameters.random_state)
    chosen = choose_clusters(rows, parameters, rng, report)
    kernel = kernel_for(chosen, parameters.psi, parameters.method, parameters.replace, rng)
    noise = chosen.noise if parameters.noise == "keep" else None
    left_out = None if noise is None else rows.rows_where(noise, parameters.n_jobs)
    # The memory check of the engine then counts the memory of the choice as free.
    release_free_memory()
    engine = make_engine(kernel.partition)
    result, linkage, whole = finish_chosen(engine, chosen, kernel, left_out, parameters, report)
    return Fitted(
        result,
        kernel.partition,
        rows.metric,
        None,
        engine.name,
        engine.backend,
        columns,
        linkage,
        noise,
        whole,
        _few_values(rows.metric, chosen.points, chosen.labels),
    )


def _few_values(metric: str, points: NDArray[Any], labels: NDArray[np.int64]) -> Found:
    return find_few_values(points, labels) if metric == "euclidean" else ()


def _fit_grown(
    rows: FitRows,
    columns: Columns,
    parameters: Parameters,
    tau: float,
    make_engine: MakeEngine,
    report: Report,
) -> Fitted:
    partition = draw(rows, parameters)
    journal = _journal(rows, parameters, partition, tau)
    partition = partition if journal is None else journal.partition
    engine = make_engine(partition)
    linkage = None
    if parameters.n_clusters is None:
        result = grow_and_finish(engine, tau, parameters, report, journal)
    else:
        result, linkage = grow_and_link(engine, tau, parameters, report, journal)
    if journal is not None:
        journal.remove()
    n_jobs = parameters.n_jobs
    fitted = fitted_grown(engine, result, linkage, partition, rows.metric, tau, columns, n_jobs)
    if not isinstance(rows, Data):  # another pass over a file would take long
        return fitted
    return replace(fitted, few_values=_few_values(rows.metric, rows.rows, result.labels))


def fitted_grown(
    engine: Engine,
    result: Result,
    linkage: Linkage | None,
    partition: Partition,
    metric: str,
    tau: float,
    columns: Columns,
    n_jobs: int | None = 1,
) -> Fitted:
    """Return the outcome of a fit that grew clusters; the engine's rows lose their labels."""
    whole, _ = see_whole(engine, result, partition, n_jobs=n_jobs)
    backend = engine.name, engine.backend
    return Fitted(result, partition, metric, tau, *backend, columns, linkage, whole=whole)


def warn_of_no_cluster(fitted: Fitted, parameters: Parameters) -> None:
    """Warn if a fit found no cluster, so that all rows are noise."""
    if len(fitted.result.clusters) or fitted.tau is None:
        return
    way_out = f"no pair of rows is similar enough to start one. Lower tau={fitted.tau:g}."
    if parameters.min_cluster_size > 1:
        way_out = (
            f"none has min_cluster_size={parameters.min_cluster_size} rows. Use a smaller "
            "min_cluster_size, or a lower tau."
        )
    warnings.warn(f"No cluster was found: {way_out}", UserWarning, stacklevel=stack_level())


def relabelled(engine: Engine, fitted: Fitted, labels: NDArray[np.int64]) -> Fitted:
    """Return a fit with other clusters of the same rows, such as those of a layer.

    The engine holds the cells of the rows in the partition of the fit; its rows get the new labels.
    Similarities, seeds and sizes are those of the new clusters. Confidences and parts of a tree
    belong to the clusters of the fit and are left out.
    """
    engine.set_labels(np.arange(len(labels)), labels)
    clusters = engine.tables(int(labels.max(initial=-1)) + 1)
    unchanged = refine(engine, clusters, max_passes=0)
    before, linkage, whole = fitted.result, fitted.linkage, fitted.whole
    references = None if before.references is None else clusters.by_number()
    seeds = best_rows(engine, clusters)
    result = Result.of(engine, unchanged, seeds, None, before.threshold, references)
    if whole is not None:
        whole = replace(whole, peaks=result.similarities[seeds])
    if linkage is not None:
        linkage = replace(linkage, confidences=None, parts=None)
    return replace(
        fitted,
        result=replace(result, growth_steps=before.growth_steps),
        linkage=linkage,
        whole=whole,
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


def choose_clusters(
    rows: FitRows, parameters: Parameters, rng: RandomState, report: Report = ignore
) -> Chosen:
    """Choose a clustering of a sample of the rows; psi and the number of clusters may be given."""
    if rows.metric == "euclidean" and isinstance(rows, Data):
        check_overflow(rows.rows)
    return choose(
        rows,
        parameters.psi,
        parameters.n_clusters,
        parameters.n_partitions,
        rng,
        parameters.n_jobs,
        report,
        parameters.min_cluster_size,
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
    growth = dissolve_small(engine, growth, min_mass(engine, parameters), tau)
    refinement = refined(engine, growth.clusters, parameters, report, by_default=True)
    threshold = 0.0 if parameters.noise == "nearest" else tau
    _give_noise(engine, refinement.clusters, threshold)
    return Result.of(engine, refinement, growth.seeds, growth.n_steps, threshold)


def _give_noise(engine: Engine, clusters: ClusterTables, threshold: float) -> None:
    """Assign noise to clusters if the threshold is 0, and label rows of weight 0."""
    if not threshold:
        adopt_noise(engine, clusters)
    label_absent(engine, clusters, threshold)


def _check_min_cluster_size(min_cluster_size: int, weights: RowWeights) -> None:
    n_rows = weights.total / weights.one
    if min_cluster_size > n_rows:
        # Weights are rounded to fractions.
        raise ValueError(
            f"min_cluster_size={min_cluster_size} is more than the {round(n_rows, 6):,.12g} rows. "
            "Use a smaller min_cluster_size."
        )


def _journal(
    rows: FitRows, parameters: Parameters, partition: Partition, tau: float
) -> Checkpoint | None:
    """Return the checkpoint of a fit; None if the fit has none."""
    if parameters.checkpoint is None or not isinstance(rows, StreamedRows):
        return None
    names = ("growth_rate", "n_partitions", "method", "metric", "replace", "random_state")
    values = {name: plain_value(getattr(parameters, name)) for name in names}
    # All values that growth depends on: a fit that differs in one of them is another fit.
    identity = {"data": rows.fingerprint, "psi": partition.psi, "tau": tau, **values}
    return Checkpoint(parameters.checkpoint, identity, partition)
