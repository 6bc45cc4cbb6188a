"""Tables and the scaling plot of benchmark results, and their places in README and docs.

    python benchmarks/report.py

puts the tables of benchmarks/*.json where they are shown and draws docs/scaling.png.
"""

from __future__ import annotations

import json
import math
import re
import sys
from pathlib import Path
from typing import Any

from quality_page import means_table

sys.path.append(str(Path(__file__).parent / "choice"))

import rule_page

ROOT = Path(__file__).parents[1]
# Colour-blind safe, ours first.
COLOURS = ["#d55e00", "#0072b2", "#56b4e9", "#009e73", "#cc79a7", "#7f7f7f"]


def case_table(title: str, results: dict[str, Any]) -> str:
    """Return a Markdown table of one case."""
    base = results["KMeans"]["seconds"]
    lines = [
        f"\n{title}\n",
        "| method | seconds | times KMeans | MB more | clusters | ARI |",
        "|---|---|---|---|---|---|",
    ]
    for name, answer in results.items():
        if "failure" in answer:
            lines.append(f"| {name} | {answer['failure']} | | | | |")
            continue
        ari = f"{answer['ari']:.2f}" if "ari" in answer else ""
        lines.append(
            f"| {name} | {answer['seconds']:.2f} | {answer['seconds'] / base:.2f} | "
            f"{answer['megabytes']:.0f} | {answer['clusters']} | {ari} |"
        )
    return "\n".join(lines)


def slope(scaling: dict[str, Any], method: str) -> float | None:
    """Return the exponent of growth between the two largest sizes a method was timed at."""
    known = [
        (int(size), results[method]["seconds"])
        for size, results in scaling.items()
        if "seconds" in results.get(method, {})
    ]
    if len(known) < 2:
        return None
    (small, short), (large, long) = sorted(known)[-2:]
    return math.log(long / short) / math.log(large / small)


def summary_table(results: dict[str, Any]) -> str:
    """Return the table for the README: seconds at each size, and what became of those without."""
    scaling = results["scaling"]
    sizes = sorted(scaling, key=int)
    lines = [
        "| seconds to fit | " + " | ".join(f"{int(size):,} rows" for size in sizes) + " | ARI |",
        "|---|" + "---|" * (len(sizes) + 1),
    ]
    for method in scaling[sizes[0]]:
        cells, ari = [], ""
        for size in sizes:
            answer = scaling[size].get(method, {"failure": ""})
            cells.append(answer.get("failure") or _seconds(answer.get("seconds")))
            ari = f"{answer['ari']:.2f}" if "ari" in answer else ari
        lines.append(f"| {method} | " + " | ".join(cells) + f" | {ari} |")
    return "\n".join(lines) + "\n"


def _seconds(seconds: float | None) -> str:
    if seconds is None:
        return ""
    return (
        f"{seconds:.3f}"
        if seconds < 0.1
        else f"{seconds:.2f}"
        if seconds < 10
        else f"{seconds:.0f}"
    )


def draw_scaling(results: dict[str, Any], picture: Path) -> None:
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    scaling = results["scaling"]
    sizes = sorted(map(int, scaling))
    figure, axes = plt.subplots(figsize=(8, 4.6), layout="constrained")
    for colour, method in zip(COLOURS, scaling[str(sizes[0])], strict=False):
        known = [
            (size, scaling[str(size)][method]["seconds"])
            for size in sizes
            if "seconds" in scaling[str(size)].get(method, {})
        ]
        if not known:
            continue
        exponent = slope(scaling, method)
        name = method if exponent is None else f"{method}, n^{exponent:.2f}"
        ours = method == "pskclust"
        axes.loglog(
            *zip(*known, strict=True), "o-", color=colour, lw=3 if ours else 1.5, label=name
        )
    axes.set_xlabel("rows (2 columns: rings, spiral arms and blobs)")
    axes.set_ylabel("seconds to fit")
    axes.set_title(f"Time to fit on {results['machine']}; lines end where a method was stopped")
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, title="method, growth between the last two sizes")
    temporary = picture.with_suffix(".tmp.png")
    figure.savefig(temporary, dpi=130)
    temporary.replace(picture)


