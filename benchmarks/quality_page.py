"""Write docs/quality.md from the results of benchmarks/quality.py."""

from __future__ import annotations

from typing import Any

import numpy as np
from quality_methods import METHODS

_INTRODUCTION = """# How good the clusters are

`make quality DATA=folder` computes this page from labelled sets. It compares clusters with classes
by the adjusted Rand index (ARI): 1 for equal clusters, about 0 for random ones. Columns are scaled
to [0, 1], and texts are unit vectors. Rows that are noise in the reference do not count. Some sets
have several references, different but equally valid classes of the same rows; for every method, the
best match counts, [as the authors recommend][many]. Rows that a method labels as noise count as one
cluster.

`PSKC()` runs without parameters. The numbers in [its rule](automatic.md) are fitted to these
families and to generated sets, so each family is scored with numbers **fitted without that
family**. The other methods run with their defaults, with two exceptions in their favour: "best" is
the best of several settings or levels, picked by its ARI, and "k given" means that the method is
given the true number of clusters. A method that fails on a set, or takes more than a minute, scores
0 there. "Number of clusters off by more than 2x" is the share of sets where the number of clusters
is less than half or more than twice the number of classes. "Found" is the number of clusters that
`PSKC()` found, for both seeds if it differs.

[many]: https://clustering-benchmarks.gagolewski.com/weave/many-partitions.html
"""


def page(results: dict[str, Any]) -> str:
    """Return the page in Markdown."""
    methods = _methods(results)
    largest = max((known["n"] for known in results.values()), default=0)
    lines = [_INTRODUCTION, means_table(results), f"The largest set has {largest:,} rows.", ""]
    lines += [agreement_of_seeds(results)]
    lines += ["## By family", "", _by_family(results, methods)]
    lines += ["## By set", "", _by_set(results, methods)]
    return "\n".join(lines)


def agreement_of_seeds(results: dict[str, Any]) -> str:
    """Return a sentence about the agreement of two seeds."""
    found = [known["PSKC()"] for known in results.values()]
    mean = np.mean([each["agreement"] for each in found if "agreement" in each])
    return f"Fits of `PSKC()` with two seeds agree with an ARI of {mean:.3f} on average.\n"


def _methods(results: dict[str, Any]) -> list[str]:
    """Return the methods that were run on all sets."""
    return [name for name in METHODS if results and all(name in one for one in results.values())]


def families(results: dict[str, Any]) -> dict[str, list[str]]:
    """Return the names of the sets of each family."""
    found: dict[str, list[str]] = {}
    for name, known in results.items():
        found.setdefault(known["family"], []).append(name)
    return found


def ari(known: dict[str, Any], method: str) -> float:
    """Return the mean ARI of a method's seeds on a set; a failure scores 0."""
    return float(np.mean(known[method].get("ari", [0.0])))


def is_off(known: dict[str, Any], method: str) -> bool:
    """Return whether any seed's number of clusters is off by more than a factor of two."""
    for found in known[method].get("clusters", [0]):
        if all(max(found / true, true / max(found, 1e-9)) > 2 for true in known["ks"]):
            return True
    return False


def mean_of_families(results: dict[str, Any], method: str) -> float:
    return float(
        np.mean(
            [
                np.mean([ari(results[name], method) for name in names])
                for names in families(results).values()
            ]
        )
    )


def means_table(results: dict[str, Any]) -> str:
    """Return the table of the means of each method."""
    lines = [
        f"| {len(results)} sets of {len(families(results))} families | mean of families | "
        "mean of sets | rows clustered | number of clusters off by more than 2x | failed |",
        "|---|---|---|---|---|---|",
    ]
    for method in _methods(results):
        each = [known[method] for known in results.values()]
        clustered = [one["clustered"] for one in each if "clustered" in one]
        lines.append(
            f"| {method} | {mean_of_families(results, method):.3f} | "
            f"{np.mean([ari(known, method) for known in results.values()]):.3f} | "
            f"{np.mean(clustered) if clustered else 0:.0%} | "
            f"{np.mean([is_off(known, method) for known in results.values()]):.0%} | "
            f"{sum('failure' in one for one in each)} |"
        )
    return "\n".join(lines) + "\n"


def _by_family(results: dict[str, Any], methods: list[str]) -> str:
    lines = ["| family | sets | " + " | ".join(methods) + " |", "|---|---|" + "---|" * len(methods)]
    for family, names in sorted(families(results).items()):
        scores = [
            f"{np.mean([ari(results[name], method) for name in names]):.2f}" for method in methods
        ]
        lines.append(f"| {family} | {len(names)} | " + " | ".join(scores) + " |")
    return "\n".join(lines) + "\n"


def _by_set(results: dict[str, Any], methods: list[str]) -> str:
    lines = ["| set | rows | k | found | " + " | ".join(methods) + " |"]
    lines.append("|---|---|---|---|" + "---|" * len(methods))
    for name, known in sorted(results.items()):
        found = known.get("PSKC()", {}).get("clusters", [])
        scores = [
            "-" if "failure" in known[method] else f"{ari(known, method):.2f}" for method in methods
        ]
        lines.append(
            f"| {name} | {known['n']} | {' or '.join(map(str, known['ks']))} | "
            f"{', '.join(map(str, dict.fromkeys(found)))} | " + " | ".join(scores) + " |"
        )
    return "\n".join(lines) + "\n"
