"""Measure ways to cluster 100,000 embeddings, and scale their times to ten million rows.

    python benchmarks/embeddings.py [--rows N]

The rows are generated: 40 groups of directions in 768 columns, stored in a file as float16, as
embeddings of a language model might be. The script writes benchmarks/embeddings.json, which
docs/embeddings.md shows.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import normalize

from pskclust import PSKC

RESULTS = Path(__file__).with_suffix(".json")
EXAMPLE_OUTPUT = Path(__file__).parents[1] / "docs/gallery/embeddings.txt"
N_COLUMNS, N_KEPT, N_GROUPS = 768, 64, 40
N_SAMPLE, N_BLOCK = 10_000, 20_000
SCALED_TO = 10_000_000


def write_rows(path: Path, n_rows: int) -> np.ndarray:
    """Write rows of length 1 in groups, as float16; return the group of each row."""
    rng = np.random.RandomState(0)
    middles = rng.normal(size=(N_GROUPS, N_COLUMNS)).astype(np.float32)
    # Like embeddings of texts, the rows of a group vary in few directions.
    ways = rng.normal(size=(N_KEPT, N_COLUMNS)).astype(np.float32) / 8
    groups = rng.randint(N_GROUPS, size=n_rows)
    file = np.lib.format.open_memmap(path, "w+", np.float16, (n_rows, N_COLUMNS))
    for start in range(0, n_rows, N_BLOCK):
        some = groups[start : start + N_BLOCK]
        spread = rng.normal(size=(len(some), N_KEPT)).astype(np.float32) @ ways
        file[start : start + N_BLOCK] = normalize(middles[some] + 0.7 * spread)
    return groups


def project(rows: np.ndarray, svd: TruncatedSVD) -> np.ndarray:
    """Return rows projected to few columns, reading them block by block."""
    blocks = (rows[start : start + N_BLOCK] for start in range(0, len(rows), N_BLOCK))
    found = [svd.transform(normalize(block.astype(np.float32))) for block in blocks]
    return np.concatenate(found).astype(np.float32)


def timed(work, *arguments):
    """Return the seconds that `work` takes, and its result."""
    start = time.perf_counter()
    result = work(*arguments)
    return time.perf_counter() - start, result


def measure(path: Path, n_rows: int) -> dict[str, object]:
    groups = write_rows(path, n_rows)
    rows = np.load(path, mmap_mode="r")
    sample = np.sort(np.random.RandomState(0).choice(n_rows, N_SAMPLE, replace=False))
    directions = normalize(rows[sample].astype(np.float32))
    svd_seconds, svd = timed(TruncatedSVD(N_KEPT, random_state=0).fit, directions)
    projecting, few = timed(project, rows, svd)
    # This fit compiles the code before it is timed.
    PSKC(metric="cosine", random_state=0).fit(few[sample]).predict(few)
    on_sample, model = timed(PSKC(metric="cosine", random_state=0).fit, few[sample])
    predicting, labels = timed(model.predict, few)
    on_all, whole = timed(PSKC(metric="cosine", random_state=0).fit, few)
    wide = PSKC(metric="cosine", random_state=0).fit(directions)
    wide.predict(rows)
    predicting_wide, labels_wide = timed(wide.predict, rows)
    scores = {"sample": labels, "all": whole.labels_, "wide": labels_wide}
    return {
        "rows": n_rows,
        "columns": N_COLUMNS,
        "kept": N_KEPT,
        "sample": N_SAMPLE,
        "cores": os.cpu_count(),
        "seconds_once": {"svd": svd_seconds, "fit_sample": on_sample},
        "seconds": {
            "project": projecting,
            "predict": predicting,
            "fit_all": on_all,
            "predict_wide": predicting_wide,
        },
        "ari": {name: adjusted_rand_score(groups, found) for name, found in scores.items()},
    }


def table() -> str:
    """Return a table of the measured seconds, and of the same scaled to ten million rows."""
    found = json.loads(RESULTS.read_text())
    n_rows, columns, kept = found["rows"], found["columns"], found["kept"]
    once, seconds = found["seconds_once"], found["seconds"]
    lines = [
        f"| step | {n_rows:,} rows | {SCALED_TO:,} rows, scaled |",
        "|---|---|---|",
        *(
            f"| {name} | {value:.1f} s | {value:.1f} s, the same |"
            for name, value in (
                (f"SVD of a sample of {found['sample']:,} rows", once["svd"]),
                (f"`PSKC().fit` of the sample in {kept} columns", once["fit_sample"]),
            )
        ),
        *(
            f"| {name} | {value:.1f} s | {value * SCALED_TO / n_rows / 60:.0f} min |"
            for name, value in (
                (f"read, and project to {kept} columns", seconds["project"]),
                (f"`predict` in {kept} columns", seconds["predict"]),
                (
                    f"instead of `predict`: `PSKC().fit` of all rows in {kept} columns",
                    seconds["fit_all"],
                ),
                (f"instead of both: `predict` in {columns} columns", seconds["predict_wide"]),
            )
        ),
    ]
    ari = found["ari"]
    note = (
        f"Measured with {found['cores']} cores on generated rows in {N_GROUPS} groups. Times for "
        f"{SCALED_TO:,} rows are scaled in proportion, not measured. ARI with the "
        f"groups: sample and `predict` {ari['sample']:.2f}, fit of all rows {ari['all']:.2f}, "
        f"{columns} columns {ari['wide']:.2f}."
    )
    return "\n".join(lines) + "\n\n" + note


def example_table() -> str:
    """Return a table of the methods in the kept output of the example of embeddings."""
    lines = EXAMPLE_OUTPUT.read_text().splitlines()[1:]
    found = [
        re.fullmatch(r"(.+?) +(\d+) clusters, +(\d+%) noise, ARI ([\d.]+)", line) for line in lines
    ]
    rows = [f"| {' | '.join(match.groups())} |" for match in found if match]
    return "\n".join(["| method | clusters | noise | ARI |", "|---|---|---|---|", *rows, ""])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=100_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        found = measure(Path(folder) / "rows.npy", options.rows)
    RESULTS.write_text(json.dumps(found, indent=1) + "\n")
    print(table())


if __name__ == "__main__":
    main()
