"""Rows of a fit that are read block by block: one pass draws a sample, another encodes the rows."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._utils.progress import Progress, Report, ignore
from .checks import check_overflow
from .distance_metrics import column_ranges, to_points, warn_if_unlikely
from .named_columns import NamedColumns
from .odd_columns import RisingColumns, warn_of_odd_columns
from .rows import Condition, Data, check_values
from .sources import RowBlocks, numbered, of_length
from .weights import Weights


class StreamedRows:
    """Rows that are read from their source in each pass; their weights are in memory.

    With `with_fingerprint`, the first pass also sets `fingerprint`, a hash of all values and
    weights. Computing it takes time, and only checkpoints need it. With the columns
    `warned`, the first pass warns of odd ones, found in the sample, and of increasing row numbers.
    """

    def __init__(
        self,
        blocks: RowBlocks,
        metric: str,
        weights: Weights,
        report: Report = ignore,
        *,
        with_fingerprint: bool = False,
        warned: NamedColumns | None = None,
    ) -> None:
        self._blocks = blocks
        self.metric = metric
        self.weights = weights
        self._report = report
        self._with_fingerprint = with_fingerprint
        self._warned = warned
        self.fingerprint = ""

    def __len__(self) -> int:
        return self._blocks.n_rows

    @property
    def n_columns(self) -> int:
        return self._blocks.n_columns

    def points(self, chosen: NDArray[np.intp]) -> NDArray[np.float64]:
        """Check all rows; return the rows in `chosen`, which is ascending, as points."""
        names = None if self._blocks.names is None else np.array(self._blocks.names, dtype=object)
        digest = self._digest() if self._with_fingerprint else None
        extremes: list[NDArray[Any]] = []
        rising = RisingColumns(self.n_columns)
        parts = []
        for first_row, block in numbered(self._blocks):
            rows = check_values(block, self.metric, names, first_row)
            if digest is not None:
                digest.update(np.ascontiguousarray(rows).data)
            extremes.extend(column_ranges(rows))
            rising.add(rows)
            own = chosen[slice(*np.searchsorted(chosen, [first_row, first_row + len(rows)]))]
            parts.append(to_points(rows[own - first_row], self.metric))
            self._report(Progress("sample", first_row + len(rows), len(self)))
        self.fingerprint = "" if digest is None else digest.hexdigest()
        if self.metric == "euclidean":
            check_overflow(np.array(extremes))
        warn_if_unlikely(np.array(extremes), self.metric)
        points = np.concatenate(parts)
        if self._warned is not None:
            warn_of_odd_columns(points, self._warned, self.metric, rising.row_numbers)
        return points

    def rows_where(self, condition: Condition, n_jobs: int | None) -> NDArray[np.intp]:
        """Return the row numbers, ascending, of the points that meet a condition."""
        found = [np.empty(0, dtype=np.intp)]
        for first_row, rows in numbered(self._blocks):
            some = Data(rows, self.metric, self.weights.only(slice(0, len(rows))))
            found.append(first_row + some.rows_where(condition, n_jobs))
        return np.concatenate(found)

    def _digest(self) -> hashlib.blake2b:
        # Uniform weights are all equal, so one entry is enough.
        step = len(self) if self.weights.uniform else 1
        return hashlib.blake2b(self.weights.units[::step].tobytes())

    def shards(self, n_rows: int) -> Iterator[tuple[int, Data]]:
        """Yield pairs of a row number and a shard of `n_rows` rows that starts at this row."""
        for first_row, rows in numbered(of_length(self._blocks, n_rows)):
            weights = self.weights.only(slice(first_row, first_row + len(rows)))
            yield first_row, Data(rows, self.metric, weights)
