"""The result of a fit: labels, clusters and figures, immutable."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._cells.count_tables import ClusterTables
from .._engines.protocol import Engine
from .refinement import Refinement

# Fields that are tables, each kept in a file as four arrays.
_TABLES = ("clusters", "references")


@dataclass(frozen=True, eq=False)
class Result:
    """A clustering: values of each row, of each cluster, and of the whole fit."""

    labels: NDArray[np.int64]  # (n,)
    similarities: NDArray[np.float64]  # (n,)
    growth_steps: NDArray[np.int32] | None  # (n,) None if clusters did not grow on these rows
    seeds: NDArray[np.int64]  # (k,)
    n_steps: NDArray[np.int64] | None  # (k,) None if clusters did not grow on these rows
    sizes: NDArray[np.int64]  # (k,) rows of each cluster
    objective: float
    objective_before_refinement: float
    n_reassigned: int
    threshold: float  # a new row whose similarity to `references` does not exceed it is noise
    clusters: ClusterTables  # the members of each cluster
    references: ClusterTables | None  # tables that label new rows, if not `clusters`

    @classmethod
    def of(
        cls,
        engine: Engine,
        refinement: Refinement,
        seeds: NDArray[np.int64],
        n_steps: NDArray[np.int64] | None,
        threshold: float,
        references: ClusterTables | None = None,
    ) -> Result:
        """Collect the result of a fit that has ended."""
        rows = engine.row_results(refinement.clusters)
        return cls(
            rows.labels,
            rows.similarities,
            None if n_steps is None else rows.growth_steps,
            seeds,
            n_steps,
            engine.n_members(len(seeds)),
            refinement.objective,
            refinement.objective_before,
            refinement.n_reassigned,
            threshold,
            # Copies of the tables, without their cached properties.
            replace(refinement.clusters),
            references and replace(references),
        )

    @property
    def deciding(self) -> ClusterTables:
        """The tables that decide which cluster a new row belongs to."""
        return self.clusters if self.references is None else self.references

    def to_parts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the result as numbers and arrays that a file can hold."""
        numbers: dict[str, Any] = {
            "table_shape": self.clusters.shape,
            "resolution": self.clusters.resolution,
        }
        arrays: dict[str, NDArray[Any]] = {}
        for name in (field.name for field in fields(self)):
            value = getattr(self, name)
            if isinstance(value, ClusterTables):
                arrays |= table_arrays(name, value)
            elif isinstance(value, np.ndarray):
                arrays[name] = value
            elif name not in _TABLES:
                numbers[name] = value
        return numbers, arrays

    @classmethod
    def from_parts(cls, numbers: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Result:
        """Return the result, restored from the output of `to_parts`."""
        shape = tuple(numbers["table_shape"])
        tables = {
            name: restored_tables(name, arrays, shape, numbers["resolution"])
            for name in _TABLES
            if f"{name}_masses" in arrays
        }
        known = {"references": None, **numbers, **arrays, **tables}
        return cls(**{field.name: known[field.name] for field in fields(cls)})


def table_arrays(name: str, tables: ClusterTables) -> dict[str, NDArray[Any]]:
    """Return tables as arrays that a file can hold."""
    return {
        f"{name}_counts": tables.counts.data,
        f"{name}_cells": tables.counts.indices,
        f"{name}_ends": tables.counts.indptr,
        f"{name}_masses": tables.masses,
    }


def restored_tables(
    name: str, arrays: dict[str, NDArray[Any]], shape: tuple[int, ...], resolution: int
) -> ClusterTables:
    """Return tables, restored from the output of `table_arrays`."""
    masses = arrays[f"{name}_masses"]
    flat = tuple(arrays[f"{name}_{part}"] for part in ("counts", "cells", "ends"))
    counts = sparse.csr_array(flat, shape=(len(masses), shape[0] * shape[1]))
    counts.check_format(full_check=True)
    return ClusterTables(counts, masses, (shape[0], shape[1]), resolution)
