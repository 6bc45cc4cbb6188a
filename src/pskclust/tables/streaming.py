"""Row blocks from any source, for ``PSKC.fit`` and ``predict``."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from .._data.sources import RowBlocks
from .base import Numbers, Table
from .classes import looks_like_classes
from .errors import (
    MissingValuesError,
    NoSuchFileError,
    NotNumbersError,
    TableError,
    WrongEncodingError,
)
from .opening import open_table
from .reading import blocks_of
from .scanning import Missing, scan
from .selection import Selection, select, select_known

_MISSING = 'missing="drop"'


@dataclass(frozen=True)
class Call:
    """A call of `read_table` or `stream_table`, for the advice in errors."""

    function: str = "stream_table"
    columns: Sequence[str] = ()
    drop: Sequence[str] = ()
    replaces_path: bool = False  # whether a path was passed where the result is to be passed
    needs_columns: bool = False  # whether a model needs all of `columns`

    def without(self, names: Sequence[str]) -> Call:
        """Return the call that leaves out some more columns."""
        if self.columns:
            return replace(self, columns=[name for name in self.columns if name not in names])
        return replace(self, drop=[*self.drop, *names])

    def with_(self, *options: str) -> str:
        """Return the call in words, with further options."""
        given = {"columns": self.columns, "drop": self.drop}
        kept = [f"{name}={list(names)}" for name, names in given.items() if names]
        return f"pskclust.tables.{self.function}({', '.join(['path', *kept, *options])})"

    @property
    def instead(self) -> str:
        """What the result replaces, for the end of a sentence."""
        return " instead of the path" if self.replaces_path else ""


def row_blocks(
    X: object, known: Sequence[str] | None = None, *, keep_gaps: bool = False
) -> RowBlocks | None:
    """Return X as row blocks if it is a file or an array on disk, None if it is in memory.

    If `known` is given and the file has column names, only these columns are read, in this order.
    With `keep_gaps`, missing values in files are NaN; otherwise they raise an error.
    """
    if isinstance(X, RowBlocks):
        return X
    if isinstance(X, str | os.PathLike):
        path = os.fspath(X)
        call = Call(replaces_path=True)
        try:
            with naming_encoding(call):
                table = open_table(Path(path), path)
        except NoSuchFileError as error:
            if isinstance(X, str):
                _append(error, "X is a string, which is read as the path of a file.")
            raise
        by_name = known is not None and table.has_names
        if by_name:
            call = replace(call, columns=known or (), needs_columns=True)
        with ways_out(table, call):
            selection = select_known(table, known or ()) if by_name else select(table)
            if keep_gaps:
                return _with_gaps(table, selection)
            return stream(table, selection, way_out=call)
    if hasattr(X, "__dask_graph__"):
        raise TypeError(
            f"X is a dask collection ({type(X).__name__}). Fit it with pskclust.dask.PSKC, or pass "
            "X.compute() if that fits into memory."
        )
    if hasattr(X, "to_batches") and hasattr(X, "count_rows"):
        from .columnar import DatasetTable

        dataset = DatasetTable(X, "the dataset")
        selection = select(dataset)
        return _with_gaps(dataset, selection) if keep_gaps else stream(dataset, selection)
    on_disk = all(hasattr(X, name) for name in ("shape", "dtype", "chunks", "__getitem__"))
    return RowBlocks.from_array(X) if on_disk else None


def stream(
    table: Table,
    selection: Selection,
    missing: Missing = "refuse",
    *,
    way_out: Call | None = None,
) -> RowBlocks:
    """Return the rows of a table as blocks that are read from its file in each pass.

    A file of unknown length is read once to count its rows, as is a file whose missing values are
    dropped or filled in. With `way_out`, errors in later passes name the call to make instead.
    """
    if table.n_rows is not None and missing == "refuse":
        n_rows, n_columns = table.n_rows, len(selection.features)
        names = selection.features if table.has_names else None
        return RowBlocks(n_rows, n_columns, lambda: _complete(table, selection, way_out), names)
    found = scan(table, selection, missing, _ignore, most_bytes=0)
    return blocks_of(table, selection.features, found)


def _with_gaps(table: Table, selection: Selection) -> RowBlocks:
    """Return the rows of a table as blocks in which missing values are NaN."""
    features = selection.features

    def read() -> Iterator[Numbers]:
        return (batch.numbers for batch in table.batches(features))

    n_rows = sum(map(len, read())) if table.n_rows is None else table.n_rows
    if not n_rows:
        raise TableError(f"{table.name} has a header but no rows.")
    return RowBlocks(n_rows, len(features), read, features if table.has_names else None)


def _complete(table: Table, selection: Selection, way_out: Call | None) -> Iterator[Numbers]:
    """Yield the rows of a table; raise TableError if values are missing or infinite."""
    with ways_out(table, way_out) if way_out else contextlib.nullcontext():
        for batch in table.batches(selection.features):
            if not np.isfinite(batch.numbers).all():
                # Missing values are counted only when one is found: most files have none.
                scan(table, selection, "refuse", _ignore, most_bytes=0)
                raise TableError(f"{table.name} changed while it was being read. Read it again.")
            yield batch.numbers


@contextlib.contextmanager
def ways_out(table: Table, call: Call | None = None) -> Iterator[None]:
    """Add advice to errors: which function of `pskclust.tables` to call, and how."""
    call = call or Call()
    try:
        with naming_encoding(call):
            yield
    except MissingValuesError as error:
        _append(error, _way_around_gaps(call, error, table))
        raise
    except NotNumbersError as error:
        _append(error, _way_around_texts(call, error))
        raise


@contextlib.contextmanager
def naming_encoding(call: Call) -> Iterator[None]:
    """Add advice to an error for text in another encoding, which may occur as a file is opened."""
    try:
        yield
    except WrongEncodingError as error:
        named = call.with_('encoding="cp1252"')
        _append(error, f"Name its encoding, such as: {named}{call.instead}.")
        raise


def _way_around_texts(call: Call, error: NotNumbersError) -> str:
    """Return calls that leave out columns, or read words in them as missing values."""
    leave_out = (
        "The model needs numbers in all its columns."
        if call.needs_columns
        else f"To leave out such columns, pass {call.without(error.columns).with_()}{call.instead}."
    )
    strays = error.strays
    if not strays or not all(found.may_be_missing for found in strays.values()):
        return leave_out
    words = list(dict.fromkeys(text for found in strays.values() for text in found.texts))
    texts = [name for name in error.columns if name not in strays]
    if call.needs_columns and texts:
        return leave_out
    missing = call.without(texts) if texts else call
    stand = "stands for a missing value" if len(words) == 1 else "stand for missing values"
    return (
        f"{leave_out} If {' and '.join(map(repr, words))} {stand}, pass "
        f"{missing.with_(f'missing_values={words}', _MISSING)}{call.instead}."
    )


def _way_around_gaps(call: Call, error: MissingValuesError, table: Table) -> str:
    """Return a call that leaves out classes, if values are missing only there, or such rows."""
    missing = f'{call.with_(_MISSING)}, or missing="mean" for column means'
    names = list(error.counts)
    some_are_left = len(table.columns) > len(names) and not call.needs_columns
    if some_are_left and all(looks_like_classes(table, name) for name in names):
        leave_out = f"{call.without(names).with_()}{call.instead}"
        return (
            f"To leave out columns of known classes, pass {leave_out}. To leave out rows, pass "
            f"{missing}."
        )
    return f"To leave out such rows, pass {missing}{call.instead}."


def _append(error: TableError, way_out: str) -> None:
    error.args = (f"{error} {way_out}",)


def _ignore(share: float) -> None:
    pass
