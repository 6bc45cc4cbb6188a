"""Assign every row to a linked or chosen cluster."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._cells.count_tables import ClusterTables
from .._engines.protocol import Engine


class OwnLabels(NamedTuple):
    """Rows that keep given labels."""

    rows: NDArray[np.intp]  # (m,) ascending
    labels: NDArray[np.int64]  # (m,)

    def with_noise(self, rows: NDArray[np.intp] | None) -> OwnLabels:
        """Return these rows, and `rows` labelled as noise."""
        if rows is None or not len(rows):
            return self
        numbers = np.concatenate([self.rows, rows])
        labels = np.concatenate([self.labels, np.full(len(rows), -1)])
        order = np.argsort(numbers, kind="stable")
        return OwnLabels(numbers[order], labels[order])


def give_rows(
    engine: Engine, clusters: ClusterTables, min_mass: int, own: OwnLabels | None = None
) -> NDArray[np.bool_]:
    """Assign each row to the cluster with the most members in its cells; without any, to noise.

    Rows in `own` keep their labels. A cluster that ends up with a mass below `min_mass` is
    dissolved: its rows go to the other clusters by the same rule. Return a mask of the clusters
    that are left, (k,). Labels are the numbers of clusters among those left.
    """
    left = np.ones(len(clusters), dtype=bool)
    while True:
        remaining = clusters.only(left)
        engine.place(remaining.by_number(), 0.0)
        if own is not None:
            labels = np.append(np.where(left, np.cumsum(left) - 1, -1), -1)[own.labels]
            # Rows whose own cluster is dissolved are assigned like all others.
            kept = (labels >= 0) | (own.labels < 0)
            engine.set_labels(own.rows[kept], labels[kept])
        enough = engine.weight_of_members(len(remaining)) >= max(1, min_mass)
        if enough.all():
            return left
        left[np.flatnonzero(left)[~enough]] = False
