"""Commands to copy: one that gives the same labels, and the typed command with changes."""

from __future__ import annotations

import csv
import io
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

import click
from click.core import ParameterSource

# Options that affect only output, time and memory.
_WITHOUT_EFFECT_ON_LABELS = (
    "output",
    "keep_columns",
    "model_file",
    "report",
    "force",
    "as_json",
    "n_jobs",
    "device",
    "scratch_dir",
    "checkpoint",
    "debug",
)
_ALWAYS = ("random_state",)
# Standard input cannot be read again, so the line says what to pass.
_STANDARD_INPUT, _SOURCE = "-", "yourfile"


def command_line(
    context: click.Context,
    *,
    keep: tuple[str, ...] = (),
    command: str | None = None,
    leave_out: tuple[str, ...] = (),
) -> str:
    """Return the command with the typed options that affect labels, and with the seed.

    `keep` names options to print although they do not affect labels, such as a required output.
    `command` names another command with the same options, except those in `leave_out`.
    """
    values = {
        str(parameter.name): context.params.get(str(parameter.name))
        for parameter in context.command.params
        if isinstance(parameter, click.Argument)
        or (parameter.name not in leave_out and _is_printed(context, str(parameter.name), keep))
    }
    return _line(command or str(context.info_name), context.command.params, values)


def typed_command(
    context: click.Context,
    changed: Mapping[str, Any],
    *,
    command: str | None = None,
    source: str = _SOURCE,
) -> str:
    """Return the command that was typed, with other values for some of its parameters.

    The values None and () leave an option out. `command` names another command, which gets the
    options that it shares with the typed command, and its arguments from `changed`. `source` is the
    file to pass to a command that reads standard input.
    """
    name = command or str(context.info_name)
    group = context.find_root().command
    target = context.command
    if command is not None:
        assert isinstance(group, click.Group)
        target = group.commands[command]
    typed = {name: value for name, value in context.params.items() if _is_typed(context, name)}
    known = {parameter.name for parameter in target.params}
    values = {k: v for k, v in {**typed, **changed}.items() if k in known and v not in (None, ())}
    return _line(name, target.params, values, source)


def option_value(names: Sequence[str]) -> str:
    """Return column names as the value of an option, quoted for a shell."""
    return shlex.quote(_with_commas(names))


def _line(
    command: str,
    parameters: Sequence[click.Parameter],
    values: Mapping[str, Any],
    source: str = _SOURCE,
) -> str:
    options: list[str] = []
    arguments: list[str] = []
    for parameter in parameters:
        name = str(parameter.name)
        if name not in values:
            continue
        value = values[name]
        if isinstance(parameter, click.Option):
            options += _words(parameter, value)
        else:
            arguments += list(value) if isinstance(value, tuple) else [str(value)]
    # After two dashes, a word that looks like an option is read as an argument.
    dashes = ["--"] if any(word.startswith("-") and word != "-" for word in arguments) else []
    words = [*options, *dashes, *arguments] if dashes else [*arguments, *options]
    line = shlex.join(["pskclust", command, *words])
    return f"{line} < {shlex.quote(source)}" if _STANDARD_INPUT in arguments else line


def _is_typed(context: click.Context, name: str) -> bool:
    return context.get_parameter_source(name) is ParameterSource.COMMANDLINE


def _is_printed(context: click.Context, name: str, keep: tuple[str, ...]) -> bool:
    if name in _WITHOUT_EFFECT_ON_LABELS and name not in keep:
        return False
    return name in context.params and (_is_typed(context, name) or name in _ALWAYS)


def _words(option: click.Option, value: Any) -> list[str]:
    flag = option.opts[0]
    if option.is_flag:
        return [flag if value else option.secondary_opts[0]] if value or _has_no(option) else []
    if isinstance(value, tuple | list):
        return [flag, _with_commas(value)]
    if isinstance(value, bool):
        return [flag, "yes" if value else "no"]
    # A tab in a line to copy would be lost.
    return [flag, "tab" if value == "\t" else str(value)]


def _has_no(option: click.Option) -> bool:
    return bool(option.secondary_opts)


def _with_commas(names: Sequence[Any]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(names)
    return line.getvalue()
