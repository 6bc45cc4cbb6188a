"""Rules for the values of parameters, with their error messages."""

from __future__ import annotations

import math
import numbers
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.random import RandomState

from .checks import check_method_of_device
from .distance_metrics import METRICS

METHODS = ("voronoi", "hypersphere", "tree")

# More partitionings change similarities by less than 0.002 and take minutes to draw.
MAX_PARTITIONS = 100_000
# A choice draws this many partitionings for each of several psi; more would take minutes.
MAX_PARTITIONS_OF_CHOICE = 10_000
# Limit for one cluster: a million steps that admit no row take about a second.
MAX_GROWTH_STEPS = 1_000_000


@dataclass(frozen=True)
class Rule:
    """Allowed values of a parameter: a description, and a function that tests a value.

    `reasons` are sentences for values that other libraries allow.
    """

    words: str
    admits: Callable[[Any], bool]
    reasons: Mapping[str, str] = field(default_factory=dict)


def one_of(*choices: str) -> Rule:
    words = "one of " + ", ".join(map(repr, choices)) if len(choices) > 1 else repr(choices[0])
    return Rule(words, lambda value: isinstance(value, str) and value in choices)


def whole(low: int, high: int | None = None) -> Rule:
    words = f"a whole number of {low} or more"
    if high is None:
        return Rule(words, lambda value: is_whole(value) and value >= low)
    words = f"a whole number from {low} to {high:,}"
    return Rule(words, lambda value: is_whole(value) and low <= value <= high)


def between(low: float, high: float) -> Rule:
    words = f"a number above {low:g}" + (f" and below {high:g}" if high < np.inf else "")
    return Rule(words, lambda value: is_number(value) and low < value < high)


def is_whole(value: object) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def is_number(value: object) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


FLAG = Rule("True or False", lambda value: isinstance(value, bool | np.bool_))
NOT_NEGATIVE = Rule("a number of 0 or more", lambda value: is_number(value) and 0 <= value < np.inf)
NONE = Rule("None", lambda value: value is None)
PATH = Rule("a path", lambda value: isinstance(value, str | os.PathLike))
FUNCTION = Rule("a function", callable)
DEVICE = Rule(
    "the name of a PyTorch device, such as 'cuda'",
    lambda value: isinstance(value, str) and bool(value),
)
GROWTH_RATE = Rule(
    "a number above 0 and below 1, large enough for the threshold to fall",
    lambda value: is_number(value) and 0 < 1 - value < 1,
)
JOBS = Rule(
    "a whole number other than 0 (-1 means all processors)",
    lambda value: is_whole(value) and value != 0,
)
METRIC = replace(
    one_of(*METRICS),
    reasons={
        "precomputed": "Cells need coordinates, so a matrix of distances cannot be clustered "
        "directly: compute coordinates from it first, say with sklearn.manifold.MDS."
    },
)

KERNEL_RULES: dict[str, tuple[Rule, ...]] = {
    "psi": (whole(2), one_of("auto")),
    "n_partitions": (whole(1, MAX_PARTITIONS),),
    "method": (one_of(*METHODS),),
    "metric": (METRIC,),
    "replace": (FLAG,),
    "n_jobs": (JOBS, NONE),
    "device": (DEVICE, NONE),
}

CLUSTERING_RULES: dict[str, tuple[Rule, ...]] = KERNEL_RULES | {
    "tau": (between(0, 1), one_of("auto")),
    "n_clusters": (whole(1), NONE),
    "growth_rate": (GROWTH_RATE,),
    "refine": (FLAG, one_of("auto")),
    "min_cluster_size": (whole(1), NONE),
    "noise": (one_of("keep", "nearest"),),
    "verbose": (FLAG, whole(0), NONE),
    "callback": (FUNCTION, NONE),
    "scratch_dir": (PATH, NONE),
    "checkpoint": (PATH, NONE),
}


