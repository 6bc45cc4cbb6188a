"""``pskclust demo``: a table to try the other commands on."""

from __future__ import annotations

from pathlib import Path

import click

from .failures import writing
from .option_types import WholeNumber
from .options import debug_option, force_option
from .outputs import check_labels_output, check_outputs

_EPILOG = """\b
Example:
  pskclust demo shapes.csv --rows 10000
"""
_FEWEST_ROWS = 2_000
# Few enough that the first fit compiles no code and finishes at once.
_USUAL_ROWS = 4_000


@click.command(epilog=_EPILOG, short_help="Write an example table.")
@click.argument("output", metavar="[FILE]", default="demo.csv")
@click.option(
    "--rows",
    "n_rows",
    type=WholeNumber(_FEWEST_ROWS),
    default=_USUAL_ROWS,
    show_default=True,
    metavar="N",
    help="Number of rows.",
)
@click.option(
    "--seed",
    type=int,
    default=0,
    show_default=True,
    help="Seed of the random numbers. The same seed gives the same table.",
)
@force_option
@debug_option
def demo(output: str, n_rows: int, seed: int, force: bool) -> None:
    """Write an example table for the other commands: rings, spiral arms, blobs and noise.

    FILE is demo.csv by default. Columns x and y are coordinates. Column shape is the number of the
    row's shape, one of nine, and is empty for noise.
    """
    check_outputs((output,), (), force=force)
    check_labels_output(output)
    _write(Path(output), n_rows, seed)
    click.echo(f"{output}: {n_rows:,} rows, columns x, y and shape.")
    click.echo("Now cluster x and y, and compare the clusters with shape:")
    report = Path(output).with_suffix(".html").name
    click.echo(f"  pskclust fit {output} --label shape --report {report}")


def _write(path: Path, n_rows: int, seed: int) -> None:
    import pyarrow as pa

    from ..datasets import make_shapes
    from ..tables.arrow_values import arrow_numbers
    from ..tables.writing import table_file

    X, shapes = make_shapes(n_rows, random_state=seed)
    names = ["x", "y", "shape"]
    columns = [arrow_numbers(X[:, 0].round(6)), arrow_numbers(X[:, 1].round(6))]
    table = pa.record_batch([*columns, arrow_numbers(shapes, shapes < 0)], names=names)
    with writing(path), table_file(path, table.schema) as write:
        write(table)
