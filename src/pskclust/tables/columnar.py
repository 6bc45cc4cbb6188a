"""Parquet and Arrow files (Feather is Arrow by another name)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from .arrow_values import strange_columns, to_numbers
from .base import Batch, NamedColumns, batch_rows
from .errors import TableError, WrongFormatError
from .formats import first_bytes


class ParquetTable(NamedColumns):
    """A Parquet file."""

    def __init__(self, path: Path, name: str) -> None:
        try:
            file = pq.ParquetFile(path)
        except (pa.ArrowException, OSError) as error:
            raise WrongFormatError(name, "Parquet", None) from error
        schema = file.schema_arrow
        n_rows = file.metadata.num_rows
        super().__init__(name, checked_names(schema.names, name), n_rows=n_rows)
        self._strange = strange_columns(schema)
        self._file = file

    def batches(self, numbers: Sequence[str], others: Sequence[str] = ()) -> Iterator[Batch]:
        wanted = list(dict.fromkeys([*numbers, *others]))
        pieces = self._file.iter_batches(batch_rows(len(wanted)), columns=wanted)
        n_done = 0
        for piece in _readable(pieces, self.name):
            n_done += piece.num_rows
            yield _batch(piece, numbers, others, n_done / max(1, self.n_rows or 1))


class ArrowTable(NamedColumns):
    """An Arrow file or stream, mapped into memory, so that unused columns are never read."""

    def __init__(self, path: Path, name: str) -> None:
        self._path = path
        try:
            reader = self._open()
        except (pa.ArrowException, OSError) as error:
            raise WrongFormatError(name, "Arrow", None) from error
        super().__init__(name, checked_names(reader.schema.names, name))
        self._strange = strange_columns(reader.schema)

    def batches(self, numbers: Sequence[str], others: Sequence[str] = ()) -> Iterator[Batch]:
        size = batch_rows(len(numbers) + len(others))
        reader = self._open()
        n_pieces = getattr(reader, "num_record_batches", None)
        for number, whole in enumerate(_readable(self._pieces(reader), self.name), start=1):
            share = number / n_pieces if n_pieces else 0.0
            for start in range(0, whole.num_rows, size):
                yield _batch(whole.slice(start, size), numbers, others, share)

    def _open(self) -> Any:
        head = first_bytes(self._path, 6)
        stream = pa.memory_map(str(self._path))
        if head == b"ARROW1":
            return pa.ipc.open_file(stream)
        return pa.ipc.open_stream(stream)

    @staticmethod
    def _pieces(reader: Any) -> Iterator[pa.RecordBatch]:
        if not hasattr(reader, "num_record_batches"):
            return iter(reader)
        return (reader.get_batch(number) for number in range(reader.num_record_batches))


def checked_names(names: Sequence[str], table: str) -> tuple[str, ...]:
    """Return names of columns, all different, or raise TableError."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise TableError(f'{table} has two columns of the name "{twice[0]}". Rename one of them.')
    return tuple(names)


def _readable(pieces: Iterator[pa.RecordBatch], name: str) -> Iterator[pa.RecordBatch]:
    """Yield pieces; a file that ends too early or is damaged inside is said to be so."""
    try:
        yield from pieces
    except (pa.ArrowException, OSError) as error:
        reason = str(error).splitlines()[0]
        raise TableError(f"{name} is damaged and cannot be read to its end ({reason}).") from error


def _batch(
    piece: pa.RecordBatch, numbers: Sequence[str], others: Sequence[str], share: float
) -> Batch:
    carried = [piece.column(piece.schema.get_field_index(name)) for name in others]
    return Batch(to_numbers(piece, numbers), carried, share)
