"""Methods of partitioning by name, and drawing of partitions."""

from __future__ import annotations

from numpy.random import RandomState
from sklearn.utils import check_random_state

from .._data.checks import check_overflow, check_psi
from .._data.defaults import choose_psi
from .._data.distance_metrics import n_point_columns
from .._data.rows import Data, FitRows
from .._utils.memory import require_memory
from .partition import Partition
from .trees import TreePartition
from .voronoi import HyperspherePartition, VoronoiPartition

# Row numbers of centres need this memory while they are drawn, sorted and renumbered.
_BYTES_PER_CENTRE = 48

PARTITIONS: dict[str, type[VoronoiPartition | TreePartition]] = {
    kind.method: kind for kind in (VoronoiPartition, HyperspherePartition, TreePartition)
}


def draw_partition(
    data: FitRows, method: str, n_partitions: int, psi: int, replace: bool, rng: RandomState
) -> Partition:
    """Draw `n_partitions` samples of `psi` rows and return the partition with these centres."""
    _require_memory(n_partitions, psi, min(n_partitions * psi, data.weights.n_slots), data)
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
    """Draw the partition of a fit after checking psi and the rows; None means the default psi."""
    # Rows that are read in blocks, and rows on a Dask cluster, are checked when they are read.
    if rows.metric == "euclidean" and isinstance(rows, Data):
        check_overflow(rows.rows)
    weights = rows.weights
    psi = choose_psi(weights.n_slots) if psi is None else psi
    check_psi(psi, weights.n_slots, replace, weighted=not weights.uniform)
    return draw_partition(
        rows, method, n_partitions, psi, replace, check_random_state(random_state)
    )


def _require_memory(n_partitions: int, psi: int, n_points: int, data: FitRows) -> None:
    """Raise InsufficientMemoryError if the centres of a partition do not fit into memory."""
    require_memory(
        {
            "centres": _BYTES_PER_CENTRE * n_partitions * psi,
            "points": 8 * n_points * n_point_columns(data.n_columns, data.metric),
        },
        f"Drawing {n_partitions:,} partitionings of psi={psi} cells",
        "Use a smaller psi or n_partitions.",
    )
