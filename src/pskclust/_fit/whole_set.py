"""Scores of rows relative to all rows of a fit: high for typical rows, low for outliers.

The similarity of a row to the whole set is the mean share of all rows in its cells (Eq. 1 of the
paper, with all rows as the cluster). Cells are large where rows are sparse, so this share alone
hardly distinguishes dense places from sparse ones. Share and size of a cell together give a
density: the score of a row is minus the log of the typical distance between rows around it.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._cells.count_tables import ClusterTables
from .._cells.partition import Partition
from .._choice.layers import Parts
from .._engines.protocol import Engine
from .._pskc.result import Result, restored_tables, table_arrays

# Values of cells are rounded to multiples of 1 / _UNITS, so that sums are exact in any order.
_UNITS = 1 << 20


@dataclass(frozen=True, eq=False)
class WholeSet:
    """Table of noise, peaks of clusters, and scores of rows relative to all rows of a fit."""

    noise: ClusterTables  # one table, of the rows in no cluster
    peaks: NDArray[np.float64]  # (k,) similarity of the most similar member of each cluster
    scores: NDArray[np.float64]  # (n,) score of each row of the fit, not lowered for noise

    def to_parts(self) -> dict[str, NDArray[Any]]:
        """Return arrays that a file can hold."""
        own = {"peaks": self.peaks, "scores": self.scores}
        return own | table_arrays("noise", self.noise)

    @classmethod
    def from_parts(cls, arrays: dict[str, NDArray[Any]], result: Result) -> WholeSet:
        """Return the whole set, restored from the output of `to_parts`."""
        clusters = result.clusters
        noise = restored_tables("noise", arrays, clusters.shape, clusters.resolution)
        return cls(noise, arrays["peaks"], arrays["scores"])


@dataclass(frozen=True, eq=False)
class CellValues:
    """The value of each cell: minus the log of the typical distance between rows in it.

    That distance is size * (n / m) ** (1 / d), where m of all n rows are in the cell and d is the
    number of columns (1 for the leaves of trees). A cell without rows has the lowest value.
    """

    table: ClusterTables  # one table: values minus the lowest one, in units
    least: float

    @classmethod
    def of(
        cls,
        partition: Partition,
        clusters: ClusterTables,
        noise: ClusterTables,
        n_jobs: int | None = 1,
    ) -> CellValues:
        counts = clusters.counts.sum(axis=0) + noise.counts.sum(axis=0)
        counts = np.asarray(counts).reshape(clusters.shape)
        mass = int(clusters.masses.sum() + noise.masses.sum())
        occupied = counts > 0
        shares = np.where(occupied, counts, 1) / mass
        distances = partition.log_sizes(n_jobs) - np.log(shares) / partition.dimension
        largest = float(distances[occupied].max(initial=-np.inf))
        if not occupied.any():
            largest = 0.0
        values = np.rint((largest - distances) * _UNITS).astype(np.int64)
        flat = sparse.csr_array(np.where(occupied, values, 0).reshape(1, -1))
        masses = np.array([_UNITS], dtype=np.int64)
        return cls(ClusterTables(flat, masses, clusters.shape, clusters.resolution), -largest)

    @cached_property
    def span(self) -> float:
        """The difference between the highest and the lowest possible score; 1 if all are equal."""
        values = self.table.counts.toarray().reshape(self.table.shape)
        return float(values.max(axis=1).mean()) / _UNITS or 1.0


class Seen(NamedTuple):
    """Scores of the rows of a fit, and the part of the tree that holds each row."""

    whole: WholeSet
    parts: NDArray[Any] | None


def see_whole(
    engine: Engine,
    result: Result,
    partition: Partition,
    parts: Parts | None = None,
    n_jobs: int | None = 1,
) -> Seen:
    """Score all rows of an engine relative to all its rows; assign rows to parts of a tree.

    This is the last use of an engine, because rows lose the labels of the result.
    """
    clusters = result.clusters
    best = engine.best_members(clusters)
    most = np.array([0 if member is None else member.score for member in best], dtype=np.int64)
    # Swap labels to count noise: noise becomes cluster 0, and clusters become noise.
    engine.renumber(np.append(np.full(len(clusters), -1), 0))
    noise = engine.tables(1)
    values = CellValues.of(partition, clusters, noise, n_jobs)
    n_parts = 1 if parts is None else len(parts)
    if parts is not None:
        engine.place(parts.tables.by_number(), 0.0)
        engine.set_labels(parts.rows, parts.numbers)
    # A row in no part is noise, for which the part does not matter: take the first.
    engine.renumber(np.append(np.arange(n_parts), 0))
    # All parts have the same table, so that one pass finds the parts and the scores.
    rows = engine.row_results(values.table.repeated(n_parts))
    peaks = most / (clusters.resolution * clusters.masses)
    whole = WholeSet(noise, peaks, rows.similarities + values.least)
    if parts is None:
        return Seen(whole, None)
    settled = parts.settled(len(clusters))
    own = engine.map_rows(settled.of_rows, (result.labels + 1) * n_parts + rows.labels)
    return Seen(whole, own.astype(np.min_scalar_type(n_parts)))
