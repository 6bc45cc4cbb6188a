"""Axes, texts and marks that several displays share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._utils.optional import optional

_LONGEST_NAME = 40


def axes_for(ax: Any, figsize: tuple[float, float]) -> Any:
    """Return `ax`, or the axes of a new figure if `ax` is None."""
    return grid_of_axes(None, figsize)[0, 0] if ax is None else ax


def grid_of_axes(
    figure: Any, figsize: tuple[float, float], n_rows: int = 1, n_columns: int = 1, **options: Any
) -> Any:
    """Return an array of axes, (n_rows, n_columns), on `figure`; None makes a new figure."""
    if figure is None:
        plt = optional("matplotlib.pyplot", "pskclust.plotting", "plot")
        figure = plt.figure(figsize=figsize, layout="constrained")
    return figure.subplots(n_rows, n_columns, squeeze=False, **options)


def as_text(name: str) -> str:
    """Return a name as one short line that matplotlib does not read as a formula."""
    # Names from damaged files may hold invalid Unicode, which no font can draw.
    line = " ".join(name.encode("utf-8", "replace").decode("utf-8").split())
    if len(line) > _LONGEST_NAME:
        line = line[: _LONGEST_NAME - 1] + "\u2026"
    return line.replace("$", r"\$")


def mark_seeds(ax: Any, points: NDArray[np.float64]) -> None:
    """Mark seeds with crosses that are visible on any colour."""
    # Many crosses must not hide the points under them.
    size = float(np.clip(40 / len(points) ** 0.5, 2.5, 7))
    for colour, width in (("white", 0.5 * size), ("black", 0.23 * size)):
        ax.plot(*points.T, "x", color=colour, ms=size, mew=width)


def seed_name(estimator: Any) -> str:
    """Return the legend entry for the rows in `seeds_`; a linked cluster has no single seed."""
    linked = getattr(estimator, "merge_tree_", None) is not None
    return "most similar row" if linked else "seed"


def without_frame(ax: Any) -> None:
    ax.spines[["top", "right"]].set_visible(False)
