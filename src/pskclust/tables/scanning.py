"""Scan of a table: one pass that collects all facts that are needed before clustering."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from .._data.odd_columns import ColumnKinds, OddColumn
from .._data.scaling import chunks
from .._utils.memory import require_memory
from .base import Numbers, Table
from .errors import (
    EmptyColumnsError,
    EmptyLabelError,
    MissingValuesError,
    NoRowLeftError,
    TableError,
    WeightsError,
)
from .number_texts import MISSING
from .selection import Selection

if TYPE_CHECKING:
    import pyarrow as pa

Missing = Literal["refuse", "drop", "mean"]
ShareReport = Callable[[float], None]

_GAP_ROWS = 1 << 16


@dataclass(frozen=True, eq=False)
class Scan:
    """Facts about the selected columns.

    All facts are about the rows to cluster: all rows of the file except those dropped. `numbers`
    holds these rows, with NaN for missing values, or is None if they exceed the memory limit.
    """

    n_rows: int
    kind: np.dtype[Any]  # of the numbers
    numbers: Numbers | None  # (n, d)
    weight: NDArray[np.float64] | None  # (n,)
    classes: NDArray[np.int32] | None  # (n,) codes for the values of the label, -1 if missing
    class_names: tuple[str, ...]  # the values of the label, by code
    kept: NDArray[np.bool_] | None  # (n_in_file,) the rows to cluster; None if all are
    means: NDArray[np.float64]  # (d,) over the values that are not missing
    n_gaps: int  # number of missing values in the features of these rows
    odd: tuple[OddColumn, ...]  # features that look like ids or classes, or have one value only


def scan(
    table: Table,
    selection: Selection,
    missing: Missing,
    report: ShareReport,
    most_bytes: int | None,
) -> Scan:
    """Read all rows once; keep them if they take at most `most_bytes`; None sets no limit."""
    if missing not in get_args(Missing):
        ways = ", ".join(map(repr, get_args(Missing)))
        raise TableError(f"missing={missing!r} is not known. Use one of {ways}.")
    reading = _Pass(table, selection, missing, report)
    features, n_features = selection.features, len(selection.features)
    store = _Store(table, n_features, most_bytes)
    sums, counts = np.zeros(n_features), np.zeros(n_features, dtype=np.int64)
    kinds = ColumnKinds(features)
    for chunk in chunks(reading.kept_rows()):
        wide = chunk.astype(np.float64, copy=False)
        sums += np.nansum(wide, axis=0)
        counts += np.count_nonzero(~np.isnan(wide), axis=0)
        kinds.add(wide)
        store.add(chunk)
    reading.check()
    nowhere = [name for name, count in zip(features, counts, strict=True) if not count]
    if nowhere:
        raise EmptyColumnsError(table.name, nowhere)
    if missing == "mean" and selection.weight is not None and reading.gaps[n_features]:
        raise WeightsError(selection.weight, "of weights has missing values.", has_gaps=True)
    return Scan(
        n_rows=store.n_rows,
        kind=store.kind,
        numbers=store.numbers(),
        weight=reading.weight(),
        classes=reading.classes(),
        class_names=reading.class_names,
        kept=reading.kept(),
        means=sums / counts,
        n_gaps=0 if missing == "drop" else int(reading.gaps[:n_features].sum()),
        odd=kinds.found(),
    )


class _Pass:
    """One pass over a table, which counts missing values and keeps weights and classes."""

    def __init__(
        self, table: Table, selection: Selection, missing: Missing, report: ShareReport
    ) -> None:
        weight = () if selection.weight is None else (selection.weight,)
        self._weight = selection.weight
        self._columns = (*selection.features, *weight)
        self._others = () if selection.label is None else (selection.label,)
        self._n_features = len(selection.features)
        self._table, self._missing, self._report = table, missing, report
        self.gaps = np.zeros(len(self._columns), dtype=np.int64)
        self._with_gaps: list[NDArray[np.bool_]] = []
        self._weights: list[NDArray[np.float64]] = []
        self._classes = Classes(selection.label or "", table.missing)

    def kept_rows(self) -> Iterator[Numbers]:
        """Yield the features of the rows that are kept, with NaN for missing values."""
        n_read = 0
        for batch in self._table.batches(self._columns, self._others):
            numbers = batch.numbers
            gaps = find_gaps(numbers, self._columns, self._table, n_read)
            self._refuse_negative_weights(numbers, n_read)
            n_read += len(numbers)
            self.gaps += gaps.counts
            self._with_gaps.append(gaps.rows)
            for values in batch.others:
                self._classes.add(values)
            self._report(batch.share)
            if self._missing == "drop" and gaps.any:
                numbers = numbers[~gaps.rows]
            if len(self._columns) > self._n_features:
                self._weights.append(numbers[:, self._n_features].astype(np.float64))
                numbers = np.ascontiguousarray(numbers[:, : self._n_features])
            yield numbers

    def _refuse_negative_weights(self, numbers: Numbers, n_before: int) -> None:
        if self._weight is None:
            return
        weights = numbers[:, self._n_features]
        negative = np.flatnonzero(weights < 0)
        if len(negative):
            first = int(negative[0])
            where = self._table.place_of(n_before + first)
            raise WeightsError(
                self._weight, f"has the negative weight {weights[first]:g} in {where}."
            )

    def check(self) -> None:
        """Raise TableError if no row is left, or if `missing` refuses missing values."""
        with_gaps = self._all_with_gaps()
        if not len(with_gaps):
            raise TableError(f"{self._table.name} has a header but no rows.")
        counts = by_column(self._columns, self.gaps)
        if counts and self._missing == "refuse":
            raise MissingValuesError(counts, int(np.count_nonzero(with_gaps)), len(with_gaps))
        if self._missing == "drop" and with_gaps.all():
            raise NoRowLeftError(self._table.name, counts, len(with_gaps))

    def kept(self) -> NDArray[np.bool_] | None:
        return ~self._all_with_gaps() if self._missing == "drop" and self.gaps.any() else None

    def weight(self) -> NDArray[np.float64] | None:
        return np.concatenate(self._weights) if self._weights else None

    def classes(self) -> NDArray[np.int32] | None:
        kept = self.kept()
        if not self._others:
            return None
        found = self._classes.numbers() if kept is None else self._classes.numbers()[kept]
        if (found < 0).all():
            raise EmptyLabelError(self._table.name, self._others[0])
        return found

    @property
    def class_names(self) -> tuple[str, ...]:
        return self._classes.names

    def _all_with_gaps(self) -> NDArray[np.bool_]:
        if len(self._with_gaps) != 1:
            self._with_gaps = [np.concatenate([np.zeros(0, dtype=bool), *self._with_gaps])]
        return self._with_gaps[0]


class _Store:
    """Rows in one array, which is discarded once it exceeds the memory limit."""

    def __init__(self, table: Table, n_columns: int, most_bytes: int | None) -> None:
        self._most_bytes = most_bytes
        self.n_rows = 0
        self.kind: np.dtype[Any] = np.dtype(np.float32)
        self._n_columns = n_columns
        n_expected = table.n_rows or 0
        self._rows: Numbers | None = None
        if self._is_allowed(n_expected):
            if most_bytes is None:
                _require_room(table, n_columns)
            self._rows = np.empty((n_expected, n_columns), dtype=np.float32)

    def add(self, chunk: Numbers) -> None:
        n_before, self.n_rows = self.n_rows, self.n_rows + len(chunk)
        self.kind = np.result_type(self.kind, chunk.dtype)
        if self._rows is None:
            return
        if not self._is_allowed(self.n_rows):
            self._rows = None
            return
        self._rows = _with_room(self._rows, self.n_rows, self.kind, n_before)
        self._rows[n_before : self.n_rows] = chunk

    def numbers(self) -> Numbers | None:
        if self._rows is not None:
            self._rows.resize((self.n_rows, self._n_columns), refcheck=False)
        return self._rows

    def _is_allowed(self, n_rows: int) -> bool:
        return self._most_bytes is None or n_rows * self._n_columns * 8 <= self._most_bytes


class Classes:
    """Integer codes for the distinct values of a column, in the order of their first rows."""

    def __init__(self, column: str, missing: tuple[str, ...] = MISSING) -> None:
        self._column, self._missing = column, missing
        self._known: dict[Any, int] = {}
        self._pieces = [np.zeros(0, dtype=np.int32)]

    def add(self, values: pa.Array) -> None:
        """Add an Arrow array: the values of the next rows."""
        import pyarrow as pa

        from .arrow_values import plain_values

        try:
            if pa.types.is_dictionary(values.type):
                values = values.dictionary_decode()
            # A missing value gets a code like any other: filling it in would import pandas.
            coded = values.dictionary_encode("encode")
        except pa.ArrowNotImplementedError as error:
            raise TableError(
                f'column "{self._column}" is {values.type}. Classes must be numbers or text.'
            ) from error
        numbers = np.array([*map(self._number, coded.dictionary.to_pylist())], dtype=np.int32)
        self._pieces.append(numbers[plain_values(coded.indices)])

    def numbers(self) -> NDArray[np.int32]:
        """Return the code of the value in each row; -1 where the value is missing."""
        return np.concatenate(self._pieces)

    @property
    def names(self) -> tuple[str, ...]:
        """The distinct values, by code."""
        return tuple(map(str, self._known))

    def _number(self, value: Any) -> int:
        # In a column of text, missing values are still texts such as "NA".
        if value is None or str(value).strip() in self._missing:
            return -1
        return self._known.setdefault(value, len(self._known))


@dataclass(frozen=True, eq=False)
class Gaps:
    """Rows with missing values, and the number of missing values of each column."""

    rows: NDArray[np.bool_]  # (n,)
    counts: NDArray[np.int64]  # (d,)

    @property
    def any(self) -> bool:
        return bool(self.counts.any())

    @property
    def n_rows(self) -> int:
        return int(np.count_nonzero(self.rows))


def by_column(columns: tuple[str, ...], counts: NDArray[np.int64]) -> dict[str, int]:
    """Return the number of missing values of each column that has any."""
    return {column: int(n) for column, n in zip(columns, counts, strict=True) if n}


def find_gaps(numbers: Numbers, columns: tuple[str, ...], table: Table, first_row: int = 0) -> Gaps:
    """Find the missing values; raise TableError for an infinite value."""
    rows = np.zeros(len(numbers), dtype=bool)
    counts = np.zeros(len(columns), dtype=np.int64)
    for start in range(0, len(numbers), _GAP_ROWS):
        some = numbers[start : start + _GAP_ROWS]
        if np.isfinite(some).all():
            continue
        infinite = np.argwhere(np.isinf(some))
        if len(infinite):
            row, column = map(int, infinite[0])
            where = table.place_of(first_row + start + row)
            raise TableError(
                f'column "{columns[column]}" of {table.name} is infinite in {where}. Leave that '
                "row out, or correct the value."
            )
        nothing = np.isnan(some)
        rows[start : start + _GAP_ROWS] = nothing.any(axis=1)
        counts += nothing.sum(axis=0)
    return Gaps(rows, counts)


def _with_room(rows: Numbers, n_needed: int, kind: np.dtype[Any], n_used: int) -> Numbers:
    """Return the array, enlarged or converted to a wider type if necessary."""
    if np.result_type(rows.dtype, kind) != rows.dtype:
        wider = np.empty((max(n_needed, len(rows)), rows.shape[1]), dtype=np.float64)
        wider[:n_used] = rows[:n_used]
        return wider
    if n_needed > len(rows):
        # The array grows in place if possible, so that memory is not needed twice.
        rows.resize((max(n_needed, len(rows) * 3 // 2), rows.shape[1]), refcheck=False)
    return rows


def _require_room(table: Table, n_columns: int) -> None:
    if table.n_rows is not None:
        require_memory(
            {"rows": table.n_rows * n_columns * 8},
            f"Reading {table.n_rows:,} rows of {n_columns:,} columns from {table.name}",
            "Use fewer columns or rows.",
        )
