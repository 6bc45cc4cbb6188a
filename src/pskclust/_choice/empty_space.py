"""The widest empty space between clusters, from single linkage on distances."""

from __future__ import annotations

import math

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from .similarity import Distances
from .split_tree import PATH, condense

# Both sides of a split must have at least 5 rows, and one row in 20, so that a few rows at the edge
# of a cluster do not count.
MIN_SIDE, MAX_SIDE_SHARE = 5, 20
# Chance leaves wide gaps where few rows face each other, as between the rows of a line. So at least
# this many times log(n) rows must face the space.
MIN_FACING = 12
# The width of a space is compared at least with this quantile of the lengths of all joins.
_SHARE_OF_JOINS = 0.9
_WIDEST = 3.0


def widest_gap(distances: Distances) -> float:
    """Return how much wider the space between clusters is than the gaps within them, 0 to 3.

    `distances` are squared. The lengths at which single linkage joins two sides of enough rows are
    sorted; the result is the largest log ratio of two successive ones. Within one cluster, these
    lengths are all similar. The result is 0 if few rows face the space. A row faces it if its
    distance to another side is at most twice the width of the space.
    """
    n_rows = len(distances)
    joined = np.asarray(linkage(np.sqrt(squareform(distances, checks=False)), "single"))
    usual = joined[int(_SHARE_OF_JOINS * (n_rows - 2)), 2]
    least = max(MIN_SIDE, n_rows // MAX_SIDE_SHARE)
    heights = condense(joined, PATH, 2, least).heights
    # If most rows are copies of others, the usual length is 0, and no ratio can be computed.
    if not len(heights) or usual <= 0:
        return 0.0
    ratios = heights / np.maximum(np.append(heights[1:], 0), usual)
    space = heights[ratios.argmax()]
    sides = fcluster(joined, space * (1 - 1e-9), "distance")
    if _n_facing(distances, sides, 2 * space, least) < MIN_FACING * math.log(n_rows):
        return 0.0
    return float(np.clip(np.log(ratios.max()), 0, _WIDEST))


def _n_facing(distances: Distances, sides: np.ndarray, reach: float, least: int) -> int:
    """Return how many rows have another side within reach; sides of few rows do not count."""
    counts = (np.bincount(sides) >= least)[sides]
    within_reach = distances <= _largest_square(reach)
    within_reach &= sides[:, np.newaxis] != sides
    within_reach &= counts
    return int(np.count_nonzero(within_reach[counts].any(axis=1)))


def _largest_square(root: float) -> float:
    """Return the largest number whose rounded square root is at most `root`."""
    square = root * root
    while math.sqrt(square) > root:
        square = math.nextafter(square, 0)
    while math.sqrt(math.nextafter(square, math.inf)) <= root:
        square = math.nextafter(square, math.inf)
    return square
