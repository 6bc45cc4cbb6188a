"""Dask: whatever a fit waits for has a time-out, and blocks are as they were announced."""

from __future__ import annotations

import re
import threading
import time

import dask
import dask.array as da
import numpy as np
import pytest
from distributed import Client, LocalCluster
from numpy.testing import assert_array_equal

import pskclust
from pskclust._dask import tasks as tasks_module
from pskclust._dask import transport
from pskclust._dask.tasks import LostError, Tasks
from pskclust.dask import PSKC
from tools.attack import dask as attack
from tools.attack.dask_cluster import Cluster

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
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0"}
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
    "too wide": (lambda rows: np.hstack([rows, rows]), r"has shape \(100, 4\), but X declares 2"),
    "too narrow": (lambda rows: rows[:, :1], r"has shape \(100, 1\), but X declares 2 columns"),
    "too long": (lambda rows: np.vstack([rows, rows]), "has 200 rows, but X declares 100"),
    "too short": (lambda rows: rows[:50], "has 50 rows, but X declares 100"),
    "flat": (lambda rows: rows.ravel(), r"has shape \(200,\), but X declares 2 columns"),
    "of another type": (
        lambda rows: rows.astype(np.float32),
        "has the type float32, but X declares",
    ),
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
    with pytest.raises(ValueError, match=r"has shape \(420, 1\), but the model was fitted to 2"):
        threads.gather(threads.compute(model.predict(X)))


@pytest.fixture
def cluster(tmp_path):
    found = Cluster(tmp_path)
    yield found
    found.close()


@pytest.mark.slow
def test_all_that_waits_for_the_scheduler_has_a_timeout(cluster, scattered):
    tasks = Tasks(cluster.client, 2)
    assert tasks.gather([cluster.client.submit(int, 3)], "counting") == [3]
    future = cluster.client.submit(int, 4)
    cluster.do("scheduler stopped", sorted(cluster.states)[0])
    try:
        for ask in (
            tasks.workers,
            lambda: tasks.shared(scattered),
            lambda: tasks.holders([future]),
            lambda: Tasks(cluster.client, 2),
        ):
            started = time.monotonic()
            with pytest.raises(TimeoutError, match="For 2 seconds"):
                ask()
            assert time.monotonic() - started < 12
    finally:
        cluster.let_go_on()


@pytest.fixture(scope="module")
def clusters(tmp_path_factory):
    found = attack.Clusters(tmp_path_factory.mktemp("clusters"))
    yield found
    found.close()


FAULTS = [
    ("chosen", attack.Fault("worker killed", "finding noise", noticed=True)),
    ("chosen", attack.Fault("worker stopped", "finding noise")),
    ("chosen", attack.Fault("scheduler stopped", "finding noise")),
    # Labels are there, and scores are not yet: "Worker holding Actor was lost".
    ("grown", attack.Fault("worker killed", "best_members", noticed=True)),
    ("chosen", attack.Fault("worker killed", "tables", 1, noticed=True)),
    ("grown", attack.Fault("worker out of memory", "collecting the labels", 1, noticed=True)),
    # The error did not name the worker.
    ("grown", attack.Fault("worker stopped", "gather")),
    ("grown", attack.Fault("worker stopped", "encoding")),
    # Dask's `scatter` did not return.
    ("grown", attack.Fault("worker killed", "reading X")),
    ("chosen", attack.Fault("worker killed", "scatter")),
    # The error was Dask's own, CommClosedError.
    ("chosen", attack.Fault("scheduler killed", "gather", 1)),
]


@pytest.mark.slow
@pytest.mark.parametrize(("kind", "fault"), FAULTS, ids=str)
def test_a_fault_is_survived_or_ends_in_time(kind, fault, clusters, scattered):
    names = []
    clusters.fit(scattered, kind, fault, names)
    assert names.count(fault.step) > fault.which, "there is no such step"


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
        pytest.raises(
            (TimeoutError, RuntimeError),
            match=r"run out of memory: 0 \(memory limit 600 MB\)\. Give them more memory",
        ),
    ):
        PSKC(**GROWN, client=client, timeout=40).fit(X)


def facts(**seconds_ago):
    """Return what a scheduler tells of workers, given the age of their heartbeats."""
    return {
        f"tcp://{name}": {"name": name, "memory_limit": 600_000_000, "last_seen": 1000.0 - age}
        for name, age in seconds_ago.items()
    }


