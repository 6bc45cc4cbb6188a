"""Attack: a command killed at any moment must leave complete files and nothing else."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from sklearn.datasets import make_blobs

import pskclust
from tools.attack.cases import Case, require
from tools.attack.commands import Command, left_behind

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
_OLD = b"the file that was there before"
_FAST = ("--psi", "8", "--tau", "0.05", "--n-partitions", "20", "--force")
_OUTPUTS = ("labels.csv", "model.npz")
# Most commands run in forks of this process: a command that starts Python spends most of its time
# on that, and little on writing.
_SHARE_STARTED = 0.25


def cases(rng: np.random.RandomState, folder: Path) -> Iterator[Case]:
    """Yield cases in which ``pskclust fit`` is killed while it reads a file or standard input."""
    X = make_blobs(4_000, centers=3, random_state=0)[0]
    np.savetxt(folder / "table.csv", X, delimiter=",", header="x,y", comments="")
    (folder / "tmp").mkdir()
    # This loads code for the forked processes; n_jobs=1, because forks do not inherit threads.
    pskclust.PSKC(psi=8, tau=0.05, n_partitions=20, n_jobs=1).fit(folder / "table.csv")
    seconds = {way: max(_time(way, folder) for _ in range(2)) for way in (_started, _forked)}
    expected = {name: (folder / name).read_bytes() for name in _OUTPUTS}
    while True:
        way = _started if rng.rand() < _SHARE_STARTED else _forked
        source = str(rng.choice(["table.csv", "-"]))
        number = SIGNALS[rng.randint(len(SIGNALS))]
        # Most signals come late, because files are written at the end.
        share = rng.rand() if rng.rand() < 0.4 else 0.6 + 0.5 * rng.rand()
        after = seconds[way] * share
        yield Case(
            f"{way.__name__} {source} {number.name} after {after:.3f} s",
            lambda w=way, s=source, n=number, a=after: _killed(w, folder, s, n, a, expected),
        )


Way = Callable[[Path, str], Command]


def _started(folder: Path, source: str) -> Command:
    return Command.started(folder, _arguments(source), folder / "table.csv")


def _forked(folder: Path, source: str) -> Command:
    return Command.forked(folder, _arguments(source), folder / "table.csv")


def _arguments(source: str) -> list[str]:
    return ["fit", source, *_FAST, "-o", _OUTPUTS[0], "--model", _OUTPUTS[1]]


def _time(way: Way, folder: Path) -> float:
    started = time.perf_counter()
    code, said = way(folder, "-").wait()
    require(code == 0, f"a run without a signal failed: {said}")
    return time.perf_counter() - started


def _in_start_of_python(said: str) -> bool:
    """Return whether Python printed a traceback before it ran any code of the command."""
    return ("<frozen runpy>" in said or "<frozen site>" in said) and ", in main" not in said


def _killed(
    way: Way,
    folder: Path,
    source: str,
    number: signal.Signals,
    after: float,
    expected: dict[str, bytes],
) -> int:
    for name in expected:
        (folder / name).write_bytes(_OLD)
    command = way(folder, source)
    command.signalled(number, after)
    _, said = command.wait(timeout=100)
    if number != signal.SIGKILL:
        if number == signal.SIGINT and not _in_start_of_python(said):
            require("Traceback" not in said, said[-500:])
        left = left_behind(folder, folder / "tmp")
        require(not left, f"temporary files were left after {number.name}: {left}")
    for name, whole in expected.items():
        found = (folder / name).read_bytes()
        require(found in (_OLD, whole), f"{name} is neither the old nor the new file")
    # The next run removes temporary files that were left, and writes the same files.
    code, said = _forked(folder, source).wait()
    require(code == 0, f"the next run failed: {said}")
    for name, whole in expected.items():
        require((folder / name).read_bytes() == whole, f"{name} of the next run is different")
    left = left_behind(folder, folder / "tmp")
    require(not left, f"temporary files were left: {left}")
    pskclust.load(folder / "model.npz")
    return 3
