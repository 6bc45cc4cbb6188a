"""Table 2 and the appendix's second table: eleven systems on five artificial data sets."""

from __future__ import annotations

import os
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from typing import Any, NamedTuple

import numpy as np
from framework import Comparison, Outcome, Settings
from searches import CUTS, SEARCHES
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score

from pskclust.datasets import load_paper_set, make_ring_g
from pskclust.metrics import matched_f1
from pskclust.plotting import cluster_colours

TITLE = "Table 2 and appendix: eleven systems on artificial data"
DATA_SETS = ("Ring-G", "AC", "aggregation", "spiral", "s3")
# The results that the paper frames as good.
GOOD_IN_PAPER = {
    "psKC": set(DATA_SETS),
    "DP": {"AC", "aggregation", "spiral", "s3"},
    "kernel k-means (Gaussian)": {"s3"},
    "kernel k-means (kNN)": {"AC", "s3"},
    "SGL": {"s3"},
    "k-means": set(),
    "psKC_g": {"AC", "spiral"},
    "DBSCAN": {"AC", "aggregation", "spiral"},
    "MBSCAN": {"Ring-G", "AC", "aggregation", "spiral"},
    "DP_ik": {"AC", "aggregation", "spiral"},
    "RCC": {"AC", "aggregation", "spiral"},
}
# The paper judges by eye. F1 from which a result is good here; the clusters of S3 overlap.
GOOD_F1 = {"s3": 0.8}
GOOD_F1_ELSEWHERE = 0.95
REASONS = {
    ("kernel k-means (kNN)", "AC"): "One end of the arc goes to the ball; no k does better here.",
    ("k-means", "s3"): "As good as the kernel k-means that the paper frames; judged by eye there.",
    (
        "psKC_g",
        "AC",
    ): "The ends of the arc are clusters of their own, which F1 forgives and the eye does not.",
    ("psKC_g", "aggregation"): "At gamma 64 and growth rate 0.01 hardly a row is wrong.",
    (
        "psKC_g",
        "spiral",
    ): "Tau is 0.1 for all: a row is in an arm if its mean similarity to the whole arm is above, "
    "which a Gaussian narrow enough to tell the arms apart does not give.",
    ("MBSCAN", "s3"): "Many rows between the clusters are noise, which F1 forgives.",
    (
        "DP_ik",
        "spiral",
    ): "Arms are cut where they are close, for every psi up to 32; how the paper draws the "
    "kernel's centres for it is not said.",
    ("DP_ik", "s3"): "As good as DP, which the paper frames as good.",
    (
        "RCC",
        "Ring-G",
    ): "Ring-G is a stand-in; stray rows are clusters of their own, which F1 forgives.",
    (
        "RCC",
        "aggregation",
    ): "Pieces break off the larger clusters, for every k that was tried.",
}


class Best(NamedTuple):
    """The best result of a search."""

    f1: float
    ari: float
    nmi: float
    n_clusters: int
    n_tried: int
    parameters: str
    labels: np.ndarray


def load(name: str, settings_folder: Any) -> tuple[np.ndarray, np.ndarray]:
    if name == "Ring-G":
        return make_ring_g(random_state=0)
    return load_paper_set(name, folder=settings_folder)


def search(system: str, name: str, folder: Any, fast: bool) -> Best:
    """Return the best of all candidates of a search, by F1."""
    X, y = load(name, folder)
    best_f1, best_labels, best_model, n_tried = -1.0, None, None, 0
    for labels, model in SEARCHES[system](X, len(np.unique(y)), fast):
        n_tried += 1
        f1 = matched_f1(y, labels)
        if f1 > best_f1:
            best_f1, best_labels, best_model = f1, labels.copy(), repr(model)
    return Best(
        best_f1,
        adjusted_rand_score(y, best_labels),
        normalized_mutual_info_score(y, best_labels),
        len(np.unique(best_labels[best_labels >= 0])),
        n_tried,
        " ".join(best_model.split()),
        best_labels,
    )


