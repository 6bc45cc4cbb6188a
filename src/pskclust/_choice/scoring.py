"""Scores of candidates: a linear formula whose numbers were fitted to labelled sets.

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
# Evidence for a cut. A score uses each name, and each name times `log_rows`, because few rows show
# less than many.
EVIDENCE_NAMES = (*CUT_NAMES, "path", *SPLIT_SCORES)
_TIMES_ROWS = " * log_rows"
# Scores were fitted to sets of at least this many rows; fewer rows have the same weights.
MIN_ROWS_FITTED = 80
SCORE_NAMES = (*EVIDENCE_NAMES, *(name + _TIMES_ROWS for name in EVIDENCE_NAMES))
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


@dataclass(frozen=True, eq=False)
class Weights:
    """The fitted numbers in weights.json."""

    split: Logistic  # whether a split is real, from `SPLIT_COLUMNS`
    names: tuple[str, ...]  # names of the evidence in a score
    weights: Floats  # (len(names),)
    temperature: float  # differences of scores divided by it are log odds
    several: Logistic  # whether there is more than one cluster, from `SEVERAL_NAMES`
    empty_gap: GapOdds  # added to the log odds of `several`

    @classmethod
    def of(cls, content: dict[str, Any]) -> Weights:
        """Return the numbers in a file; raise KeyError if one is missing."""
        score = content["score"]
        return cls(
            _logistic(content["split"], SPLIT_COLUMNS),
            tuple(score["weights"]),
            np.array(list(score["weights"].values())),
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


def split_columns(grown: Grown, number: int, splits: Floats) -> Floats:
    """Return the evidence that the splits of a tree are real, (s, len(SPLIT_COLUMNS))."""
    tree = grown.trees[number].tree
    ones = np.ones(len(splits))
    # Rounded to float32, the precision of the evidence that the numbers were fitted to.
    known = dict(zip(SPLIT_NAMES, splits.astype(np.float32).astype(np.float64).T, strict=True))
    known |= {
        "log_rows": log_rows(grown.n_rows) * ones,
        "log_dimension": log_dimension(grown) * ones,
        "log_psi": (math.log(tree.psi) - 3.5) * ones,
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
    evidence |= dict(zip(SPLIT_SCORES, table.T, strict=True))
    factor = log_rows(max(grown.n_rows, MIN_ROWS_FITTED))
    return evidence | {name + _TIMES_ROWS: factor * evidence[name] for name in EVIDENCE_NAMES}


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


def scores(evidence: dict[str, Floats], weights: Weights) -> Floats:
    """Return the score of each candidate."""
    total = np.zeros(len(evidence["path"]))
    # Added in a fixed order, so that the sums are the same on every machine.
    for name, weight in zip(weights.names, weights.weights, strict=True):
        total += weight * evidence[name]
    return total
