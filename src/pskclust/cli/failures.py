"""Errors of commands: one line on standard error, and an exit code."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterator
from enum import IntEnum

import click
from click.core import ParameterSource

from .._utils.exceptions import ModelFileError
from .._utils.files import FULL
from ..tables.errors import TableError
from .display import escaped
from .options import as_options

# Packages of the extra `cli`. The library itself reports other missing packages.
_EXTRA_ARGUMENTS = re.compile(r"Got unexpected extra arguments? \((.*)\)\.?", re.DOTALL)
_OF_THE_COMMAND_LINE = ("pyarrow", "rich")


class ExitCode(IntEnum):
    """Exit codes of commands."""

    OK = 0
    FAILED = 1
    USAGE = 2
    INPUT = 3
    OUTPUT = 4
    MEMORY = 5
    INTERRUPTED = 130
    CLOSED_PIPE = 141  # as of a program that the signal SIGPIPE ends


class CommandError(Exception):
    """An error that the command prints as one line."""

    def __init__(self, message: str, code: ExitCode) -> None:
        super().__init__(message)
        self.code = code


@contextlib.contextmanager
def writing(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turn a system error in the block into a CommandError that names the output."""
    try:
        yield
    except BrokenPipeError:
        raise
    except OSError as error:
        name = "standard output" if os.fspath(path) == "-" else os.fspath(path)
        reason = error.strerror or str(error)
        raise CommandError(f"{name} could not be written: {reason}.", ExitCode.OUTPUT) from error


def end_of(error: BaseException) -> tuple[str, ExitCode]:
    """Return the message and the exit code for an error."""
    if isinstance(error, CommandError):
        return str(error), error.code
    if isinstance(error, KeyboardInterrupt | click.Abort):
        return "interrupted. No incomplete file was left behind.", ExitCode.INTERRUPTED
    if isinstance(error, click.ClickException):
        return _usage_line(error), ExitCode.USAGE
    if isinstance(error, MemoryError):
        return str(error) or "memory ran out.", ExitCode.MEMORY
    if isinstance(error, ModuleNotFoundError) and error.name in _OF_THE_COMMAND_LINE:
        line = f'this command needs {error.name}. Install it with: pip install "pskclust[cli]"'
        return line, ExitCode.FAILED
    if isinstance(error, ImportError):
        return str(error), ExitCode.FAILED
    if isinstance(error, FileNotFoundError) and error.filename:
        return f"there is no file {error.filename}.", ExitCode.INPUT
    if isinstance(error, TableError | ModelFileError):
        return str(error), ExitCode.INPUT
    if isinstance(error, ValueError | TypeError):
        return as_options(str(error)), ExitCode.INPUT
    if isinstance(error, OSError) and error.errno in FULL and error.filename:
        return f"{error.filename} could not be written: {error.strerror}.", ExitCode.OUTPUT
    if isinstance(error, OSError):
        return _words_of_system(error), ExitCode.FAILED
    line = f"{type(error).__name__}: {error} (--debug shows where)"
    return line, ExitCode.FAILED


def one_line(message: str) -> str:
    """Return a message without line breaks, and with control characters escaped."""
    return escaped(" ".join(message.split()))


def _words_of_system(error: OSError) -> str:
    """Return the message of a system error without its number."""
    if not error.strerror:
        return str(error)
    return f"{error.filename}: {error.strerror}" if error.filename else error.strerror


def _usage_line(error: click.ClickException) -> str:
    context = getattr(error, "ctx", None)
    if isinstance(error, click.NoSuchOption):
        message = _on_unknown_option(error, context)
    else:
        message = _without_list(error.format_message(), context)
    if context is None:
        return message
    end = "" if message.endswith((".", "?", "?)")) else "."
    return f"{message}{end} See: {context.command_path} --help"


def _on_unknown_option(error: click.NoSuchOption, context: click.Context | None) -> str:
    """Return a message that suggests options with a similar name, or commands with this option."""
    near = [name for name in error.possibilities or () if name != "--help"]
    message = click.NoSuchOption(error.option_name, error.message, near, context).format_message()
    if near or context is None:
        return message
    group = context.find_root().command
    others = getattr(group, "commands", {})
    having = [
        name
        for name, command in others.items()
        if any(error.option_name in parameter.opts for parameter in command.params)
    ]
    end = "" if message.endswith(".") else "."
    return f"{message}{end} It is an option of {_and(having)}." if having else message


def _and(words: list[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


def _without_list(message: str, context: click.Context | None) -> str:
    """Return a message about unexpected arguments with the first of them only.

    If an option with several values was typed, the arguments may be meant as its values.
    """
    found = _EXTRA_ARGUMENTS.fullmatch(message)
    if found is None:
        return message
    names = found[1].split()
    more = f" and {len(names) - 2} more" if len(names) > 3 else ""
    shown = " ".join(names[:2] if more else names)
    line = f"one file at a time: leave out {shown}{more}."
    flags = [] if context is None else _typed_lists(context)
    if not flags:
        return line
    return f"{line} Separate the values of {_and(flags)} by commas, without spaces: {flags[0]} a,b."


def _typed_lists(context: click.Context) -> list[str]:
    """Return the typed options that take several values, separated by commas."""
    lists = (tuple, list)
    return [
        option.opts[0]
        for option in context.command.params
        if isinstance(option, click.Option)
        and isinstance(context.params.get(str(option.name)), lists)
        and context.get_parameter_source(str(option.name)) is ParameterSource.COMMANDLINE
    ]
