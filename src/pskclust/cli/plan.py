"""``pskclust plan``: what a fit on a cluster will take."""

from __future__ import annotations

from dataclasses import asdict

import click

from .display import print_facts, print_json
from .options import debug_option, json_option

_EPILOG = """\b
Example:
  pskclust plan --rows 1000000000 --columns 8 --workers 100
"""

_COUNT = click.IntRange(min=1)


@click.command(epilog=_EPILOG, short_help="Tell what a fit on a Dask cluster will take.")
@click.option("--rows", type=_COUNT, required=True, help="Rows of the data.")
@click.option("--columns", type=_COUNT, required=True, help="Columns of the data.")
@click.option("--workers", type=_COUNT, required=True, help="Workers, of one thread each.")
@click.option("--psi", type=click.IntRange(min=2), help="Cells of a partitioning.")
@click.option("--n-partitions", type=_COUNT, default=100, show_default=True, help="Partitionings.")
@click.option(
    "--clusters", type=_COUNT, default=10, show_default=True, help="How many there may be."
)
@json_option
@debug_option
def plan(
    rows: int,
    columns: int,
    workers: int,
    psi: int | None,
    n_partitions: int,
    clusters: int,
    as_json: bool,
) -> None:
    """Tell what memory, rounds and time a fit with pskclust.dask will take, before it is run.

    The figures come from a model that was fitted to measurements; docs/dask.md shows it.
    """
    from .._dask.cost_model import plan as made_plan

    found = made_plan(
        rows, columns, workers, psi=psi, n_partitions=n_partitions, n_clusters=clusters
    )
    if as_json:
        print_json(asdict(found))
    else:
        print_facts(found.facts())
