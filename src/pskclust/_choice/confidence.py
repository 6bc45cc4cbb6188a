"""Confidence in the labels of a chosen clustering."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class Confidence:
    """The confidence in the labels of the rows of a sample, and its mean in each cluster."""

    rows: NDArray[np.intp]  # (m,) the rows of the sample, ascending
    labels: NDArray[np.int64]  # (m,) their labels in the choice, numbered as in the result
    confidences: NDArray[np.float64]  # (m,)
    means: NDArray[np.float64]  # (k + 1,) of each cluster; 0 for noise, at the end

    @classmethod
    def of(
        cls,
        rows: NDArray[np.intp],
        labels: NDArray[np.int64],
        confidences: NDArray[np.float64],
        n_clusters: int,
    ) -> Confidence:
        totals = np.bincount(labels + 1, confidences, n_clusters + 1)[1:]
        counts = np.bincount(labels + 1, minlength=n_clusters + 1)[1:]
        means = np.append(totals / np.maximum(counts, 1), 0.0)
        return cls(rows, labels, confidences, means)

    def of_rows(self, labels: NDArray[np.int64], first_row: int) -> NDArray[np.float64]:
        """Return the confidence in the labels of successive rows, from `first_row` on.

        If the choice gave a sampled row a different label, the row's confidence is 1 minus that of
        the choice. A row outside the sample gets the mean of its cluster. Noise gets 0.
        """
        some = slice(*np.searchsorted(self.rows, [first_row, first_row + len(labels)]))
        own = self.rows[some] - first_row
        sure = self.confidences[some]
        confidences = self.means[labels]
        same = self.labels[some] == labels[own]
        confidences[own] = np.where(labels[own] < 0, 0.0, np.where(same, sure, 1 - sure))
        return confidences
