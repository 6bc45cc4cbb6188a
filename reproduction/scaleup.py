"""Figure 4: run time against the number of rows, on deformed digits."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from framework import Comparison, Outcome, Settings

from pskclust import PSKC
from pskclust.baselines import SGL, DensityPeaks, KernelKMeans
from pskclust.datasets import make_mnist8m_like

sys.path.append(str(Path(__file__).parents[1] / "benchmarks"))
from timing import timed_fit

TITLE = "Figure 4: scale-up on a stand-in for MNIST8M"
SIZES = (10_000, 20_000, 40_000, 80_000, 160_000, 320_000, 640_000)
FAST_SIZES = (10_000, 20_000, 40_000)
SECONDS_ALLOWED, FAST_SECONDS_ALLOWED = 150, 25

SYSTEMS: dict[str, Callable[[], Any]] = {
    "psKC": lambda: PSKC(psi=64, tau=0.01, random_state=0),
    "SGL": lambda: SGL(10, n_anchors=50, random_state=0),
    "kernel k-means (Gaussian)": lambda: KernelKMeans(10, sigma=2000.0, random_state=0),
    "kernel k-means (kNN)": lambda: KernelKMeans(10, kernel="knn", random_state=0),
    "DP": lambda: DensityPeaks(n_clusters=10, bandwidth=1000.0),
}
# What the paper says of the time at its largest size over that at 10,000 rows.
PAPER = {
    "psKC": "linear: 1,171 times for 810 times the rows",
    "SGL": "linear",
    "kernel k-means (Gaussian)": "as psKC up to 80k, then 3,000 times at 120k",
    "kernel k-means (kNN)": "17 times at 40k, then out of memory",
    "DP": "29 times at 40k, then too slow",
}


def run(settings: Settings) -> Outcome:
    outcome = Outcome()
    sizes = FAST_SIZES if settings.fast else SIZES
    allowed = FAST_SECONDS_ALLOWED if settings.fast else SECONDS_ALLOWED
    X, _ = make_mnist8m_like(max(sizes), random_state=0, folder=settings.data)
    seconds: dict[str, dict[int, float]] = {}
    ends: dict[str, str] = {}
    for number, (name, make) in enumerate(SYSTEMS.items()):
        seconds[name] = {}
        for place, n_rows in enumerate(sizes):
            answer = timed_fit(lambda rows, make=make: make().fit(rows), X[:n_rows], allowed)
            settings.tell((number + (place + 1) / len(sizes)) / len(SYSTEMS))
            if isinstance(answer, str):
                ends[name] = f"{answer} at {n_rows:,} rows"
                break
            seconds[name][n_rows] = answer["seconds"]
    slopes = {name: _slope(some) for name, some in seconds.items()}
    for name, some in seconds.items():
        largest = max(some, default=0)
        ratio = some[largest] / some[sizes[0]] if some else math.nan
        outcome.comparisons.append(
            Comparison(
                f"{name}: growth of run time from {sizes[0]:,} rows",
                PAPER[name],
                f"{ratio:.1f} times at {largest:,} rows, slope {slopes[name]:.2f}"
                + (f"; {ends[name]}" if name in ends else ""),
                slopes[name] <= 1.1 if name in ("psKC", "SGL") else None,
            )
        )
    outcome.comparisons.append(_sgl_against_pskc(seconds))
    outcome.tables.append(_table(sizes, seconds, ends))
    outcome.picture(
        settings,
        "scaleup.png",
        _figure(sizes, seconds, slopes),
        "Run time over that at 10,000 rows; a line ends where a system was stopped.",
    )
    outcome.values = {"slope_psKC": slopes["psKC"]}
    outcome.notes.append(
        "MNIST8M is not to be had, so MNIST's digits, shifted, rotated and deformed at random, "
        "stand in for it. psKC with psi 64: so there are nearly as many different centres at all "
        "sizes."
    )
    return outcome


def _sgl_against_pskc(seconds: dict[str, dict[int, float]]) -> Comparison:
    both = sorted(seconds["psKC"].keys() & seconds["SGL"].keys())
    ratios = [seconds["SGL"][n_rows] / seconds["psKC"][n_rows] for n_rows in both]
    slower = bool(ratios) and ratios[-1] > 1
    return Comparison(
        "SGL is slower than psKC",
        "yes",
        ", ".join(
            f"{ratio:.1f} times at {n_rows:,}" for n_rows, ratio in zip(both, ratios, strict=True)
        ),
        slower,
        "" if slower else "Our SGL has 50 anchors, where psKC has 6,400 centres of cells.",
    )


def _slope(seconds: dict[int, float]) -> float:
    """Return the exponent of growth, by least squares over all sizes."""
    if len(seconds) < 2:
        return math.nan
    return float(np.polyfit(np.log(list(seconds)), np.log(list(seconds.values())), 1)[0])


def _table(sizes, seconds, ends) -> str:
    lines = ["| seconds | " + " | ".join(f"{size:,}" for size in sizes) + " | |"]
    lines.append("|---|" + "---|" * (len(sizes) + 1))
    for name, some in seconds.items():
        cells = [f"{some[size]:.1f}" if size in some else "" for size in sizes]
        lines.append(f"| {name} | " + " | ".join(cells) + f" | {ends.get(name, '')} |")
    return "\n".join(lines)


def _figure(sizes, seconds, slopes):
    import matplotlib.pyplot as plt

    figure, ax = plt.subplots(figsize=(7.5, 4.5), layout="constrained")
    ax.loglog(sizes, np.array(sizes) / sizes[0], "--", color="0.6", label="linear")
    colours = ["#d55e00", "#009e73", "#0072b2", "#56b4e9", "#cc79a7"]
    for colour, (name, some) in zip(colours, seconds.items(), strict=True):
        if some:
            ratios = np.array(list(some.values())) / some[sizes[0]]
            label = f"{name}, n^{slopes[name]:.2f}" if len(some) > 1 else name
            ax.loglog(list(some), ratios, "o-", color=colour, label=label)
    ax.set(xlabel="rows", ylabel=f"run time over that at {sizes[0]:,} rows")
    ax.grid(alpha=0.3)
    ax.legend(frameon=False)
    return figure
