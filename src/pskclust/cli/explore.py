"""``pskclust explore``: the clusters of a table or an image in the browser."""

from __future__ import annotations

import functools
import webbrowser
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .bars import Bars
from .haversine import check_scaling
from .help_sections import SectionedCommand
from .hints import hint_words, hints_on_file
from .option_types import WholeNumber
from .options import (
    PARAMETERS,
    as_options,
    check_clustering,
    clustering_options,
    color_option,
    data_options,
    debug_option,
)
from .reading import opened_data, read_data
from .repeating import typed_command

if TYPE_CHECKING:
    from ..explorer.subject import ImageSubject, TableSubject

_EPILOG = """\b
Example:
  pskclust explore demo.csv --label shape
"""
_IMAGE_ENDINGS = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".webp")
_READING = (
    *("columns", "drop", "ids", "label", "weight", "missing", "missing_values"),
    *("kind", "delimiter", "encoding"),
)


@click.command(
    cls=SectionedCommand, epilog=_EPILOG, short_help="Explore a table or an image in the browser."
)
@click.argument("data", metavar="DATA|IMAGE")
@click.option(
    "--sample",
    type=WholeNumber(2),
    metavar="N",
    help="Explore a sample of N rows; exported labels cover all rows. Default: 1,000,000, or "
    "100,000 if there are more than 8 columns.",
)
@click.option("--no-browser", is_flag=True, help="Only print the address of the page.")
@click.option(
    "--port",
    type=WholeNumber(0, 65535),
    metavar="N",
    help="Port of the page; 0 takes any free port.",
)
@click.option(
    "--host",
    metavar="ADDRESS",
    help="Address to listen on, for access from other machines. The page then requires the token "
    "that is printed.",
)
@color_option
@data_options
@clustering_options
@debug_option
def explore(
    data: str,
    sample: int | None,
    no_browser: bool,
    port: int | None,
    host: str | None,
    color_space: str,
    **options: Any,
) -> None:
    """Explore the clusters of DATA, or the segments of IMAGE, in the browser.

    The page opens with the clusters that fit chooses, and a slider sets their number. With --tau,
    clusters grow, and sliders set psi and tau. Without --host, the page is served to this machine
    only. It loads nothing from elsewhere. The clustering options apply when the page opens.
    """
    from ..explorer import serve

    parameters = {name: options[name] for name in PARAMETERS}
    check_clustering(parameters)
    check_scaling(options)
    given = {**parameters, "scaling": options["scaling"], "color_space": color_space}
    subject = _image(data) if _is_image(data) else _table(data, sample, options)
    # As soon as the address is printed, Ctrl-C ends the explorer.
    with serve(subject, given, host=host, port=port) as server, suppress(KeyboardInterrupt):
        click.echo(f"Explore at {server.url} (end with Ctrl-C)")
        if not no_browser:
            webbrowser.open(server.url)
        server.wait()


def _is_image(data: str) -> bool:
    return Path(data).suffix.lower() in _IMAGE_ENDINGS


def _image(data: str) -> ImageSubject:
    from ..explorer.subject import ImageSubject, Origin
    from ..image import read_image

    return ImageSubject(read_image(data), name=Path(data).name, origin=Origin(data))


def _table(data: str, sample: int | None, options: dict[str, Any]) -> TableSubject:
    from ..explorer.subject import Origin, TableSubject, TypedCommand

    typed = functools.partial(typed_command, click.get_current_context())
    with opened_data(data, options) as table, Bars() as bars:
        selection, rows = read_data(table, options, bars, streamed=False)
    how = {name: options[name] for name in (*_READING, "has_header")}
    return TableSubject.of(
        rows.numbers,
        name=Path(table.name).name,
        columns=selection.features,
        weights=rows.weight,
        sample=sample,
        # Standard input cannot be read again.
        origin=Origin(
            None if data == "-" else data, how, TypedCommand(typed, as_options, hint_words)
        ),
        kept=rows.kept,
        classes=rows.classes,
        class_names=rows.class_names,
        hints_on_file=tuple(hints_on_file(table, options)),
    )
