"""Run fits in a control group of 2 GB: each must work, or be refused before any work is done.

    python benchmarks/memory_limit.py [--keep]

The script needs root, and Linux with control groups of version 1 that limit memory. It exits with
1 if a fit is killed or fails with any other error.
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
from memory import ROOT, Shape
from out_of_core import control_group

LIMIT = 2_000_000_000
SHAPES = {
    "given, 2 columns": Shape(1_000_000, 2, {"psi": 128, "tau": 0.01}),
    "given, 4 columns": Shape(5_000_000, 4, {"psi": 128, "tau": 0.01}),
    "given, 4 columns, twice the rows": Shape(10_000_000, 4, {"psi": 128, "tau": 0.01}),
    "the same, cells on disk": Shape(10_000_000, 4, {"psi": 128, "tau": 0.01}, "disk"),
    "given, 784 columns": Shape(20_000, 784, {"psi": 1000, "tau": 0.01}),
    "given, 784 columns, 8 times the rows": Shape(160_000, 784, {"psi": 2000, "tau": 0.01}),
    "default, 8 columns": Shape(2_000_000, 8, {}),
    "default, 2 columns": Shape(20_000_000, 2, {}),
    "similarity": Shape(3_000_000, 4, {"psi": 128, "tau": 0.01}, "similarity"),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    figures.add_option(parser)
    parser.add_argument("--fit", choices=SHAPES, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.fit:
        print(outcome(SHAPES[arguments.fit]))
        return 0
    with control_group(LIMIT) as group:
        if group is None:
            return 1
        found = {name: in_group(name, group) for name in SHAPES}
    rows = [[name, f"{SHAPES[name].n_rows:,}", *one] for name, one in found.items()]
    figures.show("memory limit", ["shape", "rows", "seconds", "outcome"], rows, keep=arguments.keep)
    return int(any(outcome in ("killed", "failed") for _, outcome in found.values()))


def in_group(name: str, group: Path) -> tuple[str, str]:
    """Fit a shape in a process of the group; return the seconds and the outcome."""
    started = time.perf_counter()
    done = subprocess.run(
        [sys.executable, __file__, "--fit", name],
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")},
        preexec_fn=lambda: (group / "cgroup.procs").write_text(str(os.getpid())) and None,
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    failed = "killed" if done.returncode < 0 else "failed"
    said = done.stdout.strip() if done.returncode == 0 else failed
    return f"{time.perf_counter() - started:.0f}", said


def outcome(shape: Shape) -> str:
    """Fit a shape in this process; return "works", or the message that refuses the fit."""
    from pskclust import PSKC, InsufficientMemoryError

    rng = np.random.RandomState(0)
    X = np.empty((shape.n_rows, shape.n_columns))
    for start in range(0, len(X), 100_000):
        some = X[start : start + 100_000]
        some[:] = rng.randn(*some.shape) + 5 * rng.randint(4, size=(len(some), 1))
    model = PSKC(**shape.parameters, random_state=0)
    try:
        if shape.verb == "disk":
            with tempfile.TemporaryDirectory() as folder:
                model.set_params(scratch_dir=folder).fit(X)
        elif shape.verb == "similarity":
            model.fit(X[:50_000]).similarity(X)
        else:
            model.fit(X)
    except InsufficientMemoryError as error:
        return f"refused: {str(error).split(' (')[0]}"
    return "works"


if __name__ == "__main__":
    sys.exit(main())
