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

from .._data.rows import Data
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

    def chunk_rows_of(self, compiled: bool) -> int:
        """Return the best number of rows to encode at a time, with compiled or plain kernels."""
        return self.chunk_rows

    def prepare(self, compiled: bool) -> None:  # noqa: B027 - few partitions have anything to make
        """Make what threads share, for compiled or plain kernels; without this, each might."""

    def best_order(self, data: Data, n_jobs: int | None) -> NDArray[np.intp] | None:
        """Return the order in which compiled code encodes rows fastest; None if any order will do.

        The cells of a row do not depend on the order.
        """
        return None

    def cell_bytes(self, n_rows: int) -> int:
        """Return the size in bytes of the cells of `n_rows` rows in all partitionings."""
        return n_rows * self.n_partitions * self.cell_type.itemsize

    def encoding_bytes(self, n_rows: int, n_threads: int) -> int:
        """Return the bytes of working memory for finding the cells of `n_rows` rows in threads."""
        return self._rows_at_work(n_rows, n_threads) * 2 * 8 * self.psi

    def _rows_at_work(self, n_rows: int, n_threads: int) -> int:
        """Return the largest number of rows that threads encode at the same time."""
        return min(n_rows, n_threads * self.chunk_rows)

    @property
    def no_cell(self) -> int | None:
        """Cell number of a point outside all cells; None if every point has a cell."""
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
        # Cells are written one partitioning after the other, so the result is transposed.
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
        """Return the count table of a set of rows, given their cells and weights."""
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
        """Add rows to a count table, given their cells and weights."""
        kernels.count_cells(cells, units, counts)
        if self.no_cell is not None:
            counts[:, self.no_cell] = 0

    @property
    @abstractmethod
    def dimension(self) -> int:
        """Dimension d of the cells: a cell of size s has a volume of s ** d."""

    @abstractmethod
    def middles(self, counts: sparse.csr_array) -> NDArray[np.float64] | None:
        """Return the mean centre of each set's cells, weighted by its counts, (k, d).

        `counts` are the flattened count tables of the sets, (k, t * n_cells). If cells have no
        centres, return None.
        """

    @abstractmethod
    def log_sizes(self, n_jobs: int | None = 1) -> NDArray[np.float64]:
        """Return the logarithm of each cell's size, which is a length, (t, n_cells)."""

    @abstractmethod
    def check_reach(self, rows: NDArray[Any]) -> None:
        """Raise ValueError for new rows so far away that distances overflow."""

    @abstractmethod
    def check(self, n_columns: int) -> None:
        """Raise ValueError if the arrays of a partition read from a file are not valid."""

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the fields only, not cached properties."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays to store in a file."""
        return {field.name: getattr(self, field.name) for field in fields(self)[1:]}


def require_valid(condition: bool, name: str) -> None:
    if not condition:
        raise ValueError(f"the array {name!r} is not valid for a partition")
