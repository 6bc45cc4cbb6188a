"""Exports of the explorer: labels, model, report and code."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._utils.files import temporary_folder
from .._utils.optional import optional
from .column_hints import found_hints
from .fits import Fit, Fitter
from .recipes import MODEL_FILE, command_line, python_code
from .subject import ImageSubject, TableSubject

if TYPE_CHECKING:
    from ..report.command import FitCommand

_ROWS_PER_PIECE = 1 << 18


class Export(NamedTuple):
    """A file for download."""

    name: str
    media_type: str
    content: bytes


def export(fitter: Fitter, fit: Fit, kind: str) -> Export:
    """Return an export by its name, such as ``labels.csv``; raise ValueError for other names."""
    if kind not in _KINDS:
        raise ValueError(f"there is no export named {kind[:40]!r}.")
    return _KINDS[kind](fitter, fit)


def all_labels(fitter: Fitter, fit: Fit) -> NDArray[np.int64]:
    """Return the labels of all rows or pixels, as the exported code returns them.

    If a sample was explored, `predict` labels all rows.
    """
    subject = fitter.subject
    if isinstance(subject, ImageSubject):
        by_number = np.append(fit.labels, -1)
        return by_number[subject.numbers]
    if subject.sample is None:
        return fit.labels
    if fit.source is not None:
        raise ValueError(
            f"only a sample of {subject.n_explored:,} rows is explored, so a layer has labels for "
            f"these rows only. Ask for {fit.n_clusters} clusters instead, or explore all rows with "
            f"--sample {subject.n_rows}."
        )
    return fit.model.predict(subject.prepared(subject.everything, fit.settings))


def _labels_csv(fitter: Fitter, fit: Fit) -> Export:
    return Export("labels.csv", "text/csv", _labels_file(fitter, fit, "labels.csv"))


def _labels_parquet(fitter: Fitter, fit: Fit) -> Export:
    content = _labels_file(fitter, fit, "labels.parquet")
    return Export("labels.parquet", "application/vnd.apache.parquet", content)


def _labels_file(fitter: Fitter, fit: Fit, name: str) -> bytes:
    optional("pyarrow", "Exporting labels", "cli")
    from ..tables.labels import write_labels

    subject = fitter.subject
    names = ("x", "y") if isinstance(subject, ImageSubject) else ()
    return _written(name, lambda path: write_labels(path, names, _pieces(fitter, fit)))


def _pieces(fitter: Fitter, fit: Fit) -> Iterator[Any]:
    import pyarrow as pa

    from ..tables.labels import Labelled

    subject = fitter.subject
    labels = all_labels(fitter, fit).ravel()
    similarities: NDArray[np.float64] | None = fit.model.similarities_
    nothing = None
    if isinstance(subject, ImageSubject):
        assert similarities is not None
        similarities = np.append(similarities, 0.0)[subject.numbers].ravel()
    elif subject.sample is not None:
        similarities = None
    if subject.kept is not None:
        nothing = ~subject.kept
        labels = _spread(labels, subject.kept)
        if similarities is not None:
            similarities = _spread(similarities, subject.kept)
    for start in range(0, len(labels), _ROWS_PER_PIECE):
        some = slice(start, start + _ROWS_PER_PIECE)
        carried = []
        if isinstance(subject, ImageSubject):
            y, x = np.divmod(
                np.arange(start, min(start + _ROWS_PER_PIECE, len(labels))),
                subject.numbers.shape[1],
            )
            carried = [pa.array(x), pa.array(y)]
        yield Labelled(
            carried,
            labels[some],
            None if similarities is None else similarities[some],
            None if nothing is None else nothing[some],
        )


def _spread(values: NDArray[Any], kept: NDArray[np.bool_]) -> NDArray[Any]:
    """Return values for all rows of the file, with 0 for rows that were left out."""
    everywhere = np.zeros(len(kept), dtype=values.dtype)
    everywhere[kept] = values
    return everywhere


def _model(fitter: Fitter, fit: Fit) -> Export:
    model = copy.copy(fit.of_model)
    if isinstance(fitter.subject, TableSubject):
        model.preparation_ = fitter.subject.preparation(fit.settings)
    return Export(MODEL_FILE, "application/octet-stream", _written(MODEL_FILE, model.save))


def _report(fitter: Fitter, fit: Fit) -> Export:
    from ..report import write_report

    subject, settings = fitter.subject, fit.settings
    about: dict[str, Any]
    if isinstance(subject, ImageSubject):
        rows, about = subject.rows(settings), {"title": f"Colours of {subject.name}"}
    else:
        rows, about = subject.values, _about_table(fitter, subject, fit)
    names = list(subject.column_names(settings))

    def write(path: Path) -> None:
        write_report(
            path, fit.of_model, rows, feature_names=names, seconds=fit.seconds.all, **about
        )

    return Export("report.html", "text/html", _written("report.html", write))


def _about_table(fitter: Fitter, table: TableSubject, fit: Fit) -> dict[str, Any]:
    """Return the arguments of the report on a table, as ``pskclust fit --report`` passes them."""
    from .._class_scores import scores_against

    scaling = fit.settings.scaling
    about: dict[str, Any] = {
        "title": f"Clusters in {table.name}",
        "scaling": None if scaling == "none" else scaling,
        "n_left_out": 0 if table.kept is None else int(np.count_nonzero(~table.kept)),
        "command": _fit_command(fitter, table, fit),
    }
    codes = table.classes
    if codes is None or not (codes >= 0).any():
        return about
    return about | {
        "scores": scores_against(codes, fit.of_model.labels_),
        "classes": [table.class_names[code] if code >= 0 else None for code in codes],
        "class_column": table.origin.options.get("label"),
    }


def _fit_command(fitter: Fitter, table: TableSubject, fit: Fit) -> FitCommand | None:
    """Return the command that repeats a fit; None without a file, or if a sample was explored."""
    from ..report.command import FitCommand

    typed, settings = table.origin.command, fit.settings.of_fit
    if typed is None or table.origin.path is None or table.sample is not None:
        return None
    line = command_line(fitter, settings)
    assert line is not None
    hints = found_hints(table, settings, fit.of_model.labels_)
    return FitCommand(line, [*map(typed.hint_words, hints)], typed.as_options)


def _python(fitter: Fitter, fit: Fit) -> Export:
    content = python_code(fitter, fit.settings).encode()
    return Export("clusters.py", "text/x-python", content)


def _command(fitter: Fitter, fit: Fit) -> Export:
    command = command_line(fitter, fit.settings)
    if command is None:
        raise ValueError("pskclust fit cannot write the labels of a layer. Use the Python code.")
    return Export("clusters.sh", "text/x-shellscript", command.encode() + b"\n")


def _written(name: str, write: Callable[[Path], object]) -> bytes:
    """Return the bytes that a function writes to a temporary file."""
    with temporary_folder() as folder:
        path = folder / name
        write(path)
        return path.read_bytes()


_KINDS: dict[str, Callable[[Fitter, Fit], Export]] = {
    "labels.csv": _labels_csv,
    "labels.parquet": _labels_parquet,
    "model": _model,
    "report": _report,
    "python": _python,
    "command": _command,
}
