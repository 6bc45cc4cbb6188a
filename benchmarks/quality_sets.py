"""Labelled sets: those of a folder, in two halves, and generated winding shapes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.preprocessing import minmax_scale


@dataclass(frozen=True, eq=False)
class LabelledSet:
    """Rows and their classes; 0 means none. The rule was designed on "A" and "generated".

    Of some sets there are several references: other ways to class the rows that are as good.
    """

    name: str
    group: str
    X: Any
    references: list[Any]

    @property
    def ks(self) -> list[int]:
        """The numbers of classes, those of the first reference first."""
        numbers = [len(np.unique(y[y > 0])) for y in self.references]
        return list(dict.fromkeys(numbers))


def load_sets(data: Path | None) -> list[LabelledSet]:
    """Return all sets; without a folder only those that are generated."""
    paths = [] if data is None else sorted((data / "benchmark").glob("*.npz"))
    found = [(path.stem, np.load(path)) for path in paths]
    # Sets of more rows have no half: they came later.
    small = [name for name, content in found if len(content["X"]) <= 10_000]
    return [
        LabelledSet(
            name,
            "AB"[small.index(name) % 2] if name in small else "large",
            minmax_scale(content["X"].astype(float)),
            [content[key].astype(int) for key in sorted(content) if key.startswith("y")],
        )
        for name, content in found
    ] + winding_sets(3)


def winding_sets(seed: int) -> list[LabelledSet]:
    """Return winding shapes; plain psKC cuts the last three to pieces at any psi and tau."""
    rng = np.random.RandomState(seed)

    def along(curve: Callable[[Any], tuple[Any, Any]], n: int, spread: float) -> Any:
        return np.column_stack(curve(rng.uniform(size=n))) + rng.normal(0, spread, (n, 2))

    def ring(radius: float, x: float = 0.0) -> Callable[[Any], tuple[Any, Any]]:
        return lambda s: (x + radius * np.cos(2 * np.pi * s), radius * np.sin(2 * np.pi * s))

    def spiral(turned: float) -> Callable[[Any], tuple[Any, Any]]:
        return lambda s: (
            (0.2 + 0.8 * s) * np.cos(2 * np.pi * s + turned),
            (0.2 + 0.8 * s) * np.sin(2 * np.pi * s + turned),
        )

    def wave(height: float) -> Callable[[Any], tuple[Any, Any]]:
        return lambda s: (6 * s, height + 0.5 * np.sin(12 * s))

    moons = [
        along(lambda s: (np.cos(np.pi * s), np.sin(np.pi * s)), 800, 0.07),
        along(lambda s: (1 - np.cos(np.pi * s), 0.4 - np.sin(np.pi * s)), 800, 0.07),
    ]
    waves = [along(wave(height), 1200, 0.07) for height in (0.0, 1.2, 2.4)]
    shapes = {
        "spirals": ([along(spiral(turned), 1000, 0.015) for turned in (0, np.pi)], 0),
        "rings": ([along(ring(radius), n, 0.05) for radius, n in RINGS], 0),
        "moons in noise": (moons, 150),
        "waves in noise": (waves, 300),
        "rings and blob in noise": (
            [
                along(ring(1), 800, 0.05),
                rng.normal(0, 0.15, (300, 2)),
                along(ring(1, 3.0), 800, 0.05),
            ],
            200,
        ),
    }
    crescents = [
        along(lambda s: (2 * np.cos(np.pi * s), 2 * np.sin(np.pi * s)), 150, 0.12),
        along(lambda s: (2 - 2 * np.cos(np.pi * s), 0.6 - 2 * np.sin(np.pi * s)), 1500, 0.12),
    ]

    def snake_and_blobs(n: int) -> list[Any]:
        """A long winding cluster with small dense ones in its bends."""
        bends = ((1.5, -0.6), (4.5, 0.6), (7.5, -0.6), (10.5, 0.6))
        return [
            along(lambda s: (12 * s, 1.5 * np.sin(12.6 * s)), 12 * n, 0.1),
            *(rng.normal(bend, 0.15, (n, 2)) for bend in bends),
        ]

    shapes |= {
        "crescents of two densities": (crescents, 0),
        "snake and blobs": (snake_and_blobs(120), 0),
        "snake and blobs in noise": (snake_and_blobs(200), 150),
    }
    return [_labelled(name, *parts, rng) for name, parts in shapes.items()]


RINGS = ((0.4, 300), (1.0, 600), (1.7, 1000))


def _labelled(name: str, parts: list[Any], n_noise: int, rng: Any) -> LabelledSet:
    X = np.vstack(parts)
    y = np.repeat(np.arange(1, len(parts) + 1), [len(part) for part in parts])
    noise = rng.uniform(X.min(axis=0), X.max(axis=0), (n_noise, X.shape[1]))
    rows = minmax_scale(np.vstack([X, noise]))
    classes = np.append(y, np.zeros(n_noise, dtype=int))
    return LabelledSet(name, "generated", rows, [classes])
