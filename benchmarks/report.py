"""Write the tables of benchmarks/*.json into README and docs, and draw docs/scaling.png.

python benchmarks/report.py
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import embeddings
import figures
from quality_page import agreement_of_seeds, means_table
from speed_page import columns_table, draw, facts_table, rows_table, small_table

sys.path.append(str(Path(__file__).parent / "choice"))

import rule_page

ROOT = Path(__file__).parents[1]
# The page of each table in figures.json.
PAGES = {
    "commands": "large-data",
    "drift scores": "new-rows",
    "first data": "automatic",
    "layers": "coming-from-hdbscan",
    "lone outliers": "parameters",
    "memory": "speed",
    "memory limit": "large-data",
    "outlier scores": "coming-from-hdbscan",
    "psi and tau": "parameters",
    "time series": "groups",
    "trajectories": "groups",
}


def cluster_table(results: dict[str, Any]) -> str:
    """Return a table of the fits measured on a Dask cluster, and the prediction for the last."""
    lines = [
        "| rows | workers | seconds | ratio to a local fit | rounds | ms per round |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {case['rows']:,} | {case['workers']} | {case['seconds']:.2f} | "
        f"{case['times_local']:.2f} | {case['rounds']} | {1000 * case['seconds_per_round']:.1f} |"
        for case in results["cases"]
    ]
    predicted, found = results["predicted"], results["cases"][-1]["seconds_per_round"]
    check = (
        f"\nFitted to the first three cases, the model predicts {1000 * predicted:.1f} ms for a "
        f"round of the last case; {1000 * found:.1f} ms were measured."
    )
    return "\n".join([*lines, check]) + "\n"


def plan_table() -> str:
    """Return a table of predictions of the cost model for larger fits than those measured."""
    from pskclust._dask.cost_model import plan

    lines = [
        "| rows | columns | workers | memory per worker | time per round | encoding | total time |",
        "|---|---|---|---|---|---|---|",
    ]
    for rows, workers in ((10**9, 100), (10**9, 1000), (10**11, 100), (10**11, 1000)):
        for columns in (2, 8):
            found = plan(rows, columns, workers)
            facts = found.facts()
            lines.append(
                f"| {rows:.0e} | {columns} | {workers:,} | {facts['memory'].split(' on ')[0]} | "
                f"{found.seconds_per_round:.2g} s | {facts['encoding']} | {facts['total']} |"
            )
    return "\n".join(lines).replace("e+0", "e").replace("e+", "e") + "\n"


def out_of_core_table(results: dict[str, Any]) -> str:
    """Return a table of the time and memory of a fit with cells on disk."""
    facts = {
        "rows": f"{results['rows']:,}",
        "clusters": str(results["clusters"]),
        "whole fit": f"{results['seconds']:.0f} s",
        "of which growth and refinement": f"{results['growth_seconds']:.0f} s",
        "processor time": f"{results['processor_seconds']:.0f} s",
        "limit of the control group": f"{results['limit_bytes'] / 1e9:.2f} GB",
        "peak of the group, including cached files": f"{results['group_bytes'] / 1e9:.2f} GB",
        "peak of resident memory, including mapped files": (
            f"{results['peak_resident_bytes'] / 1e9:.2f} GB"
        ),
        "files left in the scratch folder": str(len(results["left_in_scratch"])),
    }
    return "| | |\n|---|---|\n" + "".join(f"| {name} | {fact} |\n" for name, fact in facts.items())


def tables() -> dict[tuple[str, str], str]:
    """Return all tables, by page and name."""
    measured = {
        name: json.loads((ROOT / f"benchmarks/{name}.json").read_text())
        for name in ("results", "cluster", "out_of_core", "quality")
    }
    return {
        **rule_page.tables(),
        **{(f"docs/{page}.md", name): figures.table(name) for name, page in PAGES.items()},
        ("README.md", "quality table"): "\n".join(
            [means_table(measured["quality"]), agreement_of_seeds(measured["quality"])]
        ),
        ("README.md", "benchmark table"): rows_table(measured["results"]),
        ("docs/speed.md", "table by rows"): rows_table(measured["results"]),
        ("docs/speed.md", "table by columns"): columns_table(measured["results"]),
        ("docs/speed.md", "table of small sets"): small_table(measured["results"]),
        ("docs/speed.md", "other figures"): facts_table(measured["results"]),
        ("docs/comparison.md", "table of benchmarks"): rows_table(measured["results"]),
        ("docs/embeddings.md", "table of embeddings"): embeddings.table(),
        ("docs/embeddings.md", "output of the example of embeddings"): embeddings.example_table(),
        ("docs/dask.md", "cluster table"): cluster_table(measured["cluster"]),
        ("docs/dask.md", "plan table"): plan_table(),
        ("docs/large-data.md", "out of core table"): out_of_core_table(measured["out_of_core"]),
    }


def with_table(text: str, name: str, table: str) -> str:
    """Return a text with a table between the comments that mark its place."""
    start, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    if not re.search(f"{start}.*?{end}", text, flags=re.DOTALL):
        raise ValueError(f"there is no place for the {name}: the page needs {start!r} and {end!r}.")
    return re.sub(f"{start}.*?{end}", lambda _: start + table + end, text, flags=re.DOTALL)


def main() -> None:
    for (file, name), table in tables().items():
        path = ROOT / file
        temporary = path.with_suffix(".tmp")
        temporary.write_text(with_table(path.read_text(), name, table))
        temporary.replace(path)
    results = json.loads((ROOT / "benchmarks/results.json").read_text())
    draw(results, ROOT / "docs/scaling.png")


if __name__ == "__main__":
    main()
