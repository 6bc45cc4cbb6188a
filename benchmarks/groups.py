"""Compare GroupPSKC with k-means on simple features, for trajectories and time series.

    python benchmarks/groups.py [--data DIR] [--keep]

Trajectories are generated, of five kinds that have the same mean and the same spread.

DIR holds files ts_*.npz with X, a series in each row, and y, its class. A series is the set of its
windows of eight values, once without and once with the time of the window as a ninth column.
GroupPSKC runs with its defaults, once without and once with the number of classes given. The
features for k-means are mean, standard deviation, smallest and largest value, and the standard
deviation of the steps; k-means is always given the number of classes. The script prints tables of
adjusted Rand indices; `--keep` keeps them for docs/groups.md.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import figures
import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import scale

from pskclust import GroupPSKC
from pskclust.datasets import make_trajectories

WIDTH, STEP = 8, 2
N_SEEDS = 10
COLUMNS = [
    *("set", "series", "classes", "k-means, features", "k-means, values"),
    *("windows", "windows, k", "windows with time", "windows with time, k"),
]


def windows(series: NDArray[np.float64], with_time: bool) -> tuple[NDArray[np.float64], NDArray]:
    """Return the windows of all series, and the series that each window belongs to."""
    found = sliding_window_view(series, WIDTH, axis=1)[:, ::STEP]
    n_series, n_windows, _ = found.shape
    rows = found.reshape(-1, WIDTH)
    if with_time:
        # Scaled so that time varies as much as all values of a window together.
        time = scale(np.arange(n_windows)) * np.sqrt(WIDTH) * series.std()
        rows = np.column_stack([rows, np.tile(time, n_series)])
    return rows, np.repeat(np.arange(n_series), n_windows)


def features(series: NDArray[np.float64]) -> NDArray[np.float64]:
    steps = np.diff(series, axis=1).std(axis=1)
    ends = series.min(axis=1), series.max(axis=1)
    return scale(np.column_stack([series.mean(axis=1), series.std(axis=1), *ends, steps]))


def scores(series: NDArray[np.float64], y: NDArray) -> list[float]:
    n_classes = len(np.unique(y))
    k_means = KMeans(n_classes, n_init=10, random_state=0)
    found = [k_means.fit_predict(some) for some in (features(series), series)]
    for with_time in (False, True):
        rows, groups = windows(series, with_time)
        for n_clusters in (None, n_classes):
            model = GroupPSKC(n_clusters=n_clusters, random_state=0)
            found.append(model.fit_predict(rows, groups=groups))
    return [adjusted_rand_score(y, labels) for labels in found]


def trajectories() -> list[list[str]]:
    """Return the rows of the table: mean and smallest ARI over draws of 250 trajectories."""
    methods: dict[str, list[float]] = {
        "`GroupPSKC()`, number of clusters not given": [],
        "k-means on means and spreads, 5 clusters given": [],
    }
    for seed in range(N_SEEDS):
        X, groups, kinds = make_trajectories(random_state=seed)
        rows = [X[groups == each] for each in np.unique(groups)]
        simple = np.array([[*each.mean(axis=0), *each.std(axis=0)] for each in rows])
        labels = (
            GroupPSKC(random_state=seed).fit_predict(X, groups=groups),
            KMeans(5, n_init=10, random_state=seed).fit_predict(simple),
        )
        for found, some in zip(methods.values(), labels, strict=True):
            found.append(adjusted_rand_score(kinds, some))
    return [
        [name, f"{np.mean(found):z.2f}", f"{np.min(found):z.2f}"] for name, found in methods.items()
    ]


def time_series(folder: Path) -> Iterator[list[str]]:
    """Yield a row of the table for each set in a folder."""
    for path in sorted(folder.glob("ts_*.npz")):
        held = np.load(path)
        series, y = held["X"].astype(np.float64), held["y"]
        row = [path.stem, len(series), len(np.unique(y))]
        yield [*map(str, row), *(f"{score:.2f}" for score in scores(series, y))]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path)
    figures.add_option(parser)
    options = parser.parse_args()
    columns = ["method", "mean", "smallest"]
    figures.show("trajectories", columns, trajectories(), keep=options.keep)
    if options.data:
        figures.show("time series", COLUMNS, list(time_series(options.data)), keep=options.keep)


if __name__ == "__main__":
    main()
