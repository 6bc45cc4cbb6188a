"""Tables and the scaling plot of benchmark results, and their places in the README.

    python benchmarks/report.py

puts the table of benchmarks/results.json into the README and draws docs/scaling.png.
"""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
README_MARKS = "<!-- benchmark table -->\n", "<!-- end of benchmark table -->"
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


def with_table(readme: str, table: str) -> str:
    """Return the README's text with the table in its place."""
    start, end = README_MARKS
    return re.sub(f"{start}.*?{end}", lambda _: start + table + end, readme, flags=re.DOTALL)


def main() -> None:
    results = json.loads((ROOT / "benchmarks/results.json").read_text())
    readme = ROOT / "README.md"
    temporary = readme.with_suffix(".tmp")
    temporary.write_text(with_table(readme.read_text(), summary_table(results)))
    temporary.replace(readme)
    print_and_draw(results, ROOT / "docs/scaling.png")


if __name__ == "__main__":
    main()
