"""How the fixed defaults of psi and tau were chosen: mean ARI of fixed settings over sets.

    python benchmarks/defaults.py --data DIR

DIR/benchmark holds npz files with X and y (label 0 is noise and does not count). Columns are
scaled to [0, 1]; sets of more than 10,000 rows are left out; two seeds each.
"""

from __future__ import annotations

import numpy as np
from _data import data_folder
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import minmax_scale

from pskclust import PSKC

PSI = (16, 32, 48, 64, 96, 128)
TAU = (0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1)
SEEDS = (0, 1)
MAX_ROWS = 10_000


def main() -> None:
    folder = data_folder(__doc__.splitlines()[0]) / "benchmark"
    sets = [np.load(path) for path in sorted(folder.glob("*.npz"))]
    sets = [(minmax_scale(s["X"].astype(float)), s["y"]) for s in sets if len(s["X"]) <= MAX_ROWS]
    print(f"Mean ARI over {len(sets)} sets and {len(SEEDS)} seeds\n")
    print("| psi | " + " | ".join(f"tau {tau:g}" for tau in TAU) + " |")
    print("|---|" + "---|" * len(TAU))
    for psi in PSI:
        scores = [mean_score(sets, psi, tau) for tau in TAU]
        print(f"| {psi} | " + " | ".join(f"{score:.3f}" for score in scores) + " |", flush=True)
    print(f"\nPSKC(tau=0.01): {mean_score(sets, 'auto', 0.01):.3f}")


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
