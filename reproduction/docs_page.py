"""Write docs/reproduction.md from reproduction/results.json.

    python reproduction/docs_page.py [--results FILE] [--page FILE]

`make reproduce` writes results.json into build/reproduction; copy it here to bring the page up to
date. Sentences of the page that speak of agreement are computed from it.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from framework import table
from table1 import bound
from verdicts import comparisons_of, counted, verdicts

HERE = Path(__file__).parent
TEMPLATE = HERE / "docs_page.md"
# Results whose tables are on the page, and their headings there.
SHOWN = {
    "printed_settings": "The printed settings",
    "table1": "Steps and costs",
    "postprocessing": "Refinement",
    "scaleup": "Scale-up",
    "peers": "The systems compared",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--results", type=Path, default=HERE / "results.json")
    parser.add_argument("--page", type=Path, default=HERE.parent / "docs/reproduction.md")
    options = parser.parse_args()
    options.page.write_text(page(json.loads(options.results.read_text())))


def page(results: dict[str, Any]) -> str:
    """Return the page in Markdown."""
    n_agree, n_compared = counted(results)
    text = TEMPLATE.read_text()
    parts = {
        "overview": _overview(results),
        "counted": f"{n_agree} of {n_compared} comparisons agree.",
        "differences": _differences(results),
        "sections": "\n\n".join(
            _section(title, results[name]) for name, title in SHOWN.items() if name in results
        ),
        "left_out": _left_out(results),
        "bounds": _bounds(),
    }
    for name, part in parts.items():
        text = text.replace("{{" + name + "}}", part)
    return text.rstrip() + "\n"


def _overview(results: dict[str, Any]) -> str:
    rows = []
    for one in verdicts(results):
        subset = " (a subset)" if results[one.module]["fast"] else ""
        verdict = f"**{one.word}**" + (": see [below](#where-ours-differ)" if one.why else "")
        rows.append([one.place, one.claim, one.found + subset, verdict])
    head = ["place in the paper", "claim", "our measurement", "verdict"]
    return table(head, [[_cell(cell) for cell in row] for row in rows])


def _differences(results: dict[str, Any]) -> str:
    rows = []
    for result in results.values():
        for place in result["places"]:
            for one in comparisons_of(result, place):
                if one["agrees"] is False:
                    rows.append([place, one["what"], one["paper"], one["ours"], one["reason"]])
    head = ["place", "statement", "paper", "ours", "why"]
    return table(head, [[_cell(cell) for cell in row] for row in rows])


def _section(title: str, result: dict[str, Any]) -> str:
    if "tables" not in result:
        return ""
    return "\n\n".join([f"## {title}", *result["notes"], *result["tables"]])


def _left_out(results: dict[str, Any]) -> str:
    names = [result["title"] for result in results.values() if "left_out" in result]
    subsets = [result["title"] for result in results.values() if result["fast"]]
    lines = [f"Left out, for want of data or packages: {'; '.join(names)}."] if names else []
    if subsets:
        lines.append(f"Measured on a subset of settings, sizes or seeds: {'; '.join(subsets)}.")
    return "\n\n".join(lines)


def _bounds() -> str:
    settings = ((0.1, 0.26), (0.01, 0.1), (1e-5, 0.1))
    rows = [[f"{tau:g}", f"{rate:g}", str(bound(tau, rate))] for tau, rate in settings]
    return table(["tau", "rho", "f"], rows)


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;")


if __name__ == "__main__":
    main()
