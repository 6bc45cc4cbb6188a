"""The command that gives the same labels as the one that runs."""

from __future__ import annotations

import csv
import io
import shlex
from typing import Any

import click
from click.core import ParameterSource

# They say where results go and how they are shown, or change time and memory only.
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


def command_line(
    context: click.Context,
    *,
    keep: tuple[str, ...] = (),
    command: str | None = None,
    leave_out: tuple[str, ...] = (),
) -> str:
    """Return the command with the options that were typed and affect labels, and the seed.

    `keep` names options to print all the same, such as an output without which nothing runs.
    `command` is another command of the same options, but for those to `leave_out`.
    """
    options, arguments = [], []
    for parameter in context.command.params:
        name = str(parameter.name)
        value = context.params.get(name)
        if isinstance(parameter, click.Argument):
            arguments += list(value) if isinstance(value, tuple) else [str(value)]
        elif isinstance(parameter, click.Option) and (
            name not in leave_out and _is_printed(context, name, keep)
        ):
            options += _words(parameter, value)
    # What looks like an option is an argument after two dashes.
    dashes = ["--"] if any(word.startswith("-") and word != "-" for word in arguments) else []
    words = [*options, *dashes, *arguments] if dashes else [*arguments, *options]
    return shlex.join(["pskclust", command or str(context.info_name), *words])


def _is_printed(context: click.Context, name: str, keep: tuple[str, ...]) -> bool:
    if name in _WITHOUT_EFFECT_ON_LABELS and name not in keep:
        return False
    typed = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
    return name in context.params and (typed or name in _ALWAYS)


def _words(option: click.Option, value: Any) -> list[str]:
    flag = max(option.opts, key=len)
    if option.is_flag:
        return [flag if value else option.secondary_opts[0]] if value or _has_no(option) else []
    if isinstance(value, tuple):
        return [flag, _with_commas(value)]
    if isinstance(value, bool):
        return [flag, "yes" if value else "no"]
    return [flag, str(value)]


def _has_no(option: click.Option) -> bool:
    return bool(option.secondary_opts)


def _with_commas(names: tuple[str, ...]) -> str:
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(names)
    return line.getvalue()
