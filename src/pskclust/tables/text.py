"""Tables of delimited text: the dialect is detected, then Arrow reads the rows in blocks."""

from __future__ import annotations

import contextlib
import csv
import io
import itertools
import re
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pacsv

from .._utils.wording import counted
from .arrow_values import release_memory, to_numbers
from .base import Batch, NamedColumns, batch_rows, checked_names
from .compressed import opened_stream
from .dialect import (
    Dialect,
    delimiter_of,
    encoding_of,
    known_encoding,
    line_of_open_quote,
    sniff,
)
from .errors import (
    MOST_STRAY_TEXTS,
    NotNumbersError,
    Strays,
    TableError,
    WrongEncodingError,
    WrongFormatError,
    advice_on,
)
from .formats import COMPRESSIONS
from .number_texts import FALSE, MISSING, TRUE, is_boolean, is_number

_HEAD_BYTES = 1 << 18
# Arrow reads about 40 blocks ahead. A line must fit into a block.
_BLOCK_BYTES = 1 << 20
_LINES_PER_BLOCK = 32
_LONGEST_TITLE = 60
# Values that are not numbers are counted among the first values of a column: this many, or the
# smaller number if most of them are text.
_VALUES_TO_COUNT = 1_000_000
_VALUES_OF_TEXT = 1_000
# Errors are distinguished by their messages: pyarrow cannot call a handler of invalid rows for text
# in another encoding.
_RAGGED = re.compile(r"CSV parse error: (?:Row #\d+: )?Expected (\d+) columns, got (\d+)")
_NO_NUMBER = re.compile(
    r"In CSV column #(\d+): .*CSV conversion error to (?:double|bool)(?:: invalid value '(.*)')?",
    re.DOTALL,
)


