"""The methods that make cells, by name."""

from __future__ import annotations

from numpy.random import RandomState
from sklearn.utils import check_random_state

from .._data.checks import check_distances, check_psi
from .._data.defaults import choose_psi
from .._data.rows import Data, FitRows
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


def draw_for_fit(
    rows: FitRows,
    *,
    psi: int | None,
    n_partitions: int,
    method: str,
    replace: bool,
    random_state: RandomState | int | None,
) -> Partition:
    """Check psi and distances, and draw the partition of a fit; psi None is the default."""
    # Rows that are read in blocks or on a cluster are checked when they are read.
    if rows.metric == "euclidean" and isinstance(rows, Data):
        check_distances(rows.rows)
    weights = rows.weights
    psi = choose_psi(weights.n_slots) if psi is None else psi
    check_psi(psi, weights.n_slots, replace, weighted=not weights.uniform)
    return draw_partition(
        rows, method, n_partitions, psi, replace, check_random_state(random_state)
    )
