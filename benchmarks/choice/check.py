"""Run PSKC() on data that users try first, and compare its scores with limits.

    python benchmarks/choice/check.py [--data DIR] [--quick] [--only blobs moons] [--keep]

Without a data folder, text and the agreement of seeds on given sets are left out. `--quick` makes a
third of the draws. `--keep` keeps the table for docs/automatic.md.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from sets import given_sets, scaled_columns
from sklearn import datasets
from sklearn.metrics import adjusted_rand_score

from pskclust import PSKC

sys.path.append(str(Path(__file__).parents[1]))

import figures

SEED_OF_SINGLES = 77
N_SETS_FOR_SEEDS = 40
_MIX = np.array([[0.6, -0.6], [-0.4, 0.8]])


class Result(NamedTuple):
    """A measured value and the least that it should be."""

    name: str
    value: float
    limit: float
    note: str = ""
    measure: str = "mean ARI"

    def __str__(self) -> str:
        verdict = "ok  " if self.value >= self.limit else "MISS"
        return f"{verdict} {self.name:32s} {self.value:6.3f}  limit {self.limit:.3f}  {self.note}"


class Setting(NamedTuple):
    """The data folder and the number of draws."""

    data: Path | None
    quick: bool

    def draws(self, number: int) -> range:
        return range(-(-number // 3) if self.quick else number)


def clusters(points: np.ndarray, seed: int = 0, metric: str = "euclidean") -> np.ndarray:
    """Return the labels of PSKC(); columns are scaled first, except for the cosine metric."""
    scaled = points if metric == "cosine" else scaled_columns(np.asarray(points, dtype=float))
    return PSKC(metric=metric, random_state=seed).fit_predict(scaled)


def n_clusters(labels: np.ndarray) -> int:
    return len(np.unique(labels[labels >= 0]))


def joined(numbers: list[int]) -> str:
    return ", ".join(map(str, numbers))


def digits(setting: Setting) -> Iterator[Result]:
    X, y = datasets.load_digits(return_X_y=True)
    labels = [clusters(X, seed) for seed in setting.draws(3)]
    scores = [adjusted_rand_score(y, some) for some in labels]
    numbers = [n_clusters(some) for some in labels]
    yield Result("digits", float(np.mean(scores)), 0.75, f"{joined(numbers)} clusters")


def text(setting: Setting) -> Iterator[Result]:
    for each in given_sets(setting.data) if setting.data else ():
        if each.family == "text":
            y = each.references[0]
            labels = [clusters(each.points, seed, "cosine") for seed in setting.draws(3)]
            scores = [adjusted_rand_score(y[y > 0], some[y > 0]) for some in labels]
            numbers = [n_clusters(some) for some in labels]
            yield Result(each.name, float(np.mean(scores)), 0.30, f"{joined(numbers)} clusters")


def _toys(n_rows: int, seed: int) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return the six sets of scikit-learn's comparison page."""
    aniso, classes = datasets.make_blobs(n_rows, random_state=170)
    return {
        "circles": datasets.make_circles(n_rows, factor=0.5, noise=0.05, random_state=seed),
        "moons": datasets.make_moons(n_rows, noise=0.05, random_state=seed),
        "varied": datasets.make_blobs(n_rows, cluster_std=[1, 2.5, 0.5], random_state=170),
        "aniso": (aniso @ _MIX, classes),
        "blobs": datasets.make_blobs(n_rows, random_state=8),
        "no structure": (np.random.RandomState(seed).rand(n_rows, 2), np.zeros(n_rows)),
    }


def toys(setting: Setting) -> Iterator[Result]:
    for n_rows in (500, 1500):
        right: dict[str, list[bool]] = {}
        for seed in setting.draws(10):
            for name, (X, y) in _toys(n_rows, seed).items():
                # Clusters of "varied" overlap.
                least = 0.85 if name == "varied" else 0.9
                is_right = adjusted_rand_score(y, clusters(X, seed)) >= least
                right.setdefault(name, []).append(is_right)
        for name, some in right.items():
            note = f"{sum(some)} of {len(some)} draws"
            share = float(np.mean(some))
            yield Result(f"{name}, {n_rows:,} rows", share, 0.9, note, "share right")


def blobs(setting: Setting) -> Iterator[Result]:
    for k, limit in ((3, 0.80), (5, 0.78), (8, 0.70), (12, 0.62)):
        scores = []
        for seed in setting.draws(10):
            X, y = datasets.make_blobs(1000, centers=k, random_state=seed)
            scores.append(adjusted_rand_score(y, clusters(X, seed)))
        yield Result(f"make_blobs, {k} centres", float(np.mean(scores)), limit)


