"""Rows of a table to cluster: in memory if they are few, else read from the file in each pass."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .._data.odd_columns import OddColumn
from .._data.scaling import fill
from .._data.sources import RowBlocks
from .base import Numbers, Table
from .errors import TableError
from .scanning import Missing, Scan, ShareReport, scan
from .selection import Selection

# Larger tables are read from the file in each pass.
MOST_BYTES_IN_MEMORY = 1 << 26


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows to cluster, without missing values and before scaling.

    `kept` marks the rows of the file that are included; None if all are. `means` are the means of
    the columns over the values that are present. `n_filled` is the number of missing values that
    were filled in. `classes` are codes for the values of the label column, -1 for missing values;
    `class_names` are these values. `odd` are the columns that look like ids or classes, or have
    one value only.
    """

    values: Numbers | RowBlocks  # (n, d), in memory or read from the file in every pass
    weight: NDArray[np.float64] | None  # (n,)
    classes: NDArray[np.int32] | None  # (n,)
    class_names: tuple[str, ...]
    kept: NDArray[np.bool_] | None  # (n_in_file,)
    means: NDArray[np.float64]  # (d,)
    n_filled: int
    odd: tuple[OddColumn, ...]

    def __len__(self) -> int:
        return int(self.values.shape[0])

    @property
    def numbers(self) -> Numbers:
        """All rows as one array in memory."""
        if isinstance(self.values, RowBlocks):
            return np.concatenate(list(self.values))
        return self.values

    @property
    def n_dropped(self) -> int:
        """Number of rows of the file that were left out."""
        return 0 if self.kept is None else int(np.count_nonzero(~self.kept))


def read_rows(
    table: Table,
    selection: Selection,
    *,
    missing: Missing = "refuse",
    report: ShareReport,
    most_bytes: int | None = None,
) -> Rows:
    """Return the selected rows, in memory if they take at most `most_bytes`; None sets no limit."""
    found = scan(table, selection, missing, report, most_bytes)
    values: Numbers | RowBlocks
    if found.numbers is None:
        values = blocks_of(table, selection.features, found)
    else:
        values = fill(found.numbers, found.means) if found.n_gaps else found.numbers
    return Rows(
        values,
        found.weight,
        found.classes,
        found.class_names,
        found.kept,
        found.means,
        found.n_gaps,
        found.odd,
    )


def blocks_of(table: Table, features: tuple[str, ...], found: Scan) -> RowBlocks:
    """Return the rows of a scanned table as blocks that are read in each pass."""
    kept, means = found.kept, found.means if found.n_gaps else None

    def read() -> Iterator[Numbers]:
        n_read = 0
        for batch in table.batches(features):
            rows = batch.numbers
            some = slice(n_read, n_read + len(rows))
            n_read += len(rows)
            if kept is not None:
                if n_read > len(kept):
                    raise TableError(f"{table.name} has changed since it was read. Read it again.")
                rows = rows[kept[some]]
            if means is not None:
                rows = fill(rows, means)
            yield np.ascontiguousarray(rows, dtype=None if means is not None else found.kind)

    names = features if table.has_names else None
    blocks = RowBlocks(found.n_rows, len(features), read, names)
    blocks.kept = kept
    return blocks
