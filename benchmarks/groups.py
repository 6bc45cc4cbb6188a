"""Clusters of time series as groups of windows, beside k-means on simple features.

    python benchmarks/groups.py --data DIR

DIR holds files ts_*.npz with X, a series in each row, and y, its class. A series is the set of its
windows of eight values, once without and once with the time of the window as a ninth column.
GroupPSKC has its default parameters, once with the number of classes. The features are mean,
standard deviation, smallest and largest value, and the standard deviation of the steps; k-means is
told the number of classes. Prints a table of adjusted Rand indices.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import scale

from pskclust import GroupPSKC

WIDTH, STEP = 8, 2
COLUMNS = (
    *("set", "series", "classes", "k-means, features", "k-means, values"),
    *("windows", "windows, k", "windows with time", "windows with time, k"),
)


def windows(series: NDArray[np.float64], with_time: bool) -> tuple[NDArray[np.float64], NDArray]:
    """Return the windows of all series, and the series of each one."""
    found = sliding_window_view(series, WIDTH, axis=1)[:, ::STEP]
    n_series, n_windows, _ = found.shape
    rows = found.reshape(-1, WIDTH)
    if with_time:
        # As wide as all values of a window together.
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    print("|", " | ".join(COLUMNS), "|")
    print("|---" * len(COLUMNS) + "|")
    for path in sorted(parser.parse_args().data.glob("ts_*.npz")):
        held = np.load(path)
        series, y = held["X"].astype(np.float64), held["y"]
        row = [path.stem.removeprefix("ts_"), len(series), len(np.unique(y))]
        print("|", " | ".join([*map(str, row), *(f"{s:.2f}" for s in scores(series, y))]), "|")


if __name__ == "__main__":
    main()
