"""An order in which similar rows follow each other: their near centres stay in the cache."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .._data.rows import Data
from .._utils.parallel import map_chunks, rows_per_chunk

# An order is found along this many directions, at most.
DIRECTIONS_TO_ORDER = 16
# Rows in a group that is not split any further, and rows that tell where a group is widest.
_GROUP, _SAMPLE = 256, 4096


def bytes_to_order(n_rows: int) -> int:
    """Return the bytes for finding an order: parts, then a column of them and two orders."""
    return n_rows * (4 * DIRECTIONS_TO_ORDER + 4 + 2 * 8)


def order_by_similarity(
    data: Data, shift: NDArray[np.float64], directions: NDArray[np.float64], n_jobs: int | None
) -> NDArray[np.intp]:
    """Return an order that keeps rows with similar coordinates along `directions` together."""
    parts = np.empty((len(data), directions.shape[1]), dtype=np.float32)

    def project(chunk: slice) -> None:
        # Rows beyond the range of float32 may be anywhere in the order.
        with np.errstate(over="ignore", invalid="ignore"):
            parts[chunk] = (data.points(chunk) - shift) @ directions

    for _ in map_chunks(project, len(data), rows_per_chunk(data.n_columns), n_jobs):
        pass
    order = np.arange(len(data))
    waiting = [(0, len(data))]
    while waiting:
        start, stop = waiting.pop()
        if stop - start <= _GROUP:
            continue
        own = order[start:stop]
        with np.errstate(over="ignore", invalid="ignore"):
            widest = parts[own[:: -(-len(own) // _SAMPLE)]].var(axis=0).argmax()
        middle = len(own) // 2
        order[start:stop] = own[np.argpartition(parts[own, widest], middle)]
        waiting += [(start, start + middle), (start + middle, stop)]
    return order
