"""Scores of candidates: a linear formula whose numbers were fitted to labelled sets.

The numbers stand in weights.json, with their date, the sets they were fitted to, and the figures
that they reach on families of sets that were left out. ``benchmarks/choice`` fits them.
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

from .evidence import CUT_NAMES, Evidence, Floats
from .split_tree import PATH
from .stability import Grown

# Logits of a split beyond this are as good as sure.
_SURE = 6.0
SPLIT_SCORES = (
    "splits_mean",
    "splits_least",
    "splits_left",
    "splits_against",
    "splits_missed",
    "splits_last",
    "splits_next",
)


GATE_NAMES = (
    "found",
    "valley_in_deviations",
    "largest_split",
    "log_rows",
    "log_dimension",
    "log_dimension_squared",
)


class ValleyNull(NamedTuple):
    """The valley depth that cuts of single clusters show: a regression on size and shape."""

    coefficients: Floats
    deviation: float


@dataclass(frozen=True, eq=False)
class Weights:
    """The fitted numbers."""

    split: Floats  # how real a split is: a logistic regression on `split_columns`
    split_constant: float
    names: tuple[str, ...]  # of the evidence that a score is made of
    weights: Floats  # (len(names),)
    temperature: float  # by which differences of scores count as odds
    gate: Floats  # (len(GATE_NAMES),) the log odds that there is more than one cluster
    gate_constant: float
    threshold: float  # log odds up to which there is one cluster
    valleys: dict[str, ValleyNull]  # by kind of tree

    @classmethod
    def of(cls, content: dict[str, Any]) -> Weights:
        split, score, gate = content["split"], content["score"], content["gate"]
        return cls(
            np.array(split["coefficients"]),
            float(split["constant"]),
            tuple(score["weights"]),
            np.array(list(score["weights"].values())),
            float(score["temperature"]),
            np.array([gate["weights"][name] for name in GATE_NAMES]),
            float(gate["constant"]),
            float(gate["threshold"]),
            {
                kind: ValleyNull(np.array(null["coefficients"]), float(null["deviation"]))
                for kind, null in content["valleys_of_single_clusters"].items()
            },
        )


@cache
def fitted_weights() -> Weights:
    """Return the numbers in weights.json."""
    text = resources.files(__package__).joinpath("weights.json").read_text()
    return Weights.of(json.loads(text))


def split_columns(grown: Grown, number: int, splits: Floats) -> Floats:
    """Return the columns that decide how real each split of a tree is.

    Evidence, the size of data, node and cells that it depends on, and products of the two.
    """
    tree = grown.trees[number].tree
    splits = splits.astype(np.float32).astype(np.float64)
    low, high, whole, worst, crossed, crossed_whole, size, share, node, cells = splits.T[:10]
    height, below, above, ratio, silhouette, ambiguous, contact, contact_smaller, valley = splits.T[
        10:
    ]
    ones = np.ones(len(splits))
    log_rows = (math.log(grown.n_rows) - 6.5) * ones
    log_dimension = (math.log(grown.dimension) - 1) * ones
    log_psi = (math.log(tree.psi) - 3.5) * ones
    path = (tree.kind == PATH) * ones
    size, cells = size - 3, cells - 3
    key = np.column_stack([low, crossed, silhouette, ratio, contact, valley])
    return np.column_stack(
        [
            *(low, high, whole, worst, crossed, crossed_whole, height, below, above),
            *(ratio, silhouette, ambiguous, contact, contact_smaller, valley),
            *(ones, log_rows, log_dimension, log_psi, size, share, node, cells),
            *(size * share, size * cells, size * log_dimension, share * log_dimension),
            *(cells * log_dimension, size**2, share**2, cells**2, log_psi**2, log_dimension**2),
            *(path, path * size, path * cells, path * log_dimension),
            key * log_dimension[:, np.newaxis],
            key * size[:, np.newaxis],
            key * cells[:, np.newaxis],
            key * path[:, np.newaxis],
            key**2,
        ]
    )


def split_logits(
    grown: Grown, splits: list[Floats], split: Floats, constant: float
) -> list[Floats]:
    """Return the log odds that each split of each tree is real."""
    return [
        np.clip(split_columns(grown, number, some) @ split + constant, -_SURE, _SURE)
        if len(some)
        else np.zeros(0)
        for number, some in enumerate(splits)
    ]


def scored_evidence(grown: Grown, found: Evidence, logits: list[Floats]) -> dict[str, Floats]:
    """Return all evidence that a score may be made of, by name, (c,) each."""
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
    return evidence | dict(zip(SPLIT_SCORES, table.T, strict=True))


def _split_scores(
    logits: Floats, shares: Floats, numbers: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the scores of cuts into some numbers of clusters, in the order of SPLIT_SCORES."""
    last = numbers - 2
    left = np.append(np.maximum.accumulate(logits[::-1])[::-1], -_SURE)
    missed = np.append(np.cumsum((np.maximum(logits, 0) * shares)[::-1])[::-1], 0)
    return np.column_stack(
        [
            np.cumsum(logits)[last] / (numbers - 1),
            np.minimum.accumulate(logits)[last],
            left[last + 1],
            np.cumsum(np.minimum(logits, 0) * shares)[last],
            missed[last + 1],
            logits[last],
            np.append(logits, -_SURE)[last + 1],
        ]
    )


def log_odds_of_several(
    grown: Grown, found: Evidence, logits: list[Floats], best: int, weights: Weights
) -> float:
    """Return the log odds that there is more than one cluster, given the best candidate."""
    number, n_clusters = found.candidates[best]
    tree = grown.trees[number].tree
    evidence = dict(zip(CUT_NAMES, found.cuts[best], strict=True))
    log_rows, log_dimension = math.log(grown.n_rows) - 6.5, math.log(grown.dimension) - 1
    null = weights.valleys[tree.kind]
    columns = valley_columns(
        log_rows, log_dimension, math.log(n_clusters) - 1.5, math.log(tree.psi) - 3.5
    )
    expected = _dot(columns, null.coefficients)
    deviations = float(np.clip((evidence["valley"] - expected) / null.deviation, -8, 8))
    largest = float(np.mean([own.max(initial=-_SURE) for own in logits]))
    values = [evidence["found"], deviations, largest, log_rows, log_dimension, log_dimension**2]
    return _dot(np.array(values), weights.gate) + weights.gate_constant


def valley_columns(
    log_rows: float, log_dimension: float, log_number: float, log_psi: float
) -> Floats:
    """Return the columns of the regression of valley depths."""
    n, d, k, p = log_rows, log_dimension, log_number, log_psi
    products = [n * k, n * p, k * p, d * k, d * p, n * d]
    return np.array([1.0, n, d, k, p, *products, k**2, p**2, d**2, n**2])


def _dot(values: Floats, weights: Floats) -> float:
    # Added one after the other: the same on every machine.
    return float(sum(value * weight for value, weight in zip(values, weights, strict=True)))


def scores(evidence: dict[str, Floats], weights: Weights) -> Floats:
    """Return the score of each candidate."""
    total = np.zeros(len(evidence["path"]))
    # One after the other, so that the order of the sum is fixed.
    for name, weight in zip(weights.names, weights.weights, strict=True):
        total += weight * evidence[name]
    return total
