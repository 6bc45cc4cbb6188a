"""Dialect of a text table: delimiter, header and decimal point, detected from its beginning."""

from __future__ import annotations

import codecs
import csv
import io
import itertools
from collections import Counter
from dataclasses import dataclass

from .base import numbered
from .errors import TableError
from .number_texts import MISSING, is_boolean, is_number

_DELIMITERS = (",", "\t", ";", "|", " ")
_SAMPLE_ROWS = 200
_COMMENT = "#"


@dataclass(frozen=True)
class Dialect:
    """The format of a text table, and the columns that hold no numbers but booleans or text."""

    encoding: str
    delimiter: str
    n_comments: int  # lines above the table
    n_header_rows: int  # rows of the table that hold names: 0 or 1
    has_names: bool  # also true if the last comment names the columns
    decimal: str
    quotes: bool
    names: tuple[str, ...]
    booleans: frozenset[str]  # names of the columns of booleans
    texts: dict[str, str]  # name of each other column, and its first value that is not a number


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
    comments, text = _without_comments(text)
    try:
        delimiter = delimiter or _delimiter_of(text)
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
    return Dialect(
        encoding,
        delimiter,
        len(comments),
        n_header_rows,
        has_names,
        decimal,
        '"' in text,
        names,
        booleans,
        texts,
    )


def too_long_a_cell() -> TableError:
    """Return the error for a cell that the csv module rejects."""
    return TableError(
        f"a cell of this table is longer than the limit of {csv.field_size_limit():,} characters. "
        "Look for a quote that is not closed, or save the table without that column."
    )


def _without_comments(text: str) -> tuple[list[str], str]:
    """Return the lines above a table that start with #, and the text below them."""
    lines = text.split("\n")
    comments = list(itertools.takewhile(lambda line: line.startswith(_COMMENT), lines))
    below = "\n".join(lines[len(comments) :])
    # If all lines start with #, they are the table.
    return (comments, below) if below.strip() else ([], text)


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
    # A line of commas is a row of missing values, a line of spaces is empty.
    is_row = bool(delimiter.strip())
    filled = (row for row in rows if any(map(str.strip, row)) or (is_row and len(row) > 1))
    return list(itertools.islice(filled, _SAMPLE_ROWS))


def _delimiter_of(text: str) -> str:
    """Return the delimiter that splits the most rows into the same number of cells, two or more."""
    best, best_share = ",", 0.0
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
    if _are_numbers_of_columns(first) and all(row[0] for row in rows[1:]):
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


def _are_numbers_of_columns(cells: list[str]) -> bool:
    """Return whether cells are ``,0,1,2``: the header of a data frame without column names."""
    return len(cells) > 1 and cells == ["", *map(str, range(len(cells) - 1))]


def _are_booleans(cells: list[str], missing: tuple[str, ...]) -> bool:
    known = [cell for cell in cells if cell not in missing]
    return bool(known) and all(map(is_boolean, known))


def _names(cells: list[str]) -> tuple[str, ...]:
    """Return the names in a header; empty cells get numbered names."""
    return tuple(cell or number for cell, number in zip(cells, numbered(len(cells)), strict=True))


def _columns(rows: list[list[str]], width: int) -> list[list[str]]:
    return [[row[number] for row in rows if number < len(row)] for number in range(width)]
