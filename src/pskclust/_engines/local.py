"""The engine for rows in the memory of this process, all cells in one array."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._kernels import numpy as numpy_kernels
from .._parallel import map_chunks, one_blas_thread
from .._partition import Partition
from .._progress import Progress, Report, ignore
from .._tables import ClusterTables, CountTable, one_hot
from .._validation import Data
from .base import Absorbed, Candidate, RowResults
from .labelled import LabelledRows, require_memory_to_fit


class LocalEngine(LabelledRows):
    """All cells of all rows in one array; chunks of rows in threads."""

    name = "local"

    def __init__(self, data: Data, *, kernels: Any = numpy_kernels, **options: Any) -> None:
        super().__init__(data, **options)
        self._kernels = kernels
        self.kernels = kernels.__name__.rpartition(".")[2]
        # Rows of weight 0 are no rows to growth.
        self._open = np.flatnonzero(self._units)

    def encode(self, partition: Partition, report: Report = ignore) -> None:
        """Find the cells of all rows."""
        n_rows = len(self._data)
        self.resolution = partition.n_partitions
        self._partition = partition
        require_memory_to_fit(n_rows, partition)
        self._cells = np.empty((n_rows, partition.n_partitions), dtype=partition.cell_type)

        def encode_chunk(chunk: slice) -> int:
            self._cells[chunk] = partition.cells(self._data.points(chunk), self._kernels)
            return int(chunk.stop)

        with one_blas_thread:
            chunk_rows = self._chunk_rows or partition.chunk_rows
            for done in map_chunks(encode_chunk, n_rows, chunk_rows, self._n_jobs):
                report(Progress("encode", done, n_rows))

    @property
    def n_rows_left(self) -> int:
        return len(self._open)

    def total(self) -> CountTable:
        return self._table(self._open)

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
        scores = self._scores(self._open, table)
        passing = scores >= min_score
        rows = self._open[passing]
        self._labels[rows] = cluster
        self._steps[rows] = step
        self._open = self._open[~passing]
        return Absorbed(self._table(rows), len(rows), int(scores[~passing].max(initial=-1)))

    def row_results(self, clusters: ClusterTables) -> RowResults:
        similarities = np.zeros(len(self._data))
        by_label = np.argsort(self._labels, kind="stable")
        ends = np.searchsorted(self._labels[by_label], np.arange(-1, len(clusters)), side="right")
        for cluster, (start, end) in enumerate(itertools.pairwise(ends)):
            rows = by_label[start:end]
            table = clusters.table(cluster)
            similarities[rows] = self._scores(rows, table) / (self.resolution * table.mass)
        return RowResults(self._labels, similarities, self._steps)

    def _table(self, rows: NDArray[np.intp]) -> CountTable:
        units = self._units[rows]
        return CountTable(self._count(rows, units), int(units.sum()))

    # How sets are counted and scored: all that another kernel has to do in its own way.

    def _count(self, rows: NDArray[np.intp], units: NDArray[np.int64]) -> NDArray[np.int64]:
        def count_chunk(chunk: slice) -> NDArray[np.int64]:
            return self._partition.count(self._cells[rows[chunk]], units[chunk], self._kernels)

        counts = np.zeros(self._partition.table_shape, dtype=np.int64)
        for part in self._map(count_chunk, len(rows), width=self.resolution):
            counts += part
        return counts

    def _scores(self, rows: NDArray[np.intp], table: CountTable) -> NDArray[np.int64]:
        scores = np.empty(len(rows), dtype=np.int64)

        def score_chunk(chunk: slice) -> None:
            self._kernels.score_cells(self._cells[rows[chunk]], table.counts, scores[chunk])

        for _ in self._map(score_chunk, len(rows), width=self.resolution):
            pass
        return scores

    def _cluster_scores(self, rows: NDArray[np.intp], clusters: ClusterTables) -> NDArray[np.int64]:
        return clusters.scores(self._cells[rows])

    def _features(self, rows: NDArray[np.intp]) -> sparse.csr_array:
        return one_hot(self._cells[rows], self._partition.n_cells, self._partition.no_cell)
