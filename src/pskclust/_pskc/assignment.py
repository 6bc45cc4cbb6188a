"""Give every row to one of the clusters that were found on other tables: linked or chosen ones."""

from __future__ import annotations

import numpy as np

from .._cells.count_tables import ClusterTables
from .._engines.protocol import Engine


def give_rows(engine: Engine, clusters: ClusterTables, min_mass: int) -> np.ndarray:
    """Give each row the cluster with the most members in its cells, noise where there are none.

    A cluster that ends up with a mass below `min_mass` is dissolved: its rows go to the other
    clusters by the same rule. Return which clusters are left, (k,) bool; they are numbered anew.
    """
    left = np.ones(len(clusters), dtype=bool)
    while True:
        remaining = clusters.only(left)
        engine.place(remaining.by_number(), 0.0)
        enough = engine.weight_of_members(len(remaining)) >= max(1, min_mass)
        if enough.all():
            return left
        left[np.flatnonzero(left)[~enough]] = False
