"""Fit the numbers of the rule to sets whose clusters are known.

There are three models, each of which uses the previous one:

- How real a split of a tree is: a logistic regression. Its target is the share of pairs of
  different classes among the pairs of rows that the split separates.
- How good a cut is: a score that is linear in the evidence. It maximises the expected ARI of a
  candidate drawn with odds exp(score), relative to the best candidate of the set.
- Whether there is more than one cluster: a logistic regression on evidence for the best cut, and
  the widest empty space, which counts only above a limit that 99% of single clusters do not exceed.

For sets of 665 rows, each weight of the score is limited to the sign that suits its evidence:
being found again more often never lowers the score of a cut. The weights change with log(rows).
For the fit, all columns are scaled alike; the returned weights are in units of the evidence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from collect import Collected
from scipy.optimize import minimize
from sets import GIVEN

from pskclust._choice.scoring import (
    MIN_ROWS_FITTED,
    SCORE_NAMES,
    SURE,
    GapOdds,
    Logistic,
    scored_evidence,
    split_columns,
)
from pskclust._choice.several import evidence_of_several
from pskclust._choice.split_evidence import SPLIT_NAMES
from pskclust._utils.parallel import map_items

# More of RISING and less of FALLING evidence is better; other weights, and those of evidence times
# log_rows, may have any sign.
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
# Penalties on large weights; chosen by scores on families left out.
SPLIT_RIDGE = 10.0
SCORE_RIDGE = 3e-4
SEVERAL_RIDGE = 10.0
# The weights of the score are means over this many fits with random weights of the sets, because a
# single fit depends too much on a few sets.
N_DRAWS = 12
# Collected sets count twice as much as generated ones.
GIVEN_WEIGHT = 2.0
N_FOLDS = 3
# Share of single clusters whose widest empty space does not count for several clusters.
SHARE_BELOW_LIMIT = 0.99
# Only this many splits from the top of a tree are used; those below divide few rows.
N_SPLITS = 25

Columns = dict[str, list[np.ndarray]]  # by name of the set: the columns of each tree


class Known(NamedTuple):
    """The evidence of the candidates of a set, given a split model."""

    each: Collected
    evidence: dict[str, np.ndarray]  # (c,) by name
    logits: list[np.ndarray]  # (s,) of each tree: log odds that splits are real

    @classmethod
    def by(cls, split: Logistic, each: Collected, columns: list[np.ndarray]) -> Known:
        """Return the evidence that the package would compute for a set."""
        if not len(each.ari):
            return cls(each, {}, [])
        logits = [
            np.clip(split.log_odds(own), -SURE, SURE) if len(own) else np.zeros(0)
            for own in columns
        ]
        return cls(each, scored_evidence(each.grown, each.evidence, logits), logits)

    def table(self, names: tuple[str, ...]) -> np.ndarray:
        return np.column_stack([self.evidence[name] for name in names])

    def of_several(self, best: int) -> list[float]:
        """Return the evidence that there is more than one cluster, given the best candidate."""
        return evidence_of_several(self.each.grown, self.each.evidence, self.evidence, best)


class Score(NamedTuple):
    """The names and weights of the evidence in the score."""

    names: tuple[str, ...]
    weights: np.ndarray

    def of(self, known: Known) -> np.ndarray:
        return known.table(self.names) @ self.weights


def set_weights(sets: list[Collected]) -> np.ndarray:
    """Return the weight of each set; a family with four times as many sets counts twice."""
    counts = Counter(each.family for each in sets)
    return np.array(
        [
            (GIVEN_WEIGHT if each.family in GIVEN else 1.0) / np.sqrt(counts[each.family])
            for each in sets
        ]
    )


# How real a split is.


def columns_of(each: Collected) -> list[np.ndarray]:
    """Return the columns of the split model for all splits of a set, by tree."""
    return [
        split_columns(each.grown, number, splits) if len(splits) else np.zeros((0, 0))
        for number, splits in enumerate(each.evidence.splits)
    ]


def fit_split(sets: list[Collected], columns: Columns, ridge: float = SPLIT_RIDGE) -> Logistic:
    """Return the fitted model of how real a split is."""
    share, whole = SPLIT_NAMES.index("log_share"), SPLIT_NAMES.index("log_whole")
    rows, targets, weights = [], [], []
    for each, weight in zip(sets, set_weights(sets), strict=True):
        splits = each.evidence.splits
        for own, some, same in zip(columns[each.name], splits, each.same_class, strict=True):
            if len(some):
                own, some, same = own[:N_SPLITS], some[:N_SPLITS], same[:N_SPLITS]
                rows.append(own)
                targets.append(1 - same)
                # Splits of many rows into sides of similar size matter most.
                matter = np.exp(some[:, whole]) * np.sqrt(np.minimum(np.exp(some[:, share]), 0.5))
                weights.append(weight / len(splits) * matter)
    counts = np.concatenate(weights)
    # Splits of one set are similar to each other, so ten count as one.
    counts *= 0.1 * len(counts) / counts.sum()
    return logistic(np.concatenate(rows), np.concatenate(targets), counts, ridge)


def logistic(rows: np.ndarray, targets: np.ndarray, weights: np.ndarray, ridge: float) -> Logistic:
    """Return a logistic regression fitted by Newton's method to targets from 0 to 1."""
    means, spreads = rows.mean(axis=0), rows.std(axis=0)
    spreads[spreads < 1e-9] = 1
    scaled = np.column_stack([np.ones(len(rows)), (rows - means) / spreads])
    found = np.zeros(scaled.shape[1])
    penalty = np.full(len(found), ridge)
    penalty[0] = 1e-3
    for _ in range(10):
        expected = 1 / (1 + np.exp(-np.clip(scaled @ found, -30, 30)))
        gradient = scaled.T @ (weights * (targets - expected)) - penalty * found
        curvature = weights * np.maximum(expected * (1 - expected), 1e-3)
        hessian = (scaled * curvature[:, np.newaxis]).T @ scaled + np.diag(penalty)
        found = found + np.linalg.solve(hessian, gradient)
    coefficients = found[1:] / spreads
    return Logistic(coefficients, float(found[0] - coefficients @ means))


