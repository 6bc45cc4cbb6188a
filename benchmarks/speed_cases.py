"""The cases of the speed benchmark: their data, methods and comparisons."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from methods import kmeans, methods, pskc
from speed_page import case_table
from timing import compare, timed_fit

REPEATS = 3
N_BLOBS, BLOB_ROWS = 30, 50_000
# The ARI is computed on at most this many rows.
ROWS_SCORED = 200_000

Cases = dict[str, dict[str, Any]]


def shapes(n_rows: int) -> tuple[np.ndarray, np.ndarray]:
    from pskclust.datasets import make_shapes

    return make_shapes(n_rows, random_state=0)


def blobs(n_columns: int) -> tuple[np.ndarray, np.ndarray]:
    from sklearn.datasets import make_blobs

    X, y = make_blobs(BLOB_ROWS, n_columns, centers=N_BLOBS, random_state=0)
    return X.astype(np.float32), y


def by_rows(sizes: list[int], seconds_allowed: float) -> Cases:
    """Return the results at each number of rows, in 2 columns."""
    return _series(sizes, shapes, "{:,} x 2: rings, spiral arms and blobs", seconds_allowed)


def by_columns(widths: list[int], seconds_allowed: float) -> Cases:
    """Return the results at each number of columns."""
    title = f"{BLOB_ROWS:,} x {{}}: {N_BLOBS} blobs"
    return _series(widths, blobs, title, seconds_allowed, psi=256, tau=0.05, k=N_BLOBS)


def small(sizes: list[int], seconds_allowed: float) -> Cases:
    """Return the results at each number of rows of small sets, in 2 columns."""
    return _series(
        sizes, shapes, "{:,} x 2, defaults", seconds_allowed, psi=32, tau=0.05, min_cluster_size=5
    )


def _series(
    sizes: list[int],
    drawn: Callable[[int], tuple[np.ndarray, np.ndarray]],
    title: str,
    seconds_allowed: float,
    psi: int = 128,
    tau: float = 0.01,
    k: int = 15,
    min_cluster_size: int = 100,
) -> Cases:
    """Return the results at each size; a method that fails is not timed at larger sizes."""
    from sklearn.metrics import adjusted_rand_score

    table: Cases = {}
    stopped: set[str] = set()
    for size in sizes:
        X, y = drawn(size)
        some = slice(None, None, -(-len(X) // ROWS_SCORED))
        known = methods(X.shape[1], psi=psi, tau=tau, k=k, min_cluster_size=min_cluster_size)

        def scored(labels: np.ndarray, y: np.ndarray = y, some: slice = some) -> dict[str, float]:
            return {"ari": adjusted_rand_score(y[some], labels[some])}

        results = compare(
            X,
            {name: method for name, method in known.items() if name not in stopped},
            seconds_allowed,
            REPEATS,
            judge=scored,
        )
        print(case_table(title.format(size), results), flush=True)
        table[str(size)] = results
        stopped |= {name for name, answer in results.items() if "failure" in answer}
    return table


def prediction(n_rows: int) -> float:
    """Return the median ratio of the times to predict and to fit equally many rows."""
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


_FIRST_FIT = """
import time
started = time.perf_counter(); import sklearn.cluster; before = time.perf_counter()
import pskclust; imported = time.perf_counter()
from pskclust.datasets import make_shapes
X, _ = make_shapes(1_000, random_state=0); many, _ = make_shapes(1_000_000, random_state=0)
start = time.perf_counter(); pskclust.PSKC(random_state=0).fit(X)
small = time.perf_counter() - start
model = pskclust.PSKC(psi=128, tau=0.01, random_state=0)
start = time.perf_counter(); model.fit(many); first = time.perf_counter() - start
start = time.perf_counter(); model.fit(many); warm = time.perf_counter() - start
print(imported - before, small, first - warm)
"""


def first_use() -> dict[str, float]:
    """Return the seconds of a first use, without compiled code in the cache."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "NUMBA_CACHE_DIR": folder}
        answer = subprocess.run(
            [sys.executable, "-c", _FIRST_FIT],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
    names = ("import_beyond_sklearn", "first_1000_rows", "first_million_beyond_warm")
    return dict(zip(names, map(float, answer.stdout.split()), strict=True)) | _command()


def _command() -> dict[str, float]:
    """Return the seconds of `pskclust fit` on a small file: first run, later run, imports."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(Path(folder) / "cache")}

        def seconds(*arguments: str) -> float:
            started = time.perf_counter()
            subprocess.run(
                [sys.executable, "-m", "pskclust", *arguments],
                cwd=folder,
                env=environment,
                capture_output=True,
                check=True,
            )
            return time.perf_counter() - started

        seconds("demo")
        first = seconds("fit", "demo.csv", "--label", "shape")
        again = statistics.median(
            seconds("fit", "demo.csv", "--label", "shape") for _ in range(REPEATS)
        )
        imports = statistics.median(seconds("fit", "--help") for _ in range(REPEATS))
    return {"command_first": first, "command_again": again, "command_imports": imports}


def noise() -> dict[str, float]:
    """Return the time to find the cells of uniform noise, and that of a plain product."""
    from pskclust import IsolationKernel

    X = np.random.RandomState(0).rand(BLOB_ROWS, 16).astype(np.float32)
    kernel = IsolationKernel(psi=256, random_state=0).fit(X)
    centres = kernel.partition_.points.astype(np.float32).T.copy()
    kernel.cells(X[:4_000])
    found, product = [], []
    # Allocated once: new memory for each chunk would make the product look slow.
    products = np.empty((2_000, centres.shape[1]), dtype=np.float32)
    for _ in range(REPEATS):
        started = time.perf_counter()
        kernel.cells(X)
        found.append(time.perf_counter() - started)
        started = time.perf_counter()
        for start in range(0, len(X), len(products)):
            np.matmul(X[start : start + len(products)], centres, out=products)
        product.append(time.perf_counter() - started)
    cells, plain = statistics.median(found), statistics.median(product)
    return {"seconds": cells, "product_seconds": plain, "times_product": cells / plain}


def flights(folder: Path) -> dict[str, Any]:
    from sklearn.preprocessing import scale

    X = scale(np.load(folder / "flights_3m.npz")["X"].astype(np.float64)).astype(np.float32)
    own = {"pskclust": partial(pskc, psi=256, tau=0.0025), "KMeans": partial(kmeans, k=20)}
    results = compare(X, own, 600, REPEATS)
    print(case_table(f"flights, {len(X):,} x {X.shape[1]}, psi 256", results), flush=True)
    return results


def mnist(folder: Path) -> dict[str, Any]:
    """Compare the time of a fit with that of a plain product of all rows with each other."""
    X = np.load(folder / "mnist70k.npz")["X"].reshape(70_000, -1)
    started = time.perf_counter()
    rows = X.astype(np.float32)
    for start in range(0, len(rows), 2000):
        rows[start : start + 2000] @ rows.T
    product = time.perf_counter() - started
    answer = timed_fit(partial(pskc, psi=5000, tau=1e-3), X, 1200)
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
    print(f"\nMNIST, 70,000 x 784, psi 5000: {results}", flush=True)
    return results
