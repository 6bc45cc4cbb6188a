"""The Gaussian kernel in place of the isolation kernel: the paper's psKC_g, for comparison.

The kernel has no finite feature map. So the table of a set holds the weight of each of its rows,
and a score is a sum over all pairs. Kernel values are rounded to multiples of 1/RESOLUTION, so
that sums are exact and do not depend on chunks. Time is quadratic in the number of rows, memory is
linear.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._cells.count_tables import ClusterTables
from .._data.rows import Data
from .._kernels.reference import squared_distances
from .._utils.parallel import rows_per_chunk

RESOLUTION = 1 << 24


@dataclass(frozen=True, eq=False)
class GaussianKernel:
    """Gaussian kernel K(x, y) = exp(-gamma * ||x - y||^2), and the rows of a fit."""

    points: NDArray[np.float64]  # (n, d)
    gamma: float
    metric: str

    @classmethod
    def fitted(cls, data: Data, gamma: float | str) -> GaussianKernel:
        """Return the kernel; gamma "scale" is 1 / (sum of the variances of the columns)."""
        points = data.points().copy()
        if isinstance(gamma, str):
            weights = data.weights.units
            centre = np.average(points, axis=0, weights=weights)
            variance = np.average(np.square(points - centre), weights=weights, axis=0).mean()
            # Twelve digits, so that gamma is the same for weighted rows and for repeated rows,
            # whose sums are rounded differently.
            gamma = float(f"{1 / (points.shape[1] * variance):.12g}") if variance else 1.0
        return cls(points, check_gamma(float(gamma)), data.metric)

    def values(self, points: NDArray[np.float64], rows: NDArray[np.intp]) -> NDArray[np.int64]:
        """Return the kernel of points and some rows of the fit, times RESOLUTION, (m, n)."""
        difference, distance2 = np.empty((2, len(points), len(rows)))
        # Where the squared distance overflows, the kernel is 0.
        with np.errstate(over="ignore", under="ignore"):
            squared_distances(points, self.points[rows], difference, distance2)
            kernel = np.exp(-self.gamma * distance2)
        rounded: NDArray[np.int64] = np.rint(kernel * RESOLUTION).astype(np.int64)
        return rounded

    def set_scores(
        self, points: NDArray[np.float64], tables: sparse.csr_array
    ) -> NDArray[np.int64]:
        """Return the score of each point against each table, (m, k); tables are (k, n)."""
        scores = np.zeros((len(points), tables.shape[0]), dtype=np.int64)
        members = np.unique(tables.indices)
        step = rows_per_chunk(len(points))
        for start in range(0, len(members), step):
            some = members[start : start + step]
            scores += (tables[:, some] @ self.values(points, some).T).T
        return scores


@dataclass(frozen=True, eq=False)
class PairTables(ClusterTables):
    """Tables of clusters for the Gaussian kernel: the weight of each row in each cluster.

    Scores are sums over pairs of rows, so the tables also hold the kernel.
    """

    kernel: GaussianKernel

    @classmethod
    def of(cls, clusters: ClusterTables, kernel: GaussianKernel) -> PairTables:
        """Return the tables of grown clusters together with their kernel."""
        return cls(clusters.counts, clusters.masses, clusters.shape, clusters.resolution, kernel)

    def scores(self, cells: NDArray[Any], kernels: Any = None) -> NDArray[np.int64]:
        """Return the score of each point against each cluster; `cells` are the points."""
        return self.kernel.set_scores(cells, self.counts)

    def inner_scores(self) -> list[int]:
        inner = []
        for cluster in range(len(self)):
            sets = self.counts[[cluster]].tocsr()
            members, units = sets.indices, sets.data
            scores = self.kernel.set_scores(self.kernel.points[members], sets)[:, 0]
            # Python integers, because sums of weights times scores may exceed 64 bits.
            pairs = zip(scores.tolist(), units.tolist(), strict=True)
            inner.append(sum(score * weight for score, weight in pairs))
        return inner

    def products(self) -> NDArray[np.float64]:
        scores = self.scores(self.kernel.points).astype(np.float64)
        products: NDArray[np.float64] = self.counts.astype(np.float64) @ scores
        return products


def check_gamma(gamma: float) -> float:
    """Return gamma; raise ValueError unless it is above 0 and finite."""
    if not 0 < gamma < math.inf:
        raise ValueError(
            f"gamma={gamma} must be above 0 and finite. Scale X, say with "
            "sklearn.preprocessing.StandardScaler, or pass gamma as a number."
        )
    return gamma
