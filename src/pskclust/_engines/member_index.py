"""Scores of rows against a growing set, updated where rows share cells with new members."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from .._cells.count_tables import CountTable
from .._cells.partition import Partition
from .._kernels import compiled as kernels
from .._kernels.reference import Cells


class MemberIndex:
    """Index of the rows in each cell, with the current scores of all rows against a set."""

    def __init__(self, cells: Cells, partition: Partition) -> None:
        self._cells = cells
        self._psi = partition.psi
        self._starts = np.zeros(math.prod(partition.table_shape) + 1, dtype=np.int64)
        self._members = np.empty(cells.size, dtype=np.min_scalar_type(len(cells)))
        kernels.list_members(cells, partition.n_cells, self._starts, self._members)
        self._scores = np.zeros(len(cells), dtype=np.int64)
        self._table: CountTable | None = None
        self._joined = np.empty(0, dtype=np.intp), np.empty(0, dtype=np.int64)

    def scores(self, rows: NDArray[np.intp], table: CountTable) -> NDArray[np.int64] | None:
        """Return the scores of rows against a table, or None if they must be recomputed.

        Scores must be recomputed if `table` is not the table of the last call, if it was
        changed elsewhere, or if so many rows joined that the index saves no time.
        """
        if table is not self._table or table.mass != self._mass:
            return None
        joined, units = self._joined
        if len(joined) * len(self._cells) > len(rows) * self._psi:
            return None
        kernels.add_to_scores(
            self._cells[joined], units, self._psi, self._starts, self._members, self._scores
        )
        self._joined = joined[:0], units[:0]
        return self._scores[rows]

    def remember(
        self, rows: NDArray[np.intp], table: CountTable, scores: NDArray[np.int64]
    ) -> None:
        """Store newly computed scores of rows against a table."""
        self._table, self._mass = table, table.mass
        self._scores[rows] = scores
        self._joined = rows[:0], scores[:0]

    def joined(self, rows: NDArray[np.intp], units: NDArray[np.int64], table: CountTable) -> None:
        """Record the rows that joined the table since its scores were computed."""
        self._joined = rows, units
        self._mass = table.mass