@pytest.mark.parametrize(
    ("now", "message"),
    [
        # Lost before the error is made, all of them or some, or restarted under another address.
        ({}, r"memory: a \(memory limit 600 MB\), b \(memory limit 600 MB\)\. Give them"),
        (facts(a=0), r"run out of memory: b \(memory limit 600 MB\)\. Give them more memory"),
        (facts(a=0, b=9), "No heartbeat came from tcp://b meanwhile. Look at their logs"),
        (facts(a=9, b=9), "No heartbeat came from tcp://a, tcp://b meanwhile"),
        (facts(a=0, b=1), "For 10 seconds tea. Look at the workers' logs; pass a larger"),
        (None, "For 10 seconds tea. Look at the workers' logs; pass a larger"),
    ],
)
def test_an_error_of_time_names_workers_known_before(now, message, threads, monkeypatch):
    answers = [facts(a=0, b=0), now]

    def answer(client):
        if answers[0] is None:
            raise ConnectionError
        return answers.pop(0)

    monkeypatch.setattr(tasks_module, "_facts_about_workers", answer)
    # The clock of the scheduler is behind by 500 seconds.
    monkeypatch.setattr(tasks_module.time, "time", lambda: 1500.0)
    error = Tasks(threads, 10).too_long("tea")
    assert re.search(message, str(error)), error


def test_a_worker_that_does_not_read_a_message_is_named(threads, scattered, monkeypatch):
    """The socket's own error, "timed out", told nothing."""

    def fail(self, message):
        raise TimeoutError("timed out")

    monkeypatch.setattr(transport.SchedulerConnection, "send", fail)
    with pytest.raises(TimeoutError, match=r"Worker inproc://.* did not answer for 7 seconds"):
        PSKC(**GROWN, client=threads, timeout=7).fit(da.from_array(scattered, chunks=(100, 2)))


@pytest.mark.parametrize("error", [OSError("no route to host"), KeyError("tcp://10.0.0.1:1")])
def test_a_value_goes_through_the_scheduler_if_workers_are_out_of_reach(
    error, threads, scattered, monkeypatch
):
    scatter = threads.scatter

    def out_of_reach(*arguments, direct, **options):
        if direct:
            raise error
        return scatter(*arguments, direct=direct, **options)

    monkeypatch.setattr(threads, "scatter", out_of_reach)
    assert_array_equal(threads.gather(Tasks(threads, 20).shared(scattered)), scattered)


@pytest.mark.parametrize("error", [TimeoutError("No valid workers found"), KeyError("gone")])
def test_a_value_goes_to_the_next_worker_if_one_is_lost(error, threads, scattered, monkeypatch):
    """A worker that was restarted for its memory just before ended the fit."""
    first, *others = Tasks(threads, 20).workers()
    scatter, asked = threads.scatter, []

    def lost(*arguments, workers, **options):
        asked.extend(workers)
        if workers == [first]:
            raise error
        return scatter(*arguments, workers=workers, **options)

    monkeypatch.setattr(threads, "scatter", lost)
    assert_array_equal(threads.gather(Tasks(threads, 20).shared(scattered)), scattered)
    assert asked == [first, first, others[0]]
    monkeypatch.setattr(threads, "scatter", lambda *_, **__: lost(workers=[first]))
    with pytest.raises(LostError, match="A value was lost with worker"):
        Tasks(threads, 20).shared(scattered)


def test_an_attempt_is_repeated_if_a_worker_is_lost(threads):
    outcomes = [LostError("lost"), LostError("lost"), 7]

    def attempt():
        outcome = outcomes.pop(0)
        if isinstance(outcome, LostError):
            raise outcome
        return outcome

    assert Tasks(threads, 5).repeated(attempt) == 7
    outcomes[:] = [LostError("lost")] * 9
    with pytest.raises(LostError):
        Tasks(threads, 5).repeated(attempt)
    assert len(outcomes) == 5


def test_a_question_without_an_answer_leaves_no_thread_that_holds_the_process(threads):
    never = threading.Event()
    with pytest.raises(TimeoutError, match=r"gave no answer to a request \(tea\)"):
        Tasks(threads, 0.1).asked("tea", never.wait)
    (left,) = [one for one in threading.enumerate() if one.name == "pskclust asks the scheduler"]
    assert left.daemon
    never.set()
