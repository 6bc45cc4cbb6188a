"""Compare the layers of a fit with the best cut of its merge tree, on labelled sets.

The sets are scikit-learn's digits and, with `--data DIR`, the text embeddings in DIR/text_*.npz.
Every cut that `relabel` gives is scored against the classes. The script prints the ARI of the
layers and of the best cut; `--keep` keeps the table for docs/coming-from-hdbscan.md.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import figures
import numpy as np
from sklearn.datasets import load_digits
from sklearn.metrics import adjusted_rand_score

from pskclust import PSKC

NAMES = {
    "text_20newsgroups_minilm384": "20 newsgroups, MiniLM",
    "text_20newsgroups_wordllama256": "20 newsgroups, WordLlama",
    "text_reuters_r8_wordllama256": "Reuters R8, WordLlama",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path)
    parser.add_argument("--seeds", type=int, default=3)
    figures.add_option(parser)
    options = parser.parse_args()
    digits = load_digits()
    sets = {"digits": (digits.data, digits.target, "euclidean")}
    for path in sorted(options.data.glob("text_*.npz")) if options.data else []:
        with np.load(path) as file:
            sets[NAMES.get(path.stem, path.stem)] = (file["X"], file["y"], "cosine")
    rows = []
    for name, (X, y, metric) in sets.items():
        for seed in range(options.seeds):
            model = PSKC(metric=metric, random_state=seed).fit(X)
            ari = {}
            for number in range(1, len(model.merge_tree_) + 1):
                try:
                    ari[number] = adjusted_rand_score(y, model.relabel(n_clusters=number))
                except ValueError:
                    break
            layers = [layer.n_clusters for layer in model.layers_]
            best = max(ari, key=ari.__getitem__)
            found = ", ".join(f"{ari[number]:.2f}" for number in layers)
            cut = [f"{best}", f"{ari[best]:.2f}"]
            rows.append([name, f"{seed}", ", ".join(map(str, layers)), found, *cut])
    columns = ["set", "seed", "layers", "ARI of layers", "best cut", "its ARI"]
    figures.show("layers", columns, rows, keep=options.keep)


if __name__ == "__main__":
    main()
