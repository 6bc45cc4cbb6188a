"""Small tables of measurements: a script prints one, and `--keep` keeps it for a page.

`benchmarks/figures.json` holds the kept tables with the commands that printed them;
`python benchmarks/report.py` writes them into the pages.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

FILE = Path(__file__).with_suffix(".json")
ROOT = Path(__file__).parents[1]


def add_option(parser: argparse.ArgumentParser) -> None:
    """Add the option `--keep` to a parser."""
    parser.add_argument("--keep", action="store_true", help=f"keep the table in {FILE.name}")


def show(name: str, columns: list[str], rows: list[list[str]], *, keep: bool) -> None:
    """Print a table; with `keep`, also write it to figures.json, with the command."""
    lines = [f"| {' | '.join(cells)} |" for cells in (columns, *rows)]
    lines.insert(1, "|" + "---|" * len(columns))
    print("\n".join(lines))
    if keep:
        script = Path(sys.argv[0]).resolve().relative_to(ROOT)
        # Folders are replaced, because they differ between machines.
        typed = ["DIR" if Path(word).is_dir() else word for word in sys.argv[1:]]
        kept = {"command": " ".join(["python", str(script), *typed]), "table": lines}
        FILE.write_text(json.dumps(_all() | {name: kept}, indent=1, sort_keys=True) + "\n")


def table(name: str) -> str:
    """Return a kept table in Markdown."""
    return "\n".join(_all()[name]["table"]) + "\n"


def _all() -> dict:
    return json.loads(FILE.read_text()) if FILE.exists() else {}
