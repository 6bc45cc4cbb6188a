"""The rows of a fit that are read block by block: one pass to sample them, one to encode them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._utils.progress import Progress, Report, ignore
from .checks import check_distances
from .metric import column_ranges, to_points, warn_of_radians
from .rows import Data, check_values
from .sources import RowBlocks
from .weights import Weights


class BlockData:
    """Rows in some place, their weights in memory."""

    def __init__(
        self, blocks: RowBlocks, metric: str, weights: Weights, report: Report = ignore
    ) -> None:
        self._blocks = blocks
        self.metric = metric
        self.weights = weights
        self._report = report
        self.fingerprint = ""

    def __len__(self) -> int:
        return self._blocks.n_rows

    @property
    def n_columns(self) -> int:
        return self._blocks.n_columns

    def points(self, chosen: NDArray[np.intp]) -> NDArray[np.float64]:
        """Check all rows, and return the points of those chosen, whose numbers must rise.

        The fingerprint is known afterwards.
        """
        names = None if self._blocks.names is None else np.array(self._blocks.names, dtype=object)
        digest = hashlib.blake2b(self.weights.units[:: self._weight_step].tobytes())
        extremes: list[NDArray[Any]] = []
        parts = []
        for first_row, block in numbered(self._blocks):
            rows = check_values(block, self.metric, names, first_row)
            digest.update(np.ascontiguousarray(rows).data)
            extremes.extend(column_ranges(rows))
            own = chosen[slice(*np.searchsorted(chosen, [first_row, first_row + len(rows)]))]
            parts.append(to_points(rows[own - first_row], self.metric))
            self._report(Progress("sample", first_row + len(rows), len(self)))
        self.fingerprint = digest.hexdigest()
        if self.metric == "euclidean":
            check_distances(np.array(extremes))
        elif self.metric == "haversine":
            warn_of_radians(np.array(extremes))
        return np.concatenate(parts)

    @property
    def _weight_step(self) -> int:
        """Equal weights, which take no memory, are told by one of them."""
        return len(self) if self.weights.uniform else 1

    def shards(self, n_rows: int) -> Iterator[tuple[int, Data]]:
        """Yield the data of so many rows at a time, with the number of the first one."""
        for first_row, rows in numbered(_of_length(self._blocks, n_rows)):
            weights = self.weights.only(slice(first_row, first_row + len(rows)))
            yield first_row, Data(rows, self.metric, weights)


def numbered(blocks: Iterable[NDArray[Any]]) -> Iterator[tuple[int, NDArray[Any]]]:
    """Yield the blocks that are not empty, each with the number of its first row."""
    first_row = 0
    for rows in blocks:
        if len(rows):
            yield first_row, rows
        first_row += len(rows)


def _of_length(blocks: Iterable[NDArray[Any]], n_rows: int) -> Iterator[NDArray[Any]]:
    """Yield the rows of all blocks again, in blocks of equal length; the last may be shorter."""
    waiting: list[NDArray[Any]] = []
    n_waiting = 0
    for block in blocks:
        rows = block
        while n_waiting + len(rows) >= n_rows:
            first, rows = rows[: n_rows - n_waiting], rows[n_rows - n_waiting :]
            yield np.concatenate([*waiting, first])
            waiting, n_waiting = [], 0
        waiting.append(rows)
        n_waiting += len(rows)
    if n_waiting:
        yield np.concatenate(waiting)