def require_few_steps(tau: float, growth_rate: float) -> None:
    """Raise ValueError if the threshold takes too many steps to fall to tau."""
    n_steps = math.log(tau) / math.log(1 - growth_rate)
    if n_steps > MAX_GROWTH_STEPS:
        least = -math.expm1(math.log(tau) / MAX_GROWTH_STEPS)
        raise ValueError(
            f"growth_rate={growth_rate:g} takes {n_steps:.2g} steps until the threshold has fallen "
            f"to tau={tau:g}, more than the limit of {MAX_GROWTH_STEPS:,}. Use a growth_rate of "
            f"{_rounded_up(least):g} or more."
        )


def _rounded_up(value: float) -> float:
    """Return the value rounded up to two significant digits."""
    unit = 10.0 ** (math.floor(math.log10(value)) - 1)
    return math.ceil(value / unit) * unit


def check_parameters(
    parameters: Mapping[str, object], rules: Mapping[str, tuple[Rule, ...]]
) -> None:
    """Raise ValueError for the first parameter that breaks its rules."""
    for name, allowed in rules.items():
        value = parameters[name]
        if not any(rule.admits(value) for rule in allowed):
            ways = ", or ".join(rule.words for rule in allowed)
            reasons = [rule.reasons[str(value)] for rule in allowed if str(value) in rule.reasons]
            raise ValueError(" ".join([f"{name}={value!r} is not allowed. Use {ways}.", *reasons]))


@dataclass(frozen=True)
class Parameters:
    """Checked parameters of a fit, with the names of ``PSKC``. None stands for "auto"."""

    psi: int | None
    tau: float | None
    n_clusters: int | None
    growth_rate: float
    n_partitions: int
    method: str
    metric: str
    replace: bool
    refine: bool | None
    min_cluster_size: int
    noise: str
    n_jobs: int | None
    device: str | None
    random_state: RandomState | int | None
    scratch_dir: str | os.PathLike[str] | None
    checkpoint: str | os.PathLike[str] | None

    @classmethod
    def checked(cls, values: Mapping[str, Any]) -> Parameters:
        """Return checked parameters; raise ValueError for the first value that is not allowed."""
        check_parameters(values, CLUSTERING_RULES)
        tau, refine = values["tau"], values["refine"]
        parameters = cls(
            psi=None if values["psi"] == "auto" else int(values["psi"]),
            tau=None if tau == "auto" else float(tau),
            n_clusters=None if values["n_clusters"] is None else int(values["n_clusters"]),
            growth_rate=float(values["growth_rate"]),
            n_partitions=int(values["n_partitions"]),
            replace=bool(values["replace"]),
            refine=None if isinstance(refine, str) else bool(refine),
            min_cluster_size=int(values["min_cluster_size"] or 0),
            **{name: values[name] for name in _AS_GIVEN},
        )
        if parameters.device is not None:
            check_method_of_device(parameters.device, parameters.method)
        if parameters.tau is None:
            parameters._refuse_parameters_of_growth()
            parameters._refuse_long_choice()
        else:
            require_few_steps(parameters.tau, parameters.growth_rate)
        return parameters

    def _refuse_long_choice(self) -> None:
        if self.n_partitions > MAX_PARTITIONS_OF_CHOICE:
            raise ValueError(
                f"n_partitions={self.n_partitions} is more than the limit of "
                f"{MAX_PARTITIONS_OF_CHOICE:,} for choosing a clustering. Use fewer, or give psi "
                "and tau."
            )

    def _refuse_parameters_of_growth(self) -> None:
        if self.checkpoint is not None:
            raise ValueError(
                "checkpoint saves clusters as they grow on all rows, but without tau, clusters "
                "are chosen on a sample, which takes seconds. Give psi and tau, or leave "
                "checkpoint out."
            )
        if self.growth_rate != DEFAULT_GROWTH_RATE:
            raise ValueError(
                f"growth_rate={self.growth_rate:g} applies to clusters that grow, but without tau, "
                "clusters are chosen on a sample. Give psi and tau, or leave growth_rate out."
            )


DEFAULT_GROWTH_RATE = 0.1
_AS_GIVEN = (
    "method",
    "metric",
    "noise",
    "n_jobs",
    "device",
    "random_state",
    "scratch_dir",
    "checkpoint",
)
