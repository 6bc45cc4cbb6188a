"""How the numbers of the rule are fitted to sets whose clusters are known.

Three models, each on top of the one before:

- How real a split of a tree is: a logistic regression. The target is the share of the pairs of
  rows that the split divides which are of different classes.
- How good a cut is: a score that is linear in the evidence. A choice by it at random, with odds
  exp(score), should have the largest expected ARI, relative to the best candidate of the set.
- Whether there is more than one cluster: a logistic regression on evidence for the best cut.

Weights of the score may only have the sign that its evidence asks for: a cut that is found again
more often never counts for less. All columns are brought to one scale for the fit, and weights are
given back in units of the evidence.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import numpy as np
from collect import Collected
from scipy.optimize import minimize
from sets import GIVEN

from pskclust._choice.evidence import SPLIT_NAMES
from pskclust._choice.scoring import (
    division_evidence,
    scored_evidence,
    split_columns,
    split_logits,
)

# Evidence that the score is made of.
SCORED = (
    "path",
    "log_number",
    "evenness",
    "smallest",
    "found",
    "found_least",
    "same_number",
    "crossed",
    "crossed_least",
    "silhouette",
    "contact",
    "weakest_split",
    "best_left",
    "splits_mean",
    "splits_least",
    "splits_left",
    "splits_against",
    "splits_missed",
    "splits_last",
    "splits_next",
)
# Evidence that there is more than one cluster.
DIVIDED = ("found", "valley", "splits_left", "log_rows", "log_dimension", "log_dimension_squared")
# The more of it the better; the less of it the better. Weights of all else may have any sign.
RISING = {
    *("log_number", "evenness", "smallest"),
    *("found", "found_by_rows", "found_least", "found_worst", "same_number"),
    *("near_psi", "near_psi_least", "crossed", "crossed_least"),
    *("silhouette", "silhouette_least", "gap", "valley", "valley_least"),
    *("last_split", "weakest_split"),
    *("splits_mean", "splits_least", "splits_against", "splits_last"),
}
FALLING = {
    *("largest", "ratio", "ratio_most", "ambiguous", "contact", "contact_most", "misplaced"),
    *("next_split", "best_left", "best_left_crossed"),
    *("splits_left", "splits_missed", "splits_next"),
}
# How much fits are held back from large weights; both were chosen by figures of left-out families.
SPLIT_RIDGE = 30.0
SCORE_RIDGE = 3e-4
DIVISION_RIDGE = 3.0
# Sets that others have made count twice as much as generated ones.
GIVEN_WEIGHT = 2.0

N_FOLDS = 3


class Logistic(NamedTuple):
    """A logistic regression."""

    coefficients: np.ndarray
    constant: float

    def log_odds(self, rows: np.ndarray) -> np.ndarray:
        return rows @ self.coefficients + self.constant


class ScoreModel(NamedTuple):
    """Weights of evidence by name."""

    names: tuple[str, ...]
    weights: np.ndarray

    def scores(self, evidence: dict[str, np.ndarray]) -> np.ndarray:
        return matrix(evidence, self.names) @ self.weights


def set_weights(sets: list[Collected]) -> np.ndarray:
    """Return how much each set counts: a family of four times as many sets counts twice."""
    counts = Counter(each.family for each in sets)
    return np.array(
        [
            (GIVEN_WEIGHT if each.family in GIVEN else 1.0) / np.sqrt(counts[each.family])
            for each in sets
        ]
    )


def fit_split(
    sets: list[Collected], columns: dict[str, list[np.ndarray]], ridge: float = SPLIT_RIDGE
) -> Logistic:
    """Fit how real a split is; `columns` has the columns of each tree of each set by name."""
    share, whole = SPLIT_NAMES.index("log_share"), SPLIT_NAMES.index("log_whole")
    rows, targets, weights = [], [], []
    for each, weight in zip(sets, set_weights(sets), strict=True):
        splits = each.evidence.splits
        for own, some, same in zip(columns[each.name], splits, each.same_class, strict=True):
            if len(some):
                rows.append(own)
                targets.append(1 - same)
                # Splits of many rows into sides of like size matter most.
                matter = np.exp(some[:, whole]) * np.sqrt(np.minimum(np.exp(some[:, share]), 0.5))
                weights.append(weight / len(splits) * matter)
    weights = np.concatenate(weights)
    # Splits of one set are much alike, so ten count as one.
    weights *= 0.1 * len(weights) / weights.sum()
    return logistic(np.concatenate(rows), np.concatenate(targets), weights, ridge)


def logistic(
    rows: np.ndarray, targets: np.ndarray, weights: np.ndarray, ridge: float
) -> Logistic:
    """Fit a logistic regression by Newton's method, to targets from 0 to 1."""
    means, spreads = rows.mean(axis=0), rows.std(axis=0)
    spreads[spreads < 1e-9] = 1
    scaled = np.column_stack([np.ones(len(rows)), (rows - means) / spreads])
    found = np.zeros(scaled.shape[1])
    penalty = np.full(len(found), ridge)
    penalty[0] = 1e-3
    for _ in range(12):
        expected = 1 / (1 + np.exp(-np.clip(scaled @ found, -30, 30)))
        gradient = scaled.T @ (weights * (targets - expected)) - penalty * found
        curvature = weights * np.maximum(expected * (1 - expected), 1e-3)
        hessian = (scaled * curvature[:, np.newaxis]).T @ scaled + np.diag(penalty)
        found = found + np.linalg.solve(hessian, gradient)
    coefficients = found[1:] / spreads
    return Logistic(coefficients, float(found[0] - coefficients @ means))


