"""Output of commands: tables and facts for people, JSON for programs."""

from __future__ import annotations

import io
import json
import re
import shutil
import sys
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import click

_UNLIMITED = 10_000
_WIDTH_OF_FACTS = 100
_LEAST_WIDTH = 20
# A command in a message stands behind a colon, and ends with the message or before more words.
_COMMAND = re.compile(
    r"(?<=: )((?:pskclust|python -c|pip install) .+?)(?= \(otherwise | \(if | Then use: |$)",
    re.DOTALL,
)


def print_json(content: Mapping[str, Any]) -> None:
    """Print an object as JSON, for programs."""
    click.echo(json.dumps(content, indent=2, default=_plain))


def print_table(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    to_stderr: bool = False,
    narrow: Mapping[str, str] | None = None,
) -> None:
    """Print a table of right-aligned columns, with every heading and cell in full.

    On a terminal that is too narrow for all columns, only the columns in `narrow` are printed, with
    the headings given there.
    """
    width = _terminal_width(to_stderr)
    if narrow is not None and width is not None and _table_width(header, rows) > width:
        kept = [place for place, name in enumerate(header) if name in narrow]
        rows = [[row[place] for place in kept] for row in rows]
        header = [narrow[header[place]] for place in kept]
    # An even narrower terminal wraps the lines, so nothing is lost.
    _print(_table(header, rows), to_stderr, _UNLIMITED)


def _table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Any:
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for name in header:
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(*map(escaped, row), style="dim" if row[0] == "noise" else None)
    return table


def _table_width(header: Sequence[str], rows: Sequence[Sequence[str]]) -> int:
    from rich.console import Console

    console = Console(width=_UNLIMITED)
    return console.measure(_table(header, rows)).maximum


def print_facts(facts: Mapping[str, str], *, to_stderr: bool = False) -> None:
    """Print facts in two columns: names and values."""
    from rich.table import Table

    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in facts.items():
        table.add_row(name, "\n".join(map(escaped, value.split("\n"))))
    _print(table, to_stderr, _terminal_width(to_stderr) or _WIDTH_OF_FACTS)


def first_of(words: Sequence[str], most: int) -> str:
    """Return words in one line: only the first `most` if there are two or more further ones."""
    shown = words if len(words) <= most + 1 else [*words[:most], "..."]
    return ", ".join(shown)


def escaped(text: str) -> str:
    """Return a text with its control characters escaped, such as ``\\x1b``.

    The names and values of a table may come from anybody, and must not control the terminal.
    """
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in text)


def say(text: str, *, to_stderr: bool = False, indent: str = "") -> None:
    """Print a text; on a terminal, wrap it between words, with each command on a line of its own.

    Elsewhere, the text is one line. A command is never divided, so that it can be copied.
    """
    width = _terminal_width(to_stderr)
    if width is None:
        click.echo(indent + text, err=to_stderr)
        return
    start = len(text) - len(text.lstrip("\n"))
    click.echo("\n" * start, nl=False, err=to_stderr)
    for number, part in enumerate(_COMMAND.split(text[start:])):
        if number % 2:
            click.echo(f"{indent}  {part}", err=to_stderr)
        elif part.strip():
            lines = textwrap.wrap(
                part.strip(),
                max(_LEAST_WIDTH, width - 1),
                initial_indent=indent,
                subsequent_indent=indent,
                break_long_words=False,
                break_on_hyphens=False,
            )
            click.echo("\n".join(lines), err=to_stderr)


def _terminal_width(to_stderr: bool) -> int | None:
    """Return the width of the terminal in characters; None if the output goes elsewhere."""
    stream = sys.stderr if to_stderr else sys.stdout
    return shutil.get_terminal_size().columns if stream.isatty() else None


def _print(table: Any, to_stderr: bool, width: int) -> None:
    from rich.console import Console

    live = _terminal_width(to_stderr) is not None
    drawn = io.StringIO()
    console = Console(
        file=drawn, width=width, force_terminal=live, highlight=False, markup=False, emoji=False
    )
    console.print(table)
    # rich pads lines with spaces, which are removed here.
    click.echo("\n".join(line.rstrip() for line in drawn.getvalue().splitlines()), err=to_stderr)


def _plain(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else str(value)
