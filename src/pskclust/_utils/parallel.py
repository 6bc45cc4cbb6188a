"""Threads that work on chunks of rows."""

from __future__ import annotations

import contextlib
import functools
import math
import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np
from joblib import cpu_count
from numpy.typing import DTypeLike, NDArray
from threadpoolctl import ThreadpoolController

S = TypeVar("S")
T = TypeVar("T")

# Large enough to make Python's overhead small, small enough for a chunk to stay in cache.
_CHUNK_ENTRIES = 1 << 17
_MIN_CHUNK_ROWS = 32
_PRODUCT_ENTRIES = 1 << 22
_MIN_PRODUCT_ROWS, _MAX_PRODUCT_ROWS = 128, 2048
# With fewer chunks for each thread, starting the threads takes longer than the work.
_MIN_CHUNKS_PER_THREAD = 4


def rows_per_chunk(width: int) -> int:
    """Return the number of rows in a chunk, given the number of values in a row, `width`."""
    return max(_MIN_CHUNK_ROWS, _CHUNK_ENTRIES // max(1, width))


def rows_per_product(n_columns: int) -> int:
    """Return the number of rows in a chunk that is multiplied by a matrix."""
    return min(_MAX_PRODUCT_ROWS, max(_MIN_PRODUCT_ROWS, _PRODUCT_ENTRIES // max(1, n_columns)))


class Buffers(threading.local):
    """Memory that each thread reuses for every chunk, because allocating it again is slower."""

    def __init__(self) -> None:
        self._bytes = np.empty(0, dtype=np.uint8)

    def array(self, shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        """Return an uninitialised array in the memory of this thread's previous array."""
        size = math.prod(shape) * np.dtype(dtype).itemsize
        if size > len(self._bytes):
            self._bytes = np.empty(size, dtype=np.uint8)
        return self._bytes[:size].view(dtype).reshape(shape)


class ProcessSetting(contextlib.AbstractContextManager[None]):
    """Process-wide setting, made by the first thread to enter and undone by the last to leave."""

    def __init__(self, make: Callable[[], Callable[[], None]]) -> None:
        """`make` is a function that changes the setting and returns a function that restores it."""
        self._make = make
        self._n_users = 0
        self._new_lock()
        # At a fork, the lock may be held by a thread that the new process does not have.
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._new_lock)

    def _new_lock(self) -> None:
        # Reentrant, so that a thread that is interrupted while it holds the lock can take it again.
        self._lock = threading.RLock()

    def __enter__(self) -> None:
        with self._lock:
            if not self._n_users:
                self._undo = self._make()
            self._n_users += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._n_users -= 1
            if not self._n_users:
                self._undo()


def _limit_blas() -> Callable[[], None]:
    limits = _libraries(len(sys.modules)).limit(limits=1, user_api="blas")
    undo: Callable[[], None] = limits.restore_original_limits
    return undo


@functools.lru_cache(maxsize=1)
def _libraries(n_modules: int) -> ThreadpoolController:
    """Return a controller of the BLAS and other threaded libraries in this process.

    Finding the libraries takes milliseconds, and only the import of a module can add one. So the
    result is kept until `n_modules`, the number of imported modules, changes.
    """
    return ThreadpoolController()


# Limits each matrix product to one thread while several threads work on chunks.
one_blas_thread = ProcessSetting(_limit_blas)


@functools.cache
def n_threads(n_jobs: int | None) -> int:
    """Return the number of threads for `n_jobs`: None and -1 mean all processors."""
    processors = int(cpu_count())
    if n_jobs is None:
        return processors
    return n_jobs if n_jobs > 0 else max(1, processors + 1 + n_jobs)


def map_chunks(
    work: Callable[[slice], T],
    n_rows: int,
    chunk_rows: int,
    n_jobs: int | None,
    min_chunks_per_thread: int | None = None,
) -> Iterator[T]:
    """Yield the result of `work` for each chunk of rows, in the order of the rows."""
    chunks = [
        slice(start, min(start + chunk_rows, n_rows)) for start in range(0, n_rows, chunk_rows)
    ]
    per_thread = min_chunks_per_thread or _MIN_CHUNKS_PER_THREAD
    threads = min(n_threads(n_jobs), len(chunks) // per_thread)
    many = _pool(n_threads(n_jobs)) if threads > 1 else None
    yield from many.map(work, chunks) if many else map(work, chunks)


def map_items(work: Callable[[S], T], items: Sequence[S], n_jobs: int | None) -> list[T]:
    """Return the result of `work` for each of a few items that take long."""
    threads = min(n_threads(n_jobs), len(items))
    many = _pool(n_threads(n_jobs)) if threads > 1 else None
    return list(many.map(work, items) if many else map(work, items))


@functools.cache
def _pool(threads: int) -> ThreadPoolExecutor:
    """Return a pool of threads and keep it: growth uses it hundreds of times a second."""
    return ThreadPoolExecutor(threads, thread_name_prefix="pskclust")


# A forked process has none of the threads of its parent and has to start new ones.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)
