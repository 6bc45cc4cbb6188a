"""Readers of table files, for ``PSKC.fit(path)``, the command line and the explorer."""

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
from .streaming import Call, naming_encoding, stream, ways_out

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
    missing_values: Sequence[str] = (),
) -> NDArray[Any]:
    """Read the numbers in a file into an array, as ``pskclust fit`` does.

    Parameters
    ----------
    path : str or path-like
        A CSV, TSV, Parquet, Arrow, Feather, NPY, NPZ or LibSVM file, or a folder of Parquet files.
        Text may be compressed: .gz, .bz2 or .zst.
    columns : sequence of str, default=()
        Columns to read, in this order. An empty sequence reads all columns.
    drop : sequence of str, default=()
        Columns to leave out, such as ids and text.
    missing : {"refuse", "drop", "mean"}, default="refuse"
        Treatment of rows with missing values: "refuse" raises an error, "drop" leaves the rows
        out, "mean" fills in the mean of the column. To know which rows were left out, use
        :func:`stream_table`.
    format : {"csv", "tsv", "libsvm", "parquet", "arrow", "npy", "npz"} or None, default=None
        Format of the file. None detects it from the extension and the first bytes; set
        it if detection fails.
    delimiter : str or None, default=None
        Delimiter of a text table. None detects it.
    header : bool or None, default=None
        Whether the first line of a text table holds column names. None detects it.
    encoding : str or None, default=None
        Encoding of a text table, such as "cp1252". None reads UTF-8 or UTF-16.
    missing_values : sequence of str, default=()
        Texts that stand for a missing value in a text table, such as "unknown", besides empty
        cells, "NA", "NaN", "null" and the like.

    Returns
    -------
    rows : ndarray of float32 or float64, shape (n_rows, n_columns)
        The numbers, as float32 if it holds the types of all columns exactly.

    Raises
    ------
    ValueError
        If the file is missing or damaged, a column is unknown or holds text, or values are missing
        and `missing` is "refuse".

    See Also
    --------
    stream_table : Read the rows block by block, without holding them all in memory.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from pskclust.tables import read_table
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "points.csv")
    ...     _ = path.write_text("name,x,y\\nfirst,1,2\\nsecond,3,\\n")
    ...     rows = read_table(path, drop=["name"], missing="mean")
    >>> rows
    array([[1., 2.],
           [3., 2.]])
    """
    call = Call("read_table", columns, drop)
    with naming_encoding(call):
        table = open_table(
            Path(path), os.fspath(path), format, delimiter, header, encoding, missing_values
        )
    with ways_out(table, call):
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
    missing_values: Sequence[str] = (),
) -> RowBlocks:
    """Return the numbers in a file as row blocks, which are never all in memory at once.

    ``PSKC.fit`` and ``PSKC.predict`` accept row blocks in place of an array. They also accept the
    path alone if all columns are to be clustered and no value is missing.

    Parameters
    ----------
    path : str or path-like
        A CSV, TSV, Parquet, Arrow, Feather, NPY, NPZ or LibSVM file, or a folder of Parquet files.
        Text may be compressed: .gz, .bz2 or .zst.
    columns : sequence of str, default=()
        Columns to read, in this order. An empty sequence reads all columns.
    drop : sequence of str, default=()
        Columns to leave out, such as ids and text.
    missing : {"refuse", "drop", "mean"}, default="refuse"
        Treatment of rows with missing values: "refuse" raises an error, "drop" leaves the rows
        out, "mean" fills in the mean of the column. With "drop", `kept` of the result marks the
        rows that are left.
    format : {"csv", "tsv", "libsvm", "parquet", "arrow", "npy", "npz"} or None, default=None
        Format of the file. None detects it from the extension and the first bytes; set
        it if detection fails.
    delimiter : str or None, default=None
        Delimiter of a text table. None detects it.
    header : bool or None, default=None
        Whether the first line of a text table holds column names. None detects it.
    encoding : str or None, default=None
        Encoding of a text table, such as "cp1252". None reads UTF-8 or UTF-16.
    missing_values : sequence of str, default=()
        Texts that stand for a missing value in a text table, such as "unknown", besides empty
        cells, "NA", "NaN", "null" and the like.

    Returns
    -------
    rows : pskclust.RowBlocks
        The rows, which are read from the file in each pass over them.

    Raises
    ------
    ValueError
        If the file is missing or damaged, a column is unknown or holds text, or values are missing
        and `missing` is "refuse".

    See Also
    --------
    read_table : Read all rows into an array.
    pskclust.RowBlocks : Row blocks from any other source.

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
    call = Call("stream_table", columns, drop)
    with naming_encoding(call):
        table = open_table(
            Path(path), os.fspath(path), format, delimiter, header, encoding, missing_values
        )
    with ways_out(table, call):
        return stream(table, select(table, columns=columns, drop=drop), missing, way_out=call)
