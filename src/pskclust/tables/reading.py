"""A table to arrays in memory, with an answer to missing values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from .._utils.memory import require_memory
from .base import Numbers, Table
from .dialect import MISSING
from .errors import MissingValuesError, TableError
from .selection import Selection

if TYPE_CHECKING:
    import pyarrow as pa

Missing = Literal["refuse", "drop", "mean"]
ShareReport = Callable[[float], None]


@dataclass(frozen=True, eq=False)
class Rows:
    """What was read for a clustering.

    `kept` tells which rows of the file are here, None if all are. `means` are those of the
    columns over the values that are there; `classes` are numbers for the values of the label
    column, -1 where there is none.
    """

    numbers: Numbers  # (n, d)
    weight: NDArray[np.float64] | None  # (n,)
    classes: NDArray[np.int64] | None  # (n,)
    kept: NDArray[np.bool_] | None  # (n_in_file,)
    means: NDArray[np.float64]  # (d,)
    n_filled: int

    @property
    def n_dropped(self) -> int:
        """Number of rows of the file that were left out."""
        return 0 if self.kept is None else int(np.count_nonzero(~self.kept))


def read_rows(
    table: Table, selection: Selection, *, missing: Missing = "refuse", report: ShareReport
) -> Rows:
    """Read the columns of a selection into memory."""
    weight = () if selection.weight is None else (selection.weight,)
    label = () if selection.label is None else (selection.label,)
    numbers, labels = _read((*selection.features, *weight), label, table, report)
    if not len(numbers):
        raise TableError(f"{table.name} has a header and no rows.")
    gaps = find_gaps(numbers, (*selection.features, *weight), table.name)
    kept = None
    if gaps.any:
        if missing == "refuse":
            raise MissingValuesError(gaps.counts, gaps.n_rows)
        if missing == "drop":
            kept = ~gaps.rows
            numbers = numbers[kept]
            if not len(numbers):
                raise TableError(f"every row of {table.name} has a missing value: none is left.")
    classes = None if not label else _class_numbers(labels)
    if classes is not None and kept is not None:
        classes = classes[kept]
    n_features = len(selection.features)
    weights = numbers[:, n_features].astype(np.float64) if weight else None
    if weight:
        numbers = np.ascontiguousarray(numbers[:, :n_features])
    means = _means(numbers, selection.features, table.name)
    n_filled = 0
    if gaps.any and missing == "mean":
        if weights is not None and np.isnan(weights).any():
            raise TableError(f'column "{selection.weight}" of weights has missing values.')
        numbers, n_filled = fill(numbers, means)
    return Rows(numbers, weights, classes, kept, means, n_filled)


@dataclass(frozen=True, eq=False)
class Gaps:
    """Where values are missing."""

    rows: NDArray[np.bool_]  # (n,)
    counts: dict[str, int]  # by column, only where there are any

    @property
    def any(self) -> bool:
        return bool(self.counts)

    @property
    def n_rows(self) -> int:
        return int(np.count_nonzero(self.rows))


def find_gaps(numbers: Numbers, columns: tuple[str, ...], name: str, first_row: int = 0) -> Gaps:
    """Return where values are missing; raise TableError for one that is infinite."""
    rows = np.zeros(len(numbers), dtype=bool)
    counts = np.zeros(len(columns), dtype=np.int64)
    step = 1 << 16
    for start in range(0, len(numbers), step):
        some = numbers[start : start + step]
        if np.isfinite(some).all():
            continue
        infinite = np.argwhere(np.isinf(some))
        if len(infinite):
            row, column = infinite[0]
            raise TableError(
                f'column "{columns[column]}" of {name} is infinite in row '
                f"{first_row + start + row + 1:,}. Leave that row out, or give it a number."
            )
        nothing = np.isnan(some)
        rows[start : start + step] = nothing.any(axis=1)
        counts += nothing.sum(axis=0)
    return Gaps(rows, {column: int(n) for column, n in zip(columns, counts, strict=True) if n})


def fill(numbers: Numbers, values: NDArray[np.float64]) -> tuple[NDArray[np.float64], int]:
    """Return numbers with `values`, one for each column, where they are missing."""
    nothing = np.isnan(numbers)
    filled = np.where(nothing, values, numbers.astype(np.float64, copy=False))
    return filled, int(np.count_nonzero(nothing))


def _means(numbers: Numbers, columns: tuple[str, ...], name: str) -> NDArray[np.float64]:
    sums, counts = np.zeros(numbers.shape[1]), np.zeros(numbers.shape[1], dtype=np.int64)
    step = 1 << 16
    for start in range(0, len(numbers), step):
        some = numbers[start : start + step].astype(np.float64, copy=False)
        sums += np.nansum(some, axis=0)
        counts += np.count_nonzero(~np.isnan(some), axis=0)
    nowhere = np.flatnonzero(counts == 0)
    if len(nowhere):
        raise TableError(f'column "{columns[nowhere[0]]}" of {name} has no value at all.')
    means: NDArray[np.float64] = sums / counts
    return means


def _read(
    columns: tuple[str, ...], others: tuple[str, ...], table: Table, report: ShareReport
) -> tuple[Numbers, list[Any]]:
    """Return columns as one array, and the pieces of another column."""
    _require_room(table, len(columns))
    rows: Numbers = np.empty((table.n_rows or 0, len(columns)), dtype=np.float32)
    pieces = []
    n_read = 0
    for batch in table.batches(columns, others):
        rows = _with_room(rows, n_read + len(batch.numbers), batch.numbers.dtype, n_read)
        rows[n_read : n_read + len(batch.numbers)] = batch.numbers
        n_read += len(batch.numbers)
        pieces += batch.others
        report(batch.share)
    rows.resize((n_read, len(columns)), refcheck=False)
    return rows, pieces


def _with_room(rows: Numbers, n_needed: int, kind: np.dtype[Any], n_used: int) -> Numbers:
    """Return the array, or one that is larger or of a wider type."""
    if np.result_type(rows.dtype, kind) != rows.dtype:
        wider = np.empty((max(n_needed, len(rows)), rows.shape[1]), dtype=np.float64)
        wider[:n_used] = rows[:n_used]
        return wider
    if n_needed > len(rows):
        # Grown in place where the system can, so that memory is not needed twice.
        rows.resize((max(n_needed, len(rows) * 3 // 2), rows.shape[1]), refcheck=False)
    return rows


def _require_room(table: Table, n_columns: int) -> None:
    if table.n_rows is not None:
        require_memory(
            {"rows": table.n_rows * n_columns * 8},
            f"Reading {table.n_rows:,} rows of {n_columns:,} columns from {table.name}",
            "Use fewer columns or rows.",
        )


def _class_numbers(pieces: list[pa.Array]) -> NDArray[np.int64]:
    """Return a number for each different value, -1 for those that are missing."""
    import pyarrow as pa

    column = pa.chunked_array(pieces)
    if not pa.types.is_dictionary(column.type):
        column = column.dictionary_encode()
    column = column.unify_dictionaries()
    codes = [chunk.indices.fill_null(-1).to_numpy(zero_copy_only=False) for chunk in column.chunks]
    # Text keeps what stands for a missing value as it is.
    is_class = [str(value).strip() not in MISSING for value in column.chunk(0).dictionary]
    numbers = np.append(np.where(is_class, np.arange(len(is_class)), -1), -1)
    return np.asarray(numbers[np.concatenate(codes)], dtype=np.int64)
