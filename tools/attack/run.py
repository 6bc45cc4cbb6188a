"""Attack pskclust for some time, and tell what was found.

    python -m tools.attack.run --budget 10m [--only models inputs] [--seed 0]

Each kind of attack runs in processes of its own, so that a crash or a hang is a finding like any
other. It exits with 1 if anything was found, and writes build/attack.json; with
--page, also the table in docs/promises.md.
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
from dataclasses import asdict, dataclass, field
from pathlib import Path

from tools.attack.cases import serve

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "build" / "attack.json"
PAGE = ROOT / "docs" / "promises.md"
_START, _END = "<!-- attack -->", "<!-- end of attack -->"

# Share of the time, and the seconds after which a case hangs.
KINDS = {
    "exactness": (0.2, 120),
    "models": (0.2, 30),
    "inputs": (0.15, 60),
    "kills": (0.15, 240),
    "dask": (0.2, 300),
    "explorer": (0.1, 120),
}
_UNITS = {"s": 1, "m": 60, "h": 3600}
_MOST_FINDINGS_SHOWN = 20


@dataclass
class Outcome:
    """The outcome of one kind of attack."""

    cases: int = 0
    compared: int = 0
    slowest: float = 0.0
    findings: list[dict[str, str]] = field(default_factory=list)


def main() -> int:
    arguments = _parse()
    if arguments.serve:
        module = importlib.import_module(f"tools.attack.{arguments.serve}")
        serve(module.cases, arguments.seed, Path.cwd())
        return 0
    kinds = arguments.only or list(KINDS)
    total = sum(KINDS[kind][0] for kind in kinds)
    outcomes = {}
    for kind in kinds:
        share, limit = KINDS[kind]
        outcomes[kind] = _attack(kind, arguments.seed, arguments.budget * share / total, limit)
        print(_line(kind, outcomes[kind]), flush=True)
    RESULTS.parent.mkdir(exist_ok=True)
    content = {"seed": arguments.seed, "seconds": arguments.budget}
    content["kinds"] = {kind: asdict(outcome) for kind, outcome in outcomes.items()}
    RESULTS.write_text(json.dumps(content, indent=1))
    if arguments.page:
        _write_page(outcomes, arguments.budget, arguments.seed)
    return _tell(outcomes)


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
    parser.add_argument("--page", action="store_true", help="write the table in docs/promises.md")
    parser.add_argument("--serve", choices=KINDS, help=argparse.SUPPRESS)
    return parser.parse_args()


def _attack(kind: str, seed: int, budget: float, limit: float) -> Outcome:
    """Run cases of a kind until the time is over; a new process where one ended or hung."""
    outcome = Outcome()
    end = time.monotonic() + budget
    while time.monotonic() < end:
        with tempfile.TemporaryDirectory(prefix="attack-") as folder:
            _one_process(kind, seed, end, limit, Path(folder), outcome)
        seed += 1000
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
    """Note what a process tells, until the time is over or it ends."""
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


def _lines(process, end, limit):
    """Yield the lines of a process, None once the time is over or none came for too long."""
    rest = b""
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while True:
            # The last case may take its time: to end it early would look like a hang.
            wait = min(limit, max(0.0, end - time.monotonic()))
            if not selector.select(wait):
                yield None
                return
            piece = os.read(process.stdout.fileno(), 1 << 16)
            if not piece:
                return
            *lines, rest = (rest + piece).split(b"\n")
            yield from lines


def _line(kind: str, outcome: Outcome) -> str:
    return (
        f"{kind:10} {outcome.cases:>9,} cases {outcome.compared:>11,} comparisons "
        f"{outcome.slowest:>7.1f} s slowest {len(outcome.findings):>5} findings"
    )


def _write_page(outcomes: dict[str, Outcome], budget: float, seed: int) -> None:
    """Write the figures of this run into the page of promises."""
    lines = [
        f"Budget {budget / 60:g} minutes, seed {seed}.",
        "",
        "| attack | cases | comparisons | slowest case | findings |",
        "|---|---|---|---|---|",
        *(
            f"| {kind} | {one.cases:,} | {one.compared:,} | {one.slowest:.1f} s "
            f"| {len(one.findings)} |"
            for kind, one in outcomes.items()
        ),
    ]
    head, _, rest = PAGE.read_text().partition(_START)
    _, _, tail = rest.partition(_END)
    PAGE.write_text("\n".join([f"{head}{_START}", *lines, f"{_END}{tail}"]))


def _tell(outcomes: dict[str, Outcome]) -> int:
    findings = [(kind, one) for kind, outcome in outcomes.items() for one in outcome.findings]
    for kind, one in findings[:_MOST_FINDINGS_SHOWN]:
        print(f"\n{kind}: {one['case']}\n{one['what'][-1500:]}")
    print(f"\n{len(findings)} findings")
    return int(bool(findings))


if __name__ == "__main__":
    sys.exit(main())
