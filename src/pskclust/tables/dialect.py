"""Dialect of a text table: delimiter, header and decimal point, detected from its beginning."""

from __future__ import annotations

import codecs
import csv
import io
import itertools
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from .base import numbered
from .errors import TableError
from .number_texts import MISSING, is_boolean, is_number

_DELIMITERS = (",", "\t", ";", "|", " ")
_SAMPLE_ROWS = 200
_COMMENT = "#"
_MOST_TITLES = 10
# Stands for the end of a text; a cell that contains it is not closed.
_END = "\ue000"


@dataclass(frozen=True)
class Dialect:
    """The format of a text table, and the columns that hold no numbers but booleans or text."""

    encoding: str
    delimiter: str
    n_skipped: int  # lines above the table: comments, empty lines and titles
    n_header_rows: int  # rows of the table that hold names: 0 or 1
    has_names: bool  # also true if the last comment names the columns
    decimal: str
    quotes: bool
    names: tuple[str, ...]
    booleans: frozenset[str]  # names of the columns of booleans
    texts: dict[str, str]  # name of each other column, and its first value that is not a number
    pointed: tuple[str, str] | None  # a column of numbers with points, and one; None if commas
    title: str = ""  # the text above the table that looks like a title; empty if there is none


def encoding_of(head: bytes) -> str:
    """Return the encoding that the byte order mark shows; UTF-8 if there is no mark."""
    return "utf-16" if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)) else "utf-8-sig"


def known_encoding(name: str) -> str:
    """Return the standard name of an encoding; raise TableError if Python does not know it."""
    try:
        "a".encode(name)  # fails for codecs that do not encode text
        return codecs.lookup(name).name
    except LookupError:
        raise TableError(
            f"the encoding {name!r} is not known. Name one such as cp1252, latin-1 or utf-16."
        ) from None


def sniff(
    text: str,
    encoding: str,
    delimiter: str | None,
    has_header: bool | None,
    missing: tuple[str, ...] = MISSING,
) -> Dialect:
    """Return the dialect of a text; a delimiter or header that is given is not detected.

    Raise TableError if the text has no rows, or an implausibly long cell.
    """
    comments, n_skipped, text = _without_comments(text)
    try:
        delimiter = delimiter or _best_delimiter(text) or ","
        rows = [[cell.strip() for cell in row] for row in _first_rows(text, delimiter)]
        n_titles = _number_of_titles(rows, has_header)
        title = rows[0][0] if n_titles else ""
        if n_titles:
            n_lines = _lines_above(text, delimiter, n_titles)
            n_skipped += n_lines
            text = "\n".join(text.split("\n")[n_lines:])
            rows = [[cell.strip() for cell in row] for row in _first_rows(text, delimiter)]
    except csv.Error as error:
        raise too_long_a_cell() from error
    if not rows:
        raise TableError("this table has no rows, or only empty ones.")
    decimal = "," if delimiter != "," and _has_decimal_commas(rows) else "."
    looks_like_header = _first_row_is_header(rows, decimal, missing)
    n_header_rows = int(looks_like_header if has_header is None else has_header)
    names = _names(rows[0]) if n_header_rows else numbered(len(rows[0]))
    has_names = bool(n_header_rows)
    if comments and not looks_like_header and has_header is not False:
        in_comment = _names_in_comment(comments[-1], delimiter, len(rows[0]))
        if in_comment is not None:
            names, n_header_rows, has_names = in_comment, 0, True
    columns = dict(zip(names, _columns(rows[n_header_rows:], len(names)), strict=True))
    booleans = frozenset(name for name in names if _are_booleans(columns[name], missing))
    texts = {}
    for name in names:
        strays = (cell for cell in columns[name] if not is_number(cell, decimal, missing))
        stray = next(strays, None)
        if stray is not None and name not in booleans:
            texts[name] = stray
    points = (
        (name, cell)
        for name in names
        if name not in texts
        for cell in columns[name]
        if decimal == "." and "." in cell and is_number(cell)
    )
    return Dialect(
        encoding,
        delimiter,
        n_skipped,
        n_header_rows,
        has_names,
        decimal,
        '"' in text,
        names,
        booleans,
        texts,
        next(points, None),
        title,
    )


def too_long_a_cell() -> TableError:
    """Return the error for a cell that the csv module rejects."""
    return TableError(
        f"a cell of this table is longer than the limit of {csv.field_size_limit():,} characters. "
        "Look for a quote that is not closed, or save the table without that column."
    )


def delimiter_of(text: str) -> str | None:
    """Return the delimiter of a text; None if no delimiter divides its rows."""
    _, _, table = _without_comments(text)
    return _best_delimiter(table)


def line_of_open_quote(lines: Iterable[str], delimiter: str) -> int | None:
    """Return the number of the line with a quote that is not closed; None if all are closed."""
    opened = 0
    for number, line in enumerate(lines, start=1):
        if '"' not in line:
            continue
        # A line within quotes is parsed like a line that starts with a quote.
        text = f'"{line}' if opened else line
        row = next(csv.reader([text.rstrip("\r\n"), _END], delimiter=delimiter))
        is_same_cell = opened and len(row) == 1
        opened = (opened if is_same_cell else number) if _END in row[-1] else 0
    return opened or None


def _without_comments(text: str) -> tuple[list[str], int, str]:
    """Return the comments above a table, the number of lines above it, and the text below them.

    A comment starts with #. Lines without text between and above comments are skipped, too.
    """
    lines = text.split("\n")
    above = list(itertools.takewhile(_is_comment_or_empty, lines))
    comments = [line for line in above if line.strip()]
    if len(above) == len(lines):
        # If all lines start with #, they are the table.
        above = list(itertools.takewhile(lambda line: not line.strip(), lines))
        comments = []
    return comments, len(above), "\n".join(lines[len(above) :])


