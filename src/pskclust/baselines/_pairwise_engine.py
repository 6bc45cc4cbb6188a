"""The engine for the Gaussian kernel, which knows rows by their pairs only."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._cells.count_tables import ClusterTables, CountTable
from .._engines.dense import LocalEngine
from .._utils.progress import Progress, Report, ignore
from ._gaussian_kernel import RESOLUTION, GaussianKernel

_MEMBERS_AT_A_TIME = 1024
# The empty one, those left, the one that grows, and another one.
_SETS_KNOWN = 4


class PairwiseEngine(LocalEngine):
    """Sets are counted by row: the cell of row y in the one partitioning is y itself."""

    resolution = RESOLUTION

    def use(self, kernel: GaussianKernel, report: Report = ignore) -> None:
        """Take the kernel; there is nothing to encode."""
        n_rows = self._n_rows
        self._kernel = kernel
        nothing = np.zeros(n_rows, dtype=np.int64)
        self._known = [(nothing, nothing)]
        self.reset()
        report(Progress("encode", n_rows, n_rows))

    def inner_scores(self, clusters: ClusterTables) -> list[int]:
        inner = []
        for cluster in range(len(clusters)):
            table = clusters.table(cluster)
            members = np.flatnonzero(table.counts[0])
            sets = sparse.csr_array(table.counts)
            scores = self._kernel.set_scores(self._kernel.points[members], sets)[:, 0]
            # In Python's integers: weights times scores go beyond 64 bits.
            units = table.counts[0, members].tolist()
            inner.append(sum(a * b for a, b in zip(scores.tolist(), units, strict=True)))
        return inner

    def products(self, clusters: ClusterTables) -> NDArray[np.float64]:
        rows = np.arange(self._n_rows)
        scores = self._cluster_scores(rows, clusters).astype(np.float64)
        products: NDArray[np.float64] = clusters.counts.astype(np.float64) @ scores
        return products

    def _count(self, rows: NDArray[np.intp], units: NDArray[np.int64]) -> NDArray[np.int64]:
        counts = np.zeros((1, self._n_rows), dtype=np.int64)
        counts[0, rows] = units
        return counts

    def _scores(self, rows: NDArray[np.intp], table: CountTable) -> NDArray[np.int64]:
        """Start from the scores of the most similar set asked for of late: sets change slowly."""
        counts = table.counts[0]
        n_changed = [np.count_nonzero(known != counts) for known, _ in self._known]
        closest = int(np.argmin(n_changed))
        known, known_scores = self._known[closest]
        changed = np.flatnonzero(counts != known)
        gained = (counts - known)[changed]
        scores = known_scores.copy()

        def add_chunk(chunk: slice) -> None:
            points = self._kernel.points[chunk]
            for start in range(0, len(changed), _MEMBERS_AT_A_TIME):
                some = slice(start, start + _MEMBERS_AT_A_TIME)
                scores[chunk] += self._kernel.values(points, changed[some]) @ gained[some]

        for _ in self._map(add_chunk, len(scores), min(len(changed), _MEMBERS_AT_A_TIME)):
            pass
        # The new set takes the place of the one it came from, or of the one used longest ago.
        if closest or len(self._known) == _SETS_KNOWN:
            del self._known[closest or 1]
        self._known.append((counts.copy(), scores))
        return scores[rows]

    def _cluster_scores(self, rows: NDArray[np.intp], clusters: ClusterTables) -> NDArray[np.int64]:
        return self._kernel.set_scores(self._kernel.points[rows], clusters.counts)

    def _features(self, rows: NDArray[np.intp]) -> sparse.csr_array:
        ones = np.ones(len(rows), dtype=np.int64)
        shape = len(rows), self._n_rows
        return sparse.csr_array((ones, (np.arange(len(rows)), rows)), shape=shape)
