"""The same few rows, clustered at a fine scale by many kernels."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from scipy import sparse

from .._cells.count_tables import ClusterTables
from .._cells.methods import draw_partition
from .._cells.partition import Partition
from .._cells.voronoi import VoronoiPartition
from .._data.rows import Data
from .._engines.dense import DenseEngine
from .._engines.select import cells_of_rows
from .._kernels.reference import Cells, one_hot
from .._kernels.select import MIN_SAMPLE_ROWS_FOR_COMPILED, Backend
from .._pskc.growth import grow
from .._utils.parallel import map_chunks, one_blas_thread
from .merge_tree import MergeTree, link

_ROWS_PER_CHUNK = 64
# With so many cells, cells hold so few rows that those who share them are best visited.
_INDEX_FROM = 2
# Of the centres that are nearest to a row, so many for each cell that holds it are gone through.
_NEAR_PER_CELL, _MIN_NEAR = 8, 64


@dataclass(frozen=True)
class Recipe:
    """How the kernels of a sweep are drawn and clusters are grown."""

    method: str
    n_partitions: int
    replace: bool
    tau: float
    growth_rate: float


@dataclass(frozen=True, eq=False)
class Parts:
    """The clusters that one kernel grew."""

    partition: Partition
    cells: Cells  # (n, t)
    labels: NDArray[np.int64]  # (n,) -1 for rows that growth left out
    steps: NDArray[np.int32]  # (n,)
    seeds: NDArray[np.int64]  # (m,)
    n_steps: NDArray[np.int64]  # (m,)

    def __len__(self) -> int:
        return len(self.seeds)

    @property
    def features(self) -> sparse.csr_array:
        """The feature map of the rows, (n, t * psi)."""
        return one_hot(self.cells, self.partition.n_cells, self.partition.no_cell)

    @cached_property
    def tree(self) -> MergeTree:
        return link(self.tables(self.labels, len(self)))

    def cut(self, n_clusters: int) -> NDArray[np.int64]:
        """Return the labels of the rows when parts are linked to so many clusters."""
        return np.append(self.tree.cut(n_clusters), -1)[self.labels]

    def tables(self, labels: NDArray[np.int64], n_clusters: int) -> ClusterTables:
        """Return the tables of some clusters of the rows, under this kernel."""
        members = np.flatnonzero(labels >= 0)
        ones = np.ones(len(members), dtype=np.int64)
        shape = n_clusters, len(labels)
        assignment = sparse.csr_array((ones, (labels[members], members)), shape=shape)
        masses = np.bincount(labels[members], minlength=n_clusters)
        table_shape = self.partition.table_shape
        return ClusterTables(
            (assignment @ self.features).tocsr(), masses, table_shape, self.partition.n_partitions
        )


def draw_nested(
    sample: Data, recipe: Recipe, sizes: tuple[int, ...], rng: RandomState
) -> list[Partition]:
    """Draw a partition of each size, ascending.

    Voronoi cells of a smaller size have the first centres of a larger one: they are as random,
    and one look at the distances finds the cells of all sizes.
    """
    method, t, replacing = recipe.method, recipe.n_partitions, recipe.replace
    if method != VoronoiPartition.method:
        return [draw_partition(sample, method, t, psi, replacing, rng) for psi in sizes]
    largest = VoronoiPartition.draw(sample, t, sizes[-1], replacing, rng)
    return [
        replace(largest, psi=psi, centres=np.ascontiguousarray(largest.centres[:, :psi]))
        for psi in sizes
    ]


def grow_parts(
    sample: Data,
    recipe: Recipe,
    kernels: list[list[Partition]],
    n_jobs: int | None,
    backend: Backend | None = None,
) -> list[list[Parts]]:
    """Return what growth finds under each of some kernels, each a list of nested partitions."""
    few = len(sample) < MIN_SAMPLE_ROWS_FOR_COMPILED
    if backend == "numpy" or (backend is None and few):
        # Set once for all, since setting it takes as long as finding the cells.
        with one_blas_thread:
            return [
                [_grow_plainly(sample, recipe, partition, n_jobs) for partition in nested]
                for nested in kernels
            ]
    found = _cells(sample, kernels, n_jobs)

    def grow_one(chunk: slice) -> list[Parts]:
        nested = kernels[chunk.start]
        grown = [
            _grow_compiled(cells, recipe, partition)
            for partition, cells in zip(nested, found[chunk.start], strict=True)
        ]
        for parts in grown:
            _ = parts.tree  # linked now, while others grow
        return grown

    return list(map_chunks(grow_one, len(kernels), 1, n_jobs, 1))


def _cells(sample: Data, kernels: list[list[Partition]], n_jobs: int | None) -> list[list[Cells]]:
    """Return the cells of all rows in each partition of each kernel."""
    if type(kernels[0][0]) is not VoronoiPartition:
        return [
            [cells_of_rows(sample, partition, n_jobs) for partition in nested] for nested in kernels
        ]
    from .._kernels import nested as nested_kernels  # loaded only where it is used

    points = sample.points()
    different, centres = _different_centres([nested[-1] for nested in kernels])
    columns = np.ascontiguousarray(different.T)
    sizes = np.array([partition.psi for partition in kernels[0]])
    starts, places = _places(centres, len(different), sizes)
    n_near = max(_MIN_NEAR, _NEAR_PER_CELL * len(different) // int(sizes[-1]))
    n_partitions = len(centres) // len(kernels)
    cells = np.empty((len(sizes), len(points), len(centres)), dtype=np.uint16)

    def find(rows: slice) -> None:
        nested_kernels.cells_of_nested(
            points, rows.start, rows.stop, columns, centres, sizes, starts, places, n_near, cells
        )

    for _ in map_chunks(find, len(points), _ROWS_PER_CHUNK, n_jobs):
        pass
    return [
        list(cells[:, :, first : first + n_partitions])
        for first in range(0, len(centres), n_partitions)
    ]


def _different_centres(partitions: list[Any]) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Return the different centres of some partitions, and which is which, (k * t, psi).

    They are drawn from the same few rows, so they have most of them in common.
    """
    points = np.concatenate([partition.points for partition in partitions])
    different, numbers = np.unique(points, axis=0, return_inverse=True)
    starts = np.cumsum([0, *(len(partition.points) for partition in partitions[:-1])])
    centres = [
        numbers.ravel()[start + partition.centres]
        for start, partition in zip(starts, partitions, strict=True)
    ]
    return different, np.concatenate(centres).astype(np.int32)


