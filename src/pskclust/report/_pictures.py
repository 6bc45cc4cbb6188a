"""Pictures of a report, embedded in the page as PNG data."""

from __future__ import annotations

import base64
import io
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._provenance import is_linked
from .._utils.optional import optional
from ..plotting import (
    AutoDisplay,
    ClusterDisplay,
    GrowthDisplay,
    ProfileDisplay,
    SimilarityDisplay,
)
from ..plotting.projection import Projection
from ._dark import darken

CHOICE = "choice"
_DOTS_PER_INCH = 110
# With more cells, computing similarities over a plane takes longer than the rest of the page.
_MAX_PSI_FOR_SIMILARITY = 256


@dataclass(frozen=True)
class EmbeddedPicture:
    """A picture as data URLs, one for a light and one for a dark page, with its caption."""

    source: str
    caption: str
    dark_source: str = ""  # empty if `source` serves dark pages, too
    part: str = ""  # section of the page: CHOICE, or empty for other sections


def draw_pictures(
    model: Any, rows: NDArray[Any], names: Sequence[str], scaled: bool
) -> list[EmbeddedPicture]:
    """Return the pictures of a fitted model; `rows` are those of the fit before scaling."""
    shown = _comparable(rows) if scaled and rows.shape[1] > 2 else rows
    plane = Projection.of(shown, names, model.metric)
    what = {"points": plane.points, "labels": model.labels_, "seeds": model.seeds_}

    linked = is_linked(model)
    marked = "most similar row" if linked else "seed"

    def draw_clusters(figure: Any) -> None:
        ClusterDisplay(**what, seed_name=marked, names=plane.names).plot(ax=figure.subplots())

    def draw_growth(figure: Any) -> None:
        display = GrowthDisplay(**what, growth_steps=model.growth_step_, names=plane.names)
        display.plot(cluster=largest, figure=figure)

    def draw_similarity(figure: Any) -> None:
        ax = figure.subplots()
        SimilarityDisplay.from_estimator(model, rows, feature_names=names, ax=ax)

    def draw_choice(figure: Any) -> None:
        AutoDisplay.from_estimator(model, figure=figure)
        # The title would repeat the paragraph above the picture.
        figure.suptitle("")

    crosses = _MOST_SIMILAR if linked else _SEEDS
    pictures = [_picture((8.6, 6), draw_clusters, f"{_CLUSTERS_CAPTION} {crosses}")]
    n_numbers = 0 if model.auto_ is None else len(model.auto_.numbers)
    if n_numbers > 1:
        drawn = _picture(
            (9, 1.9 + 0.28 * n_numbers),
            draw_choice,
            _CHOICE_CAPTION,
        )
        pictures.append(replace(drawn, part=CHOICE))
    if model.n_clusters_:
        largest = int(np.argmax(model.cluster_sizes_))
        height = 1.2 + 0.28 * min(30, model.n_clusters_)
        pictures.append(
            _picture(
                (9, max(2.2, height)),
                lambda figure: ProfileDisplay.from_estimator(model, figure=figure),
                _PROFILE_CAPTION,
            )
        )
        if model.growth_step_ is not None and not linked:
            pictures.append(_picture((10.2, 5.6), draw_growth, _GROWTH_CAPTION.format(largest)))
        if rows.shape[1] <= 2 and not scaled and model.psi_ <= _MAX_PSI_FOR_SIMILARITY:
            pictures.append(_picture((8.6, 5), draw_similarity, _similarity_caption(model)))
    return pictures


_CLUSTERS_CAPTION = "The rows in the colours of their clusters, noise in grey."
_SEEDS = "A cross marks the row that a cluster grew from."
_MOST_SIMILAR = "A cross marks the row that is most similar to its cluster."
_CHOICE_CAPTION = (
    "Left: the odds of each number of clusters. Right: the evidence for the best candidate with "
    "each number."
)
_PROFILE_CAPTION = (
    "Left: the size of each cluster. Right: the similarity of members to their cluster, with the "
    "range, the middle half, and the median."
)
_GROWTH_CAPTION = (
    "Growth of cluster {}, the largest, from its seed. In each step, rows whose similarity to the "
    "cluster exceeds the threshold join the cluster."
)
_SIMILARITY_CAPTION = "Similarity to the most similar cluster, over the range of the data."
_DASHED = "Dashed: tau. A new row is noise if its similarity does not exceed tau."


def _similarity_caption(model: Any) -> str:
    if is_linked(model) or model.noise == "nearest":
        return _SIMILARITY_CAPTION
    return f"{_SIMILARITY_CAPTION} {_DASHED}"


def _picture(
    size: tuple[float, float], draw: Callable[[Any], object], caption: str
) -> EmbeddedPicture:
    # A Figure that is made without pyplot needs no window and is freed after use.
    figure = optional("matplotlib.figure", "pskclust.report", "plot").Figure(
        figsize=size, layout="constrained"
    )
    with warnings.catch_warnings():
        # Characters that the font lacks are drawn as boxes; the text of the page shows them.
        warnings.filterwarnings("ignore", "Glyph .* missing from font")
        draw(figure)
        light = _source(figure)
        # The dark picture keeps the layout of the light one.
        figure.set_layout_engine("none")
        darken(figure)
        return EmbeddedPicture(light, caption, _source(figure))


def _source(figure: Any) -> str:
    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=_DOTS_PER_INCH)
    return f"data:image/png;base64,{base64.b64encode(stream.getvalue()).decode('ascii')}"


def _comparable(rows: NDArray[Any]) -> NDArray[np.float64]:
    """Return the rows with standardised columns, so that principal axes do not depend on units."""
    spreads = rows.std(axis=0)
    return np.asarray((rows - rows.mean(axis=0)) / np.where(spreads > 0, spreads, 1))
