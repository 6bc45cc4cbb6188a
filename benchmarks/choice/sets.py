"""Labelled sets from a folder, and generated sets; each belongs to a family.

    DATA/benchmark/*.npz, DATA/battery/*.npz    X, and one or more references y, y1, ...

A family is a source of sets: fitted numbers are judged on a family that they were not fitted to.
Sets of more than 20,000 rows are left out. Class 0 of a reference is noise, whose rows do not
count. Of several references, the one that fits best counts. Columns are scaled to [0, 1]; rows of
texts are scaled to length 1, which is equivalent to metric="cosine".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
from generators import FAMILIES, draw, missing

MAX_ROWS = 20_000
# Families of collected ("given") sets, in the order of the output.
GIVEN = (
    "fcps",
    "sipu",
    "graves",
    "other",
    "repliclust",
    "pyclugen",
    "tables",
    "text",
    "series",
)
_FAMILY_BY_PREFIX = {
    **{f"{name}_": name for name in ("fcps", "sipu", "graves", "other")},
    "gen_repliclust_": "repliclust",
    "gen_pyclugen_": "pyclugen",
    "text_": "text",
    "ts_": "series",
}
_DRAWN = "drawn_"
# Families with single clusters, which decide how many of them stay whole.
SINGLES = (f"{_DRAWN}one", f"{_DRAWN}few")


@dataclass(frozen=True, eq=False)
class LabelledSet:
    """A set by name; its rows are read or generated on first use."""

    name: str
    path: Path | None = None

    @property
    def is_given(self) -> bool:
        return self.path is not None

    @property
    def family(self) -> str:
        return family_of(self.name)

    @cached_property
    def _content(self) -> tuple[np.ndarray, list[np.ndarray]]:
        if self.path is None:
            kind, number = self.name.removeprefix(_DRAWN).rsplit("_", 1)
            points, classes = draw(kind, int(number))
            return points, [classes]
        with np.load(self.path) as content:
            return content["X"], [content[key] for key in content.files if key != "X"]

    @property
    def points(self) -> np.ndarray:
        """The rows to cluster: columns scaled to [0, 1], or rows of texts to length 1."""
        rows = self._content[0].astype(np.float64)
        is_text = self.family in ("text", f"{_DRAWN}topics")
        return unit_rows(rows) if is_text else scaled_columns(rows)

    @property
    def references(self) -> list[np.ndarray]:
        return [classes.astype(np.int64) for classes in self._content[1]]


def family_of(name: str) -> str:
    """Return the family of a set; all sets of one generator are one family."""
    for prefix, family in _FAMILY_BY_PREFIX.items():
        if name.startswith(prefix):
            return family
    if name.startswith(_DRAWN):
        kind = name.removeprefix(_DRAWN).rsplit("_", 1)[0]
        return kind if kind in GIVEN else _DRAWN + kind
    return "tables"


def scaled_columns(points: np.ndarray) -> np.ndarray:
    low, extent = points.min(axis=0), np.ptp(points, axis=0)
    return (points - low) / np.where(extent > 0, extent, 1)


def unit_rows(points: np.ndarray) -> np.ndarray:
    lengths = np.sqrt((points * points).sum(axis=1))
    return points / np.where(lengths > 0, lengths, 1)[:, np.newaxis]


def n_classes(classes: np.ndarray) -> int:
    return len(np.unique(classes[classes > 0]))


def all_sets(data: Path | None, *, generated: bool = True) -> list[LabelledSet]:
    """Return the sets of a folder, and with `generated` the generated sets."""
    found = [] if data is None else list(given_sets(data))
    return [*found, *(drawn_sets() if generated else [])]


def given_sets(data: Path) -> Iterator[LabelledSet]:
    """Yield the sets of a folder that have at most MAX_ROWS rows, by name."""
    paths = [*data.glob("benchmark/*.npz"), *data.glob("battery/*.npz")]
    for path in sorted(paths, key=lambda path: path.stem):
        if _n_rows(path) <= MAX_ROWS:
            yield LabelledSet(path.stem, path)


def _n_rows(path: Path) -> int:
    with np.load(path) as content:
        return len(content["X"])


def drawn_sets() -> Iterator[LabelledSet]:
    """Yield the generated sets of all families whose generators are installed."""
    absent = missing()
    for family, plan in sorted(FAMILIES.items()):
        if family not in absent:
            for number in range(plan.n_sets):
                yield LabelledSet(f"{_DRAWN}{family}_{number:03d}")
