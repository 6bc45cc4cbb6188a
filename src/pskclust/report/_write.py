"""Putting a report together and writing it."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import ArrayLike

from .._utils.files import replacing
from .._version import __version__
from ..plotting._axes import column_names, rows_of_fit
from ._advice import advice_for
from ._page import Content, number, page
from ._pictures import draw_pictures
from ._summary import Summary

# Given as what was chosen for them, or of no interest to a reader.
_CHOSEN = ("psi", "tau", "verbose", "callback", "n_jobs")


def write_report(
    path: str | os.PathLike[str],
    model: Any,
    X: ArrayLike,
    *,
    feature_names: Sequence[str] | None = None,
    ids: Sequence[Any] | None = None,
    title: str | None = None,
    scaling: str | None = None,
    seconds: float | None = None,
    scores: Mapping[str, float] | None = None,
    n_left_out: int = 0,
) -> None:
    """Write one HTML page about a clustering, which needs no other file and no network.

    It shows the clusters, their sizes, what sets each apart and its typical members, pictures, the
    data, the parameters, and what to try next.

    Parameters
    ----------
    path : str or path-like
        An existing file is replaced when the new one is complete.
    model : PSKC
        Fitted.
    X : array-like of shape (n_samples, n_features)
        The rows of the fit, in their order. If they were scaled for the fit, pass them as they were
        before, in units that people know, and `scaling`.
    feature_names : sequence of str or None, default=None
        Names of the columns; those that the model knows, or numbers, if None.
    ids : sequence or None, default=None
        What to call each row; its number if None.
    title : str or None, default=None
    scaling : str or None, default=None
        How columns were scaled before the fit, such as "standard"; None if they were not.
    seconds : float or None, default=None
        How long the fit took.
    scores : mapping of str to float or None, default=None
        Scores against known classes, to be shown with the rest.
    n_left_out : int, default=0
        How many rows were left out before the fit, say for missing values.
    """
    rows = rows_of_fit(model, X)
    names = column_names(model, feature_names)
    if ids is not None and len(ids) != len(rows):
        raise ValueError(f"ids has {len(ids)} entries, but X has {len(rows)} rows.")
    summary = Summary.of(model, rows)
    rules, hints = advice_for(model, summary, names, scaling is not None)
    content = Content(
        title=title or f"Clusters of {len(rows):,} rows",
        facts=_facts(model, summary, rows.shape, n_left_out)
        | _figures_of_fit(seconds, scores or {}),
        summary=summary,
        names=names,
        ids=ids,
        rows=rows,
        similarities=model.similarities_,
        pictures=draw_pictures(model, rows, names, scaling is not None),
        parameters=_parameters(model, scaling),
        choice=None if model.auto_ is None else str(model.auto_),
        rules=rules,
        hints=hints,
    )
    with replacing(path) as stream:
        # Text that is no Unicode, as broken files hold, must not break the page.
        stream.write(page(content).encode("utf-8", "replace"))


def _facts(
    model: Any,
    summary: Summary,
    shape: tuple[int, ...],
    n_left_out: int,
) -> dict[str, str]:
    facts = {
        "rows": f"{shape[0]:,}" + (f", {n_left_out:,} left out" if n_left_out else ""),
        "columns": f"{shape[1]:,}",
        "clusters": f"{model.n_clusters_:,}",
        "noise": f"{summary.n_noise / shape[0]:.1%}",
        "tau": number(model.tau_),
    }
    facts["psi"] = str(model.psi_)
    return facts


def _figures_of_fit(seconds: float | None, scores: Mapping[str, float]) -> dict[str, str]:
    facts = {} if seconds is None else {"seconds": f"{seconds:.2f}"}
    return facts | {name: f"{score:.3f}" for name, score in scores.items()}


def _parameters(model: Any, scaling: str | None) -> dict[str, str]:
    used = {"psi": model.psi_, "tau": number(model.tau_)} | {
        name: value for name, value in model.get_params(deep=False).items() if name not in _CHOSEN
    }
    shown = {name: str(value) for name, value in used.items()}
    shown |= {
        "scaling of columns": scaling or "none",
        "objective before refinement": number(model.objective_before_refinement_),
        "objective": number(model.objective_),
        "rows that refinement moved": f"{model.n_reassigned_:,}",
        "pskclust": __version__,
    }
    return shown
