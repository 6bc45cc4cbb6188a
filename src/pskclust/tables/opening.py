"""A path, or standard input, to a table."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from .base import Table
from .errors import TableError
from .formats import format_of

STANDARD_INPUT = "-"


@contextlib.contextmanager
def opened_table(
    path: str,
    *,
    kind: str | None = None,
    delimiter: str | None = None,
    has_header: bool | None = None,
    encoding: str | None = None,
    standard_input: BinaryIO | None = None,
) -> Iterator[Table]:
    """Give the table in a file; ``-`` is standard input, kept in a temporary file meanwhile.

    `kind` is one of `formats.FORMATS`; None sniffs it. `delimiter`, `has_header` and `encoding`
    are for text.
    """
    if path != STANDARD_INPUT:
        yield open_table(Path(path), path, kind, delimiter, has_header, encoding)
        return
    if standard_input is None:
        raise ValueError("standard_input is not given.")
    # Formats of columns are read from their end, and what is kept can be read again.
    with tempfile.NamedTemporaryFile(prefix="pskclust-") as spool:
        shutil.copyfileobj(standard_input, spool, 1 << 20)
        spool.flush()
        name = "standard input"
        yield open_table(Path(spool.name), name, kind, delimiter, has_header, encoding)


def open_table(
    path: Path,
    name: str,
    kind: str | None = None,
    delimiter: str | None = None,
    has_header: bool | None = None,
    encoding: str | None = None,
) -> Table:
    """Return the table in a file, or raise TableError."""
    _require_content(path, name)
    kind = format_of(path, name, kind)
    table: Table
    if kind in ("npy", "npz"):
        from .arrays import ArrayTable

        table = ArrayTable(path, name, kind)
    elif kind == "libsvm":
        from .libsvm import LibsvmTable

        table = LibsvmTable(path, name)
    elif kind == "parquet":
        from .columnar import ParquetTable

        table = ParquetTable(path, name)
    elif kind == "arrow":
        from .columnar import ArrowTable

        table = ArrowTable(path, name)
    else:
        from .text import TextTable

        delimiter = delimiter or ("\t" if kind == "tsv" else None)
        table = TextTable(path, name, delimiter=delimiter, has_header=has_header, encoding=encoding)
    if not table.columns:
        raise TableError(f"{name} has no columns.")
    return table


def _require_content(path: Path, name: str) -> None:
    try:
        if path.is_dir():
            raise TableError(f"{name} is a folder. Name a file in it.")
        with open(path, "rb") as stream:
            is_empty = not stream.read(1)
    except FileNotFoundError as error:
        raise TableError(f"there is no file {name}.") from error
    except OSError as error:
        raise TableError(f"{name} cannot be opened: {error.strerror}.") from error
    if is_empty:
        raise TableError(f"{name} is empty.")