def fold_of_sets(sets: list[Collected]) -> dict[str, int]:
    """Return the fold of each set: one for each family, but single clusters are spread over all."""
    large = [each for each in sets if not has_few_rows(each)]
    families = sorted({each.family for each in large})
    order = np.random.RandomState(0).permutation(len(families))
    fold = dict(zip(families, order % N_FOLDS, strict=True))
    singles = [each.name for each in large if each.is_single]
    dealt = {name: place % N_FOLDS for place, name in enumerate(singles)}
    # No split model is fitted to sets of few rows, so their fold does not matter.
    return {each.name: int(dealt.get(each.name, fold.get(each.family, 0))) for each in sets}


def has_few_rows(each: Collected) -> bool:
    """Return whether a set is too small to fit splits and scores to it."""
    return each.grown.n_rows < MIN_ROWS_FITTED


def fit_splits(sets: list[Collected], columns: Columns) -> list[Logistic]:
    """Return a split model fitted without each fold, followed by one fitted to all sets."""
    fold = fold_of_sets(sets)
    sets = [each for each in sets if not has_few_rows(each)]
    rest = [[each for each in sets if fold[each.name] != number] for number in range(N_FOLDS)]
    return map_items(lambda some: fit_split(some or sets, columns), [*rest, sets], n_jobs=-1)


def out_of_fold(sets: list[Collected], columns: Columns, models: list[Logistic]) -> list[Known]:
    """Return the evidence of each set by the model that was not fitted to its fold.

    The other models were fitted to the set, and would look better on it than on new sets.
    """
    fold = fold_of_sets(sets)
    return [Known.by(models[fold[each.name]], each, columns[each.name]) for each in sets]


# How good a cut is.


