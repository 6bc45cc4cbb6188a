"""Measure fits on a Dask cluster of this machine, and compare them with the cost model.

    python benchmarks/cluster.py [--results FILE]

Workers are processes of one thread. The constants of src/pskclust/_dask/cost_model.py are fitted to
the first three cases and checked against the last one. Every case is run several times, in turn
with a fit in this process, and the median counts.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
import psutil
from distributed import Client, LocalCluster, wait
from scipy.optimize import nnls

import pskclust
from pskclust._dask.engine import DaskEngine
from pskclust.dask import PSKC
from pskclust.datasets import make_shapes

PARAMETERS: dict[str, Any] = {"psi": 128, "tau": 0.005, "random_state": 0}
FITTED_TO = [(500_000, 1), (1_000_000, 1), (1_000_000, 2)]
CHECKED_AGAINST = (2_000_000, 2)
REPEATS = 5


def worker_bytes() -> int:
    return int(psutil.Process().memory_info().rss)


class Watch:
    """A callback that records when stages begin, the rounds, and the memory of workers."""

    def __init__(self, client: Client) -> None:
        self.began = {"fit": time.perf_counter()}
        self.n_rounds, self.round_seconds, self.busy_seconds = 0, 0.0, 0.0
        self.held = 0
        self._client = client

    def __call__(self, progress: pskclust.Progress) -> None:
        self.began.setdefault(progress.stage, time.perf_counter())
        if progress.stage == "refine" and progress.done == 0:
            self.held = max(self._client.run(worker_bytes).values())


def measured(client: Client, X: Any, watch: Watch) -> float:
    absorb = DaskEngine.absorb

    def counted(*arguments: Any) -> Any:
        started, busy = time.perf_counter(), time.thread_time()
        answer = absorb(*arguments)
        watch.began.setdefault("first round", started)
        watch.n_rounds += 1
        watch.round_seconds += time.perf_counter() - started
        watch.busy_seconds += time.thread_time() - busy
        return answer

    DaskEngine.absorb = counted  # type: ignore[method-assign]
    try:
        started = time.perf_counter()
        PSKC(**PARAMETERS, client=client, callback=watch).fit(X)
        return time.perf_counter() - started
    finally:
        DaskEngine.absorb = absorb  # type: ignore[method-assign]


def run_case(n_rows: int, n_workers: int) -> dict[str, Any]:
    rows, _ = make_shapes(n_rows, random_state=0)
    pskclust.PSKC(**PARAMETERS).fit(rows[:20_000])
    runs = []
    with (
        LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            memory_limit=0,
        ) as cluster,
        Client(cluster) as client,
    ):
        X = da.from_array(rows, chunks=(n_rows // n_workers, 2)).persist()
        wait(X)
        before = max(client.run(worker_bytes).values())
        for _ in range(REPEATS):
            started = time.perf_counter()
            pskclust.PSKC(**PARAMETERS, n_jobs=n_workers).fit(rows)
            local = time.perf_counter() - started
            watch = Watch(client)
            seconds = measured(client, X, watch)
            runs.append(
                {
                    "rows": n_rows,
                    "workers": n_workers,
                    "seconds": seconds,
                    "local_seconds": local,
                    "encode_seconds": watch.began["first round"] - watch.began["fit"],
                    "rounds": watch.n_rounds,
                    "seconds_per_round": watch.round_seconds / watch.n_rounds,
                    "busy_per_round": watch.busy_seconds / watch.n_rounds,
                    "bytes_per_row": (watch.held - before) / (n_rows / n_workers),
                }
            )
    return {
        **{name: statistics.median(run[name] for run in runs) for name in runs[0]},
        "times_local": statistics.median(run["seconds"] / run["local_seconds"] for run in runs),
    }


def fitted_constants(cases: list[dict[str, Any]]) -> dict[str, float]:
    """Return the seconds of a round: fixed, for each worker, and for each row of a worker.

    The cost of a worker is the time that this process is busy with it. Elapsed time would include
    more: on one machine, workers also compete for processors, as those of a cluster do not.
    """
    workers = np.array([case["workers"] for case in cases])
    busy = np.array([case["busy_per_round"] for case in cases])
    (_, per_worker), _ = nnls(np.column_stack([np.ones(len(cases)), workers]), busy)
    rounds = np.array([case["seconds_per_round"] for case in cases]) - per_worker * workers
    rows = np.array([case["rows"] for case in cases]) / workers
    (latency, per_row), _ = nnls(np.column_stack([np.ones(len(cases)), rows]), rounds)
    return {"latency": latency, "per_worker": per_worker, "per_row": per_row}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    here = Path(__file__).parent
    parser.add_argument("--results", type=Path, default=here / "cluster.json")
    path = parser.parse_args().results
    cases = [run_case(*case) for case in [*FITTED_TO, CHECKED_AGAINST]]
    for case in cases:
        print({name: float(f"{value:.4g}") for name, value in case.items()})
    constants = fitted_constants(cases[:-1])
    check = cases[-1]
    predicted = (
        constants["latency"]
        + constants["per_worker"] * check["workers"]
        + constants["per_row"] * check["rows"] / check["workers"]
    )
    print("seconds of a round:", constants)
    print(f"last case: {predicted:.4g} s predicted, {check['seconds_per_round']:.4g} s measured")
    results = {"cases": cases, "constants": constants, "predicted": predicted}
    path.write_text(json.dumps(results, indent=2) + "\n")


if __name__ == "__main__":
    main()
