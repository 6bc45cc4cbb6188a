"""How sure the labels of a chosen clustering are: the share of kernels that agree with each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .consensus import matched
from .rule import Chosen


@dataclass(frozen=True, eq=False)
class Confidence:
    """Labels that each kernel gives to the rows of the sample, by the numbers of the result."""

    rows: NDArray[np.intp]  # (m,) the rows of the sample, rising
    by_kernel: NDArray[np.int64]  # (n_kernels, m) -1 where a kernel gives no such cluster
    means: NDArray[np.float64]  # (k + 1,) of each cluster; 0 for noise, at the end

    @classmethod
    def of(cls, chosen: Chosen, numbers: NDArray[np.int64]) -> Confidence:
        """Return the confidence in a choice of which the clusters with some numbers are left."""
        n_clusters = max(chosen.choice.chosen.n_clusters, 1)
        clusterings = chosen.choice.clusterings(chosen.parts)
        renumbered = np.full(n_clusters + 1, -1)
        renumbered[numbers] = np.arange(len(numbers))
        labels = renumbered[chosen.labels]
        by_kernel = np.array(
            [renumbered[matched(each, chosen.labels, n_clusters)] for each in clusterings]
        )
        agreeing = (by_kernel == labels).mean(axis=0)
        totals = np.bincount(labels + 1, agreeing, len(numbers) + 1)[1:]
        counts = np.bincount(labels + 1, minlength=len(numbers) + 1)[1:]
        return cls(chosen.rows, by_kernel, np.append(totals / np.maximum(counts, 1), 0.0))

    def of_rows(self, labels: NDArray[np.int64], first_row: int) -> NDArray[np.float64]:
        """Return the confidence in the labels of successive rows, from `first_row` on.

        For a row of the sample it is the share of kernels that give it this label; for any other
        row the mean of its cluster.
        """
        some = slice(*np.searchsorted(self.rows, [first_row, first_row + len(labels)]))
        own = self.rows[some] - first_row
        agreeing = (self.by_kernel[:, some] == labels[own]).mean(axis=0)
        confidences = self.means[labels]
        confidences[own] = np.where(labels[own] >= 0, agreeing, 0.0)
        return confidences