def fit_score(
    known: list[Known], names: tuple[str, ...] = SCORE_NAMES, ridge: float = SCORE_RIDGE
) -> Score:
    """Fit the weights of the score, on sets that have several clusters.

    They are means over fits in which each family and each set has a random weight from the
    exponential distribution (the Bayesian bootstrap).
    """
    used = [
        one
        for one in known
        if not one.each.is_single and len(one.each.ari) and not has_few_rows(one.each)
    ]
    tables = [one.table(names) for one in used]
    lengths = np.array([len(table) for table in tables])
    starts = np.cumsum(lengths) - lengths
    owner = np.repeat(np.arange(len(used)), lengths)
    everything = np.concatenate(tables)
    spreads = everything.std(axis=0) + 1e-9
    scaled = (everything - everything.mean(axis=0)) / spreads
    lost = np.concatenate([one.each.ari - one.each.ari.max() for one in used])
    start = [0.05 if name in RISING else -0.05 if name in FALLING else 0.0 for name in names]

    def loss(found: np.ndarray, weights: np.ndarray) -> tuple[float, np.ndarray]:
        scores = scaled @ found
        odds = np.exp(scores - np.maximum.reduceat(scores, starts)[owner])
        odds /= np.add.reduceat(odds, starts)[owner]
        expected = np.add.reduceat(odds * lost, starts)
        slope = scaled.T @ (weights[owner] * odds * (lost - expected[owner]))
        value = -(weights * expected).sum() + ridge * (found * found).mean()
        return value, -slope + 2 * ridge * found / len(found)

    def fitted(weights: np.ndarray) -> np.ndarray:
        return minimize(
            loss,
            start,
            weights,
            jac=True,
            method="L-BFGS-B",
            bounds=[_bounds(name) for name in names],
            options={"maxiter": 200},
        ).x

    fits = map_items(fitted, list(_drawn_weights([one.each for one in used])), n_jobs=-1)
    return Score(names, np.mean(fits, axis=0) / spreads)


def _drawn_weights(sets: list[Collected]) -> Iterator[np.ndarray]:
    """Yield random weights of the sets, one array for each fit."""
    rng = np.random.RandomState(0)
    families, family = np.unique([each.family for each in sets], return_inverse=True)
    weights = set_weights(sets)
    for _ in range(N_DRAWS):
        drawn = weights * rng.exponential(size=len(families))[family]
        drawn *= rng.exponential(size=len(sets))
        yield drawn / drawn.sum()


def _bounds(name: str) -> tuple[float | None, float | None]:
    return (0, None) if name in RISING else (None, 0) if name in FALLING else (None, None)


# Whether there is more than one cluster.


def fit_several(known: list[Known], score: Score, ridge: float = SEVERAL_RIDGE) -> Logistic:
    """Return the fitted model of whether a set has more than one cluster.

    The weight of a set is the ARI of its best candidate, because a wrong answer loses this much.
    Single clusters together weigh as much as all other sets.
    """
    rows, targets, weights = [], [], []
    for one, weight in zip(known, set_weights([one.each for one in known]), strict=True):
        if len(one.each.ari):
            best = int(score.of(one).argmax())
            rows.append(one.of_several(best))
            targets.append(0.0 if one.each.is_single else 1.0)
            weights.append(weight * max(one.each.ari[best], 0.02))
    is_several, counts = np.array(targets), np.array(weights)
    singles = is_several == 0
    counts[singles] = counts[~singles].sum() / max(1, singles.sum())
    return logistic(np.array(rows), is_several, counts * len(counts) / counts.sum(), ridge)


def fit_gap(sets: list[Collected]) -> GapOdds:
    """Return how the log odds of several clusters rise with the widest empty space.

    Both numbers come from single clusters: the limit is a quantile of their gaps, and the weight is
    that of an exponential distribution of the gaps above zero, 1 / mean.
    """
    gaps = np.array([each.grown.empty_gap for each in sets if each.is_single])
    if not (gaps > 0).any():
        return GapOdds(0.0, 0.0)
    return GapOdds(float(np.quantile(gaps, SHARE_BELOW_LIMIT)), float(1 / gaps[gaps > 0].mean()))
