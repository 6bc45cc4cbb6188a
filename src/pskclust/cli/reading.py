"""Opening and reading of DATA on the command line."""

from __future__ import annotations

import contextlib
import shlex
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from .._model_io.container import is_model_file
from ..tables.errors import TableError
from .bars import Bars
from .delaying import import_sklearn
from .failures import CommandError, ExitCode
from .haversine import check_degrees
from .remedies import way_out

if TYPE_CHECKING:
    from ..tables.base import Table
    from ..tables.reading import Rows
    from ..tables.selection import Selection

_FORMAT_NAMES = ("kind", "delimiter", "has_header", "encoding", "missing_values")


@contextlib.contextmanager
def opened_data(data: str, options: dict[str, Any]) -> Iterator[Table]:
    """Yield the table in DATA; a TableError in the block becomes one line with a remedy."""
    from ..tables.opening import opened_table

    import_sklearn()
    how = {name: options[name] for name in _FORMAT_NAMES}
    # The table stays open until a remedy is found, because the search may read some rows again.
    with contextlib.ExitStack() as opened:
        table: Table | None = None
        try:
            table = opened.enter_context(opened_table(data, standard_input=sys.stdin.buffer, **how))
            yield table
        except TableError as error:
            raise CommandError(_line_for(error, data, table), ExitCode.INPUT) from error


def _line_for(error: TableError, data: str, table: Table | None) -> str:
    if is_model_file(data):
        command = f"pskclust predict {shlex.quote(data)} DATA"
        return f"{data} is a model. Find the clusters of new rows with: {command}"
    return f"{error} {way_out(error, table)}".strip()


def read_data(
    table: Table, options: dict[str, Any], bars: Bars, *, streamed: bool
) -> tuple[Selection, Rows]:
    """Read the columns that options name; if `streamed`, a large table is not kept in memory."""
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
    check_degrees(table, selection, options)
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