class TextTable(NamedColumns):
    """Table of delimited text, such as CSV or TSV."""

    def __init__(
        self,
        path: Path,
        name: str,
        *,
        delimiter: str | None = None,
        has_header: bool | None = None,
        encoding: str | None = None,
        missing_values: Sequence[str] = (),
    ) -> None:
        self._path = path
        missing = (*MISSING, *missing_values)
        head = self._head(name)
        encoding = known_encoding(encoding) if encoding else encoding_of(head)
        dialect = sniff(_decoded(head, encoding, name), encoding, delimiter, has_header, missing)
        if dialect.quotes and len(head) < _HEAD_BYTES:
            lines = io.StringIO(_decoded(head, encoding, name), newline="")
            line = _line_of_open_quote(lines, dialect)
            if line is not None:
                raise _open_quote(name, line)
        names = checked_names(dialect.names, name)
        super().__init__(name, names, has_names=dialect.has_names, missing=missing)
        self._strange = {
            column: f'is text ("{cell}"{advice_on(cell, dialect.pointed)})'
            for column, cell in dialect.texts.items()
        }
        self.dialect: Dialect = dialect
        if dialect.title:
            shown = textwrap.shorten(dialect.title, _LONGEST_TITLE, placeholder=" ...")
            line = dialect.n_skipped + 1
            self.notes = (f'"{shown}" looks like a title, so the table starts in line {line}.',)
        longest = max(map(len, head.split(b"\n")))
        self._block_bytes = max(_BLOCK_BYTES, _LINES_PER_BLOCK * longest)

    def batches(self, numbers: Sequence[str], others: Sequence[str] = ()) -> Iterator[Batch]:
        types = {name: pa.string() for name in others}
        types |= {name: self._type_of(name) for name in numbers}
        size = batch_rows(len(types))
        try:
            with opened_stream(self._path) as (stream, share):
                for block in self._blocks(stream, types):
                    for start in range(0, block.num_rows, size):
                        piece = block.slice(start, size)
                        carried = [piece.column(name) for name in others]
                        yield Batch(to_numbers(piece, numbers), carried, share())
        except (pa.ArrowException, UnicodeError) as error:
            raise self._explained(error) from error
        except OSError as error:
            raise TableError(f"{self.name} is damaged: {error}.") from error
        finally:
            release_memory()

    def _type_of(self, column: str) -> pa.DataType:
        return pa.bool_() if column in self.dialect.booleans else pa.float64()

    def _blocks(self, stream: Any, types: dict[str, pa.DataType]) -> Iterator[pa.RecordBatch]:
        dialect = self.dialect
        yield from pacsv.open_csv(
            stream,
            read_options=pacsv.ReadOptions(
                block_size=self._block_bytes,
                column_names=dialect.names,
                skip_rows=dialect.n_skipped,
                skip_rows_after_names=dialect.n_header_rows,
                encoding="utf8" if dialect.encoding == "utf-8-sig" else dialect.encoding,
            ),
            parse_options=pacsv.ParseOptions(
                delimiter=dialect.delimiter,
                newlines_in_values=dialect.quotes,
            ),
            convert_options=pacsv.ConvertOptions(
                column_types=types,
                include_columns=list(types),
                null_values=self.missing,
                true_values=_with_space(TRUE),
                false_values=_with_space(FALSE),
                strings_can_be_null=False,
                decimal_point=dialect.decimal,
            ),
        )

    def _head(self, name: str) -> bytes:
        """Return the beginning of the text, up to the end of a line."""
        try:
            with opened_stream(self._path) as (stream, _):
                head: bytes = stream.read(_HEAD_BYTES)
        except (pa.ArrowException, OSError) as error:
            kind = COMPRESSIONS.get(self._path.suffix.lower(), "text")
            raise WrongFormatError(name, kind, None) from error
        if len(head) == _HEAD_BYTES and b"\n" in head:
            head = head[: head.rindex(b"\n") + 1]
        if not head.strip():
            raise TableError(f"{name} is empty.")
        return head

    def _explained(self, error: Exception) -> TableError:
        """Return a TableError that names the cause of an error of Arrow and, if known, the line."""
        with opened_stream(self._path) as (stream, _):
            line = _line_of_open_quote(self._text_of(stream), self.dialect)
        if line is not None:
            return _open_quote(self.name, line)
        ragged = _RAGGED.match(str(error))
        if ragged:
            expected, found = map(int, ragged.groups())
            line = self._line_of(lambda row: len(row) != expected)
            return TableError(
                f"{self.name} is ragged: line {line:,} has {counted(found, 'column')} instead "
                f"of {expected}. Correct that line, or the delimiter."
            )
        about_column = _NO_NUMBER.search(str(error))
        if about_column:
            name = self.dialect.names[int(about_column.group(1))]
            strays = self.strays(name)
            words = self._words_on_cell(name, about_column.group(2))
            return NotNumbersError({name: words}, {name: strays} if strays else None)
        if isinstance(error, UnicodeError) or "UTF8" in str(error) or "UTF-8" in str(error):
            return WrongEncodingError(self.name, self.dialect.encoding)
        reason = str(error).splitlines()[0]
        return TableError(f"{self.name} cannot be read as a table ({reason}).")

    def _words_on_cell(self, column: str, cell: str | None) -> str:
        """Return words on a cell that Arrow does not read as a number."""
        if cell is None:
            return "holds a cell that is not a number"
        place = self.columns.index(column)
        line = self._line_of(lambda row: place < len(row) and row[place].strip() == cell.strip())
        where = f"line {line:,}: " if line else ""
        return f'holds a cell that is not a number ({where}"{cell}")'

    def place_of(self, row: int) -> str:
        numbered = itertools.islice(self._numbered_rows(), row + self.dialect.n_header_rows, None)
        found = next(numbered, None)
        return super().place_of(row) if found is None else f"line {found[0]:,}"

    def strays(self, column: str) -> Strays | None:
        place, decimal = self.columns.index(column), self.dialect.decimal
        n_strays = n_values = 0
        first: tuple[str, int] | None = None
        texts: dict[str, None] = {}
        is_all = True
        for number, (line, row) in enumerate(self._numbered_rows()):
            if number < self.dialect.n_header_rows or place >= len(row):
                continue
            # If most values are text, fewer of them are enough to show it.
            if first and n_values >= (
                _VALUES_TO_COUNT if 2 * n_strays < n_values else _VALUES_OF_TEXT
            ):
                is_all = False
                break
            cell = row[place].strip()
            n_values += cell not in self.missing
            if column in self.dialect.booleans:
                is_value = is_boolean(cell, self.missing)
            else:
                is_value = is_number(cell, decimal, self.missing)
            if not is_value:
                n_strays += 1
                first = first or (cell, line)
                if len(texts) <= MOST_STRAY_TEXTS:
                    texts[cell] = None
        return Strays(n_strays, n_values, *first, is_all, tuple(texts)) if first else None

    def _line_of(self, is_it: Callable[[list[str]], bool]) -> int:
        """Return the number of the first line whose row meets a condition; 0 if there is none."""
        return next((line for line, row in self._numbered_rows() if is_it(row)), 0)

    def detected_delimiter(self) -> str | None:
        """Return the delimiter that would be detected; None if no delimiter divides the rows."""
        return delimiter_of(_decoded(self._head(self.name), self.dialect.encoding, self.name))

    def _text_of(self, stream: Any) -> io.TextIOWrapper:
        return io.TextIOWrapper(stream, self.dialect.encoding, errors="replace", newline="")

    def _numbered_rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yield rows with their line numbers; slow, used only for messages."""
        with opened_stream(self._path) as (stream, _):
            lines = self._text_of(stream)
            n_skipped = self.dialect.n_skipped
            below = itertools.islice(lines, n_skipped, None)
            reader = csv.reader(below, delimiter=self.dialect.delimiter)
            # A damaged file is read up to the damage.
            with contextlib.suppress(csv.Error, OSError):
                for row in reader:
                    if row:
                        yield n_skipped + reader.line_num, row


def _line_of_open_quote(lines: Iterable[str], dialect: Dialect) -> int | None:
    """Return the number of the line with a quote that is not closed; None if unknown."""
    below = itertools.islice(lines, dialect.n_skipped, None)
    # A damaged file cannot be read to its end, and a cell may be too long for the csv module.
    with contextlib.suppress(csv.Error, OSError, pa.ArrowException):
        line = line_of_open_quote(below, dialect.delimiter)
        return None if line is None else dialect.n_skipped + line
    return None


def _open_quote(name: str, line: int) -> TableError:
    return TableError(
        f"{name} has a quote in line {line:,} that is not closed, so the lines below it are part "
        "of one cell. Close the quote, or remove it."
    )


def _with_space(words: Sequence[str]) -> list[str]:
    """Return words, and the same words after a space, which Arrow does not remove."""
    return [*words, *(f" {word}" for word in words)]


def _decoded(head: bytes, encoding: str, name: str) -> str:
    try:
        return head.decode(encoding)
    except UnicodeDecodeError as error:
        # The head may end in the middle of a character.
        if error.start > len(head) - 4:
            return head[: error.start].decode(encoding)
        raise WrongEncodingError(name, encoding) from error
