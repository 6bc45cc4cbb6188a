"""Names of the controls on the page, for messages and buttons."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from .._utils.wording import ParameterWords

# Each is the text of a label in page/index.html.
CONTROLS = {
    "psi": "psi",
    "tau": "tau",
    "n_clusters": "Number of clusters",
    "growth_rate": "Growth rate",
    "n_partitions": "Partitionings (t)",
    "random_state": "Seed",
    "min_cluster_size": "Minimum size",
    "refine": "Refinement",
    "noise": "Leave noise out",
    "metric": "Metric",
    "scaling": "Scaling",
    "color_space": "Colour space",
}
_WITHOUT_NOISE = f'switching off "{CONTROLS["noise"]}"'
_SENTENCE_START = re.compile(rf"(^|\. )({re.escape(_WITHOUT_NOISE)})")
# A name without a value, such as "a smaller min_cluster_size"; psi and tau stay as they are.
_BARE_NAME = re.compile(rf"\b({'|'.join(name for name in CONTROLS if '_' in name)})\b")
_MOST_CLUSTERS = re.compile(r"\bUse n_clusters <= (\d+)")


def _with_value(name: str, value: str) -> str:
    if name == "noise":
        return _WITHOUT_NOISE
    return f"{CONTROLS[name]} {value}"


_WORDS = ParameterWords(CONTROLS, _with_value)


def as_controls(message: str) -> str:
    """Return a message of the library with parameters written as controls of the page."""
    message = _MOST_CLUSTERS.sub(lambda found: f"Use {int(found[1]):,} or fewer", message)
    named = _BARE_NAME.sub(lambda found: CONTROLS[found[1]].lower(), _WORDS.of(message))
    return _SENTENCE_START.sub(lambda found: found[1] + found[2][0].upper() + found[2][1:], named)


def button_words(change: Mapping[str, Any]) -> str:
    """Return the text of a button that changes some settings."""
    if "n_clusters" in change:
        number = change["n_clusters"]
        return f"Ask for {number:,} cluster{'' if number == 1 else 's'}"
    if "noise" in change:
        return f'Switch off "{CONTROLS["noise"]}"'
    if change == {"min_cluster_size": None}:
        return f"Clear {CONTROLS['min_cluster_size'].lower()}"
    return "Set " + ", ".join(f"{CONTROLS[name]} to {value}" for name, value in change.items())
