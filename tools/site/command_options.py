"""The options of every command as Markdown, for the site."""

from __future__ import annotations

import inspect
import re
from typing import Any

import click

from pskclust.cli.app import cli


def options_page() -> str:
    """Return the ``--help`` of all commands as Markdown, one section for each."""
    return "\n".join(_section(name, cli.commands[name]) for name in sorted(cli.commands))


def _section(name: str, command: click.Command) -> str:
    arguments = [p.make_metavar(click.Context(command)) for p in command.params if _is_argument(p)]
    options = [p for p in command.params if not _is_argument(p)]
    lines = [
        f"### pskclust {name}",
        "",
        f"    pskclust {' '.join([name, *arguments])} [OPTIONS]",
        "",
    ]
    # In click, a form feed ends the help text, and a backspace marks lines not to be wrapped.
    lines += [_as_text(command.help or ""), ""]
    if options:
        lines += ["| option | default | meaning |", "|---|---|---|", *map(_row, options), ""]
    examples = re.findall(r"^  (pskclust .*)$", command.epilog or "", re.MULTILINE)
    return "\n".join([*lines, "```sh", *examples, "```", ""])


def _as_text(help_text: str) -> str:
    return inspect.cleandoc(help_text.partition("\f")[0]).replace("\b\n", "")


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
