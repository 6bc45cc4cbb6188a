"""What a fit found, all of it and unchangeable."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._cells.count_tables import ClusterTables
from .._engines.protocol import Engine
from .growth import Growth
from .refinement import Refinement


@dataclass(frozen=True, eq=False)
class Result:
    """A clustering: what is known of each row, of each cluster, and of the whole."""

    labels: NDArray[np.int64]  # (n,)
    similarities: NDArray[np.float64]  # (n,)
    growth_steps: NDArray[np.int32]  # (n,)
    seeds: NDArray[np.int64]  # (k,)
    n_steps: NDArray[np.int64]  # (k,)
    sizes: NDArray[np.int64]  # (k,) rows of each cluster
    objective: float
    objective_before_refinement: float
    n_reassigned: int
    linked: bool  # labels go by the number of members in a row's cells
    clusters: ClusterTables

    @classmethod
    def of(cls, engine: Engine, growth: Growth, refinement: Refinement) -> Result:
        """Collect the result of a fit that has ended."""
        rows = engine.row_results(refinement.clusters)
        return cls(
            *rows,
            growth.seeds,
            growth.n_steps,
            engine.n_members(len(growth.seeds)),
            refinement.objective,
            refinement.objective_before,
            refinement.n_reassigned,
            False,
            # A copy, without what was made of it meanwhile.
            replace(refinement.clusters),
        )

    @property
    def judges(self) -> ClusterTables:
        """The tables that say which cluster is most similar to a row."""
        return self.clusters.by_number() if self.linked else self.clusters

    def to_parts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the result as numbers and arrays that a file can hold."""
        numbers: dict[str, Any] = {
            "table_shape": self.clusters.shape,
            "resolution": self.clusters.resolution,
        }
        arrays = {
            "cluster_counts": self.clusters.counts.data,
            "cluster_cells": self.clusters.counts.indices,
            "cluster_ends": self.clusters.counts.indptr,
            "cluster_masses": self.clusters.masses,
        }
        for name in (field.name for field in fields(self)[:-1]):
            value = getattr(self, name)
            (arrays if isinstance(value, np.ndarray) else numbers)[name] = value
        return numbers, arrays

    @classmethod
    def from_parts(cls, numbers: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Result:
        """Return the result that `to_parts` took apart."""
        shape = tuple(numbers["table_shape"])
        masses = arrays["cluster_masses"]
        flat = tuple(arrays[f"cluster_{part}"] for part in ("counts", "cells", "ends"))
        counts = sparse.csr_array(flat, shape=(len(masses), shape[0] * shape[1]))
        counts.check_format(full_check=True)
        clusters = ClusterTables(counts, masses, shape, numbers["resolution"])
        known = {**numbers, **arrays}
        result = cls(
            **{field.name: known[field.name] for field in fields(cls)[:-1]}, clusters=clusters
        )
        result._check()
        return result

    def _check(self) -> None:
        """Raise ValueError where what was read from a file does not fit together."""
        n_clusters, n_rows = len(self.clusters), len(self.labels)
        for name, array, kind, size in (
            ("labels", self.labels, np.int64, n_rows),
            ("similarities", self.similarities, np.float64, n_rows),
            ("growth_steps", self.growth_steps, np.int32, n_rows),
            ("seeds", self.seeds, np.int64, n_clusters),
            ("n_steps", self.n_steps, np.int64, n_clusters),
            ("sizes", self.sizes, np.int64, n_clusters),
            ("cluster_masses", self.clusters.masses, np.int64, n_clusters),
            ("cluster_counts", self.clusters.counts.data, np.int64, self.clusters.counts.nnz),
        ):
            if array.shape != (size,) or array.dtype != kind:
                raise ValueError(f"{name} is {array.dtype} of shape {array.shape}")
        if n_rows and not -1 <= self.labels.min() <= self.labels.max() < n_clusters:
            raise ValueError("labels name clusters that are not there")
        if n_clusters and (self.clusters.masses.min() < 1 or self.clusters.counts.data.min() < 0):
            raise ValueError("masses or counts are not positive")
