"""What every result has in common: its settings, what it found, and the paper's word on it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from pskclust._utils.files import replacing


@dataclass(frozen=True)
class Settings:
    """How a result is to be made."""

    output: Path  # folder for pictures
    data: Path | None  # folder with the paper's data sets, MNIST and the images
    fast: bool  # a subset of the searches and sizes
    tell: Callable[[float], None] = lambda share: None  # hears what share of the work is done


@dataclass
class Comparison:
    """One statement of the paper beside what was found here."""

    what: str
    paper: str
    ours: str
    agrees: bool | None  # None where there is nothing to agree with
    reason: str = ""  # why it differs, if it does


@dataclass
class Picture:
    file: str
    caption: str


@dataclass
class Outcome:
    """What one result is on the page, and the numbers that are checked against expected.json."""

    comparisons: list[Comparison] = field(default_factory=list)
    pictures: list[Picture] = field(default_factory=list)
    tables: list[str] = field(default_factory=list)  # Markdown
    notes: list[str] = field(default_factory=list)
    values: dict[str, float] = field(default_factory=dict)

    def picture(self, settings: Settings, name: str, figure: Any, caption: str) -> None:
        """Save a figure and take it onto the page."""
        import matplotlib.pyplot as plt

        path = settings.output / name
        with replacing(path) as stream:
            figure.savefig(stream, dpi=110, format="png")
        plt.close(figure)
        self.pictures.append(Picture(name, caption))

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def unexpected(values: dict[str, float], expected: dict[str, tuple[float, float]]) -> list[str]:
    """Return a line for each value that is not what is expected, to within its tolerance."""
    return [
        f"{name} is {values.get(name)}, expected was {value} to within {tolerance}"
        for name, (value, tolerance) in expected.items()
        if not abs(values.get(name, np.inf) - value) <= tolerance
    ]


def write_json(path: Path, content: Any) -> None:
    with replacing(path) as stream:
        stream.write((json.dumps(content, indent=1, default=_plain) + "\n").encode())


def _plain(value: Any) -> Any:
    """Return a NumPy number or array as JSON knows it."""
    return value.tolist() if isinstance(value, np.generic | np.ndarray) else str(value)
