"""Tables in Parquet and Arrow files; Feather version 2 is the Arrow format."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from .._utils.wording import counted
from .arrow_values import release_memory, strange_columns, to_numbers
from .base import Batch, NamedColumns, batch_rows, checked_names
from .errors import TableError, WrongFormatError, listed
from .formats import first_bytes

_BUFFER_BYTES = 1 << 20
# Exceptions that Arrow raises for damaged files, such as column names that are not valid text.
_DAMAGED = (pa.ArrowException, OSError, UnicodeDecodeError)


class ParquetTable(NamedColumns):
    """Table in one or more Parquet files with the same columns."""

    def __init__(self, paths: Sequence[Path], name: str) -> None:
        n_rows = 0
        strange: dict[str, str] = {}
        for number, path in enumerate(paths):
            own_name = name if len(paths) == 1 else str(path)
            try:
                with pq.ParquetFile(path) as file:
                    schema, n_own = file.schema_arrow, file.metadata.num_rows
                    names = schema.names
            except _DAMAGED as error:
                raise WrongFormatError(own_name, "Parquet", None) from error
            if number == 0:
                super().__init__(name, checked_names(names, name))
            _require_columns(self.columns, names, own_name, str(paths[0]))
            strange |= strange_columns(schema)
            n_rows += n_own
        self._paths, self.n_rows, self._strange = list(paths), n_rows, strange

    def batches(self, numbers: Sequence[str], others: Sequence[str] = ()) -> Iterator[Batch]:
        wanted = list(dict.fromkeys([*numbers, *others]))
        n_done = 0
        for piece in _readable(self._pieces(wanted), wanted, self.name):
            n_done += piece.num_rows
            yield _batch(piece, numbers, others, n_done / max(1, self.n_rows or 1))

    def _pieces(self, wanted: list[str]) -> Iterator[pa.RecordBatch]:
        for path in self._paths:
            # With pre_buffer, two whole row groups would be in memory at a time.
            with pq.ParquetFile(path, buffer_size=_BUFFER_BYTES, pre_buffer=False) as file:
                yield from file.iter_batches(batch_rows(len(wanted)), columns=wanted)


class DatasetTable(NamedColumns):
    """Table in a pyarrow dataset."""

    def __init__(self, dataset: Any, name: str) -> None:
        names = checked_names(dataset.schema.names, name)
        super().__init__(name, names, n_rows=dataset.count_rows())
        self._strange = strange_columns(dataset.schema)
        self._dataset = dataset

    def batches(self, numbers: Sequence[str], others: Sequence[str] = ()) -> Iterator[Batch]:
        wanted = list(dict.fromkeys([*numbers, *others]))
        # Few batches are read ahead, to limit memory.
        pieces = self._dataset.to_batches(
            columns=wanted,
            batch_size=batch_rows(len(wanted)),
            batch_readahead=2,
            fragment_readahead=1,
        )
        n_done = 0
        for piece in _readable(pieces, wanted, self.name):
            n_done += piece.num_rows
            yield _batch(piece, numbers, others, n_done / max(1, self.n_rows or 1))


class ArrowTable(NamedColumns):
    """Table in an Arrow file or stream, mapped into memory so that unused columns are not read."""

    def __init__(self, path: Path, name: str) -> None:
        self._path = path
        try:
            reader = self._open()
            names = reader.schema.names
        except _DAMAGED as error:
            raise WrongFormatError(name, "Arrow", None) from error
        super().__init__(name, checked_names(names, name))
        self._strange = strange_columns(reader.schema)

    def batches(self, numbers: Sequence[str], others: Sequence[str] = ()) -> Iterator[Batch]:
        wanted = list(dict.fromkeys([*numbers, *others]))
        size = batch_rows(len(wanted))
        reader = self._open()
        n_pieces = getattr(reader, "num_record_batches", None)
        pieces = _readable(self._pieces(reader), wanted, self.name)
        for number, whole in enumerate(pieces, start=1):
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


def parquet_files(folder: Path, name: str) -> list[Path]:
    """Return the Parquet files in a folder and its subfolders ``key=value``, sorted by name."""
    found = sorted(filter(_is_parquet, _inside(folder)))
    if not found:
        raise TableError(f"{name} is a folder without Parquet files. Name a file in it.")
    return found


def note_on_folder(folder: Path, name: str, read: Sequence[Path]) -> tuple[str, ...]:
    """Return a note on the files of a folder that are read, if others are not."""
    n_others = sum(not _is_parquet(path) for path in _inside(folder))
    if not n_others:
        return ()
    first, last = read[0].name, read[-1].name
    which = first if len(read) == 1 else f"{first} to {last}"
    are = "is" if len(read) == 1 else "are"
    others = f"{counted(n_others, 'other file')} {'is' if n_others == 1 else 'are'} not"
    return (
        f"{name} is a folder: {counted(len(read), 'Parquet file')} {are} read ({which}), {others}.",
    )


def _is_parquet(path: Path) -> bool:
    return path.suffix.lower() in (".parquet", ".pq")


def _inside(folder: Path) -> Iterator[Path]:
    """Yield the files in a folder and its subfolders ``key=value``."""
    try:
        for path in folder.iterdir():
            if path.name.startswith((".", "_")):
                continue
            if path.is_dir():
                # Other subfolders are skipped, so that no large tree is searched by mistake.
                if "=" in path.name:
                    yield from _inside(path)
            elif path.is_file():
                yield path
    except OSError as error:
        raise TableError(f"{folder} cannot be read: {error.strerror}.") from error


def _require_columns(
    expected: Sequence[str], found: Sequence[str], name: str, first_name: str
) -> None:
    if set(expected) != set(found):
        raise TableError(
            f"the columns of {name} differ from those of {first_name}: {listed(list(found))} "
            f"instead of {listed(list(expected))}."
        )


def _readable(
    pieces: Iterator[pa.RecordBatch], wanted: list[str], name: str
) -> Iterator[pa.RecordBatch]:
    """Yield the wanted columns of each batch after checking their offsets and indices.

    Raise TableError for a file that is cut short or damaged. By default, Arrow does not check
    offsets, and damaged ones would make it read memory outside the file.
    """
    try:
        for piece in pieces:
            chosen = piece.select(wanted)
            chosen.validate(full=True)
            yield chosen
    except _DAMAGED as error:
        reason = str(error).splitlines()[0]
        raise TableError(f"{name} is damaged and cannot be read to its end ({reason}).") from error
    finally:
        release_memory()


def _batch(
    piece: pa.RecordBatch, numbers: Sequence[str], others: Sequence[str], share: float
) -> Batch:
    carried = [piece.column(piece.schema.get_field_index(name)) for name in others]
    return Batch(to_numbers(piece, numbers), carried, share)
