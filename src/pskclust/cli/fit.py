"""``pskclust fit``: cluster a table."""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .._utils.memory import release_free_memory
from .bars import Bars
from .display import print_json
from .failures import writing
from .haversine import check_scaling
from .help_sections import SectionedCommand
from .hints import column_hints, command_for, hint_words
from .options import (
    PARAMETERS,
    as_options,
    check_clustering,
    clustering_options,
    data_options,
    debug_option,
    force_option,
    json_option,
)
from .outputs import (
    STANDARD_OUTPUT,
    check_labels_output,
    check_model_output,
    check_outputs,
    check_report_output,
    output_for_labels,
)
from .reading import opened_data, read_data
from .repeating import command_line
from .summary import peak_memory, print_summary, summary_of

if TYPE_CHECKING:
    from .._data.odd_columns import ColumnHint
    from .._estimator import PSKC
    from ..tables.base import Table
    from ..tables.reading import Rows
    from ..tables.selection import Selection

_EPILOG = """\b
Example:
  pskclust fit demo.csv --label shape --report report.html
  pskclust fit demo.csv --label shape -o labels.csv --model model.npz
  pskclust fit demo.csv --label shape --psi 96 --tau 0.015
"""

STORAGE = ("scratch_dir", "checkpoint")


@dataclass(frozen=True, eq=False)
class _Outputs:
    """The output files of a fit."""

    labels: str | None
    model: str | None
    report: str | None

    def names(self) -> list[str]:
        return [name for name in (self.labels, self.model, self.report) if name is not None]


@dataclass(frozen=True, eq=False)
class _Job:
    """A fit with its table, rows, model, scores and times."""

    table: Table
    selection: Selection
    rows: Rows
    model: PSKC
    scores: dict[str, float]
    seconds: dict[str, float]
    hints: list[ColumnHint]


