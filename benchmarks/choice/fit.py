"""Fit the numbers of the rule, and tell how good it is on families that it was not fitted to.

    python benchmarks/choice/fit.py                 # fit, print, write weights.json
    python benchmarks/choice/fit.py --try           # print only, and with ...
        --add valley ratio --drop one --temperature 1 3 --ridge 1e-3   # ... another rule

It reads what `collect.py` kept in build/choice. Figures are of families that were left out: each
of the families that others have made is judged by numbers that were fitted to all other ones.
"""

from __future__ import annotations

import argparse
import json
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from collect import FOLDER, Collected, load_all
from fitting import (
    SCORE_RIDGE,
    SCORED,
    DIVIDED,
    DIVISION_RIDGE,
    Logistic,
    columns_of,
    division_row,
    evidence_of,
    fit_division,
    fit_score,
    out_of_fold,
)
from sets import GIVEN

from pskclust._choice.choose import N_BEST
from pskclust._choice.consensus import most_typical
from pskclust._utils.files import replacing

WEIGHTS = Path(__file__).parents[2] / "src/pskclust/_choice/weights.json"
TEMPERATURE = 2.0
_MODELS = "split_models.json"

Evidence = dict[str, np.ndarray]


class Outcome(NamedTuple):
    """What was chosen for a set that was left out."""

    each: Collected
    chosen: int

    @property
    def ari(self) -> float:
        return float(self.each.ari[self.chosen])

    @property
    def is_off(self) -> bool:
        """Whether the number of clusters is wrong by more than a factor of two."""
        found = self.each.n_clusters[self.chosen]
        return all(max(found / true, true / found) > 2 for true in self.each.numbers)


class Staged(NamedTuple):
    """The split models of a family that is left out, and the evidence by them."""

    train: list[Collected]
    evidence: list[Evidence]  # of `train`, each by a model that has not seen it
    split: Logistic  # of all of `train`
    held_out: list[Collected]


def stage(sets: list[Collected], left_out: str | None) -> Staged:
    """Fit split models without a family, and without every ninth of the single clusters."""
    singles = [each.name for each in sets if each.is_single]
    held = set(singles[GIVEN.index(left_out) :: len(GIVEN)]) if left_out else set()
    train = [each for each in sets if each.family != left_out and each.name not in held]
    held_out = [each for each in sets if each.family == left_out or each.name in held]
    columns = {each.name: columns_of(each) for each in train}
    split, evidence = out_of_fold(train, columns)
    return Staged(train, evidence, split, held_out)


def choose(each: Collected, scores: np.ndarray, temperature: float) -> int:
    """Return the cut that the package would choose by these scores."""
    scores = np.where(each.divides, scores, -np.inf)
    best = np.argsort(-scores, kind="stable")[: min(N_BEST, each.divides.sum())]
    odds = np.exp((scores[best] - scores[best[0]]) / temperature)
    labels = [each.labels(number) for number in best]
    return int(best[most_typical(labels, odds / odds.sum())])


def figures(outcomes: list[Outcome]) -> dict[str, Any]:
    """Return the figures of sets that were left out."""
    given = [one for one in outcomes if one.each.is_given]
    families = {
        family: [one for one in given if one.each.family == family]
        for family in GIVEN
        if any(one.each.family == family for one in given)
    }
    by_family = {
        family: {
            "sets": len(some),
            "ari": _mean(one.ari for one in some),
            "best_candidate": _mean(one.each.ari.max() for one in some),
            "wrong_number": _mean(one.is_off for one in some),
        }
        for family, some in families.items()
    }
    singles = [one for one in outcomes if one.each.is_single]
    return {
        "mean_of_sets": _mean(one.ari for one in given),
        "mean_of_families": _mean(each["ari"] for each in by_family.values()),
        "best_candidate": _mean(one.each.ari.max() for one in given),
        "wrong_number": _mean(one.is_off for one in given),
        "single_clusters_kept": _mean(one.each.n_clusters[one.chosen] == 1 for one in singles),
        "families": by_family,
    }


def _mean(values: Any) -> float | None:
    values = [float(value) for value in values]
    return round(float(np.mean(values)), 4) if values else None


def printed(found: dict[str, Any]) -> str:
    """Return figures as a table."""
    lines = [f"{'family left out':18s} sets   ARI  ceiling  number off"]
    for family, each in found["families"].items():
        lines.append(
            f"{family:18s} {each['sets']:4d}  {each['ari']:.3f}  {each['best_candidate']:.3f}"
            f"    {each['wrong_number']:.2f}"
        )
    lines.append(
        f"{'mean of sets':18s}       {found['mean_of_sets']:.3f}  {found['best_candidate']:.3f}"
        f"    {found['wrong_number']:.2f}"
    )
    lines.append(f"{'mean of families':18s}       {found['mean_of_families']:.3f}")
    if found["single_clusters_kept"] is not None:
        lines.append(f"single clusters left whole: {found['single_clusters_kept']:.2f}")
    return "\n".join(lines)


class Rule(NamedTuple):
    """What a rule is made of, and how it is fitted."""

    scored: tuple[str, ...] = SCORED
    divided: tuple[str, ...] = DIVIDED
    score_ridge: float = SCORE_RIDGE
    division_ridge: float = DIVISION_RIDGE
    temperature: float = TEMPERATURE


class Held(NamedTuple):
    """The best cut of a set that was left out, and the log odds that it is divided at all."""

    each: Collected
    cut: int
    log_odds: float


def left_out(staged: list[Staged], rule: Rule) -> list[Held]:
    """Return what a rule says of each family when it is left out."""
    found = []
    for one in staged:
        score = fit_score(one.train, one.evidence, rule.scored, rule.score_ridge)
        division = fit_division(
            one.train, one.evidence, score, rule.divided, rule.division_ridge
        )
        for each in one.held_out:
            if not each.divides.any():
                found.append(Held(each, 0, -np.inf))
                continue
            evidence = evidence_of(each, one.split)
            cut = choose(each, score.scores(evidence), rule.temperature)
            row = division_row(each, evidence, cut, rule.divided)
            found.append(Held(each, cut, float(division.log_odds(np.array(row)))))
    return found


def threshold_for(held: list[Held], share: float) -> float:
    """Return the log odds below which there is one cluster, so that a share of single ones is."""
    singles = np.sort([one.log_odds for one in held if one.each.is_single])
    return float(singles[min(len(singles) - 1, int(np.ceil(share * len(singles))) - 1)])


def decided(held: list[Held], threshold: float) -> list[Outcome]:
    """Return what is chosen if log odds have to be above a threshold."""
    return [Outcome(one.each, one.cut if one.log_odds > threshold else 0) for one in held]
