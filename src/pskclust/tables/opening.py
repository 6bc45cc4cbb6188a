"""Functions that open tables in files and on standard input."""

from __future__ import annotations

import contextlib
import difflib
import os
import shutil
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import BinaryIO

from .._utils.files import temporary_file
from .._utils.memory import available_bytes, readable_bytes
from .._utils.optional import optional
from .base import Table
from .errors import NoSuchFileError, SpecialFileError, TableError
from .formats import FORMATS, format_of

STANDARD_INPUT = "-"

_NAME_OF_STANDARD_INPUT = "standard input"
_PIECE_BYTES = 1 << 20
# Disk space and memory that must stay free while standard input is copied.
_FREE_BYTES = 1 << 28
# Names of files that differ by a letter or two are this similar.
_SIMILAR_NAME = 0.8
_SPECIAL = (
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
    (stat.S_ISFIFO, "a pipe"),
    (stat.S_ISSOCK, "a socket"),
)


@contextlib.contextmanager
def opened_table(
    path: str,
    *,
    kind: str | None = None,
    delimiter: str | None = None,
    has_header: bool | None = None,
    encoding: str | None = None,
    missing_values: Sequence[str] = (),
    standard_input: BinaryIO | None = None,
) -> Iterator[Table]:
    """Yield the table in a file; ``-`` is standard input, which is copied to a temporary file.

    `kind` is one of `formats.FORMATS`; None detects the format. `delimiter`, `has_header`,
    `encoding` and `missing_values` apply to text.
    """
    how = (kind, delimiter, has_header, encoding, missing_values)
    if path != STANDARD_INPUT:
        yield open_table(Path(path), path, *how)
        return
    if standard_input is None:
        raise ValueError(
            "the path '-' is standard input, but standard_input is None. Pass a binary stream."
        )
    # Columnar formats are read from their end, and rows are read several times: both need a file.
    with temporary_file() as (spool, spool_path):
        _copy(standard_input, spool, spool_path, kind)
        yield open_table(spool_path, _NAME_OF_STANDARD_INPUT, *how)


def open_table(
    path: Path,
    name: str,
    kind: str | None = None,
    delimiter: str | None = None,
    has_header: bool | None = None,
    encoding: str | None = None,
    missing_values: Sequence[str] = (),
) -> Table:
    """Return the table in a file, or in a folder of Parquet files; raise TableError on failure."""
    if kind is not None and kind not in FORMATS:
        raise TableError(f"format={kind!r} is not known. Use one of {', '.join(FORMATS)}.")
    _require_file(path, name)
    if path.is_dir():
        optional("pyarrow", f"reading {name}", "cli")
        from .columnar import ParquetTable, note_on_folder, parquet_files

        files = parquet_files(path, name)
        folder = ParquetTable(files, name)
        folder.notes = note_on_folder(path, name, files)
        return folder
    kind = format_of(path, name, kind)
    if kind not in ("npy", "npz"):
        optional("pyarrow", f"reading {name}", "cli")
    table: Table
    if kind in ("npy", "npz"):
        from .arrays import ArrayTable

        table = ArrayTable(path, name, kind)
    elif kind == "libsvm":
        from .libsvm import LibsvmTable

        table = LibsvmTable(path, name)
    elif kind == "parquet":
        from .columnar import ParquetTable

        table = ParquetTable([path], name)
    elif kind == "arrow":
        from .columnar import ArrowTable

        table = ArrowTable(path, name)
    else:
        from .text import TextTable

        delimiter = delimiter or ("\t" if kind == "tsv" else None)
        table = TextTable(
            path,
            name,
            delimiter=delimiter,
            has_header=has_header,
            encoding=encoding,
            missing_values=missing_values,
        )
    if not table.columns:
        raise TableError(f"{name} has no columns.")
    return table


def _require_file(path: Path, name: str) -> None:
    """Raise TableError unless the path is a folder, or a file that is not empty."""
    try:
        mode = path.stat().st_mode
        _refuse_special(mode, name)
        if stat.S_ISDIR(mode):
            return
        with open(path, "rb") as stream:
            is_empty = not stream.read(1)
    except FileNotFoundError as error:
        if "://" in name:
            raise NoSuchFileError(
                f"{name} is an address, and addresses are not read. Download the file first."
            ) from error
        raise NoSuchFileError(f"there is no file {name}.{_suggestion(path)}") from error
    except (OSError, ValueError) as error:
        if isinstance(error, TableError):
            raise
        reason = getattr(error, "strerror", None) or error
        raise TableError(f"{name} cannot be opened: {reason}.") from error
    if is_empty:
        raise TableError(f"{name} is empty.")


def _suggestion(path: Path) -> str:
    """Return a question that names a file with a similar name; empty if there is none."""
    with contextlib.suppress(OSError):
        names = [other.name for other in path.parent.iterdir()]
        for near in difflib.get_close_matches(path.name, names, n=1, cutoff=_SIMILAR_NAME):
            return f" Did you mean {path.with_name(near)}?"
    return ""


def _refuse_special(mode: int, name: str) -> None:
    for is_so, words in _SPECIAL:
        if is_so(mode):
            raise SpecialFileError(name, words)


def _copy(source: BinaryIO, spool: BinaryIO, spool_path: Path, kind: str | None) -> None:
    """Copy standard input to a file; raise TableError if it is not a table or fills the disk."""
    _refuse_endless_device(source)
    folder = spool_path.parent
    n_copied = 0
    while piece := source.read(_PIECE_BYTES):
        try:
            spool.write(piece)
            spool.flush()
        except OSError as error:
            raise _no_room(folder, n_copied) from error
        if not n_copied:
            format_of(spool_path, _NAME_OF_STANDARD_INPUT, kind)
        n_copied += len(piece)
        if _free_bytes(folder) < _FREE_BYTES:
            raise _no_room(folder, n_copied)


def _no_room(folder: Path, n_copied: int) -> TableError:
    return TableError(
        f"standard input is larger than {readable_bytes(n_copied)}, but {folder} has no room for "
        "more. Name the file itself, or set TMPDIR to a larger folder."
    )


def _free_bytes(folder: Path) -> int:
    """Return the free bytes of a folder, at most the free memory: the folder may be in memory."""
    free = shutil.disk_usage(folder).free
    available = available_bytes()
    return free if available is None else min(free, available)


def _refuse_endless_device(source: BinaryIO) -> None:
    try:
        status = os.fstat(source.fileno())
    except (AttributeError, OSError):  # not a real file, as in tests
        return
    is_device = stat.S_ISCHR(status.st_mode) or stat.S_ISBLK(status.st_mode)
    if is_device and not source.isatty() and status.st_rdev != os.stat(os.devnull).st_rdev:
        raise SpecialFileError(_NAME_OF_STANDARD_INPUT, "a device")
