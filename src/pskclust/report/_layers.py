"""Layers of a fit as HTML."""

from __future__ import annotations

from collections.abc import Sequence

from .._choice.layers import Layer
from ._content import Content
from ._html import prose, table

# Names of attributes, and of columns of the table, with the digits to show.
_FIGURES = {"likeness": 3, "stability": 2, "agreement": 2, "separation": 2}
_WHAT = "Coarser and finer clusterings of the same rows, cut from the same tree."
_LIKENESS = (
    "Likeness is the similarity of the two most similar clusters: the lower it is, the more "
    "clearly the clusters are separated."
)


def layers(content: Content) -> list[str]:
    """Return the layers with a note, or an empty list if the fit is the only layer."""
    if len(content.layers) < 2:
        return []
    columns = {name: [_figure(layer, name) for layer in content.layers] for name in _FIGURES}
    telling = {name: cells for name, cells in columns.items() if len({*cells} - {""}) > 1}
    n_clusters = len(content.summary.sizes)
    if not telling:
        others = [layer.n_clusters for layer in content.layers if layer.n_clusters != n_clusters]
        return [f"<p>{prose(f'{_also(others)} {_how_to_get(content)}')}</p>"]
    names = [_name(layer, layer.n_clusters == n_clusters) for layer in content.layers]
    note = f"{_WHAT} {_LIKENESS}" if "likeness" in telling else _WHAT
    return [
        table(["clusters", *telling], zip(names, *telling.values(), strict=True)),
        f"<p>{prose(f'{note} {_how_to_get(content)}')}</p>",
    ]


def _also(numbers: Sequence[int]) -> str:
    """Return the numbers of clusters of the other layers in words."""
    *before, last = (f"{number:,}" for number in numbers)
    listed = f"{', '.join(before)} and {last}" if before else last
    unit = "cluster" if listed == "1" else "clusters"
    return f"The same fit also gives coarser or finer clusterings, with {listed} {unit}."


def _how_to_get(content: Content) -> str:
    """Return instructions for getting the labels of a layer, after a command or in Python."""
    how = "relabel(n_clusters=...), a method of the model, returns the labels of each of these"
    if content.command is None:
        return f"In Python, {how}."
    return f"Save the model with --model; in Python, {how}."


def _name(layer: Layer, is_fit: bool) -> str:
    name = f"{layer.n_clusters:,}"
    return f"<strong>{name}, the fit</strong>" if is_fit else name


def _figure(layer: Layer, name: str) -> str:
    value = getattr(layer, name)
    return "" if value is None else f"{value:.{_FIGURES[name]}f}"
