"""Refinement according to the parameters of a fit, and the rows most similar to clusters."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._cells.count_tables import ClusterTables
from .._data.parameters import Parameters
from .._engines.protocol import Engine
from .._pskc.refinement import MAX_PASSES, Refinement, refine
from .._utils.progress import Report


def refined(
    engine: Engine,
    clusters: ClusterTables,
    parameters: Parameters,
    report: Report,
    *,
    by_default: bool,
) -> Refinement:
    refining = by_default if parameters.refine is None else parameters.refine
    n_passes = MAX_PASSES if refining else 0
    return refine(engine, clusters, max(1, min_mass(engine, parameters)), n_passes, report)


def best_rows(engine: Engine, clusters: ClusterTables) -> NDArray[np.int64]:
    """Return the member of each cluster that is most similar to it."""
    best = engine.best_members(clusters)
    return np.array([member.row for member in best if member is not None], dtype=np.int64)


def min_mass(engine: Engine, parameters: Parameters) -> int:
    return parameters.min_cluster_size * engine.one
