"""Distances between pairs of rows, computed chunk by chunk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from .._data.checks import check_distances
from .._kernels.reference import Cells, count_shared_cells, squared_distances
from .._utils.parallel import rows_per_chunk, rows_per_product

# With more columns, a matrix product is much faster than a sum over columns.
_MAX_COLUMNS_TO_SUM = 16


class Pairs(Protocol):
    """Rows, and the distance between each pair of them."""

    def __len__(self) -> int: ...

    @property
    def chunk_rows(self) -> int:
        """Number of rows to compare with all others at a time."""

    def only(self, rows: NDArray[np.intp]) -> Pairs:
        """Return the selected rows with their distances, in the order of `rows`."""

    def between(self, left: slice, right: slice) -> NDArray[np.float64]:
        """Return the distances between the rows of two ranges, as a new array."""


@dataclass(frozen=True, eq=False)
class EuclideanDistance:
    """Euclidean distances between rows; with few columns, the result does not depend on chunks."""

    points: NDArray[np.float64]  # (n, d)

    @classmethod
    def of(cls, rows: NDArray[Any]) -> EuclideanDistance:
        check_distances(rows)
        points = rows.astype(np.float64)
        return cls(points if _few_columns(points) else _centred(points))

    def __len__(self) -> int:
        return len(self.points)

    @property
    def chunk_rows(self) -> int:
        rows_at_a_time = rows_per_chunk if _few_columns(self.points) else rows_per_product
        return rows_at_a_time(len(self))

    def only(self, rows: NDArray[np.intp]) -> EuclideanDistance:
        return EuclideanDistance(self.points[rows])

    def between(self, left: slice, right: slice) -> NDArray[np.float64]:
        points, others = self.points[left], self.points[right]
        scratch, distance2 = np.empty((2, len(points), len(others)))
        find = squared_distances if _few_columns(points) else _squared_distances_by_product
        find(points, others, scratch, distance2)
        return np.sqrt(distance2, out=distance2)


def _few_columns(points: NDArray[np.float64]) -> bool:
    n_columns: int = points.shape[1]
    return n_columns <= _MAX_COLUMNS_TO_SUM


def _squared_distances_by_product(
    points: NDArray[np.float64],  # IN   (m, d)
    others: NDArray[np.float64],  # IN   (n, d)
    length2: NDArray[np.float64],  # TMP  (m, n)
    distance2: NDArray[np.float64],  # OUT  (m, n)
) -> None:
    """Compute |x|^2 + |y|^2 - 2xy, or 0 where it does not exceed the rounding error."""
    np.add.outer(_squared_lengths(points), _squared_lengths(others), out=length2)
    np.matmul(points, others.T, out=distance2)
    distance2 *= -2
    distance2 += length2
    length2 *= 2 * points.shape[1] * np.finfo(np.float64).eps
    distance2[distance2 <= length2] = 0


def _squared_lengths(points: NDArray[np.float64]) -> NDArray[np.float64]:
    length2: NDArray[np.float64] = np.einsum("ij,ij->i", points, points)
    return length2


def _centred(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the points centred at the origin, where matrix products are most exact."""
    # The (upper) median of a column is one of its values, so whole numbers stay whole.
    middle = len(points) // 2
    centred: NDArray[np.float64] = points - np.partition(points, middle, axis=0)[middle]
    return centred


class IsolationDissimilarity:
    """Dissimilarity of two rows, 1 minus their isolation kernel, computed from their cells."""

    def __init__(self, cells: Cells) -> None:
        # In Fortran order, the cells of a partitioning are contiguous, so that comparing them takes
        # a tenth of the time.
        self._cells = np.asfortranarray(cells)

    def __len__(self) -> int:
        return len(self._cells)

    @property
    def chunk_rows(self) -> int:
        """Number of rows to compare with all others at a time."""
        return rows_per_chunk(len(self))

    def only(self, rows: NDArray[np.intp]) -> IsolationDissimilarity:
        """Return the dissimilarities of the selected rows, in the order of `rows`."""
        return IsolationDissimilarity(self._cells[rows])

    def between(self, left: slice, right: slice) -> NDArray[np.float64]:
        """Return the dissimilarities between the rows of two ranges."""
        left_cells, right_cells = self._cells[left], self._cells[right]
        n_partitions = self._cells.shape[1]
        shape = len(left_cells), len(right_cells)
        shared = np.empty(shape, dtype=np.min_scalar_type(n_partitions))
        count_shared_cells(left_cells, right_cells, None, shared)
        dissimilarity: NDArray[np.float64] = 1 - shared / np.float64(n_partitions)
        return dissimilarity
