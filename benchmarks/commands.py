"""Measure the memory and time of commands on large files.

    python benchmarks/commands.py [--rows N] [--keep]

The rows are generated: ten normal clusters, float64. Each command runs in its own process, and its
memory is the peak of resident memory that the system reports. The script prints a table; `--keep`
keeps it for docs/large-data.md.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import figures
import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

GIVEN = "--psi 64 --tau 0.01"
FITS = [
    *((2, "parquet", ""), (2, "csv", ""), (2, "parquet", GIVEN), (2, "csv", GIVEN)),
    *((4, "parquet", ""), (4, "csv", GIVEN)),
]
FORMATS = {"parquet": "Parquet", "csv": "CSV"}
COLUMNS = ["command", "columns", "file", "parameters", "memory", "seconds"]


def write_rows(folder: Path, n_rows: int, n_columns: int) -> None:
    """Write the same rows as Parquet and as CSV."""
    rng = np.random.default_rng(0)
    centres = rng.uniform(-20, 20, (10, n_columns))
    rows = centres[rng.integers(10, size=n_rows)] + rng.normal(size=(n_rows, n_columns))
    # Rounded, as numbers in such files usually are.
    table = pa.table({f"c{k}": rows[:, k].round(5) for k in range(n_columns)})
    pa.parquet.write_table(table, folder / f"{n_columns}.parquet")
    pa.csv.write_csv(table, folder / f"{n_columns}.csv")


def measure(folder: Path, *words: str) -> list[str]:
    """Return the memory and seconds of a command in its second run; the first compiles code."""
    run(folder, *words)
    megabytes, seconds = run(folder, *words)
    size = f"{megabytes:.0f} MB" if megabytes < 1000 else f"{megabytes / 1000:.2f} GB"
    return [size, f"{seconds:.0f}"]


def run(folder: Path, *words: str) -> tuple[float, float]:
    """Run a command; return its megabytes and seconds."""
    start = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-m", "pskclust", *words, "--force"],
        cwd=folder,
        stdout=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise RuntimeError(f"pskclust {' '.join(words)} failed with status {status}.")
    return usage.ru_maxrss * 1024 / 1e6, time.perf_counter() - start


def described(path: Path) -> str:
    return f"{FORMATS[path.suffix[1:]]}, {path.stat().st_size / 1e6:.0f} MB"


def measure_all(folder: Path, n_rows: int) -> list[list[str]]:
    for n_columns in (2, 4):
        write_rows(folder, n_rows, n_columns)
    found = []
    for n_columns, ending, given in FITS:
        name = f"{n_columns}.{ending}"
        words = ("fit", name, "-o", "labels.parquet", "--model", "model.npz", *given.split())
        about = [f"{n_columns}", described(folder / name), f"`{given}`" if given else "default"]
        found.append(["`fit`", *about, *measure(folder, *words)])
    words = ("predict", "model.npz", "4.csv", "-o", "labels.parquet")
    about = ["4", described(folder / "4.csv"), f"`{GIVEN}`"]
    return [*found, ["`predict`", *about, *measure(folder, *words)]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=5_000_000)
    figures.add_option(parser)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = measure_all(Path(folder), options.rows)
    figures.show("commands", COLUMNS, rows, keep=options.keep)


if __name__ == "__main__":
    main()
