"""``pskclust predict``: clusters of new rows, in constant memory."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from .._model_io.container import is_model_file
from .._utils.exceptions import ModelFileError
from .._utils.memory import readable_bytes
from .._utils.wording import counted
from ..tables.errors import MissingValuesError, TableError
from .bars import Bars
from .display import escaped, first_of, print_facts, print_json, say
from .failures import CommandError, ExitCode, writing
from .help_sections import SectionedCommand
from .hints import lacks_header
from .models import known_columns, loaded_model, preparation_of
from .options import (
    debug_option,
    device_option,
    force_option,
    jobs_option,
    json_option,
    new_data_options,
)
from .outputs import STANDARD_OUTPUT, check_labels_output, check_outputs, output_for_labels
from .reading import opened_data
from .repeating import typed_command
from .summary import peak_memory

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .._estimator import PSKC
    from ..tables.base import Batch, Table
    from ..tables.labels import Labelled
    from ..tables.selection import Selection

_EPILOG = """\b
Example:
  pskclust predict model.npz demo.csv -o predicted.csv
"""


@click.command(cls=SectionedCommand, epilog=_EPILOG, short_help="Find the clusters of new rows.")
@click.argument("model_file", metavar="MODEL")
@click.argument("data")
@click.option(
    "-o",
    "--output",
    metavar="FILE",
    default=STANDARD_OUTPUT,
    help="File for the labels: .csv, .tsv, .parquet or .arrow. By default, labels are printed "
    "as CSV.",
)
@click.option("--keep-columns", is_flag=True, help="Write all columns of DATA beside the labels.")
@click.option(
    "--similarity", is_flag=True, help="Also write the similarity of each row, which takes longer."
)
@force_option
@json_option
@new_data_options
@jobs_option
@device_option
@debug_option
def predict(
    model_file: str,
    data: str,
    output: str,
    keep_columns: bool,
    similarity: bool,
    force: bool,
    as_json: bool,
    n_jobs: int,
    device: str | None,
    **options: Any,
) -> None:
    """Find the cluster of each row of DATA with a MODEL saved by fit --model.

    Columns are found by name and scaled as in the fit. DATA is read and labels are written in
    batches, so files of any size need little memory.
    """
    started = time.perf_counter()
    if as_json and output == STANDARD_OUTPUT:
        raise click.UsageError(
            "--json and the labels both go to standard output. Write labels to a file with -o."
        )
    check_outputs((output,), (data, model_file), force=force)
    check_labels_output(output)
    model = _loaded(model_file, data).set_params(n_jobs=n_jobs, device=device)
    with opened_data(data, options) as table, Bars() as bars:
        from ..tables.labels import write_labels

        _note_on_positions(model, table, options)
        placing = _Placing(model, table, options, keep_columns, similarity, bars)
        pieces = placing.pieces()
        if output == STANDARD_OUTPUT:
            pieces = _without_bars(pieces, bars)
        with writing(output):
            n_rows = write_labels(output_for_labels(output), placing.carried, pieces)
        if not n_rows:
            raise TableError(f"{table.name} has a header but no rows.")
    summary = {
        "data": data,
        "model": model_file,
        "n_rows": n_rows,
        "n_left_out": placing.n_left_out,
        "n_filled": placing.n_filled,
        "n_noise": placing.n_noise,
        "cluster_sizes": placing.sizes.tolist(),
        "seconds": time.perf_counter() - started,
        "memory_bytes": peak_memory(),
        "written": output,
    }
    if as_json:
        print_json(summary)
    elif output != STANDARD_OUTPUT:
        _print(summary)
    elif placing.n_filled:
        say(f"Note: filled in {_filled_words(placing.n_filled)}.", to_stderr=True)


def _without_bars(pieces: Iterator[Labelled], bars: Bars) -> Iterator[Labelled]:
    """Yield pieces of labels, and remove the bar before the first piece is printed."""
    for piece in pieces:
        bars.stop()
        yield piece


def _loaded(model_file: str, data: str) -> PSKC:
    try:
        return loaded_model(model_file)
    except ModelFileError as error:
        if not is_model_file(data):
            raise
        swapped = {"model_file": data, "data": model_file}
        example = typed_command(click.get_current_context(), swapped)
        line = f"the model comes before the data: {example}"
        raise CommandError(line, ExitCode.USAGE) from error


class _Placing:
    """Prediction of the labels of a table, batch by batch."""

    def __init__(
        self,
        model: PSKC,
        table: Table,
        options: dict[str, Any],
        keep_columns: bool,
        similarity: bool,
        bars: Bars,
    ) -> None:
        self._model, self._table, self._bars = model, table, bars
        self._preparation = preparation_of(model)
        self._missing = options["missing"] or self._default_missing()
        self._with_similarity = similarity
        self._selection = _selection(model, table, options)
        # Columns are found by name and prepared here; the model gets arrays without names.
        for name in ("feature_names_in_", "preparation_"):
            model.__dict__.pop(name, None)
        self.carried = table.columns if keep_columns else self._selection.ids
        self.sizes = np.zeros(model.n_clusters_, dtype=np.int64)
        self.n_noise = self.n_left_out = self.n_filled = 0

    def _default_missing(self) -> str:
        """Return the default of --missing: mean if the fit used column means, else refuse."""
        used_means = self._preparation is not None and self._preparation.missing == "mean"
        return "mean" if used_means else "refuse"

    def pieces(self) -> Iterator[Labelled]:
        """Yield labels with the columns to write beside them."""
        from ..tables.labels import Labelled

        n_done = 0
        self._bars.show("predict", 0.0)
        for batch in self._table.batches(self._selection.features, self.carried):
            rows, nothing = self._complete(batch, n_done)
            labels, similarities = self._placed(rows, nothing)
            self._count(labels, nothing)
            n_done += len(labels)
            self._bars.show("predict", batch.share, f"{n_done:,} rows")
            yield Labelled(batch.others, labels, similarities, nothing)

    def _complete(
        self, batch: Batch, n_before: int
    ) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:
        """Return rows with missing values filled in, and a mask of the rows that get no label."""
        from .._data.scaling import fill
        from ..tables.scanning import by_column, find_gaps

        gaps = find_gaps(batch.numbers, self._selection.features, self._table, n_before)
        if not gaps.any:
            return batch.numbers, None
        if self._missing == "drop":
            return fill(batch.numbers, np.zeros(batch.numbers.shape[1])), gaps.rows
        if self._missing == "mean":
            if self._preparation is None:
                raise TableError("the model contains no column means. Use --missing drop.")
            self.n_filled += int(gaps.counts.sum())
            return fill(batch.numbers, self._preparation.means), None
        counts = by_column(self._selection.features, gaps.counts)
        raise MissingValuesError(counts, gaps.n_rows, len(batch.numbers))

    def _placed(
        self, rows: NDArray[Any], nothing: NDArray[np.bool_] | None
    ) -> tuple[NDArray[np.int64], NDArray[np.float64] | None]:
        chosen = rows if nothing is None else rows[~nothing]
        if self._preparation is not None:
            chosen = self._preparation.apply(chosen)
        labels = np.full(len(rows), -1, dtype=np.int64)
        similarities = np.zeros(len(rows)) if self._with_similarity else None
        if len(chosen):
            places = slice(None) if nothing is None else ~nothing
            labels[places] = self._model.predict(chosen)
            if similarities is not None and self._model.n_clusters_:
                best, _ = self._model.similarity(chosen, top_k=1)
                similarities[places] = np.where(labels[places] < 0, 0.0, best[:, 0])
        return labels, similarities

    def _count(self, labels: NDArray[np.int64], nothing: NDArray[np.bool_] | None) -> None:
        n_left_out = 0 if nothing is None else int(np.count_nonzero(nothing))
        counts = np.bincount(labels + 1, minlength=len(self.sizes) + 1)
        self.n_left_out += n_left_out
        self.n_noise += int(counts[0]) - n_left_out
        self.sizes += counts[1:]


def _selection(model: PSKC, table: Table, options: dict[str, Any]) -> Selection:
    from ..tables.selection import select, select_known

    known = known_columns(model)
    if known is not None and not options["columns"] and not options["drop"]:
        return select_known(table, known, options["ids"])
    selection = select(table, columns=options["columns"], drop=options["drop"], ids=options["ids"])
    if known is not None and set(selection.features) == set(known):
        return replace(selection, features=known)
    n_found, n_needed = len(selection.features), model.n_features_in_
    if n_found != n_needed:
        raise TableError(
            f"{counted(n_found, 'column')} of {table.name} {'is' if n_found == 1 else 'are'} "
            f"chosen, but the model was fitted to {n_needed}. Choose {n_needed} columns "
            "with --columns or --drop."
        )
    return selection


def _filled_words(n_filled: int) -> str:
    return f"{counted(n_filled, 'missing value')} with column means of the fit"


def _note_on_positions(model: PSKC, table: Table, options: dict[str, Any]) -> None:
    """Print a note if columns are taken by their positions, because no header was found."""
    known = known_columns(model)
    if known is None or options["columns"] or options["drop"] or not lacks_header(table):
        return
    more = "" if options["has_header"] is not None else " If it has one, add: --header"
    names = first_of(known, 6)
    line = f"{table.name} has no header, so its columns are taken in the order of the fit: {names}."
    say(f"Note: {escaped(line)}{more}", to_stderr=True)


def _print(summary: dict[str, Any]) -> None:
    sizes = [f"{size:,}" for size in summary["cluster_sizes"]]
    n_placed, n_rows = sum(summary["cluster_sizes"]), counted(summary["n_rows"], "row")
    facts = {
        "placed": f"{n_placed:,} of {n_rows} in {counted(len(sizes), 'cluster')}",
        "sizes": first_of(sizes, 20) or "no clusters",
        "noise": counted(summary["n_noise"], "row"),
        "seconds": f"{summary['seconds']:.2f}",
        "written": summary["written"],
    }
    if summary["n_left_out"]:
        facts["left out"] = f"{counted(summary['n_left_out'], 'row')} with missing values"
    if summary["n_filled"]:
        facts["filled in"] = _filled_words(summary["n_filled"])
    if summary["memory_bytes"]:
        facts["memory"] = f"{readable_bytes(summary['memory_bytes'])} at its peak"
    print_facts(facts)
