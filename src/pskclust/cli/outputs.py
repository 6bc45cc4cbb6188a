"""Checks of output files, made before any work is done."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

import click

from ..tables.errors import TableError
from ..tables.writing import output_kind
from .failures import CommandError, ExitCode

STANDARD_OUTPUT = "-"
_PICTURES = (".png", ".svg", ".pdf")
_PAGES = (".html", ".htm")


def check_outputs(outputs: Iterable[str | None], inputs: Iterable[str], *, force: bool) -> None:
    """Raise CommandError for the first output file that cannot be written."""
    taken = {os.path.realpath(name): "is the input" for name in inputs}
    for name in outputs:
        if name is None or name == STANDARD_OUTPUT:
            continue
        path = Path(name)
        real = os.path.realpath(path)
        if real in taken:
            raise _refused(f"{name} {taken[real]}. Choose another name for the output.")
        taken[real] = "is used for two outputs"
        if path.is_dir():
            raise _refused(f"{name} is a folder. Name a file for the output.")
        if path.exists() and not force:
            raise _refused(f"{name} exists. Overwrite it with --force.")
        if not path.parent.is_dir():
            raise _refused(
                f"there is no folder {path.parent} to write {path.name} to. Create it first."
            )
        if not os.access(path.parent, os.W_OK):
            raise _refused(f"the folder {path.parent} cannot be written to. Choose another folder.")


def check_labels_output(name: str | None) -> None:
    """Raise a usage error for a label file with an unknown extension."""
    if name is None or name == STANDARD_OUTPUT:
        return
    try:
        output_kind(Path(name))
    except TableError as error:
        raise click.UsageError(str(error)) from error


def check_picture_output(name: str | None) -> None:
    """Raise a usage error for a picture in an unsupported format."""
    if name is not None and Path(name).suffix.lower() not in _PICTURES:
        raise click.UsageError(f"{name} must end in one of {', '.join(_PICTURES)}.")


def check_report_output(name: str | None) -> None:
    """Raise a usage error for a report that does not end in .html or .htm."""
    if name is not None and Path(name).suffix.lower() not in _PAGES:
        ending = " or ".join(_PAGES)
        raise click.UsageError(f"{name} must end in {ending}: a report is a page for a browser.")


def check_model_output(name: str | None) -> None:
    """Raise a usage error for a model that does not end in .npz."""
    if name is not None and Path(name).suffix.lower() != ".npz":
        raise click.UsageError(f"{name} must end in .npz: a model is a file of NumPy arrays.")


def output_for_labels(name: str) -> Path | BinaryIO:
    """Return the path of the file for labels, or standard output as a stream."""
    return sys.stdout.buffer if name == STANDARD_OUTPUT else Path(name)


def _refused(message: str) -> CommandError:
    return CommandError(message, ExitCode.OUTPUT)
