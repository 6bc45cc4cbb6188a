"""Attack: with faults of a Dask cluster, a fit must give the same labels or end in time."""

from __future__ import annotations

import contextlib
import logging
import re
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import numpy as np
from sklearn.datasets import make_blobs

import pskclust
from tools.attack.cases import Case, require
from tools.attack.dask_cluster import Cluster

# Timeouts, in seconds: for faults that may end a fit, and for faults that it must survive.
TIMEOUT, LONG_TIMEOUT = 4, 60
# Longest time of a fit that ends: two steps that wait, details for the message, and load.
SECONDS = 3 * TIMEOUT + 15
_SECONDS_TO_FETCH = 30
ENDING = ("worker stopped", "scheduler stopped", "scheduler killed")
SURVIVED = ("worker killed", "worker out of memory", "late joiner")
FAULTS = ENDING + SURVIVED
FITS = {
    "grown": {"psi": 16, "tau": 0.05, "n_partitions": 20, "random_state": 0},
    "chosen": {"n_partitions": 20, "random_state": 0},
}
# The errors that a fit may end with.
_CLEAR = re.compile(
    r"For [\d.]+ seconds |did not answer for [\d.]+ seconds|The Dask scheduler is gone, or"
)


class Fault(NamedTuple):
    """A fault that happens just before a step of a fit."""

    name: str
    step: str
    which: int = 0  # number of the step among those of this name
    victim: int = 0  # number of the worker
    noticed: bool = False  # whether Dask notices it before the fit continues


class Clusters:
    """One cluster at a time; a new one replaces a cluster that cannot be repaired."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._cluster: Cluster | None = None

    def fit(self, X: np.ndarray, kind: str, fault: Fault | None, names: list[str]) -> int:
        """Fit with a fault and repair it; return the number of comparisons."""
        if self._cluster is None:
            self._cluster = Cluster(self._folder)
            # The first fits of a process take longer, because they load modules.
            for one in FITS:
                fit_with(self._cluster, X, one, None, [])
        can_be_mended = fault is None or fault.name != "scheduler killed"
        try:
            compared = fit_with(self._cluster, X, kind, fault, names)
            if can_be_mended:
                self._cluster.mend()
        except BaseException:
            self.close()
            raise
        if not can_be_mended:
            self.close()
        return compared

    def close(self) -> None:
        if self._cluster is not None:
            self._cluster.close()
        self._cluster = None


def cases(rng: np.random.RandomState, folder: Path) -> Iterator[Case]:
    """Yield cases with one fault at each step of each fit, then with the next fault, and so on."""
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    warnings.simplefilter("ignore")
    X = make_blobs(400, centers=3, cluster_std=0.6, random_state=1)[0]
    clusters = Clusters(folder)
    steps: dict[str, list[str]] = {kind: [] for kind in FITS}
    for kind, names in steps.items():
        yield Case(f"{kind} without a fault", lambda k=kind, n=names: clusters.fit(X, k, None, n))
    # All rounds count as one step, because they are many and similar.
    places = [(kind, name) for kind, names in steps.items() for name in dict.fromkeys(names)]
    first_faults = rng.randint(len(FAULTS), size=len(places))
    turn = 0
    while True:
        for number in rng.permutation(len(places)):
            kind, name = places[number]
            fault = Fault(
                FAULTS[(first_faults[number] + turn) % len(FAULTS)],
                name,
                rng.randint(steps[kind].count(name)),
                rng.randint(1 << 30),
                bool(rng.randint(2)) or name == "collecting the labels",
            )
            yield Case(
                f"{kind}: {fault.name} before {name}, {fault}",
                lambda k=kind, f=fault: clusters.fit(X, k, f, []),
            )
        turn += 1


def fit_with(
    cluster: Cluster, X: np.ndarray, kind: str, fault: Fault | None, names: list[str]
) -> int:
    """Fit with a fault; require the same labels or a clear error; add step names to `names`."""
    import dask.array as da

    from pskclust.dask import PSKC

    expected = pskclust.PSKC(**FITS[kind]).fit(X).labels_
    victim = "" if fault is None else sorted(cluster.states)[fault.victim % len(cluster.states)]
    happened = []

    def step(name: str) -> None:
        if fault and (name, names.count(name)) == (fault.step, fault.which):
            happened.append(fault)
            cluster.do(fault.name, victim, noticed=fault.noticed)
        names.append(name)

    may_end = fault is not None and fault.name in ENDING
    timeout = TIMEOUT if may_end else LONG_TIMEOUT
    model = PSKC(**FITS[kind], client=cluster.client, timeout=timeout)
    started = time.monotonic()
    try:
        with _watched(step):
            model.fit(da.from_array(X, chunks=(70, 2)))
    except (TimeoutError, RuntimeError) as error:
        if isinstance(error, TimeoutError) and not happened:
            return 0  # the machine was so busy that a step timed out without a fault
        require(may_end, f"the fit should have survived: {error!r}")
        _require_clear(error, fault.name, victim)
        require(not hasattr(model, "labels_"), "the failed fit set labels_")
    seconds = time.monotonic() - started
    most = SECONDS if may_end else LONG_TIMEOUT
    require(seconds < most, f"the fit took {seconds:.0f} seconds with a timeout of {timeout}")
    cluster.let_go_on()
    if hasattr(model, "labels_") and (fault is None or fault.name != "scheduler killed"):
        labels = cluster.client.compute(model.labels_).result(_SECONDS_TO_FETCH)
        require(np.array_equal(labels, expected), "the labels differ")
    return len(X)


def _require_clear(error: Exception, fault: str, victim: str) -> None:
    """Require that an error states the time waited or the loss, and names a hanging worker."""
    require(bool(_CLEAR.search(str(error))), f"an unclear error: {error!r}")
    if fault == "worker stopped":
        require(isinstance(error, TimeoutError), f"not a TimeoutError: {error!r}")
        require(victim in str(error), f"{victim} is not named: {error!r}")


@contextlib.contextmanager
def _watched(step: Callable[[str], None]) -> Iterator[None]:
    """Call `step` with the name of each request to the cluster, before it is made."""
    from distributed import Client

    from pskclust._dask.engine import DaskEngine
    from pskclust._dask.tasks import Tasks

    with contextlib.ExitStack() as patches:
        for owner, names in (
            (Tasks, ("finished", "workers")),
            (Client, ("scatter", "who_has", "compute", "submit", "gather")),
            (DaskEngine, ("_ask",)),
        ):
            for name in names:
                patches.enter_context(mock.patch.object(owner, name, _told(owner, name, step)))
        yield


def _told(owner: type, name: str, step: Callable[[str], None]) -> Callable[..., object]:
    original = getattr(owner, name)

    def call(self, *arguments, **options):
        # The name of the task that is waited for, or of the operation that is requested.
        word = {"finished": arguments[1:2], "_ask": arguments[:1]}.get(name, (name,))[0]
        step(str(word))
        return original(self, *arguments, **options)

    return call
