"""Fits at the same time, in threads and processes: the same labels, and none waits forever."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import joblib
import pytest
from numpy.testing import assert_array_equal
from sklearn.datasets import make_blobs

from pskclust import PSKC
from pskclust._utils.parallel import one_blas_thread

pytestmark = pytest.mark.slow
SECONDS = 120

# Many rows, so that chunks go to threads and kernels are compiled, and few, in plain NumPy.
FITS = {
    "grown": ({"psi": 16, "tau": 0.05, "n_partitions": 20}, 4000),
    "chosen": ({"n_partitions": 20}, 600),
    "few rows": ({"psi": 8, "tau": 0.1, "n_partitions": 10}, 80),
}


def labels_of(kind):
    parameters, n_rows = FITS[kind]
    X = make_blobs(n_rows, centers=4, cluster_std=0.8, random_state=2)[0]
    model = PSKC(**parameters, n_jobs=2, random_state=0).fit(X)
    assert_array_equal(model.predict(X[:50]), model.predict(X)[:50])
    return model.labels_


@pytest.fixture(scope="module")
def expected():
    return {kind: labels_of(kind) for kind in FITS}


def test_sixteen_threads_at_once_give_the_same_labels(expected):
    """All start at the same moment, each with another kind of fit before it."""
    start = threading.Barrier(16)

    def work(number):
        start.wait(timeout=SECONDS)
        kinds = list(FITS)[number % 3 :] + list(FITS)[: number % 3]
        return [(kind, labels_of(kind)) for kind in kinds]

    with ThreadPoolExecutor(16) as pool:
        for found in pool.map(work, range(16), timeout=SECONDS):
            for kind, labels in found:
                assert_array_equal(labels, expected[kind])


def test_the_threads_of_a_web_server_give_the_same_labels(expected):
    """A pool that is kept, with one model that many requests ask, and fits in between."""
    X = make_blobs(4000, centers=4, cluster_std=0.8, random_state=2)[0]
    model = PSKC(psi=16, tau=0.05, n_partitions=20, random_state=0).fit(X)
    predicted = model.predict(X)

    def request(number):
        if number % 5 == 0:
            return bool((labels_of("few rows") == expected["few rows"]).all())
        some = slice(number, number + 200)
        return bool((model.predict(X[some]) == predicted[some]).all())

    with ThreadPoolExecutor(8, thread_name_prefix="request") as pool:
        assert all(pool.map(request, range(200), timeout=SECONDS))


@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_joblib_gives_the_same_labels(backend, expected):
    work = [joblib.delayed(labels_of)(kind) for kind in FITS for _ in range(3)]
    found = joblib.Parallel(n_jobs=3, backend=backend, timeout=SECONDS)(work)
    for kind, labels in zip([kind for kind in FITS for _ in range(3)], found, strict=True):
        assert_array_equal(labels, expected[kind])


def forked(work):
    """Return whether a forked process did some work in time."""
    pid = os.fork()
    if not pid:
        code = 1
        try:
            code = 0 if work() else 1
        finally:
            os._exit(code)
    end = time.monotonic() + SECONDS
    while time.monotonic() < end:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status) == 0
        time.sleep(0.01)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return False


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a system without fork")
@pytest.mark.parametrize("kind", FITS)
def test_a_forked_process_gives_the_same_labels(kind, expected):
    """The threads that the fits before have started are not there."""
    assert forked(lambda: bool((labels_of(kind) == expected[kind]).all()))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="a system without fork")
def test_a_process_that_is_forked_while_blas_is_limited_does_not_wait(expected):
    """Another thread held the lock when the process was forked."""
    held, done = threading.Event(), threading.Event()

    def hold():
        with one_blas_thread._lock:
            held.set()
            done.wait(SECONDS)

    other = threading.Thread(target=hold)
    other.start()
    held.wait()
    try:
        assert forked(lambda: bool((labels_of("few rows") == expected["few rows"]).all()))
    finally:
        done.set()
        other.join()


def test_a_pool_of_processes_that_are_forked_gives_the_same_labels(expected):
    """As web servers with several processes do: load, fit, fork, fit."""
    code = (
        "import multiprocessing, numpy as np\n"
        "from tests.estimator.test_threads_and_processes import labels_of\n"
        "if __name__ == '__main__':\n"
        "    labels_of('grown')\n"
        "    with multiprocessing.get_context('fork').Pool(3) as pool:\n"
        "        for labels in pool.map(labels_of, ['grown'] * 6):\n"
        "            print(hash(labels.tobytes()) == hash(labels_of('grown').tobytes()))\n"
    )
    if not hasattr(os, "fork"):
        pytest.skip("a system without fork")
    said = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        cwd=os.path.dirname(os.path.dirname(os.path.dirname(__file__))),
        capture_output=True,
        text=True,
        timeout=SECONDS,
    )
    assert said.stdout.split() == ["True"] * 6, said.stderr
