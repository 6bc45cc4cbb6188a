"""Choice of the encoder: the fastest one depends on the number of columns."""

from __future__ import annotations

from .ball_encoder import BallEncoder
from .block_encoders import BoxEncoder, Encoder, PointsAt, SharingEncoder
from .on_device import DevicePartition
from .screen_encoder import ScreenEncoder
from .voronoi import VoronoiPartition

# Up to this number of columns, most blocks lie in one cell, which bounds alone can find.
MAX_COLUMNS_FOR_SHARING = 3
# With more columns, balls exclude nearly as many centres as boxes, at the cost of one product.
_MAX_COLUMNS_FOR_BOXES = 32


def rows_share_cells(partition: VoronoiPartition) -> bool:
    """Return whether bounds alone find the cells of most blocks."""
    few_columns = partition.points.shape[1] <= MAX_COLUMNS_FOR_SHARING
    return few_columns and not isinstance(partition, DevicePartition)


def encoder_for(
    points_at: PointsAt, n_rows: int, partition: VoronoiPartition, blocks_per_superblock: int
) -> Encoder:
    """Return the encoder for a partition; `points_at` returns points by position in block order."""
    n_columns = partition.points.shape[1]
    arguments = points_at, n_rows, partition, blocks_per_superblock
    if isinstance(partition, DevicePartition):
        return ScreenEncoder(*arguments)
    if rows_share_cells(partition):
        return SharingEncoder(*arguments)
    if n_columns <= _MAX_COLUMNS_FOR_BOXES:
        return BoxEncoder(*arguments)
    balls = BallEncoder(*arguments)
    return balls if balls.pays(n_rows) else ScreenEncoder(*arguments)
