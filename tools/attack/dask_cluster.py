"""A Dask cluster in which faults are caused and then repaired."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
import psutil

import pskclust
from tools.attack.cases import require

N_WORKERS = 3
# Bytes; a worker with all its modules takes less than half of them.
_MEMORY_LIMIT = 700_000_000
_SECONDS_TO_MEND = 30
_SECONDS_TO_NOTICE = 30
_ROOT = Path(__file__).parents[2]
# Workers are forks of a process that has loaded all modules, so that they start quickly.
_SERVER = """
import multiprocessing, sys
import distributed.utils
from distributed import LocalCluster
if __name__ == "__main__":
    getattr(distributed.utils, "get_mp_context", bool)()
    multiprocessing.get_context("forkserver").set_forkserver_preload(
        ["distributed", "pskclust.dask", "tools.attack.dask_cluster"]
    )
    cluster = LocalCluster(
        n_workers=int(sys.argv[1]), threads_per_worker=1, host="127.0.0.1",
        dashboard_address="127.0.0.1:0", memory_limit=int(sys.argv[2]),
    )
    print(cluster.scheduler_address, flush=True)
    while line := sys.stdin.readline():
        cluster.scale(int(line))
"""


class _State(NamedTuple):
    """The process of a worker, and the actors and open ports that it holds."""

    pid: int
    n_actors: int
    n_ports: int


def _state(dask_worker) -> _State:
    """Return the state of a worker, and make it take too much memory on SIGUSR1."""
    signal.signal(signal.SIGUSR1, _hoard)
    process = psutil.Process()
    ports = {one.laddr.port for one in process.net_connections() if one.status == "LISTEN"}
    ports -= {dask_worker.port, dask_worker.http_server.port}
    return _State(process.pid, len(dask_worker.state.actors), len(ports))


def _warm_up() -> None:
    pskclust.PSKC(psi=4, tau=0.1).fit(np.random.RandomState(0).rand(20, 2))


_hoarded: list[np.ndarray] = []


def _hoard(*_) -> None:
    """Take more memory than is allowed, so that the nanny ends this process."""
    _hoarded.append(np.ones(_MEMORY_LIMIT // 8))


class Cluster:
    """A cluster whose scheduler is a separate process, so that it can be stopped."""

    def __init__(self, folder: Path) -> None:
        from distributed import Client

        script = folder / "cluster.py"
        script.write_text(_SERVER)
        paths = os.pathsep.join(str(path) for path in (_ROOT / "src", _ROOT))
        self.process = subprocess.Popen(
            [sys.executable, str(script), str(N_WORKERS), str(_MEMORY_LIMIT)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=folder,
            env={
                **os.environ,
                "PYTHONPATH": paths,
                "DASK_DISTRIBUTED__WORKER__MULTIPROCESSING_METHOD": "forkserver",
            },
        )
        self.client = Client(self.process.stdout.readline().strip(), set_as_default=False)
        self.client.wait_for_workers(N_WORKERS)
        self.states = self.client.run(_state)
        self.client.run(_warm_up)

    def do(self, fault: str, victim: str, *, noticed: bool = False) -> None:
        """Cause a fault in a worker or the scheduler; with `noticed`, wait until Dask notices."""
        pid = self.states[victim].pid
        with contextlib.suppress(ProcessLookupError):
            if fault == "worker killed":
                os.kill(pid, signal.SIGKILL)
            elif fault == "worker stopped":
                os.kill(pid, signal.SIGSTOP)
            elif fault == "worker out of memory":
                os.kill(pid, signal.SIGUSR1)
                self._wait_for_end_of(pid)
            elif fault == "scheduler stopped":
                os.kill(self.process.pid, signal.SIGSTOP)
            elif fault == "scheduler killed":
                os.kill(self.process.pid, signal.SIGKILL)
        if fault == "late joiner":
            self._scale(N_WORKERS + 1)
        if noticed and fault in ("worker killed", "worker out of memory"):
            self._wait_for_loss_of(victim)

    def mend(self) -> None:
        """Repair a fault; require that workers hold nothing of the interrupted fit."""
        self.let_go_on()
        self._scale(N_WORKERS)
        end = time.monotonic() + _SECONDS_TO_MEND
        while True:
            with contextlib.suppress(OSError):  # from a worker that is leaving
                self.states = self.client.run(_state)
            n_left = sum(state.n_actors + state.n_ports for state in self.states.values())
            if len(self.states) == N_WORKERS and not n_left:
                return
            require(time.monotonic() < end, f"workers still hold parts of a fit: {self.states}")
            time.sleep(0.1)

    def let_go_on(self) -> None:
        """Resume all processes that were stopped."""
        for process in self._processes():
            with contextlib.suppress(psutil.NoSuchProcess):
                process.send_signal(signal.SIGCONT)

    def close(self) -> None:
        """Kill all processes, whatever state they are in."""
        processes = self._processes()
        for process in processes:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        self.process.communicate()
        with contextlib.suppress(Exception):
            self.client.close(timeout=1)

    def _processes(self) -> list[psutil.Process]:
        """Return the processes of the scheduler and the workers, even if their parents are gone."""
        found = {}
        with contextlib.suppress(psutil.NoSuchProcess):
            scheduler = psutil.Process(self.process.pid)
            found = {one.pid: one for one in (scheduler, *scheduler.children(recursive=True))}
        for state in self.states.values():
            with contextlib.suppress(psutil.NoSuchProcess):
                found.setdefault(state.pid, psutil.Process(state.pid))
        return list(found.values())

    def _scale(self, n_workers: int) -> None:
        self.process.stdin.write(f"{n_workers}\n")
        self.process.stdin.flush()

    def _wait_for_end_of(self, pid: int) -> None:
        end = time.monotonic() + _SECONDS_TO_NOTICE
        while is_running(pid):
            require(
                time.monotonic() < end, "the nanny did not end a worker that took too much memory"
            )
            time.sleep(0.02)

    def _wait_for_loss_of(self, victim: str) -> None:
        end = time.monotonic() + _SECONDS_TO_NOTICE
        while victim in self.client.nthreads():
            require(time.monotonic() < end, "the scheduler did not notice the end of a worker")
            time.sleep(0.02)


def is_running(pid: int) -> bool:
    """Return whether a process exists and has not ended; it may end at any moment."""
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
