"""``pskclust plan``: memory and time of a fit on a Dask cluster."""

from __future__ import annotations

from dataclasses import asdict

import click

from .display import print_facts, print_json
from .option_types import LargeNumber, WholeNumber
from .options import debug_option, json_option

_EPILOG = """\b
Example:
  pskclust plan --rows 1e9 --columns 8 --workers 100
"""

_COUNT = LargeNumber(min=1)


@click.command(epilog=_EPILOG, short_help="Estimate memory and time for a fit on a Dask cluster.")
@click.option("--rows", type=_COUNT, required=True, help="Number of rows.")
@click.option("--columns", type=_COUNT, required=True, help="Number of columns.")
@click.option(
    "--workers", type=_COUNT, required=True, help="Number of workers, with one thread each."
)
@click.option(
    "--psi",
    type=WholeNumber(min=2),
    help="Number of cells in each partitioning. By default, it follows from the number of rows.",
)
@click.option(
    "--n-partitions", type=_COUNT, default=100, show_default=True, help="Number of partitionings."
)
@click.option(
    "--clusters", type=_COUNT, default=10, show_default=True, help="Expected number of clusters."
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
    """Estimate the memory, network rounds and time of a fit with pskclust.dask before it is run.

    The command reads no data. The figures come from a cost model that was fitted to measurements;
    docs/dask.md describes it.
    """
    from .._dask.cost_model import plan as made_plan

    found = made_plan(
        rows, columns, workers, psi=psi, n_partitions=n_partitions, n_clusters=clusters
    )
    if as_json:
        print_json(asdict(found))
    else:
        print_facts(found.facts())
