"""Generate sets with known clusters, of kinds that are rare in collections.

    points, classes = draw("shapes", 3)  # rows and classes of set number 3 of a family

A family has any number of sets, and a set depends only on its number. Classes start at 1; 0 is
noise. The families repliclust and pyclugen need their packages (see `missing`); all others need
only scikit-learn. Sets have 14 to about 9,000 rows in clusters, in some sets with up to a fifth as
many rows of noise, and 2 to 500 columns.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .drawing import Drawn
from .packages import pyclugen_set, repliclust_set
from .plane_shapes import bands, rings, shapes, touching, toy
from .round_clusters import blobs, grid, heavy, pairs, uneven, warped
from .signals import curves, pictures
from .single_clusters import few, one
from .tables import categories, counts, measured, mixed, subspace, topics


class Family(NamedTuple):
    """A kind of generated sets."""

    draw: Callable[[int], Drawn]  # rows and classes of a set by its number
    n_sets: int  # number of sets that the fit uses
    package: str = "sklearn"  # package that the family needs


def draw(family: str, number: int) -> Drawn:
    """Return the rows of a set in random order, as float32, and their classes."""
    points, classes = FAMILIES[family].draw(number)
    order = np.random.RandomState(0).permutation(len(points))
    return points[order].astype(np.float32), np.asarray(classes)[order].astype(np.int16)


def missing() -> list[str]:
    """Return the families whose package is not installed."""
    return [
        name for name, family in FAMILIES.items() if not importlib.util.find_spec(family.package)
    ]


FAMILIES = {
    "blobs": Family(blobs, 120),
    "shapes": Family(shapes, 160),
    "rings": Family(rings, 108),
    "bands": Family(bands, 60),
    "uneven": Family(uneven, 100),
    "heavy": Family(heavy, 50),
    "one": Family(one, 300),
    "few": Family(few, 80),
    "subspace": Family(subspace, 80),
    "grid": Family(grid, 60),
    "toy": Family(toy, 30),
    "mixed": Family(mixed, 100),
    "topics": Family(topics, 60),
    "warped": Family(warped, 140),
    "pairs": Family(pairs, 100),
    "touching": Family(touching, 150),
    "pictures": Family(pictures, 80),
    "curves": Family(curves, 100),
    "counts": Family(counts, 80),
    "categories": Family(categories, 80),
    "measured": Family(measured, 120),
    "pyclugen": Family(pyclugen_set, 100, "pyclugen"),
    "repliclust": Family(repliclust_set, 200, "repliclust"),
}
