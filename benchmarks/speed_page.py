"""Tables and the plot of the speed benchmark."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

# Colour-blind safe.
COLOURS = {
    "pskclust": "#d55e00",
    "PSKC()": "#e69f00",
    "KMeans": "#0072b2",
    "MiniBatchKMeans": "#56b4e9",
    "faiss k-means": "#004d73",
    "fast_hdbscan": "#009e73",
    "fast-plscan": "#66c2a5",
    "HDBSCAN": "#1b5e40",
    "CLASSIX": "#cc79a7",
    "EVoC": "#8e5572",
    "ikpykit PSKC": "#7f7f7f",
}
OURS = ("pskclust", "PSKC()")


def case_table(title: str, results: dict[str, Any]) -> str:
    """Return a Markdown table of the methods in one case."""
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


def slope(series: dict[str, Any], method: str) -> float | None:
    """Return the exponent of time between the two largest sizes that a method was timed at."""
    known = _points(series, method)
    if len(known) < 2:
        return None
    (small, short), (large, long) = known[-2:]
    return math.log(long / short) / math.log(large / small)


def _points(series: dict[str, Any], method: str) -> list[tuple[int, float]]:
    """Return pairs of size and seconds of a method, by size."""
    return sorted(
        (int(size), results[method]["seconds"])
        for size, results in series.items()
        if "seconds" in results.get(method, {})
    )


def rows_table(results: dict[str, Any]) -> str:
    """Return the table of seconds at each number of rows."""
    return _series_table(results["rows"], "rows")


def columns_table(results: dict[str, Any]) -> str:
    """Return the table of seconds at each number of columns."""
    return _series_table(results["columns"], "columns")


def small_table(results: dict[str, Any]) -> str:
    """Return the table of seconds on small sets."""
    return _series_table(results["small"], "rows")


def _series_table(series: dict[str, Any], unit: str) -> str:
    sizes = sorted(series, key=int)
    lines = [
        "| seconds to fit | " + " | ".join(f"{int(size):,} {unit}" for size in sizes) + " | ARI |",
        "|---|" + "---|" * (len(sizes) + 1),
    ]
    for method in dict.fromkeys(name for size in sizes for name in series[size]):
        cells, ari = [], ""
        for size in sizes:
            answer = series[size].get(method, {"failure": ""})
            cells.append(answer.get("failure") or _seconds(answer.get("seconds")))
            ari = f"{answer['ari']:.2f}" if "ari" in answer else ari
        lines.append(f"| {_shown(method)} | " + " | ".join(cells) + f" | {ari} |")
    return "\n".join(lines) + "\n"


def _shown(method: str) -> str:
    return "PSKC(psi, tau)" if method == "pskclust" else method


def _seconds(seconds: float | None) -> str:
    if seconds is None:
        return ""
    digits = 3 if seconds < 0.1 else 2 if seconds < 10 else 0
    return f"{seconds:.{digits}f}"


def facts_table(results: dict[str, Any]) -> str:
    """Return the table of the other measurements of a run."""
    rows, first = results["rows"], results["first_use"]
    facts = {}
    for size in ("1000000", "4000000"):
        if size in rows:
            facts[f"{int(size):,} x 2, psi 128"] = _against(rows[size])
    if {"1000000", "4000000"} <= rows.keys():
        times = rows["4000000"]["pskclust"]["seconds"] / rows["1000000"]["pskclust"]["seconds"]
        facts["4,000,000 rows compared with 1,000,000"] = f"{times:.1f} times the time"
    facts["`predict` on 1,000,000 new rows"] = (
        f"{results['predict_over_fit']:.2f} times the time of the fit"
    )
    facts["cells of uniform noise, 50,000 x 16, psi 256"] = (
        f"{results['noise']['times_product']:.2f} times the time of a float32 product of rows and "
        "centres"
    )
    if "flights_3m" in results:
        facts["flights, 3,000,000 x 8, psi 256"] = _against(results["flights_3m"])
    if "times_product" in results.get("mnist70k", {}):
        facts["MNIST, 70,000 x 784, psi 5000"] = (
            f"{results['mnist70k']['times_product']:.2f} times the time of a float32 `X @ X.T`"
        )
    facts["importing pskclust after scikit-learn"] = f"{first['import_beyond_sklearn']:.2f} s"
    facts["first `PSKC()` fit, 1,000 rows, empty cache"] = f"{first['first_1000_rows']:.2f} s"
    facts["first fit of 1,000,000 rows, empty cache"] = (
        f"{first['first_million_beyond_warm']:.1f} s longer than a second fit"
    )
    facts["`pskclust fit demo.csv`, 5,000 rows"] = (
        f"{first['command_first']:.1f} s the first time, {first['command_again']:.1f} s again, "
        f"{first['command_imports']:.1f} s of it for imports"
    )
    lines = [f"| {name} | {fact} |" for name, fact in facts.items()]
    return "\n".join(["| measurement | figure |", "|---|---|", *lines]) + "\n"


def _against(results: dict[str, Any]) -> str:
    """Return the ratios of our time to KMeans and of fast_hdbscan to ours, and our memory."""
    ours = results["pskclust"]
    text = f"{ours['seconds'] / results['KMeans']['seconds']:.2f} times the time of KMeans"
    if "seconds" in results.get("fast_hdbscan", {}):
        text += (
            f"; fast_hdbscan takes {results['fast_hdbscan']['seconds'] / ours['seconds']:.0f} "
            "times as long"
        )
    return f"{text}; {ours['megabytes']:.0f} MB more than before the fit"


def draw(results: dict[str, Any], picture: Path) -> None:
    """Plot time against rows and against columns."""
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    figure, both = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained", sharey=True)
    panels = (("rows", "rows (2 columns)"), ("columns", "columns (50,000 rows)"))
    for axes, (name, title) in zip(both, panels, strict=True):
        series = results[name]
        for method, colour in COLOURS.items():
            known = _points(series, method)
            if known:
                width = 3 if method in OURS else 1.4
                axes.loglog(*zip(*known, strict=True), "o-", color=colour, lw=width, ms=4)
        sizes = sorted(map(int, series))
        axes.set_xticks(sizes, [f"{size:,}".replace(",000,000", "M") for size in sizes])
        axes.minorticks_off()
        axes.set_xlabel(title)
        axes.grid(alpha=0.3)
        axes.spines[["top", "right"]].set_visible(False)
    both[0].set_ylabel("seconds to fit")
    both[0].yaxis.set_major_formatter("{x:g}")
    drawn = [name for name in COLOURS if any(_points(results[panel], name) for panel, _ in panels)]
    handles = [
        plt.Line2D([], [], color=COLOURS[name], marker="o", ms=4, lw=3 if name in OURS else 1.4)
        for name in drawn
    ]
    names = [_shown(name) for name in drawn]
    figure.legend(handles, names, loc="outside right center", frameon=False)
    figure.suptitle(f"Time to fit on {results['machine']}; lines end where a method was stopped")
    temporary = picture.with_suffix(".tmp.png")
    figure.savefig(temporary, dpi=130)
    plt.close(figure)
    temporary.replace(picture)
