"""Commands that are killed at any moment: files are old or new, whole, and nothing stays."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from sklearn.datasets import make_blobs

import pskclust
from pskclust._utils.files import ENDING
from tools.attack.cases import Case, require

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
_OLD = b"the file that was there before"
_FAST = ("--psi", "8", "--tau", "0.05", "--n-partitions", "20", "--force")


def cases(rng: np.random.RandomState, folder: Path) -> Iterator[Case]:
    """Yield runs of ``pskclust fit`` that end early, by file and by standard input."""
    X = make_blobs(20_000, centers=3, random_state=0)[0]
    np.savetxt(folder / "table.csv", X, delimiter=",", header="x,y", comments="")
    (folder / "tmp").mkdir()
    started = time.perf_counter()
    for source in ("table.csv", "-"):
        _run(folder, source).wait(timeout=200)
    longest = (time.perf_counter() - started) / 2
    expected = {name: (folder / name).read_bytes() for name in ("labels.csv", "model.npz")}
    while True:
        source = str(rng.choice(["table.csv", "-"]))
        number = SIGNALS[rng.randint(len(SIGNALS))]
        # Most of the time goes into loading code; files are written at the end.
        after = longest * (rng.rand() if rng.rand() < 0.3 else 0.7 + 0.4 * rng.rand())
        yield Case(
            f"{source} {number.name} after {after:.2f} s",
            lambda s=source, n=number, a=after: _killed(folder, s, n, a, expected),
        )


def _killed(
    folder: Path, source: str, number: signal.Signals, after: float, expected: dict[str, bytes]
) -> int:
    for name in expected:
        (folder / name).write_bytes(_OLD)
    process = _run(folder, source)
    time.sleep(after)
    process.send_signal(number)
    said = process.communicate(timeout=100)[1]
    if number != signal.SIGKILL:
        require(b"Traceback" not in said or number == signal.SIGTERM, said[-500:].decode())
    for name, whole in expected.items():
        found = (folder / name).read_bytes()
        require(found in (_OLD, whole), f"{name} is neither the old nor the new file")
    # The next run removes whatever is left, and gives the same files.
    require(_run(folder, source).wait(timeout=200) == 0, "the next run failed")
    for name, whole in expected.items():
        require((folder / name).read_bytes() == whole, f"{name} of the next run is another")
    left = [name for name in _files(folder) if name.endswith(ENDING)]
    require(not left, f"left behind: {left}")
    pskclust.load(folder / "model.npz")
    return 3


def _files(folder: Path) -> list[str]:
    return [*os.listdir(folder), *os.listdir(folder / "tmp")]


def _run(folder: Path, source: str) -> subprocess.Popen[bytes]:
    outputs = ("-o", "labels.csv", "--model", "model.npz")
    command = [sys.executable, "-m", "pskclust", "fit", source, *_FAST, *outputs]
    with open(folder / "table.csv", "rb") as table:
        return subprocess.Popen(
            command,
            cwd=folder,
            env={**os.environ, "TMPDIR": str(folder / "tmp")},
            stdin=table,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
