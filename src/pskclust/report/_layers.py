"""Layers of a fit as rows of an HTML table."""

from __future__ import annotations

from collections.abc import Sequence

from .._choice.layers import Layer

HEAD = ("clusters", "likeness", "odds", "stability", "agreement", "separation")
NOTE = (
    "Coarser and finer clusterings of the same rows, cut from the same tree. "
    "The method relabel(n_clusters=...) of the model returns their labels. Likeness is the "
    "similarity of the two most similar clusters: a low likeness means clear separation."
)


def layer_rows(layers: Sequence[Layer], n_clusters: int) -> list[list[str]]:
    """Return a row of table cells for each layer; the layer of the fit is bold."""
    return [_cells(layer, layer.n_clusters == n_clusters) for layer in layers]


def share_words(share: float) -> str:
    """Return a fraction as a percentage in HTML; small fractions are not rounded to 0%."""
    return "&lt; 0.1%" if 0 < share < 0.001 else f"{share:.1%}"


def _cells(layer: Layer, is_fit: bool) -> list[str]:
    name = f"{layer.n_clusters:,}"
    odds = "" if layer.odds is None else share_words(layer.odds)
    evidence = (layer.stability, layer.agreement, layer.separation)
    return [
        f"<strong>{name}, the fit</strong>" if is_fit else name,
        f"{layer.likeness:.3f}",
        odds,
        *("" if value is None else f"{value:.2f}" for value in evidence),
    ]
