"""Row blocks from any source, for ``PSKC.fit`` and ``predict``."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from .._data.sources import RowBlocks
from .base import Numbers, Table
from .classes import looks_like_classes
from .errors import MissingValuesError, NotNumbersError, TableError
from .opening import open_table
from .reading import blocks_of
from .scanning import Missing, scan
from .selection import Selection, select, select_known


def row_blocks(X: object, known: Sequence[str] | None = None) -> RowBlocks | None:
    """Return X as row blocks if it is a file or an array on disk, None if it is in memory.

    If `known` is given and the file has column names, only these columns are read, in this order.
    """
    if isinstance(X, RowBlocks):
        return X
    if isinstance(X, str | os.PathLike):
        path = os.fspath(X)
        table = open_table(Path(path), path)
        with ways_out(table):
            by_name = known is not None and table.has_names
            selection = select_known(table, known or ()) if by_name else select(table)
            return stream(table, selection, way_out=True)
    if hasattr(X, "__dask_graph__"):
        raise TypeError(
            f"X is a dask collection ({type(X).__name__}). Fit it with pskclust.dask.PSKC, or pass "
            "X.compute() if that fits into memory."
        )
    if hasattr(X, "to_batches") and hasattr(X, "count_rows"):
        from .columnar import DatasetTable

        dataset = DatasetTable(X, "the dataset")
        return stream(dataset, select(dataset))
    on_disk = all(hasattr(X, name) for name in ("shape", "dtype", "chunks", "__getitem__"))
    return RowBlocks.from_array(X) if on_disk else None


def stream(
    table: Table, selection: Selection, missing: Missing = "refuse", *, way_out: bool = False
) -> RowBlocks:
    """Return the rows of a table as blocks that are read from its file in each pass.

    A file of unknown length is read once to count its rows, as is a file whose missing values are
    dropped or filled in. With `way_out`, errors name the function to call instead.
    """
    if table.n_rows is not None and missing == "refuse":
        n_rows, n_columns = table.n_rows, len(selection.features)
        names = selection.features if table.has_names else None
        return RowBlocks(n_rows, n_columns, lambda: _complete(table, selection, way_out), names)
    found = scan(table, selection, missing, _ignore, most_bytes=0)
    return blocks_of(table, selection.features, found)


def _complete(table: Table, selection: Selection, way_out: bool) -> Iterator[Numbers]:
    """Yield the rows of a table; raise TableError if values are missing or infinite."""
    for batch in table.batches(selection.features):
        if not np.isfinite(batch.numbers).all():
            # Missing values are counted only when one is found, because most files have none.
            with ways_out(table) if way_out else contextlib.nullcontext():
                scan(table, selection, "refuse", _ignore, most_bytes=0)
            raise TableError(f"{table.name} changed while it was being read. Read it again.")
        yield batch.numbers


@contextlib.contextmanager
def ways_out(table: Table, function: str = "stream_table") -> Iterator[None]:
    """Add advice to errors: which function of `pskclust.tables` to call instead."""
    call = f"pskclust.tables.{function}"
    try:
        yield
    except MissingValuesError as error:
        _append(error, _way_around_gaps(call, error, table))
        raise
    except NotNumbersError as error:
        _append(error, f"To leave out such columns, pass {call}(path, drop={list(error.columns)}).")
        raise


def _way_around_gaps(call: str, error: MissingValuesError, table: Table) -> str:
    """Return a call that leaves out classes, if values are missing only there, or such rows."""
    missing = f'{call}(path, missing="drop"), or missing="mean"'
    names = list(error.counts)
    if len(table.columns) > len(names) and all(looks_like_classes(table, name) for name in names):
        return (
            f"To leave out columns of known classes, pass {call}(path, drop={names}). To leave out "
            f"rows or use column means, pass {missing}."
        )
    return f"Pass {missing}."


def _append(error: TableError, way_out: str) -> None:
    error.args = (f"{error} {way_out}",)


def _ignore(share: float) -> None:
    pass
