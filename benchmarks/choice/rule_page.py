"""Write every number of the rule to its page, docs/automatic.md.

    python benchmarks/choice/rule_page.py

Numbers set by hand are read from the code, fitted numbers and figures from weights.json.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import fitting
import numpy as np

from pskclust._choice import (
    choose,
    discriminant,
    draws,
    empty_space,
    noise,
    pooling,
    reassignment,
    scales,
    scoring,
    split_tree,
    stability,
)

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/automatic.md"
WEIGHTS = ROOT / "src/pskclust/_choice/weights.json"

_MEAN_OF_BEST = ", for the best split of each tree; mean over trees"
# Meanings of the evidence, as the page shows them.
MEANINGS = {
    "path": "1 for a tree of single linkage, 0 for a tree of average linkage",
    "log_number": "logarithm of the number of clusters",
    "evenness": "entropy of the clusters' sizes, divided by its largest value",
    "smallest": "logarithm of the smallest cluster's size, relative to the mean size",
    "found": "how well halves of the rows find the clusters again, mean over clusters",
    "found_least": "how well halves of the rows find the least stable cluster again",
    "same_number": "agreement with cuts of the halves' trees into the same number of clusters",
    "crossed": "how well trees of other psi or linkage find the clusters again, mean over clusters",
    "crossed_least": "how well trees of other psi or linkage find the least stable cluster again",
    "silhouette": "how much more similar rows are to their own cluster than to the nearest other",
    "contact": "share of rows of other clusters in the smallest cells of a cluster's rows",
    "valley": "log ratio of the density inside clusters to the density at their borders",
    "valley_least": "smallest valley of any cluster",
    "found_by_rows": "how well halves of the rows find the clusters again, mean over rows",
    "found_worst": "how well a half finds a cluster again, minimum over halves and clusters",
    "near_psi": "how well trees of the next psi find the clusters again, mean over clusters",
    "near_psi_least": "how well trees of the next psi find the least stable cluster again",
    "largest": "logarithm of the largest cluster's size, relative to the mean size",
    "ratio": "similarity to the nearest other cluster, divided by that within a cluster",
    "ratio_most": "largest ratio of any cluster",
    "silhouette_least": "smallest silhouette of any cluster, mean over its rows",
    "ambiguous": "share of rows with a silhouette below 0.2",
    "gap": "height of the last split that is made, minus that of the next",
    "contact_most": "largest contact of any cluster",
    "last_split": "how well the last split that is made is found again",
    "next_split": "how well the first split that is not made is found again",
    "misplaced": "share of rows more similar to another cluster than to their own",
    "best_left_crossed": "like best_left, with the stability in other trees where that is lower",
    "weakest_split": "how well the least stable split that is made is found again",
    "best_left": "how well the most stable split that is not made is found again",
    "splits_mean": "mean log odds of the splits that are made",
    "splits_least": "smallest log odds of a split that is made",
    "splits_left": "largest log odds of a split that is not made",
    "splits_against": "sum of the negative log odds of splits that are made, weighted by rows",
    "splits_missed": "sum of the positive log odds of splits that are not made, weighted by rows",
    "splits_last": "log odds of the last split that is made",
    "splits_next": "log odds of the first split that is not made",
    "best_stability": "how well halves of the rows find the best cut's most stable split again",
    "dip": "deepest dip of the density between the sides of a split, along the discriminant",
    "found_everywhere": "stability in halves times stability in other trees" + _MEAN_OF_BEST,
    "apart_everywhere": "distance of the sides along the discriminant" + _MEAN_OF_BEST,
    "held_valley_everywhere": "depth of the valley on the other half" + _MEAN_OF_BEST,
    "held_sure_everywhere": "this depth in units of its error" + _MEAN_OF_BEST,
    "empty_gap": "largest log ratio of two successive lengths at which single linkage joins sides "
    "of a twentieth of the rows or more",
    "log_rows": "logarithm of the number of rows, minus 6.5",
    "log_dimension": "logarithm of the intrinsic dimension, minus 1",
    "log_psi": "logarithm of the number of cells of the tree's kernel, minus 3.5",
}


def by_hand_table() -> str:
    """Return the numbers that were set by hand, each with its reason."""
    psis = ", ".join(map(str, scales.PSIS))
    rows = [
        (
            f"{choose.MAX_ROWS:,} rows",
            "largest sample on which a clustering is chosen",
            "trees need the similarity of all pairs: twice the rows cost four times as much",
        ),
        (
            f"psi {psis}",
            "numbers of cells, each four times the one before",
            "from cells of many rows to cells of a few; on average, cells hold two rows or more",
        ),
        (
            str(stability.N_HALVES),
            "random halves of the rows, from each of which trees are grown again",
            "each row is in two halves; each half costs one more tree of every kind",
        ),
        (
            f"{stability.MIN_ROWS} rows, and one in {stability.MAX_ROWS_SHARE}",
            "smallest cluster of the sample",
            "smaller ones can hardly be distinguished from chance; one in 50 would lose small "
            "clusters",
        ),
        (
            str(split_tree.N_NEAR),
            "neighbours in mutual reachability",
            "a bridge of single rows does not join two clusters",
        ),
        (
            f"{_share_kept():.0%}",
            "share of single clusters that are left whole",
            "sets the balance between one cluster and several; fit.py shifts the log odds to match",
        ),
    ]
    lines = ["| number | meaning | why |", "|---|---|---|"]
    return "\n".join(lines + [f"| {' | '.join(row)} |" for row in rows]) + "\n"


def _share_kept() -> float:
    text = (Path(__file__).parent / "choices.py").read_text()
    return float(re.search(r"SHARE_OF_SINGLES_KEPT = ([\d.]+)", text)[1])


def cost_table() -> str:
    """Return the numbers that limit time and memory, and those that definitions need."""
    numbers = stability.NUMBERS
    rows = [
        (
            f"2 to {split_tree.MAX_LEAVES} clusters",
            "numbers of clusters of candidates: all numbers up to 16, then steps of about 10%",
        ),
        (f"{stability.ROWS_PER_CLUSTER} rows", "smallest mean size of the clusters of a candidate"),
        (
            f"{empty_space.MIN_SIDE} rows, and one in {empty_space.MAX_SIDE_SHARE}",
            "smallest side of an empty space",
        ),
        (
            f"{empty_space.MIN_FACING} log(n) rows",
            "number of the n rows that must face an empty space for it to count; a row faces it if "
            "its distance to another side is at most twice the width of the space",
        ),
        (
            f"{draws.N_BEST} candidates",
            "largest number of candidates of a draw that are compared with the others: those with "
            "the best scores",
        ),
        (
            f"{', '.join(map(str, pooling.N_DRAWS))} draws",
            "numbers of draws of partitionings and halves after which drawing stops if the choice "
            "is clear; it always stops after the last one",
        ),
        (
            f"{pooling.ALIKE:g}",
            "smallest ARI of clusterings that count as alike: the choices of all draws and of "
            "halves of them; for one draw, the mean ARI of the chosen candidate with the others",
        ),
        (
            f"{pooling.CLEAR_STABILITY:g}",
            "smallest stability of the chosen candidate that makes the choice of a single draw "
            "clear; Hennig (2007) calls such clusters highly stable",
        ),
        (
            f"{pooling.CLOSE_TO_ZERO:g}",
            "one cluster or several is clear if the mean log odds of n draws are farther from zero "
            "than this number divided by √n; the log odds of single draws vary by about 0.6",
        ),
        (
            f"{reassignment.N_ROUNDS} rounds",
            "number of times that rows are reassigned; further rounds move few rows",
        ),
        (
            f"{scoring.MIN_ROWS_FITTED} rows",
            "smallest number of rows in log_rows of the score: smaller samples count as "
            f"{scoring.MIN_ROWS_FITTED} rows",
        ),
        (
            f"{choose.MIN_ROWS_TO_DIVIDE} rows",
            "smallest sample that is divided; fewer rows are one cluster",
        ),
        (f"psi {scales.PSI_FOR_FEW}", "number of cells for fewer than 64 rows"),
        (
            f"{scales.MAX_EVIDENCE_ROWS} rows",
            "largest number of rows, evenly spaced in the sample, on which similarity and contact "
            "are measured; half as many in each half",
        ),
        (
            f"{scales.ROWS_PER_FINE_CELL} rows per cell",
            "mean number in the smallest cells, which show the contact and density of clusters",
        ),
        (
            f"{scales.N_FEW} and {scales.N_MORE} rows",
            "numbers of nearest rows by which contact and density at the two sides of a split are "
            "measured",
        ),
        (
            f"{discriminant.MAX_AXES} principal axes",
            "largest number of axes that are used to compute the discriminant",
        ),
        (
            f"{scoring.SURE:g}",
            f"limit of the log odds of a split: values are clipped to the range from "
            f"-{scoring.SURE:g} to {scoring.SURE:g}",
        ),
    ]
    assert numbers[-1] == split_tree.MAX_LEAVES
    lines = ["| number | meaning |", "|---|---|"]
    return "\n".join(lines + [f"| {' | '.join(row)} |" for row in rows]) + "\n"


def noise_table() -> str:
    """Return the numbers of the rule for noise, none of which is fitted."""
    rows = [
        (
            f"{noise.N_NEAR} rows",
            "number of nearest rows; their mean distance from a row measures the density there",
        ),
        (
            f"{noise.EMPTIEST:.0%}",
            "size of the emptiest part of the box of the data, where a background also has rows",
        ),
        (
            f"{noise.MIN_ROWS_FOR_BACKGROUND} rows",
            "smallest sample that is searched for a background; in fewer rows, the tails of a "
            "cluster could pass for one",
        ),
        (
            f"{noise.MIN_COLUMNS_FOR_BACKGROUND} columns",
            "fewest columns that are searched for a background; in one column, the tails of a "
            "cluster pass for one",
        ),
        (f"{noise.MIN_SEEN} rows", "fewest rows in the emptiest part that show a background"),
        (f"{noise.MAX_SHARE:.0%}", "largest share of rows that a background can have"),
        (
            f"{noise._FAR:g} times",
            "multiple of the median distance of rows from the middle: an outlier is farther than "
            "this from all but a few rows",
        ),
        (
            f"{noise._WIDER:g} width",
            "largest distance outside the box of the data, in widths of the box; rows farther "
            "outside are noise",
        ),
    ]
    lines = ["| number | meaning |", "|---|---|"]
    return "\n".join(lines + [f"| {' | '.join(row)} |" for row in rows]) + "\n"


def score_table(weights: dict[str, Any]) -> str:
    """Return a table of the evidence in the score: number of questions, influence and direction."""
    trees = scoring.Boosted.of(weights["score"]["trees"])
    no_no, no_yes, yes_no, yes_yes = trees.values.T * 1e-6
    # What each answer "yes" adds, on average over the answers to the other question.
    steps = np.stack([(yes_no + yes_yes - no_no - no_yes), no_yes - no_no, yes_yes - yes_no], 1) / 2
    names = np.array(scoring.SCORE_NAMES)[trees.columns]
    total = abs(steps).sum()
    rows = []
    for name in scoring.SCORE_NAMES:
        own = steps[names == name]
        asked, size = np.count_nonzero(own), abs(own).sum()
        direction = f"{own.sum() / size:+.2f}" if size else ""
        rows.append((size / total, f"| {name} | {asked} | {size / total:.1%} | {direction} |"))
    lines = ["| evidence | questions | influence | direction | meaning |", "|---|---|---|---|---|"]
    for _, row in sorted(rows, key=lambda row: -row[0]):
        lines.append(f"{row} {MEANINGS[row.split()[1]]} |")
    return "\n".join(lines) + "\n"


def size_of_score(weights: dict[str, Any]) -> str:
    """Return the numbers of trees and questions, and the settings of the fit."""
    score = weights["score"]
    values = scoring.Boosted.of(score["trees"]).values
    # A question with equal answers is not asked.
    n_asked = len(values) + np.count_nonzero(values[:, ::2] != values[:, 1::2])
    rows = [
        (f"{len(values)} trees", f"in the score, with {n_asked:,} questions"),
        (f"{score['temperature']:g}", "temperature of the odds"),
        (
            f"{fitting.CLOSE_ARI:g}",
            "loss of the ARI for which odds should be lower by a factor of 2.7",
        ),
        (f"{fitting.SHARE_OF_TREE:.0%}", "share of the sets that each tree was fitted to"),
        (f"{fitting.SHARE_OF_COLUMNS:.0%}", "share of the evidence that a question may be about"),
        (f"{fitting.SHARE_OF_LEAF:.0%}", "smallest share of these candidates with the same answer"),
        (f"{fitting.LEARNING_RATE:g}", "factor of the answers: each tree is a small step"),
        (
            f"{fitting.SCORE_RIDGE:g}, {fitting.LEAST_CURVE:g}",
            "added to the weight of a candidate's answers, and its least weight, so that few "
            "candidates change the score little",
        ),
    ]
    lines = ["| number | meaning |", "|---|---|"]
    return "\n".join(lines + [f"| {' | '.join(row)} |" for row in rows]) + "\n"


def several_table(weights: dict[str, Any]) -> str:
    lines = ["| evidence | weight | meaning |", "|---|---|---|"]
    for name, weight in weights["several"]["weights"].items():
        lines.append(f"| {name} | {weight:+.3f} | {MEANINGS[name]} |")
    gap = weights["empty_gap"]
    meaning = f"{MEANINGS['empty_gap']}; only the part beyond {gap['limit']:.3f} counts"
    lines.append(f"| empty_gap | {gap['weight']:+.3f} | {meaning} |")
    lines.append(f"| constant | {weights['several']['constant']:+.3f} | |")
    return "\n".join(lines) + "\n"


def split_table(weights: dict[str, Any]) -> str:
    """Return the fitted numbers of splits, three to a line."""
    fitted = {"constant": weights["split"]["constant"], **weights["split"]["weights"]}
    cells = [f"{name} | {weight:+.3f}" for name, weight in fitted.items()]
    cells += [" | "] * (-len(cells) % 3)
    lines = ["| column | weight " * 3 + "|", "|---" * 6 + "|"]
    lines += [f"| {' | '.join(cells[i : i + 3])} |" for i in range(0, len(cells), 3)]
    return "\n".join(lines) + "\n"


def left_out_table(weights: dict[str, Any]) -> str:
    """Return the figures of families that were left out."""
    found, always = weights["left_out"], weights["left_out_without_one"]
    lines = [
        '| family left out | sets | ARI | without "one cluster" | best candidate '
        "| number of clusters off by more than 2x |",
        "|---|---|---|---|---|---|",
    ]
    rows = {
        **{name: (each, always["families"][name]) for name, each in found["families"].items()},
        "mean of sets": (found["mean_of_sets"], always["mean_of_sets"]),
    }
    for name, (each, other) in rows.items():
        lines.append(
            f"| {name} | {each['sets']} | {each['ari']:.3f} | {other['ari']:.3f} | "
            f"{each['best_candidate']:.3f} | {each['wrong_number']:.0%} |"
        )
    lines.append(
        f"| mean of families | | {found['mean_of_families']:.3f} | "
        f"{always['mean_of_families']:.3f} | | |"
    )
    return "\n".join(lines) + "\n"


def balance_table(weights: dict[str, Any]) -> str:
    """Return the cost of leaving single clusters whole."""
    balance = weights["balance"]
    lines = [
        "| single clusters left whole | " + " | ".join(f"{float(s):.0%}" for s in balance) + " |",
        "|---" * (len(balance) + 1) + "|",
    ]
    for name, title in (
        ("mean_of_sets", "mean of sets"),
        ("mean_of_families", "mean of families"),
    ):
        cells = [f"{each[name]:.3f}" for each in balance.values()]
        lines.append(f"| {title} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def fitted_to(weights: dict[str, Any]) -> str:
    """Return a sentence about the sets that the rule was fitted to."""
    sets = weights["sets"]
    kept = weights["left_out"]["single_clusters_kept"]
    return (
        f"The rule was fitted on {weights['date']} to {sets['given']} collected and "
        f"{sets['generated']:,} generated sets, in {len(sets['families'])} families. "
        f"Of the single clusters that were left out of a fit, {kept:.0%} stay whole. "
        f"Step 9 multiplies the odds by a power of the intrinsic dimension; here the power is "
        f"{weights['power_of_dimension']:g}.\n"
    )


def tables() -> dict[tuple[str, str], str]:
    """Return all tables of the page, by file and by name."""
    weights = json.loads(WEIGHTS.read_text())
    page = str(PAGE.relative_to(ROOT))
    return {
        (page, "fitted to"): fitted_to(weights),
        (page, "numbers by hand"): by_hand_table(),
        (page, "numbers for cost"): cost_table(),
        (page, "numbers of noise"): noise_table(),
        (page, "size of the score"): size_of_score(weights),
        (page, "numbers of the score"): score_table(weights),
        (page, "numbers of one or several"): several_table(weights),
        (page, "numbers of splits"): split_table(weights),
        (page, "families left out"): left_out_table(weights),
        (page, "balance"): balance_table(weights),
    }


def main() -> None:
    text = PAGE.read_text()
    for (_, name), table in tables().items():
        start, end = f"<!-- {name} -->\n", f"<!-- end of {name} -->"
        before, rest = text.split(start)
        text = before + start + table + end + rest.split(end, 1)[1]
    PAGE.write_text(text)


if __name__ == "__main__":
    main()
