"""Finding the cells of rows, chunk by chunk, in threads."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._data.rows import Data
from .._kernels import reference
from .._kernels.reference import Cells
from .._utils.parallel import Buffers, map_chunks, one_blas_thread
from .._utils.progress import Progress, Report, ignore
from .partition import Partition


def encode_rows(
    data: Data,
    partition: Partition,
    kernels: Any,
    n_jobs: int | None,
    *,
    chunk_rows: int | None = None,
    report: Report = ignore,
) -> Cells:
    """Return the cell of each row in each partitioning, (n, t)."""
    compiled = kernels is not reference
    buffers = Buffers()

    def encode_chunk(chunk: slice) -> int:
        rows = chunk if order is None else order[chunk]
        cells[rows] = partition.cells(data.points(rows), kernels, buffers)
        return int(chunk.stop)

    with one_blas_thread:
        partition.prepare(compiled)
        order = partition.best_order(data, n_jobs) if compiled else None
        cells = np.empty((len(data), partition.n_partitions), dtype=partition.cell_type)
        size = chunk_rows or partition.chunk_rows_of(compiled)
        for done in map_chunks(encode_chunk, len(data), size, n_jobs):
            report(Progress("encode", done, len(data)))
    return cells
