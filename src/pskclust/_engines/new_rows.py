"""Labels of new rows by neighbour blocks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._cells.block_encoders import by_columns
from .._cells.count_tables import ClusterTables
from .._cells.encoder_choice import rows_share_cells
from .._cells.neighbour_blocks import (
    BLOCKS_PER_SUPERBLOCK,
    ROWS_PER_CHUNK,
    block_rows,
    encode,
    exhaust,
    order_by_neighbourhood,
    split_rows,
)
from .._cells.voronoi import VoronoiPartition
from .._data.rows import Data
from .._kernels import superblock_labels
from .._kernels.neighbour_blocks import BLOCK, Layout
from .._utils.parallel import map_chunks
from .superblocks import Superblocks, labeller, map_superblocks

_ROWS = BLOCKS_PER_SUPERBLOCK * BLOCK


def most_similar_clusters(
    data: Data,
    partition: VoronoiPartition,
    clusters: ClusterTables,
    threshold: float,
    n_jobs: int | None,
) -> NDArray[np.int64]:
    """Return the most similar cluster of each new row; -1 if no similarity exceeds `threshold`."""
    if rows_share_cells(partition):
        return _by_superblocks(data, partition, clusters, threshold, n_jobs)
    blocked = block_rows(data, partition, n_jobs)
    answer = np.empty(len(data), dtype=np.int64)
    answer[blocked.order] = _by_blocks(blocked.layout, len(data), clusters, threshold, n_jobs)
    return answer


def _by_blocks(
    layout: Layout, n_rows: int, clusters: ClusterTables, threshold: float, n_jobs: int | None
) -> NDArray[np.int64]:
    """Return the most similar cluster of each row, in block order."""
    labels = np.empty(n_rows, dtype=np.int64)
    label = labeller(layout, clusters, threshold, labels)
    n_superblocks = -(-len(layout.block_cells) // layout.blocks_per_superblock)
    exhaust(map_superblocks(label, np.arange(n_superblocks), n_jobs))
    return labels


def _by_superblocks(
    data: Data,
    partition: VoronoiPartition,
    clusters: ClusterTables,
    threshold: float,
    n_jobs: int | None,
) -> NDArray[np.int64]:
    """Label whole superblocks where bounds suffice; only other rows are sorted into blocks."""
    order, points = order_by_neighbourhood(
        data.points,
        len(data),
        partition.points.shape[1],
        ROWS_PER_CHUNK,
        n_jobs,
        BLOCKS_PER_SUPERBLOCK,
        largest=_ROWS,
    )
    labels = np.empty(len(data), dtype=np.int64)
    common = np.empty(-(-len(data) // _ROWS), dtype=np.int64)
    tables, denominators = clusters.padded, clusters.resolution * clusters.masses
    centres = by_columns(partition)
    _, n_columns, psi = centres.shape

    def label(some: Superblocks) -> None:
        superblock_labels.label_superblocks(
            points,
            order,
            some,
            _ROWS,
            centres,
            tables,
            denominators,
            threshold,
            np.empty((2, 1, n_columns)),
            np.empty((2, psi)),
            np.empty(psi, dtype=np.int64),
            np.empty((2, len(clusters)), dtype=np.int64),
            common,
            labels,
        )

    exhaust(map_superblocks(label, np.arange(len(common)), n_jobs))
    unsettled = np.flatnonzero(common == superblock_labels.UNSETTLED)

    def sort(chosen: slice) -> None:
        first = int(unsettled[chosen.start]) * _ROWS
        split_rows(points, order, first, min(first + _ROWS, len(points)), BLOCKS_PER_SUPERBLOCK)

    exhaust(map_chunks(sort, len(unsettled), 1, n_jobs))
    if len(unsettled):
        places = (unsettled[:, np.newaxis] * _ROWS + np.arange(_ROWS)).ravel()
        places = places[places < len(points)]
        layout = encode(points[places].__getitem__, len(places), partition, n_jobs)
        labels[order[places]] = _by_blocks(layout, len(places), clusters, threshold, n_jobs)
    return labels
