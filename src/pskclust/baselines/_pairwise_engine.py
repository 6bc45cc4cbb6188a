"""PairwiseEngine: the engine of the Gaussian kernel, which compares pairs of rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._cells.count_tables import ClusterTables, CountTable
from .._data.rows import Data
from .._engines.dense import DenseEngine
from .._engines.memory_rows import MemoryRows
from .._utils.progress import Progress, Report, ignore
from ._gaussian_kernel import RESOLUTION, GaussianKernel, PairTables

_MEMBERS_AT_A_TIME = 1024
# Scores are kept for the empty set, the rows in no cluster, the growing cluster and one more set.
_SETS_KNOWN = 4


class PairwiseEngine(DenseEngine):
    """Engine with a single partitioning, in which every row is a cell."""

    def __init__(
        self,
        data: Data,
        kernel: GaussianKernel,
        n_jobs: int | None = None,
        report: Report = ignore,
    ) -> None:
        # There are no cells to find, so the constructor of the base class is skipped.
        MemoryRows.__init__(self, data, (1, len(data)), RESOLUTION, n_jobs=n_jobs)
        self._kernel = kernel
        self.backend = "numpy"
        self._index = None
        nothing = np.zeros(len(data), dtype=np.int64)
        self._known = [(nothing, nothing)]
        self.reset()
        report(Progress("encode", len(data), len(data)))

    def tables(self, n_clusters: int) -> PairTables:
        return PairTables.of(super().tables(n_clusters), self._kernel)

    def _count(self, rows: NDArray[np.intp], units: NDArray[np.int64]) -> NDArray[np.int64]:
        counts = np.zeros((1, self._n_rows), dtype=np.int64)
        counts[0, rows] = units
        return counts

    def _scores(self, rows: NDArray[np.intp], table: CountTable) -> NDArray[np.int64]:
        """Return the scores of rows against a set.

        The scores are updated from those of the most similar known set: successive sets differ in
        few rows, so an update is faster than a new sum.
        """
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
        # The new set replaces the set that it was updated from. The empty set stays: if there is no
        # place left, the oldest other set goes instead.
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
