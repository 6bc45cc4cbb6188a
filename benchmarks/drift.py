"""Measure drift scores of rows that are moved, or that come too often from one cluster.

    python benchmarks/drift.py [--keep]

The script fits `PSKC()` to 5,000 rows of `make_shapes`, scores new rows of twenty other seeds, and
prints a table; `--keep` keeps it for docs/new-rows.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import figures
import numpy as np

from pskclust import PSKC, Drift, DriftMonitor
from pskclust.datasets import make_shapes

N_SEEDS = 20


def shapes(n_rows: int, seed: int) -> np.ndarray:
    return make_shapes(n_rows, random_state=1 + seed)[0]


def one_cluster_for_half(n_rows: int, seed: int) -> np.ndarray:
    """Return rows, half of them from one cluster and half from all clusters."""
    X, y = make_shapes(20 * n_rows, random_state=1 + seed)
    return np.vstack([X[y == 0][: n_rows // 2], X[: n_rows // 2]])


CASES: dict[str, tuple[int, Callable[[int, int], np.ndarray]]] = {
    "the same distribution": (1000, shapes),
    "the same, 200 rows": (200, shapes),
    "moved by 0.1 in both columns": (1000, lambda n, seed: shapes(n, seed) + 0.1),
    "moved by 0.3": (1000, lambda n, seed: shapes(n, seed) + 0.3),
    "moved by 1": (1000, lambda n, seed: shapes(n, seed) + 1),
    "half of the rows from one of nine clusters": (1000, one_cluster_for_half),
}


def drift(model: PSKC, rows: np.ndarray) -> Drift:
    monitor = DriftMonitor(model)
    monitor.predict(rows)
    return monitor.drift()


def span(values: list[float], form: str) -> str:
    """Return the smallest and the largest value as text, or one if they are printed alike."""
    ends = format(min(values), form), format(max(values), form)
    return " to ".join(dict.fromkeys(ends))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    figures.add_option(parser)
    options = parser.parse_args()
    model = PSKC(random_state=0).fit(make_shapes(5_000, random_state=0)[0])
    rows = []
    for name, (n_rows, make) in CASES.items():
        found = [drift(model, make(n_rows, seed)) for seed in range(N_SEEDS)]
        scores = span([each.score for each in found], "z.2f")
        rows.append([name, scores, span([each.noise for each in found], ".0%")])
    columns = ["new rows, `make_shapes`, 1,000 of them", "score", "noise"]
    figures.show("drift scores", columns, rows, keep=options.keep)


if __name__ == "__main__":
    main()
