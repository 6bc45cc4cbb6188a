"""The widest empty space between clusters, from single linkage on distances."""

from __future__ import annotations

import numpy as np
from scipy.cluster.hierarchy import linkage
from scipy.spatial.distance import squareform

from .similarity import Distances
from .split_tree import PATH, condense

# Both sides of a split must have at least 5 rows, and one row in 20, so that a few rows at the edge
# of a cluster do not count.
MIN_SIDE, MAX_SIDE_SHARE = 5, 20
# Splits are compared with the length that this share of the joins does not exceed.
_SHARE_OF_JOINS = 0.9
_WIDEST = 3.0


def widest_gap(distances: Distances) -> float:
    """Return how much wider the space between clusters is than the gaps within them, 0 to 3.

    `distances` are squared. The lengths at which single linkage joins two sides of enough rows are
    sorted; the result is the largest log ratio of two successive ones. Within one cluster, these
    lengths are all similar.
    """
    apart = np.sqrt(squareform(distances, checks=False))
    joined = np.asarray(linkage(apart, "single"))
    n_rows = len(distances)
    usual = joined[int(_SHARE_OF_JOINS * (n_rows - 2)), 2]
    heights = condense(joined, PATH, 2, max(MIN_SIDE, n_rows // MAX_SIDE_SHARE)).heights
    # Many copies of rows say nothing about gaps.
    if not len(heights) or usual <= 0:
        return 0.0
    ratios = heights / np.maximum(np.append(heights[1:], 0), usual)
    return float(np.clip(np.log(ratios.max()), 0, _WIDEST))