@click.command(cls=SectionedCommand, epilog=_EPILOG, short_help="Cluster the rows of a table.")
@click.argument("data")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    help="Write the cluster and the similarity of each row: .csv, .tsv, .parquet or .arrow; "
    "- prints CSV.",
)
@click.option("--keep-columns", is_flag=True, help="Write all columns of DATA beside the labels.")
@click.option("--model", "model_file", metavar="FILE", help="Save the model, for predict and info.")
@click.option("--report", metavar="FILE.html", help="Write a page with pictures and explanations.")
@force_option
@json_option
@data_options
@clustering_options
@click.option("--scratch-dir", metavar="DIR", help="Folder for cells that do not fit into memory.")
@click.option(
    "--checkpoint",
    metavar="DIR",
    help="Folder for finished clusters, so that an interrupted fit can be resumed.",
)
@debug_option
def fit(
    data: str,
    output: str | None,
    keep_columns: bool,
    model_file: str | None,
    report: str | None,
    force: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Cluster the rows of DATA and print a summary.

    DATA is a CSV, TSV, Parquet, Arrow, Feather, NPY, NPZ or LibSVM file, a folder of Parquet files,
    or - for standard input. All columns are clustered, except those to which an option gives
    another role. A large file is read several times in parts, and is never in memory as a whole.
    """
    started = time.perf_counter()
    if as_json and output == STANDARD_OUTPUT:
        raise click.UsageError("--json and -o - both print to standard output. Give -o a file.")
    if keep_columns and output is None:
        raise click.UsageError(
            "--keep-columns says which columns to write beside the labels. Name the file for the "
            "labels with -o."
        )
    outputs = _Outputs(output, model_file, report)
    check_outputs(outputs.names(), (data,), force=force)
    check_labels_output(output)
    check_model_output(model_file)
    check_report_output(report)
    parameters = {name: options[name] for name in (*PARAMETERS, *STORAGE)}
    check_clustering(parameters)
    check_scaling(options)
    with opened_data(data, options) as table, Bars() as bars:
        job = _do(table, options, parameters, bars)
        _write(job, outputs, keep_columns, bars)
    summary = _summary(job, outputs, parameters, started)
    if as_json:
        print_json(summary)
    else:
        print_summary(summary, to_stderr=output == STANDARD_OUTPUT)


def _do(table: Table, options: dict[str, Any], parameters: dict[str, Any], bars: Bars) -> _Job:
    from .._data.scaling import Preparation
    from .._estimator import PSKC

    started = time.perf_counter()
    selection, rows = read_data(table, options, bars, streamed=True)
    read = time.perf_counter()
    model = PSKC(**parameters, verbose=False, callback=bars.of_fit)
    preparation = Preparation.of(
        rows.values,
        selection.features,
        options["scaling"],
        rows.means,
        rows.weight,
        options["missing"],
    )
    model.fit(preparation.apply_all(rows.values), sample_weight=rows.weight)
    release_free_memory()
    model.preparation_ = preparation
    fitted = time.perf_counter()
    scores = {}
    if rows.classes is not None:
        from .._class_scores import scores_against

        scores = scores_against(rows.classes, model.labels_)
    seconds = {"read": read - started, "fit": fitted - read}
    hints = column_hints(table, selection, rows, model.fitted_.few_values, options)
    return _Job(table, selection, rows, model, scores, seconds, hints)


def _write(job: _Job, outputs: _Outputs, keep_columns: bool, bars: Bars) -> None:
    started = time.perf_counter()
    if outputs.names():
        bars.show("write", 0.0)
    if outputs.model is not None:
        with writing(outputs.model):
            job.model.save(outputs.model)
    if outputs.report is not None:
        _write_report(job, outputs.report)
    # Labels are written last, because the reader of a pipe may stop early.
    if outputs.labels is not None:
        if outputs.labels == STANDARD_OUTPUT:
            bars.stop()
        _write_labels(job, outputs.labels, keep_columns)
    job.seconds["write"] = time.perf_counter() - started


def _write_labels(job: _Job, output: str, keep_columns: bool) -> None:
    from ..tables.labels import pieces_of_fit, write_labels

    selection, rows, model = job.selection, job.rows, job.model
    carried = job.table.columns if keep_columns else selection.ids
    pieces = pieces_of_fit(
        job.table, selection.features, carried, rows.kept, model.labels_, model.similarities_
    )
    with writing(output):
        write_labels(output_for_labels(output), carried, pieces)


def _write_report(job: _Job, report: str) -> None:
    from .._data.sources import RowBlocks
    from ..report import write_report
    from ..report.command import FitCommand
    from ..tables.labels import values_of

    ids, scaling, values = job.selection.ids, job.model.preparation_.scaling, job.rows.values
    with contextlib.ExitStack() as stack:
        stack.enter_context(writing(report))
        if isinstance(values, RowBlocks):
            # The report looks up single rows, so the rows of a large file are kept on disk.
            folder = job.model.scratch_dir or Path(report).parent
            values = stack.enter_context(values.on_disk(folder))
        write_report(
            report,
            job.model,
            values,
            feature_names=list(job.selection.features),
            ids=values_of(job.table, ids[0], job.rows.kept) if ids else None,
            title=f"Clusters in {Path(job.table.name).name}",
            scaling=None if scaling == "none" else scaling,
            seconds=job.seconds["fit"],
            scores=job.scores or None,
            classes=_classes(job),
            class_column=job.selection.label,
            n_left_out=job.rows.n_dropped,
            command=FitCommand(
                command_line(click.get_current_context()), [*map(hint_words, job.hints)], as_options
            ),
        )


def _classes(job: _Job) -> list[Any] | None:
    """Return the known class of each row, None where it is missing; None without a label."""
    from ..tables.labels import values_of

    codes, label = job.rows.classes, job.selection.label
    if codes is None or label is None:
        return None
    values = values_of(job.table, label, job.rows.kept)
    return [value if code >= 0 else None for value, code in zip(values, codes, strict=True)]


def _on_few_rows(model: PSKC) -> list[str]:
    from .._advice import on_few_rows

    hint = on_few_rows(len(model.labels_))
    return [] if hint is None else [hint.text]


def _summary(
    job: _Job, outputs: _Outputs, parameters: dict[str, Any], started: float
) -> dict[str, Any]:
    written = [name for name in outputs.names() if name != STANDARD_OUTPUT]
    return {
        "data": job.table.name,
        "columns": list(job.selection.features),
        "scaling": job.model.preparation_.scaling,
        "n_dropped": job.rows.n_dropped,
        "n_filled": job.rows.n_filled,
        **summary_of(job.model),
        "hints": [*map(hint_words, job.hints), *_on_few_rows(job.model)],
        "command_with_hints": command_for(job.hints, replaces_files=bool(written)),
        "label": job.selection.label,
        "weight": job.selection.weight,
        "scores": job.scores,
        "parameters": parameters,
        # With chosen clusters, psi_ is the psi of the kernel that places rows, not a parameter.
        "psi": None if job.model.tau_ is None else job.model.psi_,
        "tau": job.model.tau_,
        "command": command_line(click.get_current_context()),
        "seconds": {**job.seconds, "total": time.perf_counter() - started},
        "memory_bytes": peak_memory(),
        "written": written,
    }