def moons(setting: Setting) -> Iterator[Result]:
    right = []
    for n_rows in (200, 500, 1000, 2000):
        for seed in setting.draws(20):
            X, y = datasets.make_moons(n_rows, noise=0.05, random_state=seed)
            right.append(adjusted_rand_score(y, clusters(X, seed)) >= 0.95)
    note = f"{sum(right)} of {len(right)} draws"
    share = float(np.mean(right))
    yield Result("moons of 200 to 2,000 rows", share, 76 / 80, note, "share right")


def many_blobs(setting: Setting) -> Iterator[Result]:
    X, y = datasets.make_blobs(50_000, n_features=8, centers=30, random_state=0)
    labels = clusters(X)
    score = float(adjusted_rand_score(y, labels))
    yield Result("30 blobs in 8 columns", score, 0.85, f"{n_clusters(labels)} clusters")


def _single(rng: np.random.Generator, form: str) -> np.ndarray:
    n_rows = int(np.exp(rng.uniform(np.log(100), np.log(5000))))
    d = int(rng.choice([2, 2, 3, 5, 10, 20, 50]))
    if form == "round":
        return rng.normal(size=(n_rows, d))
    if form == "square":
        return rng.uniform(size=(n_rows, d))
    if form == "ring":
        angles, rows = rng.uniform(0, 2 * np.pi, n_rows), np.zeros((n_rows, d))
        rows[:, 0], rows[:, 1] = np.cos(angles), np.sin(angles)
        return rows + 0.08 * rng.normal(size=rows.shape) / np.sqrt(max(1, d / 4))
    if form == "line":
        along = rng.uniform(size=(n_rows, 1)) * rng.normal(size=d)
        return along + 0.02 * rng.normal(size=(n_rows, d))
    tails = rng.standard_t(3, size=(n_rows, d))
    if rng.random() < 0.5:
        return tails
    return rng.normal(size=(n_rows, d)) / np.sqrt(rng.chisquare(3, n_rows) / 3)[:, np.newaxis]


def single_clusters(setting: Setting) -> Iterator[Result]:
    rng = np.random.default_rng(SEED_OF_SINGLES)
    forms = ("round", "square", "ring", "line", "heavy-tailed")
    kept: dict[str, list[bool]] = {form: [] for form in forms}
    for number in setting.draws(200):
        form = forms[number % len(forms)]
        kept[form].append(n_clusters(clusters(_single(rng, form), number)) <= 1)
    note = ", ".join(f"{form} {np.mean(some):.2f}" for form, some in kept.items())
    share = float(np.mean(np.concatenate(list(kept.values()))))
    yield Result("single clusters", share, 0.90, note, "share left whole")


def seeds(setting: Setting) -> Iterator[Result]:
    if setting.data is None:
        return
    sets = list(given_sets(setting.data))
    order = np.random.RandomState(3).permutation(len(sets))[: len(setting.draws(N_SETS_FOR_SEEDS))]
    scores = []
    for number in order:
        each = sets[number]
        metric = "cosine" if each.family == "text" else "euclidean"
        one, other = (clusters(each.points, seed, metric) for seed in (1, 2))
        scores.append(adjusted_rand_score(one, other))
    yield Result("agreement of two seeds", float(np.mean(scores)), 0.93, f"{len(scores)} sets")


CHECKS: dict[str, Callable[[Setting], Iterator[Result]]] = {
    "digits": digits,
    "text": text,
    "toys": toys,
    "blobs": blobs,
    "moons": moons,
    "many_blobs": many_blobs,
    "single_clusters": single_clusters,
    "seeds": seeds,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder with benchmark/ and battery/")
    parser.add_argument("--quick", action="store_true", help="make a third of the draws")
    parser.add_argument("--only", nargs="+", choices=CHECKS, default=list(CHECKS))
    figures.add_option(parser)
    arguments = parser.parse_args()
    results = []
    for name in arguments.only:
        for result in CHECKS[name](Setting(arguments.data, arguments.quick)):
            print(result, flush=True)
            results.append(result)
    columns = ["data", "measure", "figure", "details"]
    rows = [[each.name, each.measure, f"{each.value:.2f}", each.note] for each in results]
    figures.show("first data", columns, rows, keep=arguments.keep)


if __name__ == "__main__":
    main()
