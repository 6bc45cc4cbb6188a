"""Scores of candidates: sums over small decision trees that were fitted to labelled sets.

The numbers are in weights.json, with their date, the sets they were fitted to, and their figures on
families of sets that were left out. ``benchmarks/choice`` fits them.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .borders import Floats
from .evidence import CUT_NAMES, Evidence
from .split_evidence import SPLIT_NAMES
from .split_tree import PATH
from .stability import Grown

# Log odds of a split are clipped to this value, which counts as certain.
SURE = 6.0
SPLIT_SCORES = (
    "splits_mean",
    "splits_least",
    "splits_left",
    "splits_against",
    "splits_missed",
    "splits_last",
    "splits_next",
)
# Evidence for a cut, and its context: few rows show less than many.
EVIDENCE_NAMES = (*CUT_NAMES, "path", *SPLIT_SCORES)
SCORE_NAMES = (*EVIDENCE_NAMES, "log_rows", "log_dimension", "log_psi")
# Scores were fitted to sets of at least this many rows; fewer rows count as this many.
MIN_ROWS_FITTED = 80
# Evidence, given the best cut, that there is more than one cluster, and its context.
SEVERAL_NAMES = (
    "best_stability",
    "valley",
    "dip",
    "found_everywhere",
    "apart_everywhere",
    "held_valley_everywhere",
    "held_sure_everywhere",
    "path",
    "log_number",
    "log_rows",
    "log_dimension",
)


class Logistic(NamedTuple):
    """A fitted logistic regression."""

    coefficients: Floats
    constant: float

    def log_odds(self, columns: Floats) -> Floats:
        """Return the log odds for each row of a table of columns."""
        return np.asarray(columns @ self.coefficients + self.constant)


class GapOdds(NamedTuple):
    """Log odds that a wide empty space adds to those of several clusters."""

    limit: float  # hardly any single cluster has a wider gap
    weight: float

    def log_odds(self, gap: float) -> float:
        return self.weight * max(0.0, gap - self.limit)


class Boosted(NamedTuple):
    """A sum of u decision trees, each with two levels of questions: is a column above a threshold?

    The first question leads to the second one if the answer is no, else to the third one. Values
    are whole numbers, so that their sum is the same in any order.
    """

    columns: NDArray[np.intp]  # (u, 3)
    thresholds: Floats  # (u, 3)
    values: NDArray[np.int64]  # (u, 4) in millionths, from "no, no" to "yes, yes"

    @classmethod
    def of(cls, lines: list[str]) -> Boosted:
        """Return trees, given each as a line: three names and thresholds, and four values."""
        parts = [line.split() for line in lines]
        numbers = {name: number for number, name in enumerate(SCORE_NAMES)}
        return cls(
            np.array([[numbers[name] for name in part[0:6:2]] for part in parts]).reshape(-1, 3),
            np.array([[float(number) for number in part[1:6:2]] for part in parts]).reshape(-1, 3),
            np.array([[int(number) for number in part[6:]] for part in parts]).reshape(-1, 4),
        )

    def to_lines(self) -> list[str]:
        """Return the trees in the form that `of` reads."""
        lines = []
        for columns, thresholds, values in zip(*self, strict=True):
            questions = zip(columns, thresholds, strict=True)
            parts = [f"{SCORE_NAMES[column]} {number:.6g}" for column, number in questions]
            lines.append(" ".join([*parts, *map(str, values)]))
        return lines

    def __call__(self, table: Floats) -> Floats:
        """Return the sum for each row of a table with the columns in SCORE_NAMES."""
        answers = table[:, self.columns] > self.thresholds
        first, no, yes = np.moveaxis(answers, 2, 0)
        places = 2 * first + np.where(first, yes, no)
        values = self.values[np.arange(len(self.values)), places]
        return np.asarray(values.sum(axis=1) * _MILLIONTH)


_MILLIONTH = 1e-6


@dataclass(frozen=True, eq=False)
class Weights:
    """The fitted numbers in weights.json."""

    split: Logistic  # whether a split is real, from `SPLIT_COLUMNS`
    score: Boosted  # how good a cut is, from `SCORE_NAMES`
    temperature: float  # differences of scores divided by it are log odds
    several: Logistic  # whether there is more than one cluster, from `SEVERAL_NAMES`
    empty_gap: GapOdds  # added to the log odds of `several`

    @classmethod
    def of(cls, content: dict[str, Any]) -> Weights:
        """Return the numbers in a file; raise KeyError if one is missing."""
        score = content["score"]
        return cls(
            _logistic(content["split"], SPLIT_COLUMNS),
            Boosted.of(score["trees"]),
            float(score["temperature"]),
            _logistic(content["several"], SEVERAL_NAMES),
            GapOdds(**content["empty_gap"]),
        )


def _logistic(content: dict[str, Any], names: tuple[str, ...]) -> Logistic:
    weights = content["weights"]
    return Logistic(np.array([weights[name] for name in names]), float(content["constant"]))


@cache
def fitted_weights() -> Weights:
    """Return the numbers in weights.json."""
    text = resources.files(__package__).joinpath("weights.json").read_text()
    return Weights.of(json.loads(text))


# Evidence for a split, used unchanged.
_PLAIN = (
    *("found_low", "found_high", "found_whole", "found_worst", "crossed_low", "crossed_whole"),
    *("height", "height_below", "height_above", "ratio", "silhouette", "ambiguous"),
    *("contact", "contact_smaller", "valley", "saddle", "wide_valley", "wide_contact"),
    *("silhouette_low", "silhouette_q10", "silhouette_q25", "fine_silhouette", "apart", "dip"),
    *("held_ratio", "held_silhouette", "held_contact", "held_valley", "held_valley_least"),
    *("held_sure", "held_saddle", "held_wide_valley", "held_wide_sure", "held_wide_contact"),
)
# Sizes of the data, the node and the cells, on which evidence depends, and products of two.
_SIZES = (
    *("log_rows", "log_dimension", "log_psi", "log_size", "log_share", "log_whole", "log_cells"),
    *("log_size * log_share", "log_size * log_cells", "log_size * log_dimension"),
    *("log_share * log_dimension", "log_cells * log_dimension", "log_size * log_size"),
    *("log_share * log_share", "log_cells * log_cells", "log_psi * log_psi"),
    *("log_dimension * log_dimension", "path", "path * log_size", "path * log_cells"),
    "path * log_dimension",
)
# The strongest evidence, also used in products with sizes and with itself.
_KEY = (
    *("found_low", "crossed_low", "silhouette", "silhouette_q25", "ratio", "apart", "dip"),
    *("contact", "valley", "saddle", "wide_valley", "held_silhouette", "held_contact"),
    *("held_valley", "held_sure", "held_saddle"),
    *("held_wide_valley", "held_wide_sure", "held_wide_contact"),
)
_BY_SIZE = ("log_dimension", "log_size", "log_cells", "path")
SPLIT_COLUMNS = (
    *_PLAIN,
    *_SIZES,
    *(f"{name} * {size}" for size in _BY_SIZE for name in _KEY),
    *(f"{name} * {name}" for name in _KEY),
)


def log_rows(n_rows: int) -> float:
    """Return log(number of rows) - 6.5, which is 0 for 665 rows."""
    return math.log(n_rows) - 6.5


def log_dimension(grown: Grown) -> float:
    """Return log(intrinsic dimension of the rows) - 1."""
    return math.log(grown.dimension) - 1


def log_psi(psi: NDArray[np.int64]) -> Floats:
    """Return log(psi) - 3.5."""
    return np.log(psi) - 3.5


def split_columns(grown: Grown, number: int, splits: Floats) -> Floats:
    """Return the evidence that the splits of a tree are real, (s, len(SPLIT_COLUMNS))."""
    tree = grown.trees[number].tree
    ones = np.ones(len(splits))
    # Rounded to float32, the precision of the evidence that the numbers were fitted to.
    known = dict(zip(SPLIT_NAMES, splits.astype(np.float32).astype(np.float64).T, strict=True))
    known |= {
        "log_rows": log_rows(grown.n_rows) * ones,
        "log_dimension": log_dimension(grown) * ones,
        "log_psi": log_psi(np.array(tree.psi)) * ones,
        "log_size": known["log_size"] - 3,
        "log_cells": known["log_cells"] - 3,
        "path": (tree.kind == PATH) * ones,
    }

    def column(name: str) -> Floats:
        first, _, second = name.partition(" * ")
        return np.asarray(known[first] * known[second] if second else known[first])

    return np.column_stack([column(name) for name in SPLIT_COLUMNS])


def split_logits(grown: Grown, splits: list[Floats], split: Logistic) -> list[Floats]:
    """Return the log odds that each split of each tree is real."""
    return [
        np.clip(split.log_odds(split_columns(grown, number, some)), -SURE, SURE)
        if len(some)
        else np.zeros(0)
        for number, some in enumerate(splits)
    ]


def scored_evidence(grown: Grown, found: Evidence, logits: list[Floats]) -> dict[str, Floats]:
    """Return the evidence in SCORE_NAMES by name, (c,) each."""
    candidates, cuts, splits = found
    trees, numbers = np.array(candidates).T
    kinds = np.array([each.tree.kind for each in grown.trees])[trees]
    evidence = dict(zip(CUT_NAMES, cuts.T, strict=True))
    evidence["path"] = (kinds == PATH).astype(np.float64)
    table = np.zeros((len(candidates), len(SPLIT_SCORES)))
    for number, (some, own) in enumerate(zip(splits, logits, strict=True)):
        rows = np.flatnonzero(trees == number)
        if len(rows):
            table[rows] = _split_scores(own, np.exp(some[:, 8]), numbers[rows])
    psis = np.array([each.tree.psi for each in grown.trees])[trees]
    ones = np.ones(len(candidates))
    context = {
        "log_rows": log_rows(max(grown.n_rows, MIN_ROWS_FITTED)) * ones,
        "log_dimension": log_dimension(grown) * ones,
        "log_psi": log_psi(psis),
    }
    return evidence | dict(zip(SPLIT_SCORES, table.T, strict=True)) | context


def _split_scores(
    logits: Floats, shares: Floats, numbers: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the scores of cuts into given numbers of clusters, in the order of SPLIT_SCORES."""
    last = numbers - 2
    left = np.append(np.maximum.accumulate(logits[::-1])[::-1], -SURE)
    missed = np.append(np.cumsum((np.maximum(logits, 0) * shares)[::-1])[::-1], 0)
    return np.column_stack(
        [
            np.cumsum(logits)[last] / (numbers - 1),
            np.minimum.accumulate(logits)[last],
            left[last + 1],
            np.cumsum(np.minimum(logits, 0) * shares)[last],
            missed[last + 1],
            logits[last],
            np.append(logits, -SURE)[last + 1],
        ]
    )


def score_table(evidence: dict[str, Floats]) -> Floats:
    """Return the columns in SCORE_NAMES, (c, len(SCORE_NAMES))."""
    return np.column_stack([evidence[name] for name in SCORE_NAMES])


def scores(evidence: dict[str, Floats], weights: Weights) -> Floats:
    """Return the score of each candidate: log odds that it is the best one, up to a constant."""
    return weights.score(score_table(evidence))
