"""DenseEngine: rows in memory, with all cells in one array."""

from __future__ import annotations

from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .._cells.count_tables import ClusterTables, CountTable
from .._cells.encode import encode_rows
from .._cells.partition import Partition
from .._data.rows import Data
from .._kernels import reference
from .._kernels.reference import Cells
from .._kernels.select import name_of
from .._utils.memory import available_bytes
from .._utils.parallel import n_threads
from .._utils.progress import Report, ignore
from .memory_rows import Keep, MemoryRows, in_memory, require_memory_to_fit
from .protocol import Absorbed, Candidate, Members, RowResults

if TYPE_CHECKING:
    from .member_index import MemberIndex


# With more rows per cell, updating scores by an index is not faster than scoring all rows again.
MAX_ROWS_PER_CELL_TO_INDEX = 64
_INDEX_BYTES_PER_CELL = 4
# Room for the results of the fit, and the labels, similarities and sorted rows of the last pass.
_BYTES_PER_ROW = 120
# Up to this many rows are added to a table directly; more are counted in a second table first.
_FEW_ROWS = 2048


class DenseEngine(MemoryRows):
    """Engine with all cells in one array; threads work on chunks of rows."""

    name = "local"

    def __init__(
        self,
        data: Data,
        partition: Partition,
        *,
        kernels: ModuleType = reference,
        indexed: bool = True,
        n_jobs: int | None = None,
        chunk_rows: int | None = None,
        cells: Cells | None = None,
        keep: Keep = in_memory,
        report: Report = ignore,
    ) -> None:
        super().__init__(
            data,
            partition.table_shape,
            partition.n_partitions,
            n_jobs=n_jobs,
            chunk_rows=chunk_rows,
        )
        self._partition = partition
        self._kernels = kernels
        self.backend = name_of(kernels)
        self._index: MemberIndex | None = None
        is_indexed = indexed and self.backend == "numba" and self._index_pays(partition)
        require_memory_to_fit(
            self._n_rows,
            partition,
            _BYTES_PER_ROW,
            encoding=(
                partition.encoding_bytes(self._n_rows, n_threads(n_jobs)) if cells is None else 0
            ),
            index=self._index_bytes(partition) if is_indexed else 0,
        )
        if cells is None:
            cells = encode_rows(
                data, partition, kernels, n_jobs, chunk_rows=chunk_rows, report=report
            )
        (self._cells,) = keep([cells])
        if is_indexed:
            from .member_index import MemberIndex  # compiled code is loaded only where it is used

            self._index = MemberIndex(self._cells, partition)
        self.reset()

    @property
    def cells(self) -> Cells:
        """Cell of each row in each partitioning, (n, t)."""
        return self._cells

    def reset(self) -> None:
        super().reset()
        # Growth ignores rows of weight 0.
        self._open = np.flatnonzero(self._units)

    def _index_pays(self, partition: Partition) -> bool:
        available = available_bytes()
        fits = available is None or self._index_bytes(partition) <= available
        return fits and self._n_rows <= MAX_ROWS_PER_CELL_TO_INDEX * partition.n_cells

    def _index_bytes(self, partition: Partition) -> int:
        """Return the bytes that an index and the working memory for building it take."""
        return 2 * _INDEX_BYTES_PER_CELL * self._n_rows * partition.n_partitions

    @property
    def n_rows_left(self) -> int:
        return len(self._open)

    def total(self) -> CountTable:
        return self._table(self._open, self._units[self._open])

    def best_row(self, table: CountTable, besides: int | None = None) -> Candidate:
        rows = self._open if besides is None else self._open[self._open != besides]
        scores = self._scores(rows, table)
        best = int(scores.argmax())
        row = int(rows[best])
        return Candidate(row, int(scores[best]), int(self._units[row]))

    def table_of(self, row: int, units: int) -> CountTable:
        return CountTable(self._count(np.array([row]), np.array([units])), units)

    def claim(self, row: int, cluster: int) -> None:
        self._labels[row] = cluster
        self._steps[row] = 0
        self._open = self._open[self._open != row]

    def absorb(self, table: CountTable, min_score: int, cluster: int, step: int) -> Absorbed:
        rows, best_score_left = self._take(table, min_score, cluster, step)
        self._add(rows, table)
        return Absorbed(len(rows), best_score_left)

    def absorbed(
        self, table: CountTable, min_score: int, cluster: int, step: int
    ) -> tuple[Absorbed, CountTable]:
        rows, best_score_left = self._take(table, min_score, cluster, step)
        return Absorbed(len(rows), best_score_left), self._table(rows, self._units[rows])

    def _take(
        self, table: CountTable, min_score: int, cluster: int, step: int
    ) -> tuple[NDArray[np.intp], int]:
        """Assign rows with sufficient scores to a cluster; return them and the next best score."""
        scores = self._scores_while_growing(table)
        passing = scores >= min_score
        rows = self._open[passing]
        self._labels[rows] = cluster
        self._steps[rows] = step
        self._open = self._open[~passing]
        return rows, int(scores[~passing].max(initial=-1))

    def members(self, cluster: int) -> Members:
        rows = np.flatnonzero(self._labels == cluster)
        return Members(rows, self._steps[rows])

    def restore(self, members: Members, cluster: int) -> None:
        self._labels[members.rows] = cluster
        self._steps[members.rows] = members.steps
        self._open = self._open[self._labels[self._open] < 0]

    def row_results(self, clusters: ClusterTables) -> RowResults:
        similarities = np.zeros(self._n_rows)
        for cluster, rows in enumerate(self._rows_by_cluster(len(clusters))):
            table = clusters.table(cluster)
            similarities[rows] = self._scores(rows, table) / (self.resolution * table.mass)
        return RowResults(self._labels.copy(), similarities, self._steps.copy())

    def _scores_while_growing(self, table: CountTable) -> NDArray[np.int64]:
        """Return the scores of rows in no cluster; if possible, update those of the last step."""
        if self._index is None:
            return self._scores(self._open, table)
        known = self._index.scores(self._open, table)
        if known is not None:
            return known
        scores = self._scores(self._open, table)
        self._index.remember(self._open, table, scores)
        return scores

    def _add(self, rows: NDArray[np.intp], table: CountTable) -> None:
        """Add rows to the table of a growing cluster."""
        units = self._units[rows]
        if self._index is not None and len(rows) <= _FEW_ROWS:
            self._partition.add(self._cells[rows], units, table.counts, self._kernels)
            table.mass += int(units.sum())
        else:
            table.add(self._table(rows, units))
        if self._index is not None:
            self._index.joined(rows, units, table)

    def _numbers_of(self, places: NDArray[np.intp]) -> NDArray[np.intp]:
        return places

    def _places_of(self, numbers: NDArray[np.intp]) -> NDArray[np.intp]:
        return numbers

    def _cells_of(self, rows: NDArray[np.intp]) -> Cells:
        cells: Cells = self._cells[rows]
        return cells
