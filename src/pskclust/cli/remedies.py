"""Remedies for errors about tables: the typed command, changed so that it works."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from ..tables.errors import (
    EmptyColumnsError,
    EmptyLabelError,
    GapsError,
    ImageGivenError,
    MissingValuesError,
    NoRowLeftError,
    NotNumbersError,
    SpecialFileError,
    TableError,
    UnknownColumnError,
    WeightsError,
    WrongEncodingError,
    WrongFormatError,
)
from .conversion import conversion
from .repeating import typed_command

if TYPE_CHECKING:
    from ..tables.base import Table

# Values of --format, by the name of the format in the error.
_FORMATS = {"text": "csv", "Parquet": "parquet", "Arrow": "arrow", "NPY": "npy", "NPZ": "npz"}
_FORMAT_OPTIONS = ("kind", "delimiter", "has_header", "encoding")
_COMPRESSIONS = ("gzip", "bzip2", "zstd")
_FEWEST_ROWS = 2


def way_out(error: TableError, table: Table | None) -> str:
    """Return the last sentence of an error message, with a command to copy; empty if unknown.

    `table` is None if the table could not be opened.
    """
    typed = _Typed(click.get_current_context(), table)
    if isinstance(error, NotNumbersError | UnknownColumnError):
        in_other_cells = _without_delimiter(typed)
        if in_other_cells is not None:
            return in_other_cells
    for kind, sentence in _SENTENCES.items():
        if isinstance(error, kind):
            return sentence(error, typed)
    return ""


class _Classes(NamedTuple):
    """The columns that look like known classes, and the command with the first as --label."""

    names: list[str]
    command: str


class _Typed:
    """The command as it was typed, and changes to it."""

    def __init__(self, context: click.Context, table: Table | None) -> None:
        self._context, self.table = context, table
        self.options: dict[str, Any] = context.params
        self.is_predict = context.info_name == "predict"

    def with_(self, command: str | None = None, source: str = "yourfile", **changed: Any) -> str:
        return typed_command(self._context, changed, command=command, source=source)

    def without_columns(self, names: Sequence[str], **changed: Any) -> str | None:
        """Return the command without some columns; None if no column is left."""
        if self.table is None:
            return None
        options = {**self.options, **changed}
        taken = {*names, *options["drop"], *options["ids"], options["label"], options["weight"]}
        asked = options["columns"]
        left = [name for name in asked or self.table.columns if name not in taken]
        if asked and not left:
            unusable = {*taken, *self.table.not_numbers()}
            left = [name for name in self.table.columns if name not in unusable]
        if not left:
            return None
        if asked:
            return self.with_(**{**changed, "columns": tuple(left)})
        return self.with_(**{**changed, "drop": (*options["drop"], *names)})

    def decorated(self, error: NotNumbersError) -> list[str]:
        """Return the columns of an error that hold numbers with separators or currency signs."""
        if self.table is None:
            return []
        found = {name: self.table.strays(name) for name in error.columns}
        return [name for name, strays in found.items() if strays and strays.are_decorated]

    def as_classes(self, names: Sequence[str]) -> _Classes | None:
        """Return the columns that look like classes; None if there are none."""
        from ..tables.classes import looks_like_classes

        options = self.options
        if self.table is None or options["label"] or options["columns"]:
            return None
        if self.without_columns(names) is None:
            return None
        found = [
            name
            for name in names
            if name != options["weight"] and looks_like_classes(self.table, name)
        ]
        if not found:
            return None
        others = tuple(name for name in names if name != found[0])
        return _Classes(found, self.with_(label=found[0], drop=(*options["drop"], *others)))

    def with_comma_in_name(self) -> str | None:
        """Return the command with quotes around a name with a comma; None if no name has one."""
        if self.table is None:
            return None
        for option in ("columns", "drop", "ids"):
            typed = list(self.options[option])
            for name in self.table.columns:
                parts = [part.strip() for part in name.split(",")]
                for start in range(len(typed)):
                    if len(parts) > 1 and typed[start : start + len(parts)] == parts:
                        mended = (*typed[:start], name, *typed[start + len(parts) :])
                        return typed_command(self._context, {option: mended})
        return None


def _without_delimiter(typed: _Typed) -> str | None:
    """Return the command without --delimiter, if another delimiter is detected; None otherwise."""
    from ..tables.text import TextTable

    if typed.options["delimiter"] is None or not isinstance(typed.table, TextTable):
        return None
    detected = typed.table.detected_delimiter()
    if detected in (None, typed.options["delimiter"]):
        return None
    shown = "a tab" if detected == "\t" else f"'{detected}'"
    return f"Rows look separated by {shown}. Leave --delimiter out: {typed.with_(delimiter=None)}"


def _not_numbers(error: NotNumbersError, typed: _Typed) -> str:
    decorated = typed.decorated(error)
    if decorated:
        return _decorated(decorated, error, typed)
    texts = [name for name in error.columns if name not in error.strays]
    if typed.is_predict and texts:
        return "The model needs numbers in all its columns."
    if error.strays:
        return _strays(error, texts, typed)
    others = typed.without_columns(error.columns)
    if others is None:
        return "There is no column of numbers to cluster." if typed.table is not None else ""
    if typed.options["columns"]:
        return f"Cluster other columns with: {others}"
    them = "it" if len(error.columns) == 1 else "them"
    classes = typed.as_classes(texts)
    if classes is None:
        return f"Leave {them} out with: {others}"
    listed = " or ".join(f'"{name}"' for name in classes.names)
    return (
        f"Leave {them} out with: {others} (if {listed} holds known classes, name that column with "
        "--label instead of --drop)"
    )


def _strays(error: NotNumbersError, texts: list[str], typed: _Typed) -> str:
    """Return the remedy for columns of numbers with other values; `texts` hold text throughout."""
    strays = "them" if _has_several_strays(error) else "it"
    stand = "they stand for missing values" if strays == "them" else "it stands for a missing value"
    as_missing = _as_missing(error, texts, typed)
    if texts:
        listed = ", ".join(f'"{name}"' for name in texts)
        if as_missing is not None:
            values = "the values" if strays == "them" else "the value"
            return (
                f"Leave {listed} out, and correct {values}. Or, if {stand}, do both with: "
                f"{as_missing}"
            )
        command = typed.without_columns(texts)
        return f"Correct {strays}, then leave {listed} out with: {command}" if command else ""
    if as_missing is not None:
        return f"Correct {strays}, or, if {stand}, use: {as_missing}"
    if typed.is_predict:
        return "The model needs numbers in all its columns."
    others = typed.without_columns(error.columns)
    if others is None:
        return f"Correct {strays}: there is no other column of numbers to cluster."
    if typed.options["columns"]:
        return f"Correct {strays}, or cluster other columns with: {others}"
    column = "column" if len(error.columns) == 1 else "columns"
    return f"Correct {strays}, or leave the {column} out with: {others}"


def _has_several_strays(error: NotNumbersError) -> bool:
    return sum(strays.n_strays for strays in error.strays.values()) > 1


def _as_missing(error: NotNumbersError, texts: list[str], typed: _Typed) -> str | None:
    """Return the command in which stray words are missing values; None if that is unlikely.

    The command leaves out the columns `texts`, which hold text throughout.
    """
    if not all(strays.may_be_missing for strays in error.strays.values()):
        return None
    words = (text for strays in error.strays.values() for text in strays.texts)
    known = tuple(dict.fromkeys([*typed.options["missing_values"], *words]))
    missing = typed.options["missing"]
    missing = "drop" if missing in (None, "refuse") else missing
    if texts:
        return typed.without_columns(texts, missing_values=known, missing=missing)
    return typed.with_(missing_values=known, missing=missing)


def _decorated(names: Sequence[str], error: NotNumbersError, typed: _Typed) -> str:
    """Return the commands that convert numbers with signs to remove, and then cluster them."""
    others = [name for name in error.columns if name not in names]
    converted = conversion(typed.table, typed.options["data"], names)
    if typed.options["data"] == "-":
        return (
            "Save the table to a file first: for a file, this message ends in a command that "
            "converts the numbers."
        )
    if converted is None:
        command = typed.without_columns(others) if others else None
        listed = ", ".join(f'"{name}"' for name in others)
        return f"Then leave {listed} out with: {command}" if command else ""
    changed: dict[str, Any] = {"data": converted.path, **dict.fromkeys(_FORMAT_OPTIONS)}
    command = (
        typed.without_columns(others, **changed)
        if others and not typed.is_predict
        else typed.with_(**changed)
    )
    if command is None:
        command = typed.with_(**changed)
    how = "Convert them"
    if converted.is_guess:
        how = "If the points are decimal points, convert the commas"
    return f"{how} with: {converted.command} Then use: {command}"


def _missing_values(error: MissingValuesError, typed: _Typed) -> str:
    if typed.is_predict:
        command = typed.with_(missing="drop")
        return f"Use column means with --missing mean, or give such rows no label with: {command}"
    if error.empty_columns:
        return _empty_columns(error, typed)
    classes = typed.as_classes(tuple(error.counts)) if len(error.counts) == 1 else None
    if classes is not None:
        return (
            f'If "{classes.names[0]}" holds known classes, use: {classes.command} '
            "(otherwise add --missing drop to give such rows no label, or --missing mean to use "
            "column means)"
        )
    if _few_rows_have_gaps(error) or typed.options["weight"] in error.counts:
        command = typed.with_(missing="drop")
        return f"Use column means with --missing mean, or leave such rows out with: {command}"
    return f"Use column means for missing values with: {typed.with_(missing='mean')}"


def _unknown_column(error: UnknownColumnError, typed: _Typed) -> str:
    command = None if typed.is_predict else typed.with_comma_in_name()
    return f"A name with a comma needs quotes: {command}" if command else ""


def _no_row_left(error: NoRowLeftError, typed: _Typed) -> str:
    if error.empty_columns:
        return _empty_columns(error, typed)
    weight = typed.options["weight"]
    if weight in error.counts:
        command = typed.without_columns((weight,), weight=None, missing="mean")
        return f"Leave the weights out and use column means with: {command}" if command else ""
    return f"Use column means for missing values with: {typed.with_(missing='mean')}"


def _empty_columns(error: GapsError | EmptyColumnsError, typed: _Typed) -> str:
    if isinstance(error, EmptyColumnsError):
        names, changed = error.columns, {}
    else:
        names = error.empty_columns
        others = set(error.counts) - set(names)
        changed = {"missing": "mean" if others else None}
    weight = typed.options["weight"]
    if weight in names:
        changed["weight"] = None
    command = typed.without_columns(names, **changed)
    if command is None:
        return ""
    which = "the empty column" if len(names) == 1 else "the empty columns"
    return f"Leave out {which} with: {command}"


def _weights(error: WeightsError, typed: _Typed) -> str:
    if error.has_gaps:
        return f"Leave rows without a weight out with: {typed.with_(missing='drop')}"
    command = typed.without_columns((error.column,), weight=None)
    return f"Cluster without weights with: {command}" if command else ""


def _empty_label(error: EmptyLabelError, typed: _Typed) -> str:
    command = typed.without_columns((error.column,), label=None)
    return f"Leave the column out with: {command}" if command else ""


def _special_file(error: SpecialFileError, typed: _Typed) -> str:
    data = typed.options["data"]
    # A pipe can be read from standard input; a device is refused there, too.
    if not error.is_pipe or data == "-":
        return ""
    return f"Or read it from standard input: {typed.with_(data='-', source=data)}"


def _wrong_encoding(error: WrongEncodingError, typed: _Typed) -> str:
    # Latin-1 can decode any bytes, so it is the last resort.
    other = "latin-1" if typed.options["encoding"] else "cp1252"
    return f"Name its encoding, such as: {typed.with_(encoding=other)}"


def _image_given(error: ImageGivenError, typed: _Typed) -> str:
    segment = typed.with_("segment", images=(typed.options["data"],), output="parts")
    return f"Segment images with: {segment}"


def _wrong_format(error: WrongFormatError, typed: _Typed) -> str:
    kind = _FORMATS.get(error.looks_like or "")
    if kind is not None:
        return f"Name its format with: {typed.with_(kind=kind)}"
    is_compressed = error.looks_like in _COMPRESSIONS
    return "Give it the right extension, such as .csv.gz." if is_compressed else ""


def _few_rows_have_gaps(error: GapsError) -> bool:
    n_left = error.n_all - error.n_rows
    return n_left >= max(_FEWEST_ROWS, error.n_rows)


_SENTENCES: dict[type[TableError], Callable[[Any, _Typed], str]] = {
    NotNumbersError: _not_numbers,
    UnknownColumnError: _unknown_column,
    MissingValuesError: _missing_values,
    NoRowLeftError: _no_row_left,
    EmptyColumnsError: _empty_columns,
    WeightsError: _weights,
    EmptyLabelError: _empty_label,
    SpecialFileError: _special_file,
    WrongEncodingError: _wrong_encoding,
    ImageGivenError: _image_given,
    WrongFormatError: _wrong_format,
}
