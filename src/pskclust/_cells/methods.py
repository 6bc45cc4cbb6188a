"""The methods that make cells, by name."""

from __future__ import annotations

from numpy.random import RandomState

from .._data.rows import FitRows
from .partition import Partition
from .trees import TreePartition
from .voronoi import HyperspherePartition, VoronoiPartition

PARTITIONS: dict[str, type[VoronoiPartition | TreePartition]] = {
    kind.method: kind for kind in (VoronoiPartition, HyperspherePartition, TreePartition)
}


def draw_partition(
    data: FitRows, method: str, n_partitions: int, psi: int, replace: bool, rng: RandomState
) -> Partition:
    """Draw n_partitions samples of psi rows each, and make cells of them."""
    return PARTITIONS[method].draw(data, n_partitions, psi, replace, rng)
