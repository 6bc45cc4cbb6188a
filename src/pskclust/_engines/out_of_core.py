"""Engine for rows that are read batch by batch, with cells in memory or on disk."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from .._cells.partition import Partition
from .._data.streamed import StreamedRows
from .._kernels.select import Backend
from .._utils.memory import available_bytes, release_free_memory
from .._utils.progress import Progress, Report, ignore
from .disk_arrays import DiskArrays
from .memory_rows import Keep, in_memory, require_memory_to_fit
from .select import engine_for_rows
from .sharded import Shard, ShardedEngine

# Memory for the rows of a shard and their cells while it is encoded.
_SHARD_BYTES = 1 << 27
# Neighbour blocks store up to two numbers for a cell: by row, and by block.
_MOST_BYTES_PER_CELL = 2
# Row number of each place (8 bytes), place of each row (at most 8), weight (8).
_KEPT_BYTES_PER_ROW = 24


def out_of_core_engine(
    data: StreamedRows,
    partition: Partition,
    n_jobs: int | None,
    scratch_dir: str | os.PathLike[str] | None,
    report: Report = ignore,
    *,
    backend: Backend | None = None,
    shard_rows: int | None = None,
    on_disk: bool | None = None,
) -> ShardedEngine:
    """Read all rows and return an engine that holds their cells.

    `shard_rows` is the number of rows of a shard; by default, a shard takes 128 MB. With a
    `scratch_dir`, `on_disk=None` puts cells on disk if they do not fit into memory.
    """
    size = shard_rows or rows_per_shard(data.n_columns, partition)
    shards: list[Shard] = []
    release_free_memory()
    with _place_for_cells(len(data), partition, scratch_dir, on_disk) as keep:
        for first_row, some in data.shards(size):

            def report_all(progress: Progress, first_row: int = first_row) -> None:
                report(Progress("encode", first_row + progress.done, len(data)))

            engine = engine_for_rows(
                some,
                partition,
                n_jobs,
                keep,
                all_rows=False,
                report=report_all,
                backend=backend,
            )
            shards.append(Shard(engine, [range(first_row, first_row + len(some))]))
            release_free_memory()
    return ShardedEngine(shards, "out of core")


def rows_per_shard(n_columns: int, partition: Partition) -> int:
    """Return the default number of rows of a shard."""
    cell_bytes = partition.cell_bytes(1)
    return max(1, _SHARD_BYTES // (8 * n_columns + _MOST_BYTES_PER_CELL * cell_bytes))


@contextlib.contextmanager
def _place_for_cells(
    n_rows: int,
    partition: Partition,
    scratch_dir: str | os.PathLike[str] | None,
    on_disk: bool | None,
) -> Iterator[Keep]:
    """Yield a function that stores cells: in memory, or on disk if that is asked for or needed."""
    if scratch_dir is None:
        require_memory_to_fit(n_rows, partition)
        yield in_memory
        return
    cell_bytes = partition.cell_bytes(n_rows)
    size = _MOST_BYTES_PER_CELL * cell_bytes + _KEPT_BYTES_PER_ROW * n_rows
    available = available_bytes()
    if on_disk is None:
        on_disk = available is not None and size > available
    with DiskArrays(scratch_dir) as disk:
        if not on_disk:
            yield in_memory
            return
        disk.require(size, f"The cells of {n_rows} rows")
        yield disk.keep
