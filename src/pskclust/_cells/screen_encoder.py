"""ScreenEncoder: multiplies rows by all distinct centres, for devices and many columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._kernels import compiled
from .._kernels.neighbour_blocks import BLOCK
from .._utils.parallel import Buffers
from .block_encoders import CellsEncoder, PointsAt
from .voronoi import VoronoiPartition


class ScreenEncoder(CellsEncoder):
    """Encoder for devices and for many columns: rows are multiplied by all distinct centres."""

    def __init__(
        self,
        points_at: PointsAt,
        n_rows: int,
        partition: VoronoiPartition,
        blocks_per_superblock: int,
    ) -> None:
        super().__init__(points_at, n_rows, partition, blocks_per_superblock)
        partition.prepare(compiled=True)

    def _workspace(self) -> Buffers:
        return Buffers()

    def _find_cells(self, points: NDArray[np.float64], space: Buffers, cells: NDArray[Any]) -> None:
        n_at_a_time = max(1, self._partition.chunk_rows_of(compiled=True) // BLOCK)
        for first in range(0, len(cells), n_at_a_time):
            last = min(first + n_at_a_time, len(cells))
            by_row = self._partition.cells(points[first * BLOCK : last * BLOCK], compiled, space)
            cells[first:last] = by_row.reshape(-1, BLOCK, cells.shape[1]).transpose(0, 2, 1)
