"""Write a report: collect its content, and write the page to a file."""

from __future__ import annotations

import datetime
import os
from collections.abc import Mapping, Sequence
from typing import Any

from .._advice import Outcome, hints, rules
from .._data.few_values import hints_on_few_values
from .._data.odd_columns import hint_on_units
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
from .._utils.wording import percentage
from ..plotting.fitted_rows import AnyRows
from ._classes import KnownClasses
from ._content import ChoiceContent, Content, Provenance
from ._html import number
from ._page import page
from ._pictures import draw_pictures
from ._shown_rows import ShownRows
from ._summary import Summary
from .command import FitCommand


def write_report(
    path: str | os.PathLike[str],
    model: Any,
    X: AnyRows,
    *,
    feature_names: Sequence[str] | None = None,
    ids: Sequence[Any] | None = None,
    title: str | None = None,
    scaling: str | None = None,
    seconds: float | None = None,
    scores: Mapping[str, float] | None = None,
    classes: Sequence[Any] | None = None,
    class_column: str | None = None,
    n_left_out: int = 0,
    date: datetime.date | None = None,
    command: FitCommand | None = None,
) -> None:
    """Write a report on a clustering as one HTML page.

    The page shows the clusters with their sizes, distinctive columns and typical members, and also
    pictures, the data, the parameters and advice on what to try next. It needs no other file and no
    network.

    Parameters
    ----------
    path : str or path-like
        The file to write. An existing file is replaced once the new one is complete.
    model : PSKC or Pipeline
        A fitted model, or a fitted pipeline that ends in one.
    X : array-like of shape (n_samples, n_features), path or RowBlocks
        The rows of the fit, in the same order; files are read into memory. If the rows were scaled
        for the fit, pass the pipeline as `model`, or pass the rows before scaling and set
        `scaling`.
    feature_names : sequence of str or None, default=None
        Names of the columns. None uses the names in X or from the fit, or numbers the columns.
    ids : sequence or None, default=None
        Names of the rows, shown for typical members. None shows row numbers.
    title : str or None, default=None
        Title of the page. None makes a title from the number of rows.
    scaling : str or None, default=None
        Scaling of the columns before the fit, such as "standard"; None if there was none, or if
        `model` is a pipeline.
    seconds : float or None, default=None
        Duration of the fit in seconds. None leaves it out.
    scores : mapping of str to float or None, default=None
        Scores to show, by name, such as the agreement with known classes. F1, ARI and NMI are
        explained.
    classes : sequence or None, default=None
        Known class of each row, for a table of clusters by classes; None or NaN for a row without
        a class.
    class_column : str or None, default=None
        Name of the column that holds the classes. None uses the name of `classes` if it is a
        series with a name, and "class" otherwise.
    n_left_out : int, default=0
        Number of rows that were left out before the fit, such as those with missing values.
    date : datetime.date or None, default=None
        Date to show. None shows today's date.
    command : FitCommand or None, default=None
        The command that writes the report; ``pskclust fit`` sets it. None shows Python code.

    Raises
    ------
    ValueError
        If X, `feature_names`, `ids` or `classes` do not match the rows and columns of the fit.

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
    if not isinstance(path, str | os.PathLike):
        raise TypeError(
            f"path is of type {type(path).__name__}. Call write_report(path, model, X), with the "
            "path of the page first."
        )
    shown = ShownRows.of(model, X, feature_names, scaling)
    n_rows = len(shown.rows)
    for name, values in (("ids", ids), ("classes", classes)):
        if values is not None and len(values) != n_rows:
            raise ValueError(
                f"{name} has {len(values)} entries, but X has {n_rows} rows. Pass one for each row."
            )
    if class_column is None:
        class_column = str(getattr(classes, "name", None) or "class")
    labels = shown.model.labels_
    summary = Summary.of(shown.model, shown.rows)
    facts = _facts(shown.model, summary, shown.rows.shape, n_left_out)
    content = _content(
        shown,
        summary,
        title=title or f"Clusters in {n_rows:,} rows",
        facts=facts | _figures_of_fit(seconds, scores or {}),
        ids=ids,
        date=date or datetime.date.today(),
        scores=scores or {},
        classes=None if classes is None else KnownClasses.of(class_column, classes, labels),
        command=command,
    )
    with replacing(path) as stream:
        # Names from damaged files may hold invalid Unicode, which must not break the page.
        stream.write(page(content).encode("utf-8", "replace"))


def _content(
    shown: ShownRows,
    summary: Summary,
    *,
    title: str,
    facts: dict[str, str],
    ids: Sequence[Any] | None,
    date: datetime.date,
    scores: Mapping[str, float],
    classes: KnownClasses | None,
    command: FitCommand | None,
) -> Content:
    """Return the content of the page."""
    model = shown.model
    outcome = Outcome.of(model)
    advice = [hint.text for hint in hints(outcome)]
    on_columns: Sequence[str] = ()
    if command is not None:
        advice, on_columns = [*map(command.as_options, advice)], command.hints
    else:
        on_columns = _on_columns(shown, summary)
    return Content(
        title=title,
        date=date,
        command=command,
        facts=facts,
        summary=summary,
        names=shown.names,
        ids=ids,
        rows=shown.rows,
        similarities=model.similarities_,
        confidences=mean_confidences(model),
        pictures=draw_pictures(model, shown.rows, shown.names, not shown.are_fitted),
        choice=None
        if model.auto_ is None
        else ChoiceContent.of(model.auto_, model.n_clusters is not None),
        layers=model.layers_,
        provenance=_provenance(model, shown.for_fit),
        details=_details(model, shown.scaling),
        scores=scores,
        classes=classes,
        rules=rules(outcome),
        hints=advice,
        column_hints=on_columns,
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
        "noise": percentage(summary.n_noise / shape[0]),
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


def _provenance(model: Any, rows: str) -> Provenance:
    return Provenance(
        given={name: str(value) for name, value in given_parameters(model).items()},
        choice=choice_words(model),
        call=python_call(model),
        rows=rows,
        note=None if is_repeatable(model) else UNREPEATABLE,
    )


def _details(model: Any, scaling: str) -> dict[str, str]:
    shown = {"scaling of columns": scaling}
    # The objective compares fits of one psi, and the psi of chosen clusters is not set.
    if model.auto_ is None or is_refined(model):
        shown["objective"] = number(model.objective_)
    if is_refined(model) and not model.n_reassigned_:
        shown["refinement"] = "moved no row"
    elif is_refined(model):
        shown |= {
            "objective before refinement": number(model.objective_before_refinement_),
            "rows that refinement moved": f"{model.n_reassigned_:,}",
        }
    return shown


def _on_columns(shown: ShownRows, summary: Summary) -> list[str]:
    few = hints_on_few_values(shown.model.fitted_.few_values, shown.names)
    lines = [hint.with_remedy("fit without this column.") for hint in few]
    if shown.are_fitted:
        units = hint_on_units(shown.names, summary.columns.spreads)
        if units is not None:
            lines.append(units.with_remedy("scale the columns before the fit."))
    return lines
