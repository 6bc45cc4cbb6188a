"""Fit the numbers of the rule to sets whose clusters are known.

There are three models, each of which uses the previous one:

- How real a split of a tree is: a logistic regression. Its target is the share of pairs of
  different classes among the pairs of rows that the split separates.
- How good a cut is: a sum of small decision trees, fitted by gradient boosting, that estimates the
  log odds that a candidate is the best one of its set.
- Whether there is more than one cluster: a logistic regression on evidence for the best cut, and
  the widest empty space, which counts only above a limit that 99% of single clusters do not exceed.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from typing import NamedTuple

import numpy as np
from collect import Collected
from sets import GIVEN
from sklearn.tree import DecisionTreeRegressor

from pskclust._choice.scoring import (
    MIN_ROWS_FITTED,
    SCORE_NAMES,
    SURE,
    Boosted,
    GapOdds,
    Logistic,
    score_table,
    scored_evidence,
    split_columns,
)
from pskclust._choice.several import evidence_of_several
from pskclust._choice.split_evidence import SPLIT_NAMES
from pskclust._utils.parallel import map_items

# Penalties on large weights; chosen by scores on families left out.
SPLIT_RIDGE = 10.0
SEVERAL_RIDGE = 10.0
# The score is fitted to log odds that a candidate is the best one of its set. These odds are lower
# by a factor of 2.7 for a candidate that loses this much of the ARI.
CLOSE_ARI = 0.02
# Each tree of the score is fitted to some of the sets and may ask about some kinds of evidence, so
# that no set and no evidence decides alone.
LEARNING_RATE = 0.13
SHARE_OF_TREE, SHARE_OF_COLUMNS = 0.3, 0.4
# Smallest share of the candidates of a tree that share an answer.
SHARE_OF_LEAF = 0.01
# The answer of a tree for candidates with little information is closer to zero.
SCORE_RIDGE, LEAST_CURVE = 1.0, 1e-3
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

    def table(self, left_out: Collection[str] = ()) -> np.ndarray:
        """Return the evidence for each candidate; columns to leave out are zero."""
        table = score_table(self.evidence)
        table[:, [SCORE_NAMES.index(name) for name in left_out]] = 0
        return table

    def scores(self, score: Boosted) -> np.ndarray:
        """Return the score of each candidate."""
        return score(score_table(self.evidence))

    def of_several(self, best: int) -> list[float]:
        """Return the evidence that there is more than one cluster, given the best candidate."""
        return evidence_of_several(self.each.grown, self.each.evidence, self.evidence, best)


class Rule(NamedTuple):
    """The settings of the fit of a score."""

    left_out: tuple[str, ...] = ()  # evidence that is not used
    n_trees: int = 300
    temperature: float = 1.0


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


def fit_scores(trains: list[list[Known]], rule: Rule) -> list[Boosted]:
    """Fit a score to each list of sets, in several processes."""
    tables = [_Table.of(known, rule) for known in trains]
    with ProcessPoolExecutor(min(len(tables), os.cpu_count() or 1)) as pool:
        return list(pool.map(partial(fit_score, rule=rule), tables))


class _Table(NamedTuple):
    """The candidates of all sets that have several clusters."""

    columns: np.ndarray  # (c, len(SCORE_NAMES)) float32
    aris: np.ndarray  # (c,)
    weights: np.ndarray  # (s,) of the sets; their mean is 1
    lengths: list[int]  # (s,)

    @classmethod
    def of(cls, known: list[Known], rule: Rule) -> _Table:
        used = [
            one
            for one in known
            if not one.each.is_single and len(one.each.ari) and not has_few_rows(one.each)
        ]
        weights = set_weights([one.each for one in used])
        return cls(
            np.concatenate([one.table(rule.left_out) for one in used]).astype(np.float32),
            np.concatenate([one.each.ari for one in used]),
            weights / weights.mean(),
            [len(one.each.ari) for one in used],
        )


def fit_score(sets: _Table, rule: Rule) -> Boosted:
    """Fit the score by gradient boosting.

    The odds exp(score) of the candidates of a set are fitted to exp(ARI / CLOSE_ARI), up to a
    factor. The loss is their cross-entropy, and each tree is a Newton step.
    """
    table, groups = sets.columns, _Groups.of(sets.lengths)
    wanted, weights = groups.odds(sets.aris / CLOSE_ARI), sets.weights[groups.owners]
    rng, total, trees = np.random.RandomState(0), np.zeros(len(table)), []
    for _ in range(rule.n_trees):
        odds = groups.odds(total)
        slopes = weights * (wanted - odds)
        curves = weights * np.maximum(odds * (1 - odds), LEAST_CURVE)
        drawn = rng.permutation(len(sets.lengths)) < SHARE_OF_TREE * len(sets.lengths)
        some = np.flatnonzero(drawn[groups.owners])
        tree = DecisionTreeRegressor(
            max_depth=2,
            max_features=SHARE_OF_COLUMNS,
            min_samples_leaf=max(1, round(SHARE_OF_LEAF * len(some))),
            random_state=rng,
        )
        tree.fit(table[some], slopes[some] / curves[some], curves[some])
        leaves, size = tree.apply(table), tree.tree_.node_count
        rise = np.bincount(leaves[some], slopes[some], minlength=size)
        bend = np.bincount(leaves[some], curves[some], minlength=size)
        values = LEARNING_RATE * rise / (bend + SCORE_RIDGE)
        total += values[leaves]
        trees.append(questions(tree, values))
    return boosted_of(trees)


class _Groups(NamedTuple):
    """The candidates of all sets, those of one set after those of another."""

    starts: np.ndarray  # (s,) the first candidate of each set
    owners: np.ndarray  # (c,) the set of each candidate

    @classmethod
    def of(cls, lengths: list[int]) -> _Groups:
        return cls(np.cumsum(lengths) - lengths, np.repeat(np.arange(len(lengths)), lengths))

    def odds(self, scores: np.ndarray) -> np.ndarray:
        """Return odds proportional to exp(score), which add up to 1 for each set."""
        odds = np.exp(scores - np.maximum.reduceat(scores, self.starts)[self.owners])
        return odds / np.add.reduceat(odds, self.starts)[self.owners]


Questions = tuple[list[int], list[float], list[int]]


def questions(regressor: DecisionTreeRegressor, values: np.ndarray) -> Questions:
    """Return the columns, thresholds and answers of a tree with at most two levels of questions.

    `values` are those of its nodes.
    """
    tree = regressor.tree_

    def question(node: int) -> tuple[int, float]:
        # A question that is not asked has the same answer for yes and no.
        is_asked = tree.children_left[node] >= 0
        return (int(tree.feature[node]), float(tree.threshold[node])) if is_asked else (0, 0.0)

    def answers(node: int) -> list[int]:
        both = [int(tree.children_left[node]), int(tree.children_right[node])]
        return both if both[0] >= 0 else [node, node]

    nodes = [0, *answers(0)]
    leaves = [leaf for node in nodes[1:] for leaf in answers(node)]
    columns, thresholds = zip(*map(question, nodes), strict=True)
    return list(columns), list(thresholds), [round(1e6 * float(values[leaf])) for leaf in leaves]


def boosted_of(trees: list[Questions]) -> Boosted:
    """Return the sum of trees, rounded as in weights.json."""
    columns, thresholds, values = (np.array(parts) for parts in zip(*trees, strict=True))
    return Boosted.of(Boosted(columns, thresholds, values).to_lines())


# Whether there is more than one cluster.


def fit_several(known: list[Known], score: Boosted, ridge: float = SEVERAL_RIDGE) -> Logistic:
    """Return the fitted model of whether a set has more than one cluster.

    The weight of a set is the ARI of its best candidate, because a wrong answer loses this much.
    Single clusters together weigh as much as all other sets.
    """
    rows, targets, weights = [], [], []
    for one, weight in zip(known, set_weights([one.each for one in known]), strict=True):
        if len(one.each.ari):
            best = int(one.scores(score).argmax())
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
