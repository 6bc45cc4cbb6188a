"""Write every number of the rule into docs/automatic.md.

    python benchmarks/choice/rule_page.py

Numbers set by hand are read from the code; fitted numbers and scores come from weights.json.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from pskclust._choice import choose, discriminant, noise, scales, scoring, split_tree, stability

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/automatic.md"
WEIGHTS = ROOT / "src/pskclust/_choice/weights.json"

# Descriptions of the evidence for the page.
MEANINGS = {
    "path": "1 if the tree follows paths, 0 if it is of average linkage",
    "log_number": "logarithm of the number of clusters",
    "evenness": "entropy of the clusters' sizes, divided by its largest value",
    "smallest": "logarithm of the smallest cluster's size, relative to the mean",
    "found": "how well trees of half of the rows find the clusters again, mean over clusters",
    "found_least": "as found, for the cluster that is found worst",
    "same_number": "agreement with cuts of trees of half of the rows into equally many clusters",
    "crossed": "how well the trees of other psi and of the other kind find the clusters again",
    "crossed_least": "as crossed, for the cluster that is found worst",
    "silhouette": "how much more similar rows are to their own cluster than to the nearest other",
    "contact": "share of other clusters in the smallest cells of a cluster's rows",
    "valley": "how much lower the density is between clusters than in them, as a logarithm",
    "weakest_split": "how well the least stable split that the cut makes is found again",
    "best_left": "how well the most stable split that the cut does not make is found again",
    "splits_mean": "mean log odds of the splits that the cut makes",
    "splits_least": "smallest log odds of a split that the cut makes",
    "splits_left": "largest log odds of a split that the cut does not make",
    "splits_against": "sum of the negative log odds of splits made, weighted by share of rows",
    "splits_missed": "sum of the positive log odds of splits not made, weighted by share of rows",
    "splits_last": "log odds of the last split that the cut makes",
    "splits_next": "log odds of the first split that the cut does not make",
    "best_stability": "how well halves of the rows find the most stable split of the best cut",
    "found_everywhere": "best split of a tree, found by halves x by other trees; mean over trees",
    "parted": "as found_everywhere, x the depth of the valley between the sides, 0 to 1",
    "log_rows": "logarithm of the number of rows, minus 6.5",
    "log_dimension": "logarithm of the intrinsic dimension, minus 1",
    "log_dimension_squared": "square of log_dimension",
    "log_rows_by_dimension": "product of log_rows and log_dimension",
}


def by_hand_table() -> str:
    """Return the table of the numbers set by hand, each with its reason."""
    psis = ", ".join(map(str, scales.PSIS))
    rows = [
        (
            f"{choose.MAX_ROWS:,} rows",
            "largest sample that the choice is made on",
            "trees need the similarity of all pairs; twice as many rows cost four times as much",
        ),
        (
            f"psi {psis}",
            "numbers of cells, each four times the previous one",
            "from cells of many rows to cells of a few; cells hold two rows or more",
        ),
        (
            str(stability.N_HALVES),
            "random halves of the rows, each with its own trees",
            "each row is in two of them; each half costs one more tree of every kind",
        ),
        (
            f"{stability.MIN_ROWS} rows, and one in {stability.MAX_ROWS_SHARE}",
            "smallest cluster of the sample",
            "smaller ones can hardly be told from chance; with one in 50, small clusters are lost",
        ),
        (
            str(split_tree.N_NEAR),
            "rows that a path needs around it",
            "a bridge of single rows does not join two clusters",
        ),
        (
            f"{_share_kept():.0%}",
            "share of single clusters that are left whole",
            "sets the balance between one cluster and several; fit.py finds the log odds for it",
        ),
    ]
    lines = ["| number | what it is | why |", "|---|---|---|"]
    return "\n".join(lines + [f"| {' | '.join(row)} |" for row in rows]) + "\n"


def _share_kept() -> float:
    text = (Path(__file__).parent / "fit.py").read_text()
    return float(re.search(r"SHARE_OF_SINGLES_KEPT = ([\d.]+)", text)[1])


def cost_table() -> str:
    """Return the table of the numbers that bound time or belong to a definition."""
    numbers = stability.NUMBERS
    rows = [
        (f"2 to {split_tree.MAX_LEAVES} clusters", "are looked at: all up to 16, then every tenth"),
        (f"{stability.ROWS_PER_CLUSTER} rows", "per cluster at least, on average"),
        (f"{choose.N_BEST} candidates", "are compared with each other at the end"),
        (
            f"{choose.MIN_ROWS_TO_DIVIDE} rows",
            "at least, to be divided; fewer rows are one cluster",
        ),
        (f"psi {scales.PSI_FOR_FEW}", "for fewer than 64 rows"),
        (
            f"{scales.MAX_EVIDENCE_ROWS} rows",
            "of the sample, evenly spaced, for similarity and contact; half as many of a half",
        ),
        (
            f"{scales.ROWS_PER_FINE_CELL} rows a cell",
            "in the cells for contact and density of clusters",
        ),
        (
            f"{scales.N_FEW} and {scales.N_MORE} rows",
            "nearest to a row, for contact and density of the two sides of a split",
        ),
        (
            f"{discriminant.MAX_AXES} principal axes",
            "of the rows, for the discriminant",
        ),
        (f"{scoring.SURE:g}", "largest log odds of a split that count"),
    ]
    assert numbers[-1] == split_tree.MAX_LEAVES
    lines = ["| number | what it is |", "|---|---|"]
    return "\n".join(lines + [f"| {' | '.join(row)} |" for row in rows]) + "\n"


def noise_table() -> str:
    """Return the table of the numbers of the noise rule; none of them is fitted."""
    rows = [
        (f"{noise.N_NEAR} rows", "nearest to a row; their mean distance measures the density"),
        (
            f"{noise.EMPTIEST:.0%}",
            "of the box of the data, its emptiest part: a background fills it, too",
        ),
        (
            f"{noise.MIN_ROWS_FOR_BACKGROUND} rows",
            "at least, to look for a background: among fewer, tails would pass for one",
        ),
        (
            f"{noise.MIN_SEEN} rows",
            "at least must show a background there, as many as in the smallest cluster",
        ),
        (
            f"{noise.MAX_SHARE:.0%}",
            "largest share of rows in a background; more rows are the data itself",
        ),
        (
            f"{noise._FAR:g} times",
            "as far from other rows as rows are from the middle, a row is an outlier",
        ),
        (f"{noise._WIDER:g} times", "the width of the box beyond its sides, all is noise"),
    ]
    lines = ["| number | what it is |", "|---|---|"]
    return "\n".join(lines + [f"| {' | '.join(row)} |" for row in rows]) + "\n"


def score_table(weights: dict[str, Any]) -> str:
    """Return the table of the fitted weights of the score."""
    lines = ["| evidence | weight | what it is |", "|---|---|---|"]
    fitted = weights["score"]["weights"]
    for name, weight in sorted(fitted.items(), key=lambda item: -abs(item[1])):
        lines.append(f"| {name} | {weight:+.3f} | {MEANINGS[name]} |")
    lines.append(f"| temperature | {weights['score']['temperature']:g} | odds = exp(score / it) |")
    return "\n".join(lines) + "\n"


def several_table(weights: dict[str, Any]) -> str:
    lines = ["| evidence | weight | what it is |", "|---|---|---|"]
    for name, weight in weights["several"]["weights"].items():
        lines.append(f"| {name} | {weight:+.3f} | {MEANINGS[name]} |")
    lines.append(f"| constant | {weights['several']['constant']:+.3f} | |")
    return "\n".join(lines) + "\n"


def split_table(weights: dict[str, Any]) -> str:
    """Return the table of the fitted weights of splits, three to a line."""
    fitted = {"constant": weights["split"]["constant"], **weights["split"]["weights"]}
    cells = [f"{name} | {weight:+.3f}" for name, weight in fitted.items()]
    cells += [" | "] * (-len(cells) % 3)
    lines = ["| column | weight " * 3 + "|", "|---" * 6 + "|"]
    lines += [f"| {' | '.join(cells[i : i + 3])} |" for i in range(0, len(cells), 3)]
    return "\n".join(lines) + "\n"


def left_out_table(weights: dict[str, Any]) -> str:
    """Return the table of the scores on families left out of the fit."""
    found, always = weights["left_out"], weights["left_out_without_one"]
    lines = [
        '| family left out | sets | ARI | without "one cluster" | best candidate '
        "| number off by more than 2x |",
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
    """Return the table of the cost of leaving single clusters whole."""
    balance = weights["balance"]
    lines = [
        "| single clusters left whole | " + " | ".join(f"{float(s):.0%}" for s in balance) + " |",
        "|---" * (len(balance) + 1) + "|",
    ]
    for name, title in (("mean_of_sets", "mean of sets"), ("mean_of_families", "of families")):
        cells = [f"{each[name]:.3f}" for each in balance.values()]
        lines.append(f"| {title} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def fitted_to(weights: dict[str, Any]) -> str:
    """Return a sentence about the sets that the numbers were fitted to."""
    sets = weights["sets"]
    kept = weights["left_out"]["single_clusters_kept"]
    return (
        f"Fitted on {weights['date']} to {sets['given']} sets of the two collections and "
        f"{sets['generated']} generated ones, in {len(sets['families'])} families. "
        f"Of single clusters that were left out, {kept:.0%} stay whole. The power of the dimension "
        f"in step 9 is {weights['power_of_dimension']:g}.\n"
    )


def tables() -> dict[tuple[str, str], str]:
    """Return all tables, by the file and the name of the place where each belongs."""
    weights = json.loads(WEIGHTS.read_text())
    page = str(PAGE.relative_to(ROOT))
    return {
        (page, "fitted to"): fitted_to(weights),
        (page, "numbers by hand"): by_hand_table(),
        (page, "numbers for cost"): cost_table(),
        (page, "numbers of noise"): noise_table(),
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