def print_and_draw(results: dict[str, Any], picture: Path) -> None:
    print("\n" + summary_table(results))
    draw_scaling(results, picture)
    print(f"The scaling plot is {picture}")


def cluster_table(results: dict[str, Any]) -> str:
    """Return the measured fits on a Dask cluster, and what the model foretold of the last one."""
    lines = [
        "| rows | workers | seconds | times a local fit | rounds | ms a round |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        f"| {case['rows']:,} | {case['workers']} | {case['seconds']:.2f} | "
        f"{case['times_local']:.2f} | {case['rounds']} | {1000 * case['seconds_per_round']:.1f} |"
        for case in results["cases"]
    ]
    foretold, found = results["predicted"], results["cases"][-1]["seconds_per_round"]
    check = (
        f"\nFitted to the other three, the model foretells {1000 * foretold:.1f} ms for a round of "
        f"the last one; measured were {1000 * found:.1f} ms."
    )
    return "\n".join([*lines, check]) + "\n"


def plan_table() -> str:
    """Return what the model foretells for fits beyond those that were measured."""
    from pskclust._dask.cost_model import plan

    lines = [
        "| rows | columns | workers | on each worker | a round | encoding | in all |",
        "|---|---|---|---|---|---|---|",
    ]
    for rows, workers in ((10**9, 100), (10**9, 1000), (10**11, 100), (10**11, 1000)):
        for columns in (2, 8):
            found = plan(rows, columns, workers)
            facts = found.facts()
            lines.append(
                f"| {rows:.0e} | {columns} | {workers:,} | {facts['memory'].split(' on ')[0]} | "
                f"{found.seconds_per_round:.2g} s | {facts['encoding']} | {facts['in all']} |"
            )
    return "\n".join(lines).replace("e+0", "e").replace("e+", "e") + "\n"


def out_of_core_table(results: dict[str, Any]) -> str:
    """Return what a fit in little memory took."""
    facts = {
        "rows": f"{results['rows']:,}",
        "clusters": str(results["clusters"]),
        "whole fit": f"{results['seconds']:.0f} s",
        "of which growth and refinement": f"{results['growth_seconds']:.0f} s",
        "processor time": f"{results['processor_seconds']:.0f} s",
        "limit of the control group": f"{results['limit_bytes'] / 1e9:.2f} GB",
        "its peak, with files that the system kept": f"{results['group_bytes'] / 1e9:.2f} GB",
        "resident pages at the peak, mapped files among them": (
            f"{results['peak_resident_bytes'] / 1e9:.2f} GB"
        ),
        "files left in the scratch folder": str(len(results["left_in_scratch"])),
    }
    return "| | |\n|---|---|\n" + "".join(f"| {name} | {fact} |\n" for name, fact in facts.items())


def tables() -> dict[tuple[str, str], str]:
    """Return the file and the name of each place, and the table that stands there."""
    measured = {
        name: json.loads((ROOT / f"benchmarks/{name}.json").read_text())
        for name in ("results", "cluster", "out_of_core", "quality")
    }
    return {
        **rule_page.tables(),
        ("README.md", "quality table"): means_table(measured["quality"]),
        ("README.md", "benchmark table"): summary_table(measured["results"]),
        ("docs/dask.md", "cluster table"): cluster_table(measured["cluster"]),
        ("docs/dask.md", "plan table"): plan_table(),
        ("docs/large-data.md", "out of core table"): out_of_core_table(measured["out_of_core"]),
    }


def with_table(text: str, name: str, table: str) -> str:
    """Return a text with a table in its place."""
    start, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
    if not re.search(f"{start}.*?{end}", text, flags=re.DOTALL):
        raise ValueError(f"there is no place for the {name}.")
    return re.sub(f"{start}.*?{end}", lambda _: start + table + end, text, flags=re.DOTALL)


def main() -> None:
    for (file, name), table in tables().items():
        path = ROOT / file
        temporary = path.with_suffix(".tmp")
        temporary.write_text(with_table(path.read_text(), name, table))
        temporary.replace(path)
    results = json.loads((ROOT / "benchmarks/results.json").read_text())
    print_and_draw(results, ROOT / "docs/scaling.png")


if __name__ == "__main__":
    main()
