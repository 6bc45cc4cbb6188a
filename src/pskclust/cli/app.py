"""The command ``pskclust``: all its commands, and the conversion of errors to exit codes."""

from __future__ import annotations

import os
import shlex
import sys
import traceback
import warnings
from collections.abc import Sequence
from typing import Any

import click

from .._utils.exceptions import ColumnsWarning
from .._version import __version__
from .completion import completion
from .demo import demo
from .display import say
from .explore import explore
from .failures import CommandError, ExitCode, end_of, one_line
from .fit import fit
from .info import info
from .options import RunOptions, as_options
from .plan import plan
from .predict import predict
from .segment import segment
from .sweep import sweep

_EPILOG = """\b
Exit codes: 0 done, 1 failed, 2 wrong usage, 3 input that cannot be used,
4 output that cannot be written, 5 too little memory, 130 interrupted,
141 closed pipe.

\b
Example:
  pskclust demo
  pskclust fit demo.csv --label shape --report demo.html
"""


class _Commands(click.Group):
    def resolve_command(
        self, context: click.Context, arguments: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = arguments[0]
        # The user may have left out the command before a file.
        if name not in self.commands and os.path.isfile(name):
            example = shlex.join(["pskclust", "fit", name])
            line = f"{name} is a file, not a command. Cluster its rows with: {example}"
            raise CommandError(line, ExitCode.USAGE)
        return super().resolve_command(context, arguments)

    def invoke(self, context: click.Context) -> Any:
        try:
            return super().invoke(context)
        except KeyboardInterrupt as error:
            # Caught before click, which always prints an empty line. Only a terminal shows ^C, from
            # which the message must be separated.
            if sys.stderr.isatty():
                click.echo(err=True)
            raise CommandError(*end_of(error)) from error
        except BrokenPipeError as error:
            # Caught before click, which would exit with code 1.
            raise _ClosedPipeError from error


class _ClosedPipeError(Exception):
    """The reader of the output has closed the pipe."""


@click.group(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog=_EPILOG,
)
@click.version_option(__version__, prog_name="pskclust", message="%(prog)s %(version)s")
def cli() -> None:
    """Point-set kernel clustering: find clusters of any shape, and their number."""


for _command in (fit, predict, sweep, segment, explore, demo, info, plan, completion):
    cli.add_command(_command)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code."""
    settings = RunOptions()
    # Pictures are written to files, so Matplotlib needs no display.
    os.environ.setdefault("MPLBACKEND", "agg")
    try:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning
            # Commands give hints on columns themselves, with options in place of Python code.
            warnings.simplefilter("ignore", ColumnsWarning)
            warnings.filterwarnings("default", "All values of X .* radians", ColumnsWarning)
            code = cli.main(
                list(sys.argv[1:] if arguments is None else arguments),
                prog_name="pskclust",
                standalone_mode=False,
                obj=settings,
            )
        sys.stdout.flush()
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return ExitCode.USAGE
    except (_ClosedPipeError, BrokenPipeError):
        # The reader of the output has closed the pipe. Python would report this again at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.CLOSED_PIPE
    except (Exception, KeyboardInterrupt) as error:
        if settings.debug:
            traceback.print_exc()
        line, failure = end_of(error)
        say(f"Error: {one_line(line)}", to_stderr=True)
        return failure
    return code if isinstance(code, int) else ExitCode.OK


def _show_warning(message: Warning | str, *about: Any, **more: Any) -> None:
    say(f"Warning: {one_line(as_options(str(message)))}", to_stderr=True)
