"""Agreement of two labellings of the same rows, computed from their contingency table."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, eq=False)
class SharedRows:
    """Nonzero entries of the contingency table of two labellings.

    scikit-learn has the same scores, but importing them loads all of its metrics.
    """

    shared: NDArray[np.int64]  # (m,) number of rows shared by each pair of groups
    one: NDArray[np.int64]  # (m,) index of the pair's group in the first labelling
    other: NDArray[np.int64]  # (m,) index of the pair's group in the second labelling

    @classmethod
    def of(
        cls, one: ArrayLike, other: ArrayLike, weights: NDArray[np.int64] | None = None
    ) -> SharedRows:
        """Return the table of two labellings; a row of integer weight w counts w times."""
        first, second = (np.unique(labels, return_inverse=True)[1] for labels in (one, other))
        n_second = int(second.max()) + 1
        pairs, places = np.unique(first.astype(np.int64) * n_second + second, return_inverse=True)
        shared = np.zeros(len(pairs), dtype=np.int64)
        np.add.at(shared, places, 1 if weights is None else weights)
        return cls(shared, pairs // n_second, pairs % n_second)

    @property
    def sizes(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Sizes of the groups of the first and of the second labelling."""
        one, other = (
            np.bincount(numbers, weights=self.shared).astype(np.int64)
            for numbers in (self.one, self.other)
        )
        return one, other

    def adjusted_rand(self) -> float:
        """Return the adjusted Rand index: 1 for equal groups, about 0 for agreement by chance."""
        n_rows = int(self.shared.sum())
        together, in_one, in_other = (_pairs(counts) for counts in (self.shared, *self.sizes))
        everything = n_rows * (n_rows - 1) // 2
        # All terms are whole numbers, which are divided once.
        most = (in_one + in_other) * everything - 2 * in_one * in_other
        return 2 * (together * everything - in_one * in_other) / most if most else 1.0

    def normalized_mutual_information(self) -> float:
        """Return the mutual information, divided by the mean of the two entropies."""
        n_rows = int(self.shared.sum())
        one, other = self.sizes
        entropies = [_entropy(sizes / n_rows) for sizes in (one, other)]
        if len(one) == len(other) == 1:
            return 1.0
        shares = self.shared / n_rows
        expected = one[self.one] / n_rows * (other[self.other] / n_rows)
        information = max(0.0, math.fsum(shares * np.log(shares / expected)))
        mean = sum(entropies) / 2
        return min(1.0, information / mean) if mean > 0 else 0.0


def adjusted_rand(
    one: ArrayLike, other: ArrayLike, weights: NDArray[np.int64] | None = None
) -> float:
    """Return the adjusted Rand index of two labellings of the same rows (one row or more)."""
    if np.shape(one) != np.shape(other):
        raise ValueError(
            f"The labellings have {len(np.ravel(one))} and {len(np.ravel(other))} labels. Pass two "
            "labellings of the same rows."
        )
    return SharedRows.of(one, other, weights).adjusted_rand()


def _pairs(counts: NDArray[np.int64]) -> int:
    # Python's integers do not overflow, unlike int64 with squares of large weights.
    sizes: list[int] = counts.tolist()
    return sum(size * (size - 1) for size in sizes) // 2


def _entropy(shares: NDArray[np.float64]) -> float:
    return -math.fsum(shares * np.log(shares))
