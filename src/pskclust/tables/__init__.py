"""Tables in files to arrays, as the command line reads them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Literal

from numpy.typing import NDArray

from .opening import opened_table
from .reading import read_rows
from .selection import select


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
        CSV, TSV, Parquet, Arrow, Feather, NPY, NPZ or LibSVM.
    columns : sequence of str, default=()
        Columns to read, in this order; all if empty.
    drop : sequence of str, default=()
        Columns to leave out.
    missing : {"refuse", "drop", "mean"}, default="refuse"
        Rows with missing values: an error, left out, or the mean of the column in their place.
    format : str or None, default=None
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
    with opened_table(
        os.fspath(path), kind=format, delimiter=delimiter, has_header=header, encoding=encoding
    ) as table:
        selection = select(table, columns=columns, drop=drop)
        return read_rows(table, selection, missing=missing, report=lambda share: None).numbers
