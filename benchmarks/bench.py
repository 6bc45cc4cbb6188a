"""How long fits take, ours and those of the methods that users would pick instead.

    python benchmarks/bench.py [--quick] [--data DIR] [--results FILE]

Every case runs all methods on the same data, turn by turn, each fit in a process of its own that
is warm (it has done a small fit before). The table shows medians and ratios to KMeans in the same
run: machines are noisy, ratios less so. A method that takes too long at one size is not asked for
the next one. DIR/flights_3m.npz is used if it is there.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import platform
import resource
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

SECONDS_ALLOWED, SECONDS_ALLOWED_QUICK = 120, 8
REPEATS = 3
HERE = Path(__file__).parent


def pskc(X: np.ndarray, psi: int = 128, tau: float = 0.01) -> Any:
    from pskclust import PSKC

    return PSKC(psi, tau, random_state=0).fit(X)


def kmeans(X: np.ndarray, k: int = 15) -> Any:
    from sklearn.cluster import KMeans

    return KMeans(k, n_init=1, random_state=0).fit(X)


def mini_batch_kmeans(X: np.ndarray) -> Any:
    from sklearn.cluster import MiniBatchKMeans

    return MiniBatchKMeans(15, n_init=1, random_state=0).fit(X)


def dbscan(X: np.ndarray) -> Any:
    from sklearn.cluster import DBSCAN

    return DBSCAN(eps=0.1, min_samples=10, n_jobs=-1).fit(X)


def hdbscan(X: np.ndarray) -> Any:
    from sklearn.cluster import HDBSCAN

    return HDBSCAN(min_cluster_size=100, min_samples=10, n_jobs=-1, copy=True).fit(X)


def fast_hdbscan(X: np.ndarray) -> Any:
    from fast_hdbscan import HDBSCAN

    return HDBSCAN(min_cluster_size=100, min_samples=10).fit(X)


METHODS: dict[str, Callable[[np.ndarray], Any]] = {
    "pskclust": pskc,
    "KMeans": kmeans,
    "MiniBatchKMeans": mini_batch_kmeans,
    "fast_hdbscan": fast_hdbscan,
    "HDBSCAN": hdbscan,
    "DBSCAN": dbscan,
}


def shapes(n_rows: int) -> np.ndarray:
    from pskclust.datasets import make_shapes

    return make_shapes(n_rows, random_state=0)[0]


def fit_in_process(method: Callable[..., Any], X: np.ndarray, pipe: Any) -> None:
    """Fit once on little data, so that code is loaded, then on all; report seconds and memory."""
    method(X[: min(len(X), 25_000)])
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.perf_counter()
    model = method(X)
    seconds = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    clusters = len(set(np.unique(model.labels_)) - {-1})
    pipe.send({"seconds": seconds, "megabytes": (peak - before) / 1e3, "clusters": clusters})


def timed_fit(method: Callable[..., Any], X: np.ndarray, allowed: int) -> dict[str, Any] | None:
    """Return what a fit took; None if it was stopped or failed."""
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=fit_in_process, args=(method, X, theirs))
    process.start()
    theirs.close()
    try:
        answer: dict[str, Any] | None = ours.recv() if ours.poll(allowed) else None
    except EOFError:
        answer = None
    process.terminate()
    process.join()
    return answer


def run_case(
    X: np.ndarray, methods: dict[str, Callable[..., Any]], allowed: int = SECONDS_ALLOWED
) -> dict[str, Any]:
    """Return the median of every method's fits, taken turn by turn; None for those stopped."""
    answers: dict[str, list[dict[str, Any]]] = {name: [] for name in methods}
    stopped: set[str] = set()
    for _ in range(REPEATS):
        for name, method in methods.items():
            answer = None if name in stopped else timed_fit(method, X, allowed)
            if answer is None:
                stopped.add(name)
            else:
                answers[name].append(answer)
    return {
        name: None
        if name in stopped
        else {key: statistics.median(answer[key] for answer in some) for key in some[0]}
        for name, some in answers.items()
    }


def print_case(title: str, results: dict[str, Any]) -> None:
    base = results["KMeans"]["seconds"]
    print(f"\n{title}\n")
    print("| method | seconds | times KMeans | MB more | clusters |\n|---|---|---|---|---|")
    for name, answer in results.items():
        if answer is None:
            print(f"| {name} | stopped: too slow, or failed | | | |")
        else:
            print(
                f"| {name} | {answer['seconds']:.2f} | {answer['seconds'] / base:.2f} | "
                f"{answer['megabytes']:.0f} | {answer['clusters']:.0f} |"
            )


def scaling(sizes: list[int], allowed: int) -> dict[str, dict[str, Any]]:
    """Return the results at each size; a method that was stopped is not asked again."""
    methods = dict(METHODS)
    table = {}
    for n_rows in sizes:
        results = run_case(shapes(n_rows), methods, allowed)
        print_case(f"{n_rows:,} x 2 (rings, spiral arms and blobs)", results)
        table[str(n_rows)] = results
        methods = {name: method for name, method in methods.items() if results[name] is not None}
    return table


def flights(folder: Path) -> dict[str, Any]:
    from sklearn.preprocessing import scale

    X = scale(np.load(folder / "flights_3m.npz")["X"].astype(np.float64)).astype(np.float32)
    methods = {
        "pskclust": lambda X: pskc(X, 256, 0.0025),
        "KMeans": lambda X: kmeans(X, 20),
    }
    results = run_case(X, methods)
    print_case(f"flights, {len(X):,} x {X.shape[1]}, psi 256", results)
    return results


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes, under two minutes")
    parser.add_argument("--data", type=Path, default=os.environ.get("PSKCLUST_DATA"))
    parser.add_argument("--results", type=Path, default=HERE / "results.json")
    options = parser.parse_args()
    sizes = [10_000, 100_000] if options.quick else [1_000, 10_000, 100_000, 1_000_000, 4_000_000]
    results: dict[str, Any] = {
        "machine": f"{platform.machine()}, {os.cpu_count()} processors",
        "scaling": scaling(sizes, SECONDS_ALLOWED_QUICK if options.quick else SECONDS_ALLOWED),
    }
    if options.data and not options.quick and (Path(options.data) / "flights_3m.npz").exists():
        results["flights"] = flights(Path(options.data))
    options.results.parent.mkdir(parents=True, exist_ok=True)
    temporary = options.results.with_suffix(".tmp")
    temporary.write_text(json.dumps(results, indent=1) + "\n")
    temporary.replace(options.results)
    print(f"\nThe figures are in {options.results}")


if __name__ == "__main__":
    main()
