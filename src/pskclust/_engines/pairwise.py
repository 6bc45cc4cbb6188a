"""The engine for the Gaussian kernel, which knows rows by their pairs only."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._gaussian import RESOLUTION, GaussianKernel
from .._progress import Progress, Report, ignore
from .._tables import ClusterTables, CountTable
from .local import LocalEngine


class PairwiseEngine(LocalEngine):
    """Sets are counted by row: the cell of row y in the one partitioning is y itself."""

    resolution = RESOLUTION

    def use(self, kernel: GaussianKernel, report: Report = ignore) -> None:
        """Take the kernel; there is nothing to encode."""
        n_rows = self._n_rows
        self._kernel = kernel
        nothing = np.zeros(n_rows, dtype=np.int64)
        self._known = [(nothing, nothing)]
        report(Progress("encode", n_rows, n_rows))

    def inner_scores(self, clusters: ClusterTables) -> list[int]:
        inner = []
        for cluster in range(len(clusters)):
            table = clusters.table(cluster)
            members = np.flatnonzero(table.counts[0])
            scores = self._scores(members, table)
            # In Python's integers: weights times scores go beyond 64 bits.
            units = table.counts[0, members].tolist()
            inner.append(sum(a * b for a, b in zip(scores.tolist(), units, strict=True)))
        return inner

    def _count(self, rows: NDArray[np.intp], units: NDArray[np.int64]) -> NDArray[np.int64]:
        counts = np.zeros((1, self._n_rows), dtype=np.int64)
        counts[0, rows] = units
        return counts

    def _scores(self, rows: NDArray[np.intp], table: CountTable) -> NDArray[np.int64]:
        """Start from the scores of the most similar set asked for of late: sets grow slowly."""
        counts = table.counts[0]
        known, known_scores = min(
            self._known, key=lambda entry: np.count_nonzero(entry[0] != counts)
        )
        difference = sparse.csr_array((counts - known)[np.newaxis])
        scores = known_scores.copy()

        def add_chunk(chunk: slice) -> None:
            scores[chunk] += self._kernel.set_scores(self._kernel.points[chunk], difference)[:, 0]

        for _ in self._map(add_chunk, len(scores), width=1024):
            pass
        nothing, *latest = self._known
        self._known = [nothing, *latest[-3:], (counts.copy(), scores)]
        return scores[rows]

    def _cluster_scores(self, rows: NDArray[np.intp], clusters: ClusterTables) -> NDArray[np.int64]:
        return self._kernel.set_scores(self._kernel.points[rows], clusters.counts)

    def _features(self, rows: NDArray[np.intp]) -> sparse.csr_array:
        ones = np.ones(len(rows), dtype=np.int64)
        shape = len(rows), self._n_rows
        return sparse.csr_array((ones, (np.arange(len(rows)), rows)), shape=shape)
