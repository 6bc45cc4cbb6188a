"""Faults of a Dask cluster at every step of a fit: the same labels, or an error in time."""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import numpy as np
import psutil
from sklearn.datasets import make_blobs

import pskclust
from tools.attack.cases import Case, require

# Of faults that a fit must end by, and of those that it must survive.
TIMEOUT, LONG_TIMEOUT = 10, 60
# The time-out of a step, of its repetition, and of what closes the fit; machines are busy.
SECONDS = 4 * TIMEOUT + 15
_ENDING = ("worker stopped", "scheduler stopped")
FITS = {
    "grown": {"psi": 16, "tau": 0.05, "n_partitions": 20, "random_state": 0},
    "chosen": {"n_partitions": 20, "random_state": 0},
}
FAULTS = ("worker killed", "worker stopped", "scheduler stopped", "late joiner", "worker restarted")
_N_WORKERS = 3
_ROOT = Path(__file__).parents[2]
_SERVER = """
import sys, time
from distributed import LocalCluster
if __name__ == "__main__":
    cluster = LocalCluster(
        n_workers=int(sys.argv[1]), threads_per_worker=1, host="127.0.0.1",
        dashboard_address="127.0.0.1:0", memory_limit=0,
    )
    print(cluster.scheduler_address, flush=True)
    while line := sys.stdin.readline():
        cluster.scale(int(line))
"""


def _warmed_up() -> int:
    """Return the number of a process that has loaded what it will need."""
    import pskclust.dask

    pskclust.PSKC(psi=4, tau=0.1).fit(np.random.RandomState(0).rand(20, 2))
    return os.getpid() if pskclust.dask else 0


class Cluster:
    """A cluster whose scheduler is a process of its own, so that it can be stopped."""

    def __init__(self, folder: Path) -> None:
        from distributed import Client

        script = folder / "cluster.py"
        script.write_text(_SERVER)
        paths = os.pathsep.join(str(path) for path in (_ROOT / "src", _ROOT))
        self.process = subprocess.Popen(
            [sys.executable, str(script), str(_N_WORKERS)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": paths},
        )
        self.client = Client(self.process.stdout.readline().strip(), set_as_default=False)
        self.client.wait_for_workers(_N_WORKERS)
        self.pids = list(self.client.run(_warmed_up).values())

    def do(self, fault: str, rng: np.random.RandomState) -> None:
        """Have a fault happen."""
        victim = self.pids[rng.randint(len(self.pids))]
        with contextlib.suppress(ProcessLookupError):
            if fault == "worker killed":
                os.kill(victim, signal.SIGKILL)
            elif fault == "worker stopped":
                os.kill(victim, signal.SIGSTOP)
            elif fault == "worker restarted":
                # As a nanny does with a worker that takes too much memory.
                os.kill(victim, signal.SIGTERM)
            elif fault == "scheduler stopped":
                os.kill(self.process.pid, signal.SIGSTOP)
        if fault == "late joiner":
            self.process.stdin.write(f"{_N_WORKERS + 1}\n")
            self.process.stdin.flush()

    def close(self) -> None:
        """End all processes, in whatever state they are."""
        inner = psutil.Process(self.process.pid).children(recursive=True)
        self.process.kill()
        for process in inner:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        self.process.communicate()
        with contextlib.suppress(Exception):
            self.client.close(timeout=1)


def cases(rng: np.random.RandomState, folder: Path) -> Iterator[Case]:
    """Yield a fault at each step of each fit, in turn, on a new cluster each."""
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    warnings.simplefilter("ignore")
    X = make_blobs(400, centers=3, cluster_std=0.6, random_state=1)[0]
    steps = {}
    for kind in FITS:
        names: list[str] = []
        yield Case(f"{kind} without a fault", lambda k=kind, n=names: fitted_with(X, k, folder, n))
        steps[kind] = names
    while True:
        kind = list(FITS)[rng.randint(len(FITS))]
        fault = FAULTS[rng.randint(len(FAULTS))]
        # Rounds are many and alike: as many faults between them as at all other steps.
        names = steps[kind]
        some = list(dict.fromkeys(names))
        name = some[rng.randint(len(some))]
        which = rng.randint(names.count(name))
        seed = rng.randint(1 << 30)
        yield Case(
            f"{kind}: {fault} before {name} {which}",
            lambda k=kind, f=fault, n=name, w=which, s=seed: fitted_with(
                X, k, folder, [], f, (n, w), s
            ),
        )


def fitted_with(
    X: np.ndarray,
    kind: str,
    folder: Path,
    names: list[str],
    fault: str | None = None,
    at: tuple[str, int] | None = None,
    seed: int = 0,
) -> int:
    """Fit on a new cluster, with a fault at a step; note the names of all steps."""
    import dask.array as da

    from pskclust.dask import PSKC

    expected = pskclust.PSKC(**FITS[kind]).fit(X).labels_
    cluster = Cluster(folder)
    try:

        def step(name: str) -> None:
            if fault and at == (name, names.count(name)):
                cluster.do(fault, np.random.RandomState(seed))
            names.append(name)

        started = time.monotonic()
        try:
            with _watched(step):
                timeout = TIMEOUT if fault in _ENDING else LONG_TIMEOUT
                model = PSKC(**FITS[kind], client=cluster.client, timeout=timeout)
                model.fit(da.from_array(X, chunks=(70, 2)))
        except (TimeoutError, RuntimeError) as error:
            require(fault in _ENDING, f"{fault} ended it: {error!r}")
        seconds = time.monotonic() - started
        if fault in _ENDING:
            require(seconds < SECONDS, f"{seconds:.0f} seconds, with a time-out of {TIMEOUT}")
        else:
            labels = np.asarray(cluster.client.gather(cluster.client.compute(model.labels_)))
            require(np.array_equal(labels, expected), "labels are others")
    finally:
        cluster.close()
    return len(X)


@contextlib.contextmanager
def _watched(step) -> Iterator[None]:
    """Call `step` with the name of whatever a fit is about to ask of the cluster."""
    from distributed import Client

    from pskclust._dask import engine, tasks

    with contextlib.ExitStack() as patches:
        for owner, names in (
            (tasks.Tasks, ("finished", "workers")),
            (Client, ("scatter", "who_has", "compute", "submit")),
            (engine.DaskEngine, ("_send",)),
        ):
            for name in names:
                patches.enter_context(mock.patch.object(owner, name, _told(owner, name, step)))
        yield


def _told(owner, name, step):
    original = getattr(owner, name)

    def call(self, *arguments, **options):
        word = arguments[1] if name == "finished" else name
        step(str(word))
        return original(self, *arguments, **options)

    return call
