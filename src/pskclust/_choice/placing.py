"""The kernel and the tables that assign all rows to the clusters chosen on a sample."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from scipy import sparse

from .._cells.count_tables import ClusterTables
from .._cells.methods import draw_partition
from .._cells.partition import Partition
from .._cells.voronoi import VoronoiPartition
from .._data.rows import Data
from .._data.weights import uniform_weights
from .._kernels.reference import Cells, one_hot
from .choose import Chosen
from .linking import Linked
from .merge_tree import merge_tree_of


class SampleKernel(NamedTuple):
    """A partition whose centres are rows of the sample, and the cells of the sample's rows."""

    partition: Partition
    cells: Cells  # (n, t)


def kernel_for(
    chosen: Chosen, psi: int | None, method: str, replace: bool, rng: RandomState
) -> SampleKernel:
    """Return the kernel that assigns rows: with the given psi, or with a few rows in each cell."""
    points, centres = chosen.points, chosen.centres
    if psi is None and method == VoronoiPartition.method and not replace:
        # The choice has already drawn this partition.
        partition = VoronoiPartition(centres.shape[1], points, centres)
        return SampleKernel(partition, chosen.cells.T.astype(partition.cell_type))
    sample = Data(points, "euclidean", uniform_weights(len(points)))
    size = centres.shape[1] if psi is None else psi
    drawn = draw_partition(sample, method, len(centres), size, replace, rng)
    return SampleKernel(drawn, drawn.cells(points))


def link_chosen(chosen: Chosen, kernel: SampleKernel) -> Linked:
    """Return the clusters of a choice as tables of the rows of the sample."""
    n_clusters = chosen.choice.chosen.n_clusters
    tree, _ = merge_tree_of(chosen.tree)
    links = np.full(len(tree), -1)
    links[leaf_of_rows(chosen)] = chosen.cut
    tables = tables_of(chosen.labels, n_clusters, kernel)
    return Linked(tables, None, tree, links, np.arange(n_clusters))


def leaf_of_rows(chosen: Chosen) -> NDArray[np.intp]:
    """Return the leaf of each row of the sample, by its number in the merge tree."""
    return np.searchsorted(np.flatnonzero(chosen.tree.is_leaf), chosen.tree.leaves)


def tables_of(labels: NDArray[np.int64], n_clusters: int, kernel: SampleKernel) -> ClusterTables:
    """Return the count tables of clusters of the sample; rows with label -1 are not counted."""
    partition = kernel.partition
    members = np.flatnonzero(labels >= 0)
    ones = np.ones(len(members), dtype=np.int64)
    shape = n_clusters, len(labels)
    assignment = sparse.csr_array((ones, (labels[members], members)), shape=shape)
    features = one_hot(kernel.cells, partition.n_cells, partition.no_cell)
    masses = np.bincount(labels[members], minlength=n_clusters)
    return ClusterTables(
        (assignment @ features).tocsr(), masses, partition.table_shape, partition.n_partitions
    )