def _places(
    centres: NDArray[np.int32], n_different: int, sizes: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return where each of the different centres is one, as `cells_of_nested` takes it."""
    by_number = centres.T.ravel()
    order = np.argsort(by_number, kind="stable")
    number, i = np.divmod(order, len(centres))
    starts = np.searchsorted(by_number[order], np.arange(n_different + 1))
    first_size = np.searchsorted(sizes, number, side="right")
    return starts, np.column_stack([i, number, first_size]).astype(np.int32)


def _grow_compiled(cells: Cells, recipe: Recipe, partition: Partition) -> Parts:
    from .._kernels import compiled as compiled_kernels
    from .._kernels import growth as sweep

    # Code is compiled for one type of cells only.
    cells = np.ascontiguousarray(cells, dtype=np.uint16)
    n_rows, n_partitions = cells.shape
    psi = partition.psi
    starts = np.zeros(0, dtype=np.int64)
    members = np.empty(0, dtype=np.int32)
    if psi * psi > _INDEX_FROM * n_rows:
        starts = np.zeros(n_partitions * (psi + 1) + 1, dtype=np.int64)
        members = np.empty(cells.size, dtype=np.int32)
        compiled_kernels.list_members(cells, psi + 1, starts, members)
    labels, seeds, n_steps = (np.empty(n_rows, dtype=np.int64) for _ in range(3))
    steps = np.empty(n_rows, dtype=np.int32)
    n_clusters = sweep.grow_rows(
        cells,
        psi,
        recipe.tau,
        recipe.growth_rate,
        starts,
        members,
        labels,
        steps,
        seeds,
        n_steps,
    )
    return Parts(partition, cells, labels, steps, seeds[:n_clusters], n_steps[:n_clusters])


def _grow_plainly(sample: Data, recipe: Recipe, partition: Partition, n_jobs: int | None) -> Parts:
    engine = DenseEngine(sample, partition, n_jobs=n_jobs)
    growth = grow(engine, recipe.tau, recipe.growth_rate)
    rows = engine.row_results(growth.clusters)
    return Parts(
        partition, engine.cells, rows.labels, rows.growth_steps, growth.seeds, growth.n_steps
    )
