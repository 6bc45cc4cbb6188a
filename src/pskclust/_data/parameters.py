"""Rules for parameters: which values are allowed, and how to say so."""

from __future__ import annotations

import numbers
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .metric import METRICS

METHODS = ("voronoi", "hypersphere", "tree")


@dataclass(frozen=True)
class Rule:
    """What a parameter may be, and how to say so."""

    words: str
    admits: Callable[[Any], bool]


def one_of(*choices: str) -> Rule:
    words = "one of " + ", ".join(map(repr, choices)) if len(choices) > 1 else repr(choices[0])
    return Rule(words, lambda value: isinstance(value, str) and value in choices)


def whole(low: int) -> Rule:
    return Rule(f"a whole number of {low} or more", lambda value: _is_whole(value) and value >= low)


def between(low: float, high: float) -> Rule:
    words = f"a number above {low:g}" + (f" and below {high:g}" if high < np.inf else "")
    return Rule(words, lambda value: is_number(value) and low < value < high)


def _is_whole(value: object) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def is_number(value: object) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


_FLAG = Rule("True or False", lambda value: isinstance(value, bool | np.bool_))
NOT_NEGATIVE = Rule("a number of 0 or more", lambda value: is_number(value) and 0 <= value < np.inf)
NONE = Rule("None", lambda value: value is None)
_PATH = Rule("a path", lambda value: isinstance(value, str | os.PathLike))
_FUNCTION = Rule("a function", callable)
_GROWTH_RATE = Rule(
    "a number above 0 and below 1, large enough for the threshold to fall",
    lambda value: is_number(value) and 0 < 1 - value < 1,
)
_JOBS = Rule(
    "a whole number other than 0 (-1 means all processors)",
    lambda value: _is_whole(value) and value != 0,
)

KERNEL_RULES: dict[str, tuple[Rule, ...]] = {
    "psi": (whole(2), one_of("auto")),
    "n_partitions": (whole(1),),
    "method": (one_of(*METHODS),),
    "metric": (one_of(*METRICS),),
    "replace": (_FLAG,),
    "n_jobs": (_JOBS, NONE),
}

CLUSTERING_RULES: dict[str, tuple[Rule, ...]] = KERNEL_RULES | {
    "tau": (between(0, 1), one_of("auto")),
    "n_clusters": (whole(1), NONE),
    "linking": (_FLAG, one_of("auto")),
    "growth_rate": (_GROWTH_RATE,),
    "kernel": (one_of("isolation", "gaussian"),),
    "gamma": (between(0, np.inf), one_of("scale")),
    "refine": (_FLAG,),
    "min_cluster_size": (whole(1), NONE),
    "noise": (one_of("keep", "nearest"),),
    "verbose": (_FLAG, whole(0)),
    "callback": (_FUNCTION, NONE),
    "scratch_dir": (_PATH, NONE),
    "checkpoint": (_PATH, NONE),
}


def check_parameters(
    parameters: Mapping[str, object], rules: Mapping[str, tuple[Rule, ...]]
) -> None:
    """Raise ValueError for the first parameter that breaks its rules."""
    for name, allowed in rules.items():
        value = parameters[name]
        if not any(rule.admits(value) for rule in allowed):
            ways = ", or ".join(rule.words for rule in allowed)
            raise ValueError(f"{name}={value!r} is not allowed. Use {ways}.")


def check_linking(parameters: Mapping[str, Any]) -> bool:
    """Return whether clusters are to be linked; raise ValueError if that cannot be."""
    linking, n_clusters = parameters["linking"], parameters["n_clusters"]
    if not linking:
        if n_clusters is not None:
            raise ValueError(
                f"n_clusters={n_clusters} needs linking, but linking=False. Use linking='auto', "
                "or leave n_clusters out."
            )
        return False
    if parameters["kernel"] == "gaussian":
        if linking != "auto" and n_clusters is None:
            raise ValueError(
                "kernel='gaussian' does not choose how many clusters are linked, but linking=True. "
                "Give n_clusters, or use kernel='isolation'."
            )
        return n_clusters is not None
    asked_for = linking != "auto" or n_clusters is not None
    return asked_for or "auto" in (parameters["psi"], parameters["tau"])
