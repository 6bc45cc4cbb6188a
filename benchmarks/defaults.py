"""Measure the mean ARI of fixed psi and tau over labelled sets, to choose their defaults.

    python benchmarks/defaults.py --data DIR [--keep]

DIR/benchmark holds npz files of the collections fcps and sipu, with X and y (label 0 is noise and
does not count). Columns are scaled to [0, 1], and sets of more than 10,000 rows are left out. Each
set is fitted with two seeds. The script prints a table; `--keep` keeps it for docs/parameters.md.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import figures
import numpy as np
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import minmax_scale

from pskclust import PSKC

PSI = (16, 32, 48, 64, 96, 128)
TAU = (0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1)
COLLECTIONS = ("fcps_*.npz", "sipu_*.npz")
SEEDS = (0, 1)
MAX_ROWS = 10_000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    figures.add_option(parser)
    options = parser.parse_args()
    files = [file for name in COLLECTIONS for file in (options.data / "benchmark").glob(name)]
    sets = [np.load(path) for path in sorted(files)]
    sets = [(minmax_scale(s["X"].astype(float)), s["y"]) for s in sets if len(s["X"]) <= MAX_ROWS]
    print(f"Mean ARI over {len(sets)} sets and {len(SEEDS)} seeds\n")
    rows = [[f"{psi}", *(f"{mean_score(sets, psi, tau):.3f}" for tau in TAU)] for psi in PSI]
    columns = ["psi", *(f"tau {tau:g}" for tau in TAU)]
    figures.show("psi and tau", columns, rows, keep=options.keep)


def mean_score(sets: list, psi: int | str, tau: float) -> float:
    scores = []
    for X, y in sets:
        known = y > 0
        for seed in SEEDS:
            labels = PSKC(psi=psi, tau=tau, random_state=seed).fit_predict(X)
            scores.append(adjusted_rand_score(y[known], labels[known]))
    return float(np.mean(scores))


if __name__ == "__main__":
    main()
