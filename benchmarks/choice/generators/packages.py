"""Families that the packages pyclugen and repliclust draw."""

from __future__ import annotations

import importlib
import sys
import types
import warnings
from typing import Any

import numpy as np
from numpy.random import default_rng

from .drawing import Drawn, random_n_rows


def pyclugen_set(number: int) -> Drawn:
    """Return clusters along lines, drawn by pyclugen."""
    import pyclugen

    rng = default_rng(60000 + number)
    d, k = int(rng.choice([2, 2, 2, 3, 5])), int(rng.choice([2, 3, 4, 5, 6, 8, 10, 12]))
    n_rows = random_n_rows(rng, 200, 4000)
    drawn = pyclugen.clugen(
        d,
        k,
        n_rows,
        rng.normal(size=d),
        float(rng.choice([0, np.pi / 8, np.pi / 4, np.pi / 2])),
        np.full(d, float(rng.choice([5, 6, 7.5, 10, 15]))),
        float(rng.choice([5, 10, 15])),
        float(rng.choice([0, 0.5, 1, 2])),
        float(rng.choice([0.25, 0.5, 1, 2, 4])),
        proj_dist_fn=str(rng.choice(["norm", "unif"])),
        point_dist_fn=str(rng.choice(["n-1", "n"])),
        rng=rng,
    )
    return drawn.points, drawn.clusters + 1


_OVERLAPS = [(1e-5, 1e-4), (1e-3, 1e-2), (1e-2, 5e-2), (0.1, 0.2)]


_DISTRIBUTIONS: list[list[Any]] = [
    ["normal"],
    ["normal", "exponential"],
    ["normal", "exponential", "gamma", "weibull", "lognormal", "uniform"],
    ["uniform", "beta"],
    [("standard_t", {"df": 2})],
    [("standard_t", {"df": 3}), "lognormal", "pareto"],
    ["f"],
]


def repliclust_set(number: int) -> Drawn:
    """Return ellipsoids of several distributions with a given overlap, drawn by repliclust."""
    repliclust = _repliclust()
    rng = default_rng(50000 + number)
    repliclust.set_seed(50000 + number)
    k = int(rng.choice([2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 30]))
    d = int(rng.choice([2, 2, 3, 5, 6, 8, 10, 12, 20]))
    n_rows = max(random_n_rows(rng, 150, 4000), 20 * k)
    low, high = _OVERLAPS[rng.choice(4, p=[0.3, 0.35, 0.25, 0.1])]
    distributions = _DISTRIBUTIONS[rng.integers(7)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        archetype = repliclust.Archetype(
            n_clusters=k,
            dim=d,
            n_samples=n_rows,
            max_overlap=high,
            min_overlap=low,
            aspect_ref=float(rng.choice([1, 1.5, 3, 5, 8])),
            aspect_maxmin=float(rng.choice([1, 1.5, 3])),
            imbalance_ratio=float(rng.choice([1, 2, 5, 10, 20])),
            radius_maxmin=float(rng.choice([1, 2, 3, 6])),
            distributions=distributions,
        )
        points, classes = archetype.synthesize(quiet=True)[:2]
        if rng.random() < 0.15:
            points = repliclust.wrap_around_sphere(points)
    return points, classes + 1


# Packages that repliclust imports, but does not need to draw sets.
_NOT_NEEDED = ("dotenv", "openai", "matplotlib", "matplotlib.pyplot", "torch", "tqdm", "umap")


class _StandIn(types.ModuleType):
    """A module in which every name is a class that does nothing."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {"__init__": lambda *_, **__: None, "Module": object})


def _repliclust() -> Any:
    """Return repliclust, imported with stand-ins for missing packages that it does not need."""
    if "repliclust" in sys.modules:
        return sys.modules["repliclust"]
    absent = [name for name in _NOT_NEEDED if not _is_there(name)]
    sys.modules.update({name: _StandIn(name) for name in absent})
    try:
        return importlib.import_module("repliclust")
    finally:
        for name in absent:
            del sys.modules[name]


def _is_there(name: str) -> bool:
    try:
        importlib.import_module(name)
    except ImportError:
        return False
    return True
