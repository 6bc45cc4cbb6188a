"""The summary of a fit, as JSON and as a printed table."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from .._utils.memory import readable_bytes
from .._utils.wording import counted, percentage
from .display import escaped, first_of, print_facts, print_table, say
from .options import as_options

if TYPE_CHECKING:
    from .._estimator import PSKC

_MOST_CLUSTERS_SHOWN = 25
_MOST_NUMBERS_SHOWN = 5
# The columns of the table of clusters on a narrow terminal, and their headings.
_NARROW_HEADER = {
    "cluster": "cluster",
    "rows": "rows",
    "share": "share",
    "median": "median similarity",
    "confidence": "confidence",
}
_QUARTILES = (0.0, 0.25, 0.5, 0.75, 1.0)


def summary_of(model: PSKC) -> dict[str, Any]:
    """Return the summary of a fit, for JSON."""
    from .._provenance import is_refined, mean_confidences

    labels, similarities = model.labels_, model.similarities_
    order = np.argsort(labels, kind="stable")
    ends = np.cumsum(np.bincount(labels + 1, minlength=model.n_clusters_ + 1))
    members = [order[ends[k] : ends[k + 1]] for k in range(model.n_clusters_)]
    n_noise = int(np.count_nonzero(labels < 0))
    refined = is_refined(model)
    confidences = mean_confidences(model)
    return {
        "n_rows": len(labels),
        "n_clusters": int(model.n_clusters_),
        "n_noise": n_noise,
        "clusters": [
            {
                "cluster": cluster,
                "size": len(rows),
                "seed_row": int(model.seeds_[cluster]),
                "similarity_quartiles": np.quantile(similarities[rows], _QUARTILES).tolist(),
                "confidence": None if confidences is None else float(confidences[cluster]),
            }
            for cluster, rows in enumerate(members)
        ],
        "objective": model.objective_,
        "objective_before_refinement": model.objective_before_refinement_ if refined else None,
        "n_reassigned": int(model.n_reassigned_) if refined else None,
        **provenance_of(model),
    }


def provenance_of(model: PSKC) -> dict[str, Any]:
    """Return the given and the chosen parameters of a fit, and the call that repeats it."""
    from .._provenance import (
        candidates,
        choice_words,
        chosen_values,
        given_parameters,
        is_repeatable,
        python_call,
    )

    return {
        "given": given_parameters(model),
        "chosen": chosen_values(model),
        "choice": choice_words(model),
        "candidates": candidates(model),
        "numbers": _numbers(model),
        "python": python_call(model),
        "repeatable": is_repeatable(model),
    }


def _numbers(model: PSKC) -> list[dict[str, Any]]:
    """Return the numbers of clusters that a choice considered; empty if none was chosen."""
    if model.auto_ is None or model.n_clusters is not None:
        return []
    return [asdict(option) for option in model.auto_.numbers]


def provenance_facts(summary: Mapping[str, Any]) -> dict[str, str]:
    """Return the given and the chosen parameters as facts to print."""
    given = dict(summary["given"])
    seed = given.pop("random_state", None)
    words = [f"{name} {value}" for name, value in given.items()]
    if seed is not None:
        is_default = seed == 0 and "command" in summary
        words.append(f"seed {seed} (default)" if is_default else f"seed {seed}")
    facts = {"given": ", ".join(words) or "nothing"}
    if summary["choice"] is not None:
        facts["chosen"] = as_options(summary["choice"])
    return facts


def print_candidates(summary: Mapping[str, Any], *, to_stderr: bool = False) -> None:
    """Print the numbers of clusters that a choice considered, with odds and stability."""
    if not summary["numbers"]:
        return
    numbers = sorted(summary["numbers"], key=lambda option: not option["is_chosen"])
    rows = [
        [
            counted(option["n_clusters"], "cluster"),
            percentage(option["odds"]),
            *(_figure(option[name]) for name in ("stability", "least_stability")),
            "chosen" if option["is_chosen"] else "",
        ]
        for option in numbers[:_MOST_NUMBERS_SHOWN]
    ]
    header = ["candidate", "odds", "stability", "least stable cluster", ""]
    print_table(header, rows, to_stderr=to_stderr)


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.1%}"


def found_words(summary: Mapping[str, Any]) -> str:
    """Return the numbers of clusters, rows and noise rows in words."""
    words = f"{counted(summary['n_clusters'], 'cluster')} in {counted(summary['n_rows'], 'row')}"
    n_noise = summary["n_noise"]
    return f"{words}, {n_noise:,} of them noise" if n_noise else f"{words}, no noise"


def _numbering(summary: Mapping[str, Any]) -> dict[str, str]:
    """Return the order of clusters as a fact to print; nothing if they are numbered by size."""
    is_grown = summary["tau"] is not None and "n_clusters" not in summary["given"]
    if not is_grown or summary["n_clusters"] < 2:
        return {}
    return {"numbered": "in the order of growth, not by size"}


def noise_words(share: float) -> str:
    """Return the share of noise in words."""
    return f"{percentage(share)} noise" if share else "no noise"


def objective_words(summary: Mapping[str, Any]) -> str:
    """Return the objective in words and, if clusters were refined, its change."""
    words = f"{summary['objective']:,.2f} (sum of all similarities"
    if summary["n_reassigned"] is None:
        return f"{words})"
    if not summary["n_reassigned"]:
        return f"{words}; refinement moved no row)"
    moved = counted(summary["n_reassigned"], "row")
    before = summary["objective_before_refinement"]
    return f"{words}; {before:,.2f} before refinement, which moved {moved})"


def print_repeating(summary: Mapping[str, Any], *, to_stderr: bool = False) -> None:
    """Print the command and the call that give the same labels, each on one line to copy."""
    from .._provenance import UNREPEATABLE

    click.echo("\nSame labels:", err=to_stderr)
    if summary.get("command") is not None:
        click.echo(f"  {summary['command']}", err=to_stderr)
    click.echo("  from pskclust import PSKC", err=to_stderr)
    click.echo(f"  {summary['python']}  # {_python_note(summary)}", err=to_stderr)
    if not summary["repeatable"]:
        click.echo(f"  {UNREPEATABLE}", err=to_stderr)


def _python_note(summary: Mapping[str, Any]) -> str:
    note = "in Python, for the same columns"
    # A model does not tell how many values were missing, only how they would be treated.
    missing = summary.get("missing")
    if summary.get("n_dropped") or missing == "drop":
        note += " without rows that have missing values,"
    if summary.get("n_filled") or missing == "mean":
        note += " with missing values replaced by column means,"
    if summary["scaling"] != "none":
        note += f" after {summary['scaling']} scaling"
    note = note.removesuffix(",")
    if summary.get("weight") is not None:
        note += f', with the weights in "{summary["weight"]}"'
    return note


def peak_memory() -> int | None:
    """Return the peak memory of this process in bytes; None if it cannot be measured."""
    try:
        import resource
    except ImportError:
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def print_clusters(summary: dict[str, Any], *, to_stderr: bool = False) -> None:
    """Print the size and similarities of each cluster, or of the largest if there are many."""
    n_rows = max(1, summary["n_rows"])
    clusters = summary["clusters"]
    largest = sorted(clusters, key=lambda c: -c["size"])[:_MOST_CLUSTERS_SHOWN]
    shown = sorted(largest, key=lambda c: c["cluster"])
    rows = [
        [
            str(cluster["cluster"]),
            f"{cluster['size']:,}",
            percentage(cluster["size"] / n_rows),
            *(f"{value:.3f}" for value in cluster["similarity_quartiles"]),
            _confidence(cluster),
        ]
        for cluster in shown
    ]
    hidden = len(clusters) - len(shown)
    if hidden:
        n_hidden = sum(c["size"] for c in clusters) - sum(c["size"] for c in shown)
        words = f"{hidden:,} smaller"
        rows.append([words, f"{n_hidden:,}", percentage(n_hidden / n_rows), *[""] * 6])
    n_noise = summary["n_noise"]
    if n_noise:
        rows.append(["noise", f"{n_noise:,}", percentage(n_noise / n_rows), *[""] * 6])
    header = ["cluster", "rows", "share", "similarity: min", "25%", "median", "75%", "max"]
    if any(row[-1] for row in rows):
        header.append("confidence")
    cells = [row[: len(header)] for row in rows]
    print_table(header, cells, to_stderr=to_stderr, narrow=_NARROW_HEADER)


def _confidence(cluster: Mapping[str, Any]) -> str:
    if cluster["confidence"] is None:
        return ""
    return percentage(cluster["confidence"])


def _print_hints(summary: Mapping[str, Any], *, to_stderr: bool) -> None:
    """Print hints on columns and, if several have an option, a command to copy with all of them."""
    lines = list(summary["hints"])
    if not lines:
        return
    if summary["command_with_hints"] is not None:
        lines.append(f"With all options for columns: {summary['command_with_hints']}")
    click.echo("\nHints:", err=to_stderr)
    for line in lines:
        say(escaped(line), to_stderr=to_stderr, indent="  ")


def print_summary(summary: dict[str, Any], *, to_stderr: bool = False) -> None:
    """Print the summary of a fit."""
    print_clusters(summary, to_stderr=to_stderr)
    print_candidates(summary, to_stderr=to_stderr)
    facts = {
        "found": found_words(summary),
        **_numbering(summary),
        "columns": f"{first_of(summary['columns'], 6)} (scaling: {summary['scaling']})",
        **provenance_facts(summary),
    }
    # The objective is shown only with its gain by refinement.
    if summary["n_reassigned"] is not None:
        facts["objective"] = objective_words(summary)
    if summary["n_dropped"]:
        facts["left out"] = f"{counted(summary['n_dropped'], 'row')} with missing values"
    if summary["n_filled"]:
        facts["filled in"] = f"{counted(summary['n_filled'], 'missing value')} with column means"
    if summary["scores"]:
        each = ", ".join(f"{name} {value:.3f}" for name, value in summary["scores"].items())
        facts["agreement"] = f'{each} with column "{summary["label"]}"'
    seconds = summary["seconds"]
    steps = {"reading": "read", "fit": "fit"} | ({"writing": "write"} if summary["written"] else {})
    rest = seconds["total"] - sum(seconds[step] for step in steps.values())
    each = ", ".join(f"{name} {seconds[step]:.2f}" for name, step in steps.items())
    each += f", start and other work {max(0.0, rest):.2f}"
    facts["seconds"] = f"{seconds['total']:.2f} ({each})"
    if summary["memory_bytes"]:
        facts["memory"] = f"{readable_bytes(summary['memory_bytes'])} at its peak"
    if summary["written"]:
        facts["written"] = ", ".join(summary["written"])
    print_facts(facts, to_stderr=to_stderr)
    _print_hints(summary, to_stderr=to_stderr)
    print_repeating(summary, to_stderr=to_stderr)
