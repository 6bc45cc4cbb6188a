"""The roles of the columns of a table: features, ids, classes, weights."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass

from .base import Table
from .errors import NotNumbersError, TableError, UnknownColumnError, WeightsError, listed


@dataclass(frozen=True)
class Selection:
    """The columns to cluster, and those with other roles."""

    features: tuple[str, ...]
    ids: tuple[str, ...] = ()
    label: str | None = None
    weight: str | None = None


def select(
    table: Table,
    *,
    columns: Sequence[str] = (),
    drop: Sequence[str] = (),
    ids: Sequence[str] = (),
    label: str | None = None,
    weight: str | None = None,
) -> Selection:
    """Return the roles of columns; without `columns`, cluster all that have no other role.

    Raise UnknownColumnError for a column that does not exist, and NotNumbersError if columns to
    cluster do not hold numbers.
    """
    single = [name for name in (label, weight) if name is not None]
    for name in [*columns, *drop, *ids, *single]:
        require_column(table, name)
    taken = {*drop, *ids, *single}
    both = [name for name in columns if name in taken]
    if both:
        raise TableError(
            f'column "{both[0]}" is to be clustered, but also left out or used otherwise. Name it '
            "only once."
        )
    features = tuple(dict.fromkeys(columns or (c for c in table.columns if c not in taken)))
    if not features:
        raise TableError(f"no column of {table.name} is left to cluster.")
    known = table.not_numbers()
    if weight is not None and weight in known:
        raise WeightsError(weight, f"{known[weight]}, but weights must be numbers.")
    strange = {name: known[name] for name in features if name in known}
    if strange:
        found = {name: table.strays(name) for name in strange}
        few = {name: strays for name, strays in found.items() if strays and strays.are_few}
        raise NotNumbersError(strange, few)
    return Selection(features, tuple(ids), label, weight)


def select_known(table: Table, known: Sequence[str], ids: Sequence[str] = ()) -> Selection:
    """Return the columns that a model was fitted to, in the order of the fit.

    In a table without column names, columns are matched by position if their number is right.
    """
    for name in ids:
        require_column(table, name)
    if not table.has_names and len(table.columns) - len(ids) == len(known):
        return Selection(tuple(c for c in table.columns if c not in ids), tuple(ids))
    absent = [name for name in known if not table.holds(name)]
    if absent:
        raise UnknownColumnError(
            f"{table.name} lacks {listed(absent)}, which the model was fitted to. "
            f"It has {listed(table.columns)}."
        )
    return Selection(tuple(known), tuple(ids))


def require_column(table: Table, name: str) -> None:
    """Raise UnknownColumnError, which suggests a similar name, if a column does not exist."""
    if table.holds(name):
        return
    names = [*table.columns, *table.extras]
    same = [other for other in names if other.casefold() == name.casefold()]
    near = same or difflib.get_close_matches(name, names, n=1)
    hint = f'Did you mean "{near[0]}"?' if near else f"It has {listed(names)}."
    raise UnknownColumnError(f'{table.name} has no column "{name}". {hint}')
