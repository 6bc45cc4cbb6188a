"""Write a report: collect its content, and write the page to a file."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import ArrayLike, NDArray

from .._advice import Outcome, hints, rules
from .._data.scaling import unequal_columns
from .._provenance import (
    UNREPEATABLE,
    choice_words,
    given_parameters,
    is_linked,
    is_refined,
    is_repeatable,
    mean_confidences,
    python_call,
)
from .._utils.files import replacing
from .._version import __version__
from ..plotting.projection import column_names, rows_of_fit
from ._page import ChoiceContent, Content, Provenance, number, page
from ._pictures import draw_pictures
from ._summary import Summary


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
    """Write a report on a clustering as one HTML page.

    The page shows the clusters with their sizes, distinctive columns and typical members, and also
    pictures, the data, the parameters and advice on what to try next. It needs no other file and no
    network.

    Parameters
    ----------
    path : str or path-like
        The file to write. An existing file is replaced once the new one is complete.
    model : PSKC
        A fitted model.
    X : array-like of shape (n_samples, n_features)
        The rows of the fit, in the same order. If they were scaled for the fit, pass the rows
        before scaling, and set `scaling`.
    feature_names : sequence of str or None, default=None
        Names of the columns. None uses the names from the fit, or numbers the columns.
    ids : sequence or None, default=None
        Names of the rows, shown for typical members. None shows row numbers.
    title : str or None, default=None
        Title of the page. None makes a title from the number of rows.
    scaling : str or None, default=None
        Scaling of the columns before the fit, such as "standard"; None if there was none.
    seconds : float or None, default=None
        Duration of the fit in seconds. None leaves it out.
    scores : mapping of str to float or None, default=None
        Scores to show, by name, such as the agreement with known classes.
    n_left_out : int, default=0
        Number of rows that were left out before the fit, such as those with missing values.

    Raises
    ------
    ValueError
        If X, `feature_names` or `ids` do not match the rows and columns of the fit.

    See Also
    --------
    pskclust.plotting : The pictures of the report, one by one.
    pskclust.explore : Explore clusters in a browser.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from pskclust import PSKC
    >>> from pskclust.report import write_report
    >>> X = [[0.0, 0.0, 1.0], [0.1, 0.2, 0.9], [5.0, 5.0, 3.0], [5.1, 5.2, 3.1]]
    >>> model = PSKC(psi=2, tau=0.5, random_state=0).fit(X)
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "report.html")
    ...     write_report(path, model, X, feature_names=["width", "height", "depth"])
    ...     "Typical members" in path.read_text()
    True
    """
    rows = rows_of_fit(model, X)
    names = column_names(model, feature_names)
    if ids is not None and len(ids) != len(rows):
        raise ValueError(
            f"ids has {len(ids)} entries, but X has {len(rows)} rows. Pass one id for each row."
        )
    summary = Summary.of(model, rows)
    facts = _facts(model, summary, rows.shape, n_left_out)
    content = _content(
        model,
        rows,
        names,
        summary,
        title=title or f"Clusters of {len(rows):,} rows",
        facts=facts | _figures_of_fit(seconds, scores or {}),
        ids=ids,
        scaling=scaling,
    )
    with replacing(path) as stream:
        # Names from damaged files may hold invalid Unicode, which must not break the page.
        stream.write(page(content).encode("utf-8", "replace"))


def _content(
    model: Any,
    rows: NDArray[Any],
    names: list[str],
    summary: Summary,
    *,
    title: str,
    facts: dict[str, str],
    ids: Sequence[Any] | None,
    scaling: str | None,
) -> Content:
    """Return the content of the page."""
    outcome = Outcome.of(model)
    advice = [hint.text for hint in hints(outcome)]
    if scaling is None:
        advice += _on_columns(summary, names)
    return Content(
        title=title,
        facts=facts,
        summary=summary,
        names=names,
        ids=ids,
        rows=rows,
        similarities=model.similarities_,
        confidences=mean_confidences(model),
        pictures=draw_pictures(model, rows, names, scaling is not None),
        choice=None if model.auto_ is None else ChoiceContent.of(model.auto_),
        layers=model.layers_,
        provenance=_provenance(model, scaling),
        details=_details(model, scaling),
        rules=rules(outcome),
        hints=advice,
    )


def _facts(
    model: Any,
    summary: Summary,
    shape: tuple[int, ...],
    n_left_out: int,
) -> dict[str, str]:
    facts = {
        "rows": f"{shape[0]:,}",
        **({"rows left out": f"{n_left_out:,}"} if n_left_out else {}),
        "columns": f"{shape[1]:,}",
        "clusters": f"{model.n_clusters_:,}",
        "noise": f"{summary.n_noise / shape[0]:.1%}",
    }
    if model.auto_ is not None:
        # `psi_` of a chosen clustering belongs to the kernel that assigns rows. It is not meant to
        # be passed to another fit, so it is not shown.
        stability = model.auto_.chosen.stability
        return facts if stability is None else facts | {"stability": f"{stability:.2f}"}
    facts["psi"] = str(model.psi_)
    # The tau of linked clusters applies to their parts and does not decide which rows are noise.
    return facts if is_linked(model) else facts | {"tau": number(model.tau_)}


def _figures_of_fit(seconds: float | None, scores: Mapping[str, float]) -> dict[str, str]:
    facts = {} if seconds is None else {"seconds": f"{seconds:.2f}"}
    return facts | {name: f"{score:.3f}" for name, score in scores.items()}


def _provenance(model: Any, scaling: str | None) -> Provenance:
    return Provenance(
        given={name: str(value) for name, value in given_parameters(model).items()},
        choice=choice_words(model),
        call=python_call(model),
        rows="the same rows" if scaling is None else f"the same rows after {scaling} scaling",
        note=None if is_repeatable(model) else UNREPEATABLE,
    )


def _details(model: Any, scaling: str | None) -> dict[str, str]:
    shown = {"scaling of columns": scaling or "none", "objective": number(model.objective_)}
    if is_refined(model) and not model.n_reassigned_:
        shown["refinement"] = "moved no row"
    elif is_refined(model):
        shown |= {
            "objective before refinement": number(model.objective_before_refinement_),
            "rows that refinement moved": f"{model.n_reassigned_:,}",
        }
    return shown | {"pskclust": __version__}


def _on_columns(summary: Summary, names: Sequence[str]) -> list[str]:
    unequal = unequal_columns(summary.columns.spreads)
    if unequal is None:
        return []
    widest, narrowest, ratio = unequal
    return [
        f"Columns differ in spread: {names[widest]} varies {ratio:,.0f} times as much as "
        f"{names[narrowest]} and dominates distances. If only their units differ, scale the "
        "columns before the fit."
    ]
