"""Fit psKC at the settings of the paper's Table 7 with ten seeds, and print a table.

    python benchmarks/paper_settings.py --data DIR

DIR/paper holds AC.npz, s3.npz, aggregation.npz and spiral.npz with X and y.
"""

from __future__ import annotations

import numpy as np
from _data import data_folder

from pskclust import PSKC
from pskclust.metrics import matched_f1

SETTINGS = {"AC": (256, 2e-4), "s3": (70, 8e-2), "aggregation": (128, 1e-2), "spiral": (512, 1e-4)}
SEEDS = range(10)


def main() -> None:
    folder = data_folder(__doc__.splitlines()[0]) / "paper"
    print(
        "| set | psi | tau | median F1 | F1 of each seed | clusters | median objective before "
        "refinement | after | rows moved |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for name, (psi, tau) in SETTINGS.items():
        data = np.load(folder / f"{name}.npz")
        X, y = data["X"].astype(float), data["y"]
        models = [PSKC(psi=psi, tau=tau, replace=True, random_state=seed).fit(X) for seed in SEEDS]
        scores = [matched_f1(y, model.labels_) for model in models]
        clusters = sorted({model.n_clusters_ for model in models})
        before = np.median([model.objective_before_refinement_ for model in models])
        after = np.median([model.objective_ for model in models])
        moved = np.median([model.n_reassigned_ for model in models])
        print(
            f"| {name} | {psi} | {tau:g} | {np.median(scores):.3f} | "
            f"{' '.join(f'{score:.2f}' for score in scores)} | {clusters[0]} to {clusters[-1]} | "
            f"{before:,.1f} | {after:,.1f} | {moved:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
