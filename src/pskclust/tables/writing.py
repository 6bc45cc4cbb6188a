"""Writers of tables, batch by batch: CSV, TSV, Parquet or Arrow, by file extension."""

from __future__ import annotations

import contextlib
import csv
import io
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from .._utils.files import replacing
from .errors import TableError

if TYPE_CHECKING:
    import pyarrow as pa

Write = Callable[["pa.RecordBatch"], None]

_KINDS = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
}


def output_kind(path: Path) -> str:
    """Return the format for a file extension; raise TableError if it is unknown."""
    kind = _KINDS.get(path.suffix.lower())
    if kind is None:
        raise TableError(f"{path} has an unknown extension. Use one of {', '.join(_KINDS)}.")
    return kind


@contextlib.contextmanager
def table_file(path: Path, schema: pa.Schema) -> Iterator[Write]:
    """Yield a function that writes batches to a file, which is written completely or not at all."""
    with replacing(path) as stream, table_stream(stream, output_kind(path), schema) as write:
        yield write


@contextlib.contextmanager
def table_stream(stream: BinaryIO, kind: str, schema: pa.Schema) -> Iterator[Write]:
    """Yield a function that writes batches of rows to a stream."""
    writer = _writer(stream, kind, schema)
    try:
        yield writer.write_batch if kind == "parquet" else writer.write
    except BaseException:
        # Closing writes the remaining rows, which may fail again.
        with contextlib.suppress(Exception):
            writer.close()
        raise
    writer.close()


def _writer(stream: BinaryIO, kind: str, schema: pa.Schema) -> Any:
    import pyarrow as pa

    if kind == "parquet":
        from pyarrow import parquet

        return parquet.ParquetWriter(stream, schema)
    if kind == "arrow":
        return pa.ipc.new_file(stream, schema)
    return _TextWriter(stream, "\t" if kind == "tsv" else ",", schema)


class _TextWriter:
    """Writer of delimited text, with quotes only in batches that need them."""

    def __init__(self, stream: BinaryIO, delimiter: str, schema: pa.Schema) -> None:
        import pyarrow as pa
        from pyarrow import csv as pacsv

        self._stream = stream
        self._delimiter = delimiter
        self._write_lines([schema.names])
        # Arrow quotes all texts or none, so there is a writer for each.
        self._plain, self._quoting = (
            pacsv.CSVWriter(
                stream,
                schema,
                write_options=pacsv.WriteOptions(
                    include_header=False,
                    delimiter=delimiter,
                    batch_size=1 << 14,
                    quoting_style=style,
                ),
            )
            for style in ("none", "needed")
        )
        self._texts = [
            place
            for place, field in enumerate(schema)
            if pa.types.is_string(field.type) or pa.types.is_large_string(field.type)
        ]

    def write(self, batch: pa.RecordBatch) -> None:
        if batch.num_columns == 1 and batch.column(0).null_count:
            # A missing value becomes "" here, because readers skip empty lines.
            self._write_lines(zip(batch.column(0).to_pylist(), strict=True))
            return
        writer = self._quoting if self._needs_quotes(batch) else self._plain
        writer.write(batch)

    def close(self) -> None:
        self._plain.close()
        self._quoting.close()

    def _write_lines(self, rows: Iterable[Sequence[Any]]) -> None:
        lines = io.StringIO()
        csv.writer(lines, delimiter=self._delimiter, lineterminator="\n").writerows(rows)
        self._stream.write(lines.getvalue().encode())

    def _needs_quotes(self, batch: pa.RecordBatch) -> bool:
        from pyarrow import compute

        return any(
            compute.any(compute.match_substring_regex(batch.column(place), '[,"\t\r\n]')).as_py()
            for place in self._texts
        )