def _is_comment_or_empty(line: str) -> bool:
    return line.startswith(_COMMENT) or not line.strip()


def _number_of_titles(rows: list[list[str]], has_header: bool | None) -> int:
    """Return the number of rows above a table that look like a title.

    A title is a single text above a header, in rows of the same width. If the rows below the title
    are wider than two cells, they need no header. If the caller says whether there is a header,
    only rows that are narrower than the table can be a title.
    """
    above = itertools.takewhile(lambda row: _is_title(row) or not any(row), rows)
    n_titles = len(list(above)) if rows and _is_title(rows[0]) else 0
    below = rows[n_titles:]
    if not 0 < n_titles <= _MOST_TITLES or len(below) < 2:
        return 0
    width = len(below[0])
    if any(len(row) != width for row in below):
        return 0
    names_columns = all(below[0]) and not any(map(is_number, below[0]))
    has_numbers = any(cell and is_number(cell) for row in below[1:] for cell in row)
    is_narrower = all(len(row) < width for row in rows[:n_titles])
    if names_columns and has_numbers and (is_narrower or has_header is None):
        return n_titles
    return n_titles if is_narrower and width > 2 else 0


def _is_title(row: list[str]) -> bool:
    """Return whether only the first cell of a row is filled, with text."""
    return bool(row[0]) and not any(row[1:]) and not is_number(row[0])


def _lines_above(text: str, delimiter: str, n_rows: int) -> int:
    """Return the number of lines of the first rows, and of the empty lines below them."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    n_lines = 0
    for row in reader:
        if _is_row(row, delimiter):
            if not n_rows:
                break
            n_rows -= 1
        n_lines = reader.line_num
    return n_lines


def _names_in_comment(line: str, delimiter: str, width: int) -> tuple[str, ...] | None:
    """Return the names in a comment such as ``# x,y``; None if it does not name the columns."""
    for words in (line, line.lstrip(_COMMENT)):
        rows = _first_rows(words.strip(), delimiter)
        cells = [cell.strip() for cell in rows[0]] if rows else []
        if len(cells) == width and not any(map(is_number, cells)):
            return (cells[0].lstrip(f"{_COMMENT} ") or cells[0], *cells[1:])
    return None


def _first_rows(text: str, delimiter: str) -> list[list[str]]:
    """Return the first rows that are not empty; quoted cells may span several lines."""
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    filled = (row for row in rows if _is_row(row, delimiter))
    return list(itertools.islice(filled, _SAMPLE_ROWS))


def _is_row(cells: list[str], delimiter: str) -> bool:
    """Return whether a line is a row: a line of commas is one of missing values."""
    return any(map(str.strip, cells)) or (bool(delimiter.strip()) and len(cells) > 1)


def _best_delimiter(text: str) -> str | None:
    """Return the delimiter that splits the most rows into the same number of cells, two or more."""
    best, best_share = None, 0.0
    for delimiter in _DELIMITERS:
        rows = _first_rows(text, delimiter)
        if not rows:
            continue
        widths = Counter(map(len, rows))
        width, count = max(widths.items(), key=lambda item: (item[0] > 1, item[1], item[0]))
        share = count / len(rows)
        # In a table with semicolons, decimal commas may split rows as evenly as the semicolons. So
        # of equally good delimiters the first one wins, except that a semicolon beats a comma.
        if width > 1 and (share > best_share or (delimiter == ";" and share == best_share)):
            best, best_share = delimiter, share
    return best


def _has_decimal_commas(rows: list[list[str]]) -> bool:
    cells = [cell for row in rows for cell in row]
    with_comma = any("," in cell and is_number(cell, ",") for cell in cells)
    return with_comma and not any("." in cell and is_number(cell) for cell in cells)


def _first_row_is_header(rows: list[list[str]], decimal: str, missing: tuple[str, ...]) -> bool:
    """Return whether the first row names columns.

    It does if it holds no value but text, text above a column of values, or the numbers of the
    columns of a data frame.
    """
    first = rows[0]
    if not any(is_number(cell, decimal) or is_boolean(cell) for cell in first):
        return True
    if _are_numbers_of_columns(first, rows[1:]):
        return True
    for number, cell in enumerate(first):
        below = [row[number] for row in rows[1:] if number < len(row)]
        known = [other for other in below if other not in missing]
        numbers_below = known and all(is_number(other, decimal) for other in known)
        if numbers_below and not is_number(cell, decimal):
            return True
        if _are_booleans(below, missing) and not is_boolean(cell):
            return True
    return False


def _are_numbers_of_columns(first: list[str], below: list[list[str]]) -> bool:
    """Return whether cells are the header of a data frame without column names.

    With row names, that is ``,0,1,2``; without them, it is ``0,1,2``. The numbers 0 and 1 may also
    be the first row of a table of whole numbers.
    """
    if len(first) < 2:
        return False
    if first == ["", *map(str, range(len(first) - 1))]:
        return all(row[0] for row in below)
    if first != [*map(str, range(len(first)))]:
        return False
    return len(first) > 2 or any(cell and not cell.isdecimal() for row in below for cell in row)


def _are_booleans(cells: list[str], missing: tuple[str, ...]) -> bool:
    known = [cell for cell in cells if cell not in missing]
    return bool(known) and all(map(is_boolean, known))


def _names(cells: list[str]) -> tuple[str, ...]:
    """Return the names in a header; empty cells get numbered names."""
    return tuple(cell or number for cell, number in zip(cells, numbered(len(cells)), strict=True))


def _columns(rows: list[list[str]], width: int) -> list[list[str]]:
    return [[row[number] for row in rows if number < len(row)] for number in range(width)]
