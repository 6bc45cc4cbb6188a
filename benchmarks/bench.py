"""How long fits take, ours and those of the methods that users would pick instead.

    python benchmarks/bench.py [--quick] [--data DIR] [--results FILE]

Every case runs all methods on the same data, turn by turn, each fit in a process of its own that
is warm (it has done a small fit before). Tables show medians and ratios within the run: machines
are noisy, ratios less so. A method that takes too long at one size is not asked for the next one.
DIR/flights_3m.npz and DIR/mnist70k.npz are used if they are there.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from methods import METHODS, kmeans, pskc
from report import case_table, print_and_draw
from timing import compare, timed_fit

SECONDS_ALLOWED, SECONDS_ALLOWED_QUICK = 120, 8
REPEATS = 3
HERE = Path(__file__).parent


def shapes(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    from pskclust.datasets import make_shapes

    return make_shapes(n_rows, random_state=0)


def scaling(sizes: list[int], seconds_allowed: float) -> dict[str, dict[str, Any]]:
    """Return the results at each size; a method that was stopped is not asked again."""
    from sklearn.metrics import adjusted_rand_score

    methods = dict(METHODS)
    table = {}
    for n_rows in sizes:
        X, y = shapes(n_rows)
        judged = slice(None, None, -(-n_rows // 200_000))
        results = compare(
            X,
            methods,
            seconds_allowed,
            REPEATS,
            judge=lambda labels, y=y, judged=judged: {
                "ari": adjusted_rand_score(y[judged], labels[judged])
            },
        )
        print(case_table(f"{n_rows:,} x 2: rings, spiral arms and blobs", results), flush=True)
        table[str(n_rows)] = results
        methods = {
            name: method for name, method in methods.items() if "failure" not in results[name]
        }
    return table


def prediction(n_rows: int) -> float:
    """Return the time to predict new rows over that to fit as many, the median of three."""
    from pskclust import PSKC
    from pskclust.datasets import make_shapes

    X, new = shapes(n_rows)[0], make_shapes(n_rows, random_state=1)[0]
    model = PSKC(psi=128, tau=0.01, random_state=0).fit(X[:25_000])
    model.predict(new[:25_000])
    ratios = []
    for _ in range(REPEATS):
        started = time.perf_counter()
        model.fit(X)
        fitted = time.perf_counter()
        model.predict(new)
        ratios.append((time.perf_counter() - fitted) / (fitted - started))
    return statistics.median(ratios)


def cold_start() -> dict[str, float]:
    """Return what a first use costs in seconds, with no compiled code kept from before."""
    code = """
import time, sys
started = time.perf_counter(); import sklearn.cluster; before = time.perf_counter()
import pskclust; imported = time.perf_counter()
from pskclust.datasets import make_shapes
X, _ = make_shapes(1_000, random_state=0); many, _ = make_shapes(1_000_000, random_state=0)
start = time.perf_counter(); pskclust.PSKC(random_state=0).fit(X)
small = time.perf_counter() - start
model = pskclust.PSKC(128, 0.01, random_state=0)
start = time.perf_counter(); model.fit(many); first = time.perf_counter() - start
start = time.perf_counter(); model.fit(many); warm = time.perf_counter() - start
print(imported - before, small, first - warm)
"""
    with tempfile.TemporaryDirectory() as folder:
        answer = subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "NUMBA_CACHE_DIR": folder},
            capture_output=True,
            text=True,
            check=True,
        )
    names = ("import_beyond_sklearn", "first_1000_rows", "first_million_beyond_warm")
    return dict(zip(names, map(float, answer.stdout.split()), strict=True))


def flights(folder: Path) -> dict[str, Any]:
    from sklearn.preprocessing import scale

    X = scale(np.load(folder / "flights_3m.npz")["X"].astype(np.float64)).astype(np.float32)
    methods = {"pskclust": lambda X: pskc(X, 256, 0.0025), "KMeans": lambda X: kmeans(X, 20)}
    results = compare(X, methods, 600, REPEATS)
    print(case_table(f"flights, {len(X):,} x {X.shape[1]}, psi 256", results), flush=True)
    return results


def mnist(folder: Path) -> dict[str, Any]:
    """Compare a fit with a plain product of all rows with each other, in the same run."""
    X = np.load(folder / "mnist70k.npz")["X"].reshape(70_000, -1)
    started = time.perf_counter()
    rows = X.astype(np.float32)
    for start in range(0, len(rows), 2000):
        rows[start : start + 2000] @ rows.T
    product = time.perf_counter() - started
    answer = timed_fit(lambda X: pskc(X, 5000, 1e-3), X, 1200)
    if isinstance(answer, str):
        return {"failure": answer}
    sizes = np.sort(np.bincount(answer["labels"][answer["labels"] >= 0]))[::-1]
    results = {
        "seconds": answer["seconds"],
        "product_seconds": product,
        "times_product": answer["seconds"] / product,
        "megabytes": answer["megabytes"],
        "clusters": len(sizes),
        "share_of_13_largest": sizes[:13].sum() / len(X),
    }
    print(f"\nMNIST, 70,000 x 784, psi 5000: {json.dumps(results)}", flush=True)
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
        "predict_over_fit": prediction(sizes[-1] if options.quick else 1_000_000),
    }
    if not options.quick:
        results["cold_start"] = cold_start()
        for name, case in (("flights_3m", flights), ("mnist70k", mnist)):
            if options.data and (Path(options.data) / f"{name}.npz").exists():
                results[name] = case(Path(options.data))
            else:
                print(f"\n{name}: left out, there is no --data folder with {name}.npz")
    options.results.parent.mkdir(parents=True, exist_ok=True)
    temporary = options.results.with_suffix(".tmp")
    temporary.write_text(json.dumps(results, indent=1) + "\n")
    temporary.replace(options.results)
    print_and_draw(results, options.results.with_suffix(".png"))
    print(f"\nThe figures are in {options.results}")


if __name__ == "__main__":
    main()
