"""Outcomes of attacks: print them, write them to files, and show them in docs/promises.md."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
# The results of the last run, and of the run that the page shows.
LAST = ROOT / "build" / "attack.json"
KEPT = Path(__file__).with_name("results.json")
PAGE = ROOT / "docs" / "promises.md"
_START, _END = "<!-- attack -->", "<!-- end of attack -->"
_MOST_FINDINGS_SHOWN = 20


@dataclass
class Outcome:
    """Counts, times and findings of one kind of attack."""

    cases: int = 0
    compared: int = 0
    # Summed over processes.
    seconds: float = 0.0
    slowest: float = 0.0
    findings: list[dict[str, str]] = field(default_factory=list)

    def add(self, other: Outcome) -> None:
        """Add the outcome of another process."""
        self.cases += other.cases
        self.compared += other.compared
        self.seconds += other.seconds
        self.slowest = max(self.slowest, other.slowest)
        self.findings += other.findings


def line(kind: str, outcome: Outcome) -> str:
    """Return an outcome as a line for the terminal."""
    minutes = max(outcome.seconds, 1e-9) / 60
    return (
        f"{kind:10} {outcome.cases:>9,} cases {outcome.compared:>11,} comparisons "
        f"{outcome.slowest:>7.1f} s slowest {outcome.compared / minutes:>9,.0f} a minute "
        f"{len(outcome.findings):>5} findings"
    )


def write(outcomes: dict[str, Outcome], wanted: dict[str, int], budget: float, seed: int) -> None:
    """Write the outcomes of a run to build/attack.json."""
    content = {"seed": seed, "seconds": budget}
    content["kinds"] = {
        kind: {"wanted": wanted[kind], **asdict(outcome)} for kind, outcome in outcomes.items()
    }
    LAST.parent.mkdir(exist_ok=True)
    LAST.write_text(json.dumps(content, indent=1))


def keep() -> None:
    """Write the results of the last run to results.json and the page."""
    last = json.loads(LAST.read_text())
    for outcome in last["kinds"].values():
        # Only the names of cases: tracebacks contain paths of this machine.
        outcome["findings"] = [one["case"] for one in outcome["findings"]]
    KEPT.write_text(json.dumps(last, indent=1) + "\n")
    head, _, rest = PAGE.read_text().partition(_START)
    _, _, tail = rest.partition(_END)
    PAGE.write_text(head + section() + tail)


def section() -> str:
    """Return the part of the page that shows the kept run, in Markdown."""
    kept = json.loads(KEPT.read_text())
    lines = [
        _START,
        f"Budget {kept['seconds'] / 60:g} minutes, seed {kept['seed']}.",
        "",
        "| attack | cases | comparisons | slowest case | findings |",
        "|---|---|---|---|---|",
        *(_row(kind, outcome) for kind, outcome in kept["kinds"].items()),
        _END,
    ]
    return "\n".join(lines)


def _row(kind: str, outcome: dict[str, Any]) -> str:
    return (
        f"| {kind} | {outcome['cases']:,} | {outcome['compared']:,} | {outcome['slowest']:.1f} s "
        f"| {len(outcome['findings'])} |"
    )


def tell(outcomes: dict[str, Outcome]) -> int:
    """Print the outcomes and the findings; return the number of findings."""
    print()
    for kind, outcome in outcomes.items():
        print(line(kind, outcome))
    findings = [(kind, one) for kind, outcome in outcomes.items() for one in outcome.findings]
    for kind, one in findings[:_MOST_FINDINGS_SHOWN]:
        print(f"\n{kind}: {one['case']}\n{one['what'][-1500:]}")
    print(f"\n{len(findings)} findings")
    return len(findings)