def columns_of(each: Collected) -> list[np.ndarray]:
    """Return the columns of all splits of a set, by tree."""
    return [
        split_columns(each.grown, number, splits) if len(splits) else np.zeros((0, 0))
        for number, splits in enumerate(each.evidence.splits)
    ]


def evidence_of(each: Collected, split: Logistic) -> dict[str, np.ndarray]:
    """Return all evidence of the candidates of a set by name, by the package itself."""
    logits = split_logits(each.grown, each.evidence.splits, split.coefficients, split.constant)
    return scored_evidence(each.grown, each.evidence, logits)


def matrix(evidence: dict[str, np.ndarray], names: tuple[str, ...]) -> np.ndarray:
    return np.column_stack([evidence[name] for name in names])


def fit_score(
    sets: list[Collected],
    evidence: list[dict[str, np.ndarray]],
    names: tuple[str, ...] = SCORED,
    ridge: float = SCORE_RIDGE,
) -> ScoreModel:
    """Fit the weights of the score, on divisions of sets that have several clusters."""
    pairs = [
        (each, matrix(own, names)[each.divides], each.ari[each.divides])
        for each, own in zip(sets, evidence, strict=True)
        if not each.is_single and each.divides.any()
    ]
    used, tables, scores_of = zip(*pairs, strict=True)
    lengths = np.array([len(table) for table in tables])
    starts = np.cumsum(lengths) - lengths
    owner = np.repeat(np.arange(len(used)), lengths)
    everything = np.concatenate(tables)
    spreads = everything.std(axis=0) + 1e-9
    scaled = (everything - everything.mean(axis=0)) / spreads
    lost = np.concatenate([ari - ari.max() for ari in scores_of])
    weights = set_weights(list(used))
    weights /= weights.sum()

    def loss(found: np.ndarray) -> tuple[float, np.ndarray]:
        scores = scaled @ found
        odds = np.exp(scores - np.maximum.reduceat(scores, starts)[owner])
        odds /= np.add.reduceat(odds, starts)[owner]
        expected = np.add.reduceat(odds * lost, starts)
        slope = scaled.T @ (weights[owner] * odds * (lost - expected[owner]))
        value = -(weights * expected).sum() + ridge * (found * found).mean()
        return value, -slope + 2 * ridge * found / len(found)

    bounds = [_bounds(name) for name in names]
    start = [0.05 if name in RISING else -0.05 if name in FALLING else 0.0 for name in names]
    found = minimize(
        loss, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 400}
    )
    return ScoreModel(names, found.x / spreads)


def _bounds(name: str) -> tuple[float | None, float | None]:
    return (0, None) if name in RISING else (None, 0) if name in FALLING else (None, None)


def fold_of_sets(sets: list[Collected]) -> dict[str, int]:
    """Return the fold of each set: a family is in one, but single clusters are in all of them."""
    families = sorted({each.family for each in sets})
    order = np.random.RandomState(0).permutation(len(families))
    fold = dict(zip(families, order % N_FOLDS, strict=True))
    singles = [each.name for each in sets if each.is_single]
    dealt = {name: place % N_FOLDS for place, name in enumerate(singles)}
    return {each.name: int(dealt.get(each.name, fold[each.family])) for each in sets}


def out_of_fold(
    sets: list[Collected], columns: dict[str, list[np.ndarray]]
) -> tuple[Logistic, list[dict[str, np.ndarray]]]:
    """Return the split model of all sets, and the evidence of each by one that has not seen it.

    The score is fitted to the latter: what a model says of sets that it was fitted to is too good.
    """
    fold = fold_of_sets(sets)
    models = [
        fit_split([each for each in sets if fold[each.name] != number], columns)
        for number in range(N_FOLDS)
    ]
    evidence = [evidence_of(each, models[fold[each.name]]) for each in sets]
    return fit_split(sets, columns), evidence


def fit_division(
    sets: list[Collected],
    evidence: list[dict[str, np.ndarray]],
    score: ScoreModel,
    names: tuple[str, ...] = DIVIDED,
    ridge: float = DIVISION_RIDGE,
) -> Logistic:
    """Fit whether a set has more than one cluster, given its best cut.

    A set counts by what there is to lose, the ARI of the cut; single clusters together count as
    much as all other sets.
    """
    rows, is_divided, weights = [], [], []
    for each, own, weight in zip(sets, evidence, set_weights(sets), strict=True):
        if each.divides.any():
            best = best_cut(each, score.scores(own))
            rows.append(division_row(each, own, best, names))
            is_divided.append(not each.is_single)
            weights.append(weight * max(each.ari[best], 0.02))
    targets, counts = np.array(is_divided, dtype=np.float64), np.array(weights)
    counts[targets == 0] = counts[targets == 1].sum() / max(1, np.sum(targets == 0))
    return logistic(np.array(rows), targets, counts * len(counts) / counts.sum(), ridge)


def best_cut(each: Collected, scores: np.ndarray) -> int:
    """Return the candidate with the best score among those that divide the rows."""
    return int(np.where(each.divides, scores, -np.inf).argmax())


def division_row(
    each: Collected, evidence: dict[str, np.ndarray], number: int, names: tuple[str, ...]
) -> list[float]:
    """Return the evidence for more than one cluster, given the best cut."""
    known = division_evidence(each.grown, evidence, number)
    return [known[name] for name in names]
