"""Shared code of all results: settings, comparisons with the paper, expected values."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from pskclust._utils.files import replacing


@dataclass(frozen=True)
class Settings:
    """Settings of a run: folders, and whether it covers a subset only."""

    output: Path  # folder for pictures
    data: Path | None  # folder with the paper's data sets, MNIST and the images
    fast: bool  # a subset of the searches, sizes and seeds
    tell: Callable[[float], None] = lambda share: None  # called with the share of the work done


@dataclass
class Comparison:
    """One statement of the paper beside our measurement.

    `agrees` must be computed from the measurement; a test refuses a constant.
    """

    what: str
    paper: str
    ours: str
    agrees: bool | None  # None where the paper says nothing
    reason: str = ""  # why the two differ, if they do
    place: str = ""  # table or figure of the paper, if a module makes several


@dataclass
class Picture:
    file: str
    caption: str


@dataclass
class Outcome:
    """The parts of one result on the page, and the values checked against expected.json."""

    comparisons: list[Comparison] = field(default_factory=list)
    findings: dict[str, str] = field(default_factory=dict)  # a measured statement for each place
    pictures: list[Picture] = field(default_factory=list)
    tables: list[str] = field(default_factory=list)  # Markdown
    notes: list[str] = field(default_factory=list)
    values: dict[str, float] = field(default_factory=dict)

    def picture(self, settings: Settings, name: str, figure: Any, caption: str) -> None:
        """Save a figure and add it to the page."""
        import matplotlib.pyplot as plt

        path = settings.output / name
        with replacing(path) as stream:
            figure.savefig(stream, dpi=110, format="png")
        plt.close(figure)
        self.pictures.append(Picture(name, caption))

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def unexpected(values: dict[str, float], expected: dict[str, tuple[float, float]]) -> list[str]:
    """Return a line for each value that differs from its expected value beyond the tolerance."""
    lines = [
        f"{name} is {values.get(name)}, expected was {value} to within {tolerance}"
        for name, (value, tolerance) in expected.items()
        if not abs(values.get(name, np.inf) - value) <= tolerance
    ]
    new = [name for name in values if name not in expected]
    return lines + [f"{name} is {values[name]}, and not expected" for name in new]


def accepted(
    values: dict[str, float], expected: dict[str, tuple[float, float]]
) -> dict[str, tuple[float, float]]:
    """Return the values with their old tolerances; new ones get 0.03 or 2%, whichever is more."""
    return {
        name: (round(float(value), 4), expected[name][1] if name in expected else tolerance(value))
        for name, value in values.items()
    }


def tolerance(value: float) -> float:
    return max(0.03, round(0.02 * abs(value), 3))


def table(head: list[str], rows: list[list[str]]) -> str:
    """Return a table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def middle_range(values: list[float], form: str = ".3f") -> str:
    """Return the median of values and their range, as text."""
    middle, low, high = np.median(values), min(values), max(values)
    return f"{middle:{form}} ({low:{form}} to {high:{form}})"


def write_json(path: Path, content: Any) -> None:
    """Write JSON with each pair of numbers on one line."""
    text = json.dumps(content, indent=1, default=_plain)
    text = re.sub(r"\[\s+([-+.\de]+),\s+([-+.\de]+)\s+\]", r"[\1, \2]", text)
    with replacing(path) as stream:
        stream.write(f"{text}\n".encode())


def _plain(value: Any) -> Any:
    """Return a NumPy number or array as Python numbers, anything else as text."""
    return value.tolist() if isinstance(value, np.generic | np.ndarray) else str(value)
