"""Threads: as many as asked for, and none left limited."""

from __future__ import annotations

import threading
import time

import pytest
from threadpoolctl import threadpool_info

from pskclust._utils.parallel import cpu_count, map_chunks, map_items, n_threads, one_blas_thread


@pytest.mark.parametrize(
    ("n_jobs", "threads"),
    [(None, cpu_count()), (-1, cpu_count()), (-cpu_count(), 1), (-99, 1), (1, 1), (7, 7)],
)
def test_n_jobs_is_read_as_joblib_reads_it(n_jobs, threads):
    assert n_threads(n_jobs) == threads


def test_chunks_come_in_order_and_in_threads():
    def work(chunk):
        time.sleep(0.001)
        return chunk, threading.current_thread().name

    answers = list(map_chunks(work, 101, 3, n_jobs=3))
    assert [chunk.start for chunk, _ in answers] == list(range(0, 101, 3))
    assert answers[-1][0].stop == 101
    assert all(name.startswith("pskclust") for _, name in answers)
    assert {name for _, name in map_chunks(work, 101, 3, n_jobs=1)} == {"MainThread"}


def test_items_come_in_order_and_in_threads():
    def work(item):
        time.sleep(0.001 * (5 - item))
        return item, threading.current_thread().name

    answers = map_items(work, range(5), n_jobs=3)
    assert [item for item, _ in answers] == list(range(5))
    assert all(name.startswith("pskclust") for _, name in answers)
    assert {name for _, name in map_items(work, range(5), n_jobs=1)} == {"MainThread"}
    assert map_items(work, [], n_jobs=3) == []


def blas_threads():
    return [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]


def test_the_limit_on_blas_is_lifted_when_the_last_user_leaves():
    before = blas_threads()
    with one_blas_thread:
        with one_blas_thread:
            assert set(blas_threads()) == {1}
        assert set(blas_threads()) == {1}
    assert blas_threads() == before


def test_users_in_several_threads_leave_no_limit_behind():
    before = blas_threads()

    def use():
        for _ in range(20):
            with one_blas_thread:
                time.sleep(0.0005)

    users = [threading.Thread(target=use) for _ in range(4)]
    for user in users:
        user.start()
    for user in users:
        user.join()
    assert blas_threads() == before
