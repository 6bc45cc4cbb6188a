"""HTML of a fitted model for notebooks: cluster sizes as bars, the choice, its confidence."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._cells.voronoi import VoronoiPartition
from ._data.few_values import hints_on_few_values
from ._data.odd_columns import hint_on_units

_MAX_BARS = 12
# Text has the colour of the notebook; these colours are visible on white and on black.
_BAR, _NOISE = "#3f8fd2", "#8b929a"
_STYLE = """<style>
.pskclust-fit { font: 13px/1.5 system-ui, sans-serif; max-width: 34rem; margin: 0 0 0.6rem; }
.pskclust-fit p { margin: 0 0 0.4rem; }
.pskclust-fit table { border-collapse: collapse; width: 100%; margin: 0 0 0.4rem; font: inherit; }
.pskclust-fit td { padding: 1px 8px 1px 0; border: 0; background: none; text-align: right;
  white-space: nowrap; font-variant-numeric: tabular-nums; }
.pskclust-fit td.bar { width: 100%; text-align: left; }
.pskclust-fit td.bar div { height: 0.75em; border-radius: 2px; min-width: 1px; }
</style>"""


class ShownInNotebooks:
    """Mixin for models: notebooks show the fit above scikit-learn's diagram."""

    # Notebooks call one or the other of these two methods.

    def _repr_html_inner(self) -> str:
        return self._html_of_fit() + str(super()._repr_html_inner())  # type: ignore[misc]

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        shown: dict[str, str] = super()._repr_mimebundle_(**options)  # type: ignore[misc]
        if "text/html" in shown:
            shown["text/html"] = self._html_of_fit() + shown["text/html"]
        return shown

    def _html_of_fit(self) -> str:
        return html_of_fit(self) if hasattr(self, "_fitted") else ""


def html_of_fit(model: Any) -> str:
    """Return a fragment of HTML that shows a fitted PSKC. Every text is escaped."""
    sizes, labels = model.cluster_sizes_, model.labels_
    # Labels on a Dask cluster are not computed only to count noise.
    n_noise = int(np.count_nonzero(labels < 0)) if isinstance(labels, np.ndarray) else None
    words = [line for line in (_setting(model), _certainty(model), *_on_columns(model)) if line]
    title = f"<p><strong>{escape(_found(sizes, n_noise))}</strong></p>"
    paragraphs = "".join(f"<p>{escape(line)}</p>" for line in words)
    bars = _bars(sizes, n_noise or 0)
    return f'{_STYLE}<div class="pskclust-fit">{title}{bars}{paragraphs}</div>'


def _found(sizes: NDArray[np.int64], n_noise: int | None) -> str:
    clusters = f"{len(sizes):,} cluster{'' if len(sizes) == 1 else 's'}"
    if n_noise is None:
        return clusters
    n_rows = int(sizes.sum()) + n_noise
    noise = f"{n_noise / n_rows:.1%} noise" if n_noise else "no noise"
    return f"{clusters} in {n_rows:,} rows, {noise}"


def _setting(model: Any) -> str:
    """Return the reason for the choice as a sentence; for grown clusters, psi and tau."""
    if model.auto_ is None:
        return f"psi {model.psi_}, tau {model.tau_:g}"
    reason = model.auto_.reason
    return f"{reason[:1].upper()}{reason[1:]}."


def _certainty(model: Any) -> str | None:
    confidences = model.confidences_
    if not isinstance(confidences, np.ndarray) or model.auto_ is None:
        return None
    known = confidences[model.labels_ >= 0]
    if model.n_clusters is not None or not len(known):
        return None
    return f"Mean confidence of the clustered rows: {known.mean():.1%}."


def _on_columns(model: Any) -> list[str]:
    """Return hints on columns that split the clusters, and on spreads of the drawn rows."""
    fitted = model.fitted_
    number, names = fitted.columns
    names = names or [f"column {column}" for column in range(number)]
    hints = hints_on_few_values(fitted.few_values, names)
    lines = [hint.with_remedy("fit without this column.") for hint in hints]
    if fitted.metric == "euclidean" and isinstance(fitted.partition, VoronoiPartition):
        units = hint_on_units(names, fitted.partition.points.std(axis=0))
        if units is not None:
            lines.append(units.with_remedy("scale the columns before the fit."))
    return lines


def _bars(sizes: NDArray[np.int64], n_noise: int) -> str:
    by_size = np.argsort(-sizes, kind="stable")
    shown, rest = np.sort(by_size[:_MAX_BARS]), by_size[_MAX_BARS:]
    most = max(int(sizes.max(initial=1)), n_noise)
    lines = [_line(str(n), int(sizes[n]), _BAR, most) for n in shown]
    if len(rest):
        # Without a bar: the total of several clusters does not compare with single clusters.
        lines.append(_line(f"{len(rest):,} smaller", int(sizes[rest].sum()), None, most))
    if n_noise:
        lines.append(_line("noise", n_noise, _NOISE, most))
    return f"<table>{''.join(lines)}</table>" if lines else ""


def _line(name: str, size: int, colour: str | None, most: int) -> str:
    width = 100 * size / most
    bar = f'<div style="width:{width:.1f}%;background:{colour}"></div>' if colour else ""
    return f'<tr><td>{escape(name)}</td><td>{size:,}</td><td class="bar">{bar}</td></tr>'
