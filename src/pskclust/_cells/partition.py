"""Partition: the random partitionings of an isolation kernel.

A partition is small, immutable, and sufficient to find the cells of new rows.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._kernels import reference
from .._kernels.reference import Cells
from .._utils.parallel import Buffers, rows_per_chunk


@dataclass(frozen=True, eq=False)
class Partition(ABC):
    """t partitionings of space into psi cells each."""

    method: ClassVar[str]

    psi: int

    @property
    @abstractmethod
    def n_partitions(self) -> int: ...

    @property
    def n_cells(self) -> int:
        """Width of a count table: psi, plus one if points may have no cell."""
        return self.psi if self.no_cell is None else self.psi + 1

    @property
    def chunk_rows(self) -> int:
        """Best number of rows to encode at a time."""
        return rows_per_chunk(self.n_cells)

    def cell_bytes(self, n_rows: int) -> int:
        """Return the memory of the cells of rows in all partitionings."""
        return n_rows * self.n_partitions * self.cell_type.itemsize

    def encoding_bytes(self, n_rows: int, n_threads: int) -> int:
        """Return the memory to find the cells of rows in threads, besides that of the cells."""
        return self._rows_at_work(n_rows, n_threads) * 2 * 8 * self.psi

    def _rows_at_work(self, n_rows: int, n_threads: int) -> int:
        """Return the most rows that threads encode at the same time."""
        return min(n_rows, n_threads * self.chunk_rows)

    @property
    def no_cell(self) -> int | None:
        """Number of a point without a cell, None if all points have one."""
        return None

    @property
    def cell_type(self) -> np.dtype[np.unsignedinteger[Any]]:
        return np.dtype(np.min_scalar_type(self.n_cells - 1))

    def cells(
        self,
        points: NDArray[np.float64],
        kernels: Any = reference,
        buffers: Buffers | None = None,
    ) -> Cells:
        """Return the cell of each point in each partitioning, (m, t)."""
        # Partitionings are contiguous while cells are found, so the result is transposed.
        cells = np.empty((self.n_partitions, len(points)), dtype=self.cell_type)
        distances = (buffers or Buffers()).array((2, len(points), self.psi), np.float64)
        for number, column in enumerate(cells):
            self._find_cells(points, number, distances, column)
        return np.ascontiguousarray(cells.T)

    @abstractmethod
    def _find_cells(
        self,
        points: NDArray[np.float64],
        number: int,
        scratch: NDArray[np.float64],
        cells: Cells,
    ) -> None:
        """Fill `cells` with the cell of each point in partitioning `number`."""

    @property
    def table_shape(self) -> tuple[int, int]:
        return self.n_partitions, self.n_cells

    def count(
        self, cells: Cells, units: NDArray[np.int64], kernels: Any = reference
    ) -> NDArray[np.int64]:
        """Return the counts of a set, given the cells and the weights of its rows."""
        counts = np.zeros(self.table_shape, dtype=np.int64)
        self.add(cells, units, counts, kernels)
        return counts

    def add(
        self,
        cells: Cells,
        units: NDArray[np.int64],
        counts: NDArray[np.int64],
        kernels: Any = reference,
    ) -> None:
        """Add rows to counts, given their cells and weights."""
        kernels.count_cells(cells, units, counts)
        if self.no_cell is not None:
            counts[:, self.no_cell] = 0

    @property
    @abstractmethod
    def dimension(self) -> int:
        """Dimension d for which the volume of a cell is its size to the power of d."""

    @abstractmethod
    def middles(self, counts: sparse.csr_array) -> NDArray[np.float64] | None:
        """Return the mean centre of the cells of each set, (k, d); None if cells have no centres.

        `counts` are flat tables of sets, (k, t * n_cells).
        """

    @abstractmethod
    def log_sizes(self) -> NDArray[np.float64]:
        """Return the logarithm of the size, a length, of each cell, (t, n_cells)."""

    @abstractmethod
    def check_reach(self, rows: NDArray[Any]) -> None:
        """Raise ValueError for new rows so far away that distances overflow."""

    @abstractmethod
    def check(self, n_columns: int) -> None:
        """Raise ValueError if arrays read from a file are not a valid partition."""

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the fields only, not cached properties."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays to store in a file."""
        return {field.name: getattr(self, field.name) for field in fields(self)[1:]}


def require_valid(condition: bool, name: str) -> None:
    if not condition:
        raise ValueError(f"{name} is not valid for a partition")
