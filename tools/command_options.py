"""Write the options of every command into docs/command-line.md.

python tools/command_options.py
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import click

from pskclust.cli.app import cli

PAGE = Path(__file__).parents[1] / "docs/command-line.md"
START, END = "<!-- options: written by tools/command_options.py -->\n", "<!-- end of options -->"


def options_page() -> str:
    """Return tables of all options, a section for each command."""
    return "\n".join(_section(name, cli.commands[name]) for name in sorted(cli.commands))


def with_options(page: str) -> str:
    """Return a page with the options between the marks."""
    marks = re.escape(START), re.escape(END)
    between = START + "\n" + options_page() + "\n" + END
    return re.sub(f"{marks[0]}.*{marks[1]}", lambda match: between, page, flags=re.DOTALL)


def _section(name: str, command: click.Command) -> str:
    arguments = [p.make_metavar(click.Context(command)) for p in command.params if _is_argument(p)]
    options = [p for p in command.params if not _is_argument(p)]
    lines = [f"### pskclust {' '.join([name, *arguments])}", "", command.short_help or "", ""]
    if options:
        lines += ["| option | default | meaning |", "|---|---|---|", *map(_row, options), ""]
    return "\n".join(lines)


def _row(option: Any) -> str:
    names = ", ".join(f"`{name}`" for name in [*option.opts, *option.secondary_opts])
    choices = getattr(option.type, "choices", None)
    words = f" `{'` `'.join(choices)}`" if choices else ""
    return f"| {names}{words} | {_default(option)} | {option.help} |"


def _default(option: Any) -> str:
    if isinstance(option.show_default, str):
        return option.show_default
    if not option.show_default:
        return ""
    names = option.opts if option.default else option.secondary_opts
    return f"`{names[0]}`" if option.secondary_opts else f"{option.default}"


def _is_argument(parameter: click.Parameter) -> bool:
    return isinstance(parameter, click.Argument)


if __name__ == "__main__":
    PAGE.write_text(with_options(PAGE.read_text()))
