"""Compare the memory that a fit asks for before it starts with the memory that it takes.

    python benchmarks/memory.py [--only "default"] [--keep]

Each shape runs in its own process. The baseline is the memory after a small fit has loaded all
code and the rows are in memory. `need` is the largest total that the fit asked for at any time;
`peak` is the most that it held. Where cells are on disk, pages of files do not count, because the
system takes them back when memory is short. The script exits with 1 unless
0.9 <= need / peak <= 1.25 for all shapes.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any, NamedTuple, Self

import figures
import numpy as np

ROOT = Path(__file__).parents[1]
LEAST, MOST = 0.9, 1.25


class Shape(NamedTuple):
    """The rows, columns and parameters of a fit, and the operation to measure."""

    n_rows: int
    n_columns: int
    parameters: dict[str, Any]
    verb: str = "fit"


SHAPES = {
    "given, 2 columns": Shape(1_000_000, 2, {"psi": 128, "tau": 0.01}),
    "given, 8 columns": Shape(300_000, 8, {"psi": 64, "tau": 0.02}),
    "given, 100 columns": Shape(60_000, 100, {"psi": 256, "tau": 0.02}),
    "given, 784 columns": Shape(10_000, 784, {"psi": 1000, "tau": 0.02}),
    "given, trees, t = 200": Shape(
        300_000, 5, {"psi": 256, "tau": 0.02, "n_partitions": 200, "method": "tree"}
    ),
    "default, 4 columns": Shape(500_000, 4, {}),
    "default, 50 columns": Shape(100_000, 50, {}),
    "out of core, cells in memory": Shape(1_500_000, 2, {"psi": 64, "tau": 0.02}, "blocks"),
    "out of core, cells on disk": Shape(1_500_000, 4, {"psi": 300, "tau": 0.02}, "disk"),
    "predict": Shape(1_000_000, 4, {"psi": 128, "tau": 0.02}, "predict"),
    "similarity": Shape(1_000_000, 4, {"psi": 128, "tau": 0.02}, "similarity"),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", help="measure only shapes whose name contains this text")
    figures.add_option(parser)
    parser.add_argument("--measure", choices=SHAPES, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        print(json.dumps(measure(SHAPES[arguments.measure])))
        return 0
    found = {}
    for name in SHAPES:
        if not arguments.only or arguments.only in name:
            found[name] = in_new_process(name)
    rows = [[name, *_cells(SHAPES[name], one)] for name, one in found.items()]
    columns = ["shape", "rows", "need", "peak", "need / peak"]
    figures.show("memory", columns, rows, keep=arguments.keep)
    return int(not all(is_honest(one) for one in found.values()))


def _cells(shape: Shape, found: dict[str, int]) -> list[str]:
    need, peak = found["need"], found["peak"]
    return [
        f"{shape.n_rows:,}",
        f"{need / 1e6:.0f} MB",
        f"{peak / 1e6:.0f} MB",
        f"{need / peak:.2f}",
    ]


def in_new_process(name: str) -> dict[str, int]:
    """Return need and peak of a shape in bytes, measured in a new process."""
    paths = [str(ROOT / "src"), os.environ.get("PYTHONPATH", "")]
    done = subprocess.run(
        [sys.executable, __file__, "--measure", name],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(done.stdout)


def is_honest(figures: dict[str, int]) -> bool:
    """Return whether the need is close enough to the peak."""
    return LEAST * figures["peak"] <= figures["need"] <= MOST * figures["peak"]


def measure(shape: Shape) -> dict[str, int]:
    """Return need and peak of a shape in bytes, measured in this process."""
    from pskclust import PSKC, RowBlocks

    parameters = {"random_state": 0, **shape.parameters}
    rng = np.random.RandomState(0)
    centres = rng.randn(10, shape.n_columns) * 5
    X = rng.randn(shape.n_rows, shape.n_columns)
    X += centres[rng.randint(10, size=shape.n_rows)]
    some = X[:8000]
    # A small fit loads all code that this shape needs.
    warm = PSKC(**parameters).fit(some)
    verb = warm.similarity if shape.verb == "similarity" else warm.predict
    verb(some)
    PSKC(**parameters).fit(RowBlocks.from_array(some))
    if shape.verb == "disk":
        from pskclust._engines import out_of_core

        with tempfile.TemporaryDirectory() as folder:
            # Puts cells on disk however much memory this machine has.
            out_of_core.available_bytes = lambda: 0
            return _measured(PSKC(**parameters, scratch_dir=folder).fit, X, files=False)
    if shape.verb == "blocks":
        return _measured(PSKC(**parameters).fit, RowBlocks.from_array(X))
    return _measured(PSKC(**parameters).fit if shape.verb == "fit" else verb, X)


def _measured(work, rows, files: bool = True) -> dict[str, int]:
    from pskclust._utils import memory

    memory.release_free_memory()
    Path("/proc/self/clear_refs").write_text("5")  # resets the peak, VmHWM
    kind = "VmRSS" if files else "RssAnon"
    baseline = resident_bytes(kind)
    needs = [0]

    def ask(asked: dict[str, int], what: str, way_out: str) -> None:
        needs.append(resident_bytes(kind) - baseline + sum(asked.values()))

    for name, module in list(sys.modules.items()):
        if name.startswith("pskclust") and hasattr(module, "require_memory"):
            module.require_memory = ask
    with Watch(kind) as watch:
        result = work(rows)
    peak = (resident_bytes("VmHWM") if files else watch.most) - baseline
    del result
    return {"need": max(needs), "peak": peak}


class Watch(threading.Thread):
    """A thread that records the largest value of a memory figure whose peak the system lacks."""

    def __init__(self, kind: str) -> None:
        super().__init__(daemon=True)
        self._kind = kind
        self._over = threading.Event()
        self.most = 0

    def run(self) -> None:
        while not self._over.wait(0.002):
            self.most = max(self.most, resident_bytes(self._kind))

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self.join()


def resident_bytes(name: str) -> int:
    """Return a memory figure of this process: VmRSS or RssAnon (current), or VmHWM (peak)."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) * 1024
    raise ValueError(name)


if __name__ == "__main__":
    sys.exit(main())
