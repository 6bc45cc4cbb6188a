"""Work on chunks of rows, in threads."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from joblib import cpu_count

T = TypeVar("T")

# Large enough that Python costs little, small enough that a chunk's work stays in cache.
_CHUNK_ENTRIES = 1 << 17
# Fewer chunks than this a thread are done before the threads have started.
_MIN_CHUNKS_PER_THREAD = 4


def rows_per_chunk(width: int) -> int:
    """Return how many rows to work on at a time where each needs `width` numbers."""
    return max(1, _CHUNK_ENTRIES // max(1, width))


def n_threads(n_jobs: int | None) -> int:
    """Return the number of threads that `n_jobs` stands for: None and -1 are all processors."""
    processors = int(cpu_count())
    if n_jobs is None:
        return processors
    return n_jobs if n_jobs > 0 else max(1, processors + 1 + n_jobs)


def map_chunks(
    work: Callable[[slice], T], n_rows: int, chunk_rows: int, n_jobs: int | None
) -> Iterator[T]:
    """Yield `work` of each chunk of rows, in the order of the rows."""
    chunks = [
        slice(start, min(start + chunk_rows, n_rows)) for start in range(0, n_rows, chunk_rows)
    ]
    threads = min(n_threads(n_jobs), len(chunks) // _MIN_CHUNKS_PER_THREAD)
    if threads <= 1:
        yield from map(work, chunks)
        return
    with ThreadPoolExecutor(threads) as pool:
        yield from pool.map(work, chunks)
