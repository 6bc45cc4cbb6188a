"""Dask: whatever a fit waits for has a time-out, and blocks are as they were announced."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time

import dask
import dask.array as da
import numpy as np
import pytest
from distributed import Client, LocalCluster
from numpy.testing import assert_array_equal

import pskclust
from pskclust._dask.tasks import Tasks
from pskclust.dask import PSKC
from tools.attack import dask as attack

pytestmark = [
    pytest.mark.dask,
    # Of Dask's own making, when workers die or clusters close.
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

GROWN = {"psi": 16, "tau": 0.05, "n_partitions": 20, "random_state": 0}
FITS = {"grown": GROWN, "chosen": {"n_partitions": 20, "random_state": 0}}


@pytest.fixture(scope="module")
def threads():
    """A client of workers in this process, which is not the default one."""
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with (
        LocalCluster(processes=False, **options) as cluster,
        Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.mark.parametrize("kind", FITS)
def test_a_client_need_not_be_the_default_one(kind, threads, scattered):
    model = PSKC(**FITS[kind], client=threads).fit(da.from_array(scattered, chunks=(100, 2)))
    expected = pskclust.PSKC(**FITS[kind]).fit(scattered)
    labels = threads.gather(threads.compute(model.labels_))
    assert_array_equal(labels, expected.labels_)


def announced(blocks, shapes, dtype=float):
    """Return an array that says of its blocks whatever it is told to."""
    return da.concatenate(
        [
            da.from_delayed(dask.delayed(block), shape, dtype=dtype)
            for block, shape in zip(blocks, shapes, strict=True)
        ]
    )


WRONG_BLOCKS = {
    "too wide": (lambda rows: np.hstack([rows, rows]), r"has shape \(100, 4\), and X announces 2"),
    "too narrow": (lambda rows: rows[:, :1], r"has shape \(100, 1\), and X announces 2 columns"),
    "too long": (lambda rows: np.vstack([rows, rows]), "has 200 rows, and X announces 100"),
    "too short": (lambda rows: rows[:50], "has 50 rows, and X announces 100"),
    "flat": (lambda rows: rows.ravel(), r"has shape \(200,\), and X announces 2 columns"),
    "of another type": (lambda rows: rows.astype(np.float32), "holds float32, and X announces"),
}


@pytest.mark.parametrize(("change", "message"), WRONG_BLOCKS.values(), ids=WRONG_BLOCKS)
@pytest.mark.parametrize("kind", FITS)
def test_a_block_that_is_not_as_announced_is_refused(kind, change, message, threads, scattered):
    """It gave other labels, without a word."""
    blocks = [scattered[:100], change(scattered[100:200]), scattered[200:300]]
    X = announced(blocks, [(100, 2)] * 3)
    with pytest.raises(ValueError, match=f"Block 1 of X {message}"):
        PSKC(**FITS[kind], client=threads).fit(X)


def test_new_rows_of_another_width_are_refused(threads, scattered):
    model = PSKC(**GROWN, client=threads).fit(da.from_array(scattered, chunks=(100, 2)))
    X = announced([scattered[:, :1]], [scattered.shape])
    with pytest.raises(ValueError, match=r"has shape \(420, 1\), and the model was fitted to 2"):
        threads.gather(threads.compute(model.predict(X)))


@contextlib.contextmanager
def stopped(cluster):
    os.kill(cluster.process.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(cluster.process.pid, signal.SIGCONT)


@pytest.fixture
def cluster(tmp_path):
    found = attack.Cluster(tmp_path)
    yield found
    found.close()


@pytest.mark.slow
def test_all_that_waits_for_the_scheduler_has_a_timeout(cluster, scattered):
    tasks = Tasks(cluster.client, 2)
    assert tasks.gather([cluster.client.submit(int, 3)], "counting") == [3]
    future = cluster.client.submit(int, 4)
    with stopped(cluster):
        for ask in (
            tasks.workers,
            lambda: tasks.shared(scattered),
            lambda: tasks.shared(scattered, direct=True),
            lambda: tasks.holders([future]),
        ):
            started = time.monotonic()
            with pytest.raises(TimeoutError, match="For 2 seconds"):
                ask()
            assert time.monotonic() - started < 8


@pytest.mark.slow
@pytest.mark.parametrize("fault", ["worker killed", "worker stopped", "scheduler stopped"])
def test_a_fault_while_noise_is_found_in_a_choice_is_survived_or_ends_in_time(
    fault, tmp_path, scattered
):
    attack.fitted_with(scattered, "chosen", tmp_path, [], fault, ("finding noise", 0), 1)


@pytest.mark.slow
def test_workers_that_run_out_of_memory_are_named(scattered):
    def large(number):
        return np.random.RandomState(number).rand(60_000_000, 2)

    blocks = [dask.delayed(large)(number) for number in range(2)]
    X = da.concatenate([da.from_delayed(b, (60_000_000, 2), dtype=float) for b in blocks])
    options = {"n_workers": 1, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
    with (
        LocalCluster(memory_limit="600MB", host="127.0.0.1", **options) as workers,
        Client(workers, set_as_default=False) as client,
        # Their limit is named too, unless they are lost before they say so.
        pytest.raises((TimeoutError, RuntimeError), match="run out of memory"),
    ):
        PSKC(**GROWN, client=client, timeout=40).fit(X)


def test_a_question_without_an_answer_leaves_no_thread_that_holds_the_process(threads):
    never = threading.Event()
    with pytest.raises(TimeoutError, match="did not answer when it was asked for tea"):
        Tasks(threads, 0.1).asked("tea", never.wait)
    (left,) = [one for one in threading.enumerate() if one.name == "pskclust asks the scheduler"]
    assert left.daemon
    never.set()
