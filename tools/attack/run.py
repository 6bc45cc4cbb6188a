"""Attack pskclust for a given time, and report findings.

    python -m tools.attack.run --budget 10m [--only models inputs] [--seed 0] [--keep]

Attacks run in separate processes, one for each processor, so that a crash or a hang is a finding
like any other. The script writes build/attack.json and, with --keep, tools/attack/results.json and
the table in docs/promises.md. It exits with 1 if there are findings.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import os
import re
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

from tools.attack import results
from tools.attack.cases import serve
from tools.attack.results import Outcome

ROOT = Path(__file__).parents[2]


class Kind(NamedTuple):
    """A kind of attack."""

    # Share of the time, in minutes of the 120 that two processors have in an hour.
    minutes: float
    # Seconds after which a case counts as a hang.
    limit: float
    # Number of cases or comparisons that a run of an hour should reach.
    wanted: int
    # The shortest attack that makes sense, in seconds.
    least: float = 0


KINDS = {
    "dask": Kind(40, 300, 60),
    "exactness": Kind(24, 120, 100_000),
    "models": Kind(20, 30, 100_000),
    "kills": Kind(12, 240, 200),
    "inputs": Kind(8, 60, 1_000),
    "explorer": Kind(8, 120, 5_000),
    "disk": Kind(4, 120, 200),
    "load": Kind(4, 200, 1, least=150),
}
_UNITS = {"s": 1, "m": 60, "h": 3600}
# Files of an attack are temporary, so they are kept in memory if possible.
_FOLDERS = "/dev/shm" if os.path.isdir("/dev/shm") else None


class Job(NamedTuple):
    """A kind of attack, its time, and its seed."""

    kind: str
    seconds: float
    seed: int


def main() -> int:
    arguments = _parse()
    if arguments.serve:
        module = importlib.import_module(f"tools.attack.{arguments.serve}")
        serve(module.cases, arguments.seed, Path.cwd())
        return 0
    kinds = arguments.only or list(KINDS)
    lanes = plan(kinds, arguments.budget, arguments.seed, arguments.processes)
    outcomes = {kind: Outcome() for kind in kinds}
    with ThreadPoolExecutor(len(lanes)) as threads:
        for lane, found in zip(lanes, threads.map(_follow, lanes), strict=True):
            for job, outcome in zip(lane, found, strict=True):
                outcomes[job.kind].add(outcome)
    wanted = {kind: KINDS[kind].wanted for kind in kinds}
    results.write(outcomes, wanted, arguments.budget, arguments.seed)
    if arguments.keep:
        results.keep()
    return int(bool(results.tell(outcomes)))


def plan(kinds: list[str], budget: float, seed: int, n_processes: int) -> list[list[Job]]:
    """Return the jobs of each process: attacks end to end, cut where a process's time is full."""
    total = sum(KINDS[kind].minutes for kind in kinds)
    lanes: list[list[Job]] = [[] for _ in range(n_processes)]
    number, free = 0, budget
    for kind in kinds:
        rest = max(KINDS[kind].least, KINDS[kind].minutes / total * budget * n_processes)
        while rest > 0:
            last = number == n_processes - 1
            whole = last or rest <= free or KINDS[kind].least > free
            some = rest if whole else free
            if some:
                lanes[number].append(Job(kind, some, seed + 1_000_000 * number))
            rest, free = rest - some, free - some
            if free <= 0 and not last:
                number, free = number + 1, budget
    return lanes


def _follow(lane: list[Job]) -> list[Outcome]:
    """Run jobs one after another; return their outcomes."""
    outcomes = []
    for kind, some, seed in lane:
        outcomes.append(_attack(kind, seed, some, KINDS[kind].limit))
        print(results.line(kind, outcomes[-1]), flush=True)
    return outcomes


def seconds(text: str) -> float:
    """Return the seconds in a time such as 90, 30s, 10m or 1h."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", text)
    if not found:
        raise argparse.ArgumentTypeError(f"{text!r} is not a time such as 30s, 10m or 1h")
    return float(found[1]) * _UNITS[found[2] or "s"]


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--budget", type=seconds, default=seconds("10m"))
    parser.add_argument("--only", nargs="+", choices=KINDS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--keep", action="store_true", help="show the figures in docs/promises.md")
    parser.add_argument("--serve", choices=KINDS, help=argparse.SUPPRESS)
    return parser.parse_args()


def _attack(kind: str, seed: int, budget: float, limit: float) -> Outcome:
    """Run cases of a kind until the time is over, in a new process after a crash or a hang."""
    outcome = Outcome()
    started = time.monotonic()
    while time.monotonic() < started + budget:
        with tempfile.TemporaryDirectory(prefix="attack-", dir=_FOLDERS) as folder:
            _one_process(kind, seed, started + budget, limit, Path(folder), outcome)
        seed += 1000
    outcome.seconds = time.monotonic() - started
    return outcome


def _one_process(
    kind: str, seed: int, end: float, limit: float, folder: Path, outcome: Outcome
) -> None:
    command = [sys.executable, "-m", "tools.attack.run", "--serve", kind, "--seed", str(seed)]
    paths = [str(ROOT / "src"), str(ROOT), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    with open(folder / "stderr", "wb") as errors:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=errors,
            start_new_session=True,
        )
    try:
        _listen(process, end, limit, folder, outcome)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()


def _listen(
    process: subprocess.Popen[bytes], end: float, limit: float, folder: Path, outcome: Outcome
) -> None:
    """Record the cases that a process reports, until the time is over or the process ends."""
    current = "starting"
    for line in _lines(process, end, limit):
        if line is None:
            if time.monotonic() < end:
                outcome.findings.append({"case": current, "what": f"hangs for {limit:g} seconds"})
            return
        told = json.loads(line)
        if "case" in told:
            current = told["case"]
            continue
        outcome.cases += 1
        outcome.compared += told.get("compared", 0)
        outcome.slowest = max(outcome.slowest, told["seconds"])
        if "finding" in told:
            outcome.findings.append({"case": current, "what": told["finding"]})
    said = (folder / "stderr").read_text(errors="replace")[-2000:]
    outcome.findings.append({"case": current, "what": f"ended with {process.wait()}: {said}"})


def _lines(process: subprocess.Popen[bytes], end: float, limit: float) -> Iterator[bytes | None]:
    """Yield the lines of a process, then None if the time is over or no line came in time."""
    rest = b""
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while True:
            # When the time is over, the last case is cut off; that does not count as a hang.
            wait = min(limit, max(0.0, end - time.monotonic()))
            if not selector.select(wait):
                yield None
                return
            piece = os.read(process.stdout.fileno(), 1 << 16)
            if not piece:
                return
            *lines, rest = (rest + piece).split(b"\n")
            yield from lines


if __name__ == "__main__":
    sys.exit(main())
