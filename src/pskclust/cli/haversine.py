"""Checks of columns for --metric haversine, with the command that chooses the right ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from ..tables.errors import TableError, listed
from .repeating import typed_command

if TYPE_CHECKING:
    from ..tables.base import Table
    from ..tables.selection import Selection

_LATITUDE = ("lat",)
_LONGITUDE = ("lon", "lng")


def check_scaling(options: dict[str, Any]) -> None:
    """Raise a usage error if degrees are to be scaled."""
    if options["metric"] == "haversine" and options["scaling"] != "none":
        raise click.UsageError(
            f"--metric haversine needs degrees, which --scale {options['scaling']} changes. Leave "
            "--scale out."
        )


def check_degrees(table: Table, selection: Selection, options: dict[str, Any]) -> None:
    """Raise TableError unless the columns to cluster can be a latitude and a longitude."""
    if options["metric"] != "haversine":
        return
    found = selection.features
    latitude, longitude = _named(found, _LATITUDE), _named(found, _LONGITUDE)
    are_known = latitude is not None and longitude is not None
    if len(found) != 2:
        remedy = (
            f"Choose them with: {_with_columns(latitude, longitude)}"
            if are_known
            else "Choose them with --columns, the latitude first."
        )
        raise TableError(
            "--metric haversine needs two columns, latitude and longitude in degrees, but "
            f"{len(found)} of {table.name} are to be clustered: {listed(found)}. {remedy}"
        )
    if are_known and found[0] == longitude:
        raise TableError(
            f"--metric haversine takes the latitude first, but {table.name} has the columns in the "
            f"order {listed(found)}. Use: {_with_columns(latitude, longitude)}"
        )


def _named(names: Sequence[str], beginnings: tuple[str, ...]) -> str | None:
    """Return the name that starts with one of the beginnings; None unless there is just one."""
    found = [name for name in names if name.strip().lower().startswith(beginnings)]
    return found[0] if len(found) == 1 else None


def _with_columns(*names: str | None) -> str:
    return typed_command(click.get_current_context(), {"columns": names, "drop": ()})
