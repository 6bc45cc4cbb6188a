"""Tables in files: the one door for ``PSKC.fit(path)``, the command line and the explorer."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from numpy.typing import NDArray

from .._data.sources import RowBlocks
from .opening import open_table
from .reading import read_rows
from .selection import select
from .streaming import stream

__all__ = ["read_table", "stream_table"]


def read_table(
    path: str | os.PathLike[str],
    *,
    columns: Sequence[str] = (),
    drop: Sequence[str] = (),
    missing: Literal["refuse", "drop", "mean"] = "refuse",
    format: str | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    encoding: str | None = None,
) -> NDArray[Any]:
    """Return the numbers in a file, as ``pskclust fit`` reads them.

    Parameters
    ----------
    path : str or path-like
        CSV, TSV, Parquet, a folder of Parquet files, Arrow, Feather, NPY, NPZ or LibSVM.
    columns : sequence of str, default=()
        Columns to read, in this order; all if empty.
    drop : sequence of str, default=()
        Columns to leave out.
    missing : {"refuse", "drop", "mean"}, default="refuse"
        Rows with missing values: an error, left out, or the mean of the column in their place.
    format : {"csv", "tsv", "libsvm", "parquet", "arrow", "npy", "npz"} or None, default=None
        Of the file, where its ending does not tell.
    delimiter : str or None, default=None
        Of a text table; None sniffs it.
    header : bool or None, default=None
        Whether the first line of a text table names its columns; None sniffs it.
    encoding : str or None, default=None
        Of a text table, such as "cp1252"; None takes it for UTF-8 or UTF-16.

    Returns
    -------
    rows : ndarray of float32 or float64, shape (n_rows, n_columns)
    """
    table = open_table(Path(path), os.fspath(path), format, delimiter, header, encoding)
    selection = select(table, columns=columns, drop=drop)
    return read_rows(table, selection, missing=missing, report=lambda share: None).numbers


def stream_table(
    path: str | os.PathLike[str],
    *,
    columns: Sequence[str] = (),
    drop: Sequence[str] = (),
    missing: Literal["refuse", "drop", "mean"] = "refuse",
    format: str | None = None,
    delimiter: str | None = None,
    header: bool | None = None,
    encoding: str | None = None,
) -> RowBlocks:
    """Return the numbers in a file as blocks of rows that are never all in memory.

    ``PSKC.fit`` and ``PSKC.predict`` take them in place of an array. They also take the path alone,
    if all columns are to be clustered and no value is missing.

    Parameters
    ----------
    path : str or path-like
        CSV, TSV, Parquet, a folder of Parquet files, Arrow, Feather, NPY, NPZ or LibSVM.
    columns, drop, missing, format, delimiter, header, encoding
        As of :func:`read_table`.

    Returns
    -------
    rows : RowBlocks

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from pskclust.tables import stream_table
    >>> lines = ["name,x,y", *(f"row {number},{number % 7},{number % 5}" for number in range(100))]
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "points.csv"
    ...     _ = path.write_text("\\n".join(lines))
    ...     stream_table(path, drop=["name"])
    RowBlocks(100 rows, 2 columns)
    """
    table = open_table(Path(path), os.fspath(path), format, delimiter, header, encoding)
    return stream(table, select(table, columns=columns, drop=drop), missing)