def run(settings: Settings) -> Outcome:
    # Processes share the processors, so each keeps to one thread.
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ[variable] = "1"
    for name in DATA_SETS:
        load(name, settings.data)  # data that is not there is told before the search
    found: dict[tuple[str, str], Best] = {}
    with ProcessPoolExecutor(os.cpu_count(), mp_context=get_context("spawn")) as pool:
        # The largest data first, so that no long search is left to the end.
        futures = {
            pool.submit(search, system, name, settings.data, settings.fast): (system, name)
            for name in ("s3", *DATA_SETS[:-1])
            for system in SEARCHES
        }
        for done, future in enumerate(as_completed(futures), start=1):
            found[futures[future]] = future.result()
            settings.tell(done / len(futures))
    outcome = Outcome()
    for system in SEARCHES:
        for name in DATA_SETS:
            outcome.comparisons.append(_comparison(system, name, found[system, name]))
    outcome.tables.append(_table(found))
    outcome.picture(
        settings,
        "table2.png",
        _grid(found, settings.data),
        "The best result of each search; good ones are framed. Noise is grey.",
    )
    outcome.values = {
        f"{name}_{system}": found[system, name].f1 for system in SEARCHES for name in DATA_SETS
    }
    outcome.notes.append(
        "The best by F1 (macro, each class matched to at most one cluster) over the paper's own "
        "parameter ranges, labels in hand, as in the paper. Ring-G was never published: two rings "
        "and two Gaussians stand in for it, laid out such that psKC finds them, with DBSCAN's "
        "score in view, so what these two do there is no evidence."
    )
    outcome.notes.append(f"Left out of the paper's ranges, for time: {CUTS}")
    return outcome


def _is_good(name: str, f1: float) -> bool:
    return f1 >= GOOD_F1.get(name, GOOD_F1_ELSEWHERE)


def _comparison(system: str, name: str, best: Best) -> Comparison:
    good = _is_good(name, best.f1)
    good_in_paper = name in GOOD_IN_PAPER[system]
    reason = ""
    if good != good_in_paper:
        reason = REASONS.get((system, name)) or (
            "Better here than in the paper's picture."
            if good
            else f"F1 {best.f1:.2f} is below {GOOD_F1.get(name, GOOD_F1_ELSEWHERE)}."
        )
    return Comparison(
        f"{system} on {name}",
        "good" if good_in_paper else "poor",
        f"{'good' if good else 'poor'}, F1 {best.f1:.3f}",
        good == good_in_paper,
        reason,
    )


def _table(found: dict[tuple[str, str], Best]) -> str:
    lines = ["| system | data | F1 | ARI | NMI | clusters | tried | best parameters |"]
    lines.append("|" + "---|" * 8)
    for system in SEARCHES:
        for name in DATA_SETS:
            best = found[system, name]
            lines.append(
                f"| {system} | {name} | {best.f1:.3f} | {best.ari:.3f} | {best.nmi:.3f} | "
                f"{best.n_clusters} | {best.n_tried:,} | {best.parameters} |"
            )
    return "\n".join(lines)


def _grid(found: dict[tuple[str, str], Best], folder: Any):
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(
        len(SEARCHES), len(DATA_SETS), figsize=(11, 22), layout="constrained"
    )
    for row, system in zip(axes, SEARCHES, strict=True):
        for ax, name in zip(row, DATA_SETS, strict=True):
            X, _ = load(name, folder)
            best = found[system, name]
            colours = cluster_colours(int(best.labels.max(initial=-1)) + 1)
            ax.scatter(*X.T, c=colours[best.labels], s=3, linewidths=0)
            ax.set(xticks=[], yticks=[])
            ax.set_title(f"{name}: {best.f1:.2f}", fontsize=8)
            for spine in ax.spines.values():
                spine.set(color="#e6ac00" if _is_good(name, best.f1) else "0.85")
                spine.set_linewidth(3 if _is_good(name, best.f1) else 0.8)
        row[0].set_ylabel(system, fontsize=9)
    return figure
