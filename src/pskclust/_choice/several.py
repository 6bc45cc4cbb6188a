"""One cluster or several: the log odds that a sample has more than one cluster."""

from __future__ import annotations

import math

import numpy as np

from .borders import Floats
from .evidence import Evidence
from .scoring import Weights, log_dimension, log_rows
from .split_evidence import SPLIT_NAMES
from .stability import Grown


def evidence_of_several(
    grown: Grown, found: Evidence, evidence: dict[str, Floats], best: int
) -> list[float]:
    """Return the evidence, given the best candidate, that there is more than one cluster.

    From the candidate: its most stable split, its valley, and its deepest dip. From all trees, the
    mean over their best splits: stability in halves and in other trees, the distance of the sides,
    and the valley on rows of the other half.
    """
    number, n_clusters = found.candidates[best]
    splits = [dict(zip(SPLIT_NAMES, some.T, strict=True)) for some in found.splits]
    own = {name: values[: n_clusters - 1] for name, values in splits[number].items()}
    stable = [some["found_low"] * some["crossed_low"] for some in splits]
    return [
        float(own["found_low"].max()),
        min(float(evidence["valley"][best]), 1.0),
        float(own["dip"].max()),
        _best_of_trees(stable),
        *(
            _best_of_trees([some[name] for some in splits])
            for name in ("apart", "held_valley", "held_sure")
        ),
        float(evidence["path"][best]),
        math.log(n_clusters),
        log_rows(grown.n_rows),
        log_dimension(grown),
    ]


def _best_of_trees(values: list[Floats]) -> float:
    """Return the mean, over trees, of the largest value of a split, or 0 without splits."""
    return float(np.mean([own.max() if len(own) else 0.0 for own in values]))


def log_odds_of_several(
    grown: Grown,
    found: Evidence,
    evidence: dict[str, Floats],
    best: int,
    weights: Weights,
) -> float:
    """Return the log odds that there is more than one cluster, given the best candidate."""
    values = evidence_of_several(grown, found, evidence, best)
    # Added in a fixed order, so that the sum is the same on every machine.
    total = weights.several.constant + weights.empty_gap.log_odds(grown.empty_gap)
    for value, weight in zip(values, weights.several.coefficients, strict=True):
        total += value * weight
    return float(total)
