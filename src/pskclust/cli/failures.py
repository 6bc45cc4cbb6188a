"""Errors of commands: one line on standard error, and an exit code."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from enum import IntEnum

import click

from .._utils.exceptions import ModelFileError
from .._utils.files import FULL
from ..tables.errors import TableError
from .display import escaped
from .options import as_options

# Packages of the extra `cli`. The library itself reports other missing packages.
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
    message = error.format_message()
    context = getattr(error, "ctx", None)
    if context is None:
        return message
    end = "" if message.endswith((".", "?")) else "."
    return f"{message}{end} See: {context.command_path} --help"
