"""DATA on the command line: opened and read, with ways out that name options."""

from __future__ import annotations

import contextlib
import shlex
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from .._model_io.container import is_model_file
from ..tables.errors import (
    ImageGivenError,
    MissingValuesError,
    NotNumbersError,
    SpecialFileError,
    TableError,
    WrongEncodingError,
    WrongFormatError,
)
from .bars import Bars
from .delaying import import_sklearn
from .failures import CommandError, ExitCode

if TYPE_CHECKING:
    from ..tables.base import Table
    from ..tables.reading import Rows
    from ..tables.selection import Selection

_FORMAT_NAMES = ("kind", "delimiter", "has_header", "encoding")


@contextlib.contextmanager
def opened_data(command: str, data: str, options: dict[str, Any]) -> Iterator[Table]:
    """Give the table in DATA; what is wrong with it, then or later, ends in one line."""
    from ..tables.opening import opened_table

    import_sklearn()
    try:
        how = {name: options[name] for name in _FORMAT_NAMES}
        with opened_table(data, standard_input=sys.stdin.buffer, **how) as table:
            yield table
    except TableError as error:
        if is_model_file(data):
            command = f"pskclust predict {shlex.quote(data)} DATA"
            line = f"{data} is a model. Place rows by it with: {command}"
            raise CommandError(line, ExitCode.INPUT) from error
        line = f"{error} {_way_out(error, command, data)}".strip()
        raise CommandError(line, ExitCode.INPUT) from error


def read_data(
    table: Table, options: dict[str, Any], bars: Bars, *, streamed: bool
) -> tuple[Selection, Rows]:
    """Read the columns that the options name; if `streamed`, many rows are not kept in memory."""
    from ..tables import reading
    from ..tables.selection import select

    selection = select(
        table,
        columns=options["columns"],
        drop=options["drop"],
        ids=options["ids"],
        label=options["label"],
        weight=options["weight"],
    )
    bars.show("read", 0.0)
    rows = reading.read_rows(
        table,
        selection,
        missing=options["missing"],
        report=lambda share: bars.show("read", share),
        most_bytes=reading.MOST_BYTES_IN_MEMORY if streamed else None,
    )
    if len(rows) < 2:
        raise TableError(f"{table.name} has only 1 row to cluster. A fit needs two or more.")
    return selection, rows


def _way_out(error: TableError, command: str, data: str) -> str:
    if isinstance(error, NotNumbersError):
        if command == "predict":
            return "The model needs numbers there."
        them = "it" if len(error.columns) == 1 else "them"
        without = f"pskclust {command} {shlex.quote(data)} --drop {option_value(error.columns)}"
        return f"Leave {them} out with: {without}"
    if isinstance(error, MissingValuesError):
        ways = "--missing drop (no label for such rows), --missing mean"
        if command == "predict":
            return f"Go on with one of {ways}."
        return f"Go on with one of {ways}, --drop {option_value(tuple(error.counts))}."
    # Standard input may be a pipe; a device is refused there, too.
    if isinstance(error, SpecialFileError) and error.is_pipe and data != "-":
        return f"Or read it as standard input: pskclust {command} - < {shlex.quote(data)}"
    if isinstance(error, WrongEncodingError):
        return "Name its encoding, say with --encoding cp1252."
    if isinstance(error, ImageGivenError):
        return f"Images are for: pskclust segment {shlex.quote(data)} -o parts"
    if isinstance(error, WrongFormatError) and error.looks_like:
        return "Name its format with --format, or give it the right ending."
    return ""


def option_value(names: Sequence[str]) -> str:
    """Return names as an option takes them, quoted for a shell."""
    return shlex.quote(",".join(f'"{name}"' if "," in name else name for name in names))
