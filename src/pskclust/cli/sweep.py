"""``pskclust sweep``: fits over a grid of psi and tau."""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from .._utils.wording import counted
from .bars import Bars
from .display import print_facts, print_json, print_table, say
from .failures import writing
from .haversine import check_scaling
from .help_sections import SectionedCommand
from .option_types import WholeNumber, several
from .options import (
    OTHER_PARAMETERS,
    check_clustering,
    data_options,
    debug_option,
    force_option,
    json_option,
    other_clustering_options,
)
from .outputs import check_labels_output, check_outputs, check_picture_output
from .reading import opened_data, read_data
from .repeating import command_line, typed_command
from .summary import noise_words

if TYPE_CHECKING:
    from .._sweep import SweepResult
    from ..tables.reading import Rows

_EPILOG = """\b
Example:
  pskclust sweep demo.csv --label shape --psi 64,96 --tau 0.01,0.015,0.02
  pskclust sweep demo.csv --label shape --plot sweep.png
"""


_CAUTION = (
    "Coarse clusters are often the most stable, so this is the pair with the most clusters among "
    "those within 0.01 of the highest stability. Pairs with one cluster are left out if any pair "
    "has more."
)
_SECTIONS = {"Values to try": ("psi", "tau", "n_seeds")}
_NOT_OF_FIT = ("psi", "tau", "n_seeds", "plot", "growth_rate")


@click.command(
    cls=SectionedCommand,
    epilog=_EPILOG,
    short_help="Try many values of psi and tau on a table.",
    sections=_SECTIONS,
)
@click.argument("data")
@click.option(
    "--psi",
    type=several(int),
    metavar="N,N,...",
    default="16,32,64,128",
    show_default=True,
    help="Values of psi to try.",
)
@click.option(
    "--tau",
    type=several(float),
    metavar="NUMBER,...",
    default="0.005,0.01,0.02,0.05,0.1",
    show_default=True,
    help="Values of tau to try.",
)
@click.option(
    "--seeds",
    "n_seeds",
    type=WholeNumber(2),
    default=3,
    show_default=True,
    help="Number of fits for each pair of psi and tau, with different seeds. Stability is their "
    "agreement.",
)
@click.option(
    "-o", "--output", metavar="FILE", help="Write the table: .csv, .tsv, .parquet or .arrow."
)
@click.option("--plot", metavar="FILE.png", help="Draw heat maps: .png, .svg or .pdf.")
@force_option
@json_option
@data_options
@other_clustering_options
@debug_option
def sweep(
    data: str,
    psi: list[int],
    tau: list[float],
    n_seeds: int,
    output: str | None,
    plot: str | None,
    force: bool,
    as_json: bool,
    **options: Any,
) -> None:
    """Try many values of psi and tau on DATA, and print clusters, noise and stability.

    Cells are found once for each psi and seed, so more values of tau cost little. The result
    of fit without psi and tau is printed, too.
    """
    started = time.perf_counter()
    check_outputs((output, plot), (data,), force=force)
    check_labels_output(output)
    check_picture_output(plot)
    parameters = {name: options[name] for name in OTHER_PARAMETERS}
    check_clustering(parameters)
    check_scaling(options)
    with opened_data(data, options) as table, Bars() as bars:
        rows = _prepared(table, options, bars)
        psi, too_large = _psi_to_try(psi, rows, options["replace"])
        result = _swept(rows, psi, tau, n_seeds, parameters, bars)
        chosen = _chosen(rows, parameters, bars)
    pairs = _pairs(result)
    if output is not None:
        _write(Path(output), pairs)
    if plot is not None:
        _draw(result, plot)
    best = result.best()
    classes = _best_agreement(pairs)
    seconds = time.perf_counter() - started
    if as_json:
        content = {"data": data, "pairs": pairs, "best": best, "chosen": chosen, "seconds": seconds}
        content |= {"psi_left_out": too_large}
        print_json(content | ({} if classes is None else {"best_ari": classes}))
        return
    _print(pairs, best)
    facts = {"seconds": f"{seconds:.2f}"}
    written = [name for name in (output, plot) if name]
    print_facts(facts | ({"written": ", ".join(written)} if written else {}))
    if too_large:
        listed = ", ".join(map(str, too_large))
        say(f"\nNot tried: psi {listed}, which is more than the {len(rows):,} rows.")
    say(f"\nFigures are means over {n_seeds} seeds. fit uses one seed, so its figures differ.")
    _print_chosen(chosen)
    if classes is not None:
        _print_pair("Best ARI", classes)
    _print_pair("Most stable", best)
    say(_CAUTION, indent="  ")


def _psi_to_try(psi: list[int], rows: Rows, replace: bool) -> tuple[list[int], list[int]]:
    """Return the values of psi to try, and those of the default that are more than the rows."""
    source = click.get_current_context().get_parameter_source("psi")
    if replace or source is not ParameterSource.DEFAULT:
        return psi, []
    total = len(rows) if rows.weight is None else int(rows.weight.sum())
    too_large = [value for value in psi if value > total]
    return [value for value in psi if value <= total] or [total], too_large


def _prepared(table: Any, options: dict[str, Any], bars: Bars) -> Rows:
    """Return the rows to cluster, scaled."""
    from .._data.scaling import Preparation

    selection, rows = read_data(table, options, bars, streamed=True)
    preparation = Preparation.of(
        rows.values, selection.features, options["scaling"], rows.means, rows.weight
    )
    return replace(rows, values=preparation.apply_all(rows.values))


def _swept(
    rows: Rows,
    psi: list[int],
    tau: list[float],
    n_seeds: int,
    parameters: dict[str, Any],
    bars: Bars,
) -> SweepResult:
    from .._sweep import sweep as run_sweep

    return run_sweep(
        rows.values,
        psi=psi,
        tau=tau,
        n_seeds=n_seeds,
        sample_weight=rows.weight,
        y=rows.classes,
        callback=bars.of_fit,
        verbose=False,
        **parameters,
    )


def _chosen(rows: Rows, parameters: dict[str, Any], bars: Bars) -> dict[str, Any]:
    """Return the result of a fit without psi and tau, and its command."""
    from .._estimator import PSKC

    others = {name: value for name, value in parameters.items() if name != "growth_rate"}
    model = PSKC(**others, verbose=False, callback=bars.of_fit)
    model.fit(rows.values, sample_weight=rows.weight)
    assert model.auto_ is not None
    known = {}
    if rows.classes is not None:
        from .._class_scores import scores_against

        known["agreement"] = scores_against(rows.classes, model.labels_)["ARI"]
    return {
        **known,
        "n_clusters": int(model.n_clusters_),
        "noise": float((model.labels_ < 0).mean()),
        "reason": model.auto_.reason,
        "command": command_line(click.get_current_context(), command="fit", leave_out=_NOT_OF_FIT),
    }


def _best_agreement(pairs: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Return the pair with the best ARI; None if no classes are known."""
    if "ARI" not in pairs[0]:
        return None
    best = max(pairs, key=lambda pair: pair["ARI"])
    return {name: best[name] for name in ("psi", "tau", "ARI")}


def _print_pair(title: str, pair: dict[str, Any]) -> None:
    """Print a pair of psi and tau, and the command that fits it, on one line to copy."""
    context = click.get_current_context()
    elsewhere = dict.fromkeys(("output", "force", "as_json"))
    seed = context.params["random_state"]
    changed = {"psi": pair["psi"], "tau": f"{pair['tau']:g}", "random_state": seed, **elsewhere}
    agreement = f" (ARI {pair['ARI']:.3f})" if "ARI" in pair else ""
    click.echo(f"\n{title}: psi {pair['psi']}, tau {pair['tau']:g}{agreement}")
    click.echo(f"  {typed_command(context, changed, command='fit')}")


def _print_chosen(chosen: dict[str, Any]) -> None:
    """Print the result of a fit without psi and tau, and its command, on one line to copy."""
    found = counted(chosen["n_clusters"], "cluster")
    words = f"{found}, {noise_words(chosen['noise'])}"
    if "agreement" in chosen:
        words += f", ARI {chosen['agreement']:.3f}"
    click.echo(f"\nChosen without psi and tau: {words}")
    click.echo(f"  {chosen['command']}")


def _pairs(result: SweepResult) -> list[dict[str, Any]]:
    known = result.agreement
    return [
        {
            "psi": int(psi),
            "tau": float(tau),
            "clusters": float(result.n_clusters[i, j]),
            "noise": float(result.noise[i, j]),
            "stability": float(result.stability[i, j]),
            "objective": float(result.objective[i, j]),
            **({} if known is None else {"ARI": float(known[i, j])}),
        }
        for i, psi in enumerate(result.psi)
        for j, tau in enumerate(result.tau)
    ]


def _print(rows: list[dict[str, Any]], best: dict[str, Any]) -> None:
    known = ["ARI"] if "ARI" in rows[0] else []
    print_table(
        ["psi", "tau", "clusters", "noise", "stability", "objective", *known, ""],
        [
            [
                str(row["psi"]),
                f"{row['tau']:g}",
                f"{row['clusters']:g}",
                f"{row['noise']:.1%}",
                f"{row['stability']:.3f}",
                f"{row['objective']:,.1f}",
                *(f"{row[name]:.3f}" for name in known),
                "most stable" if {k: row[k] for k in ("psi", "tau")} == best else "",
            ]
            for row in rows
        ],
    )


def _write(path: Path, rows: list[dict[str, Any]]) -> None:
    import pyarrow as pa

    from ..tables.writing import table_file

    batch = pa.RecordBatch.from_pylist(rows)
    with writing(path), table_file(path, batch.schema) as write:
        write(batch)


def _draw(result: SweepResult, plot: str) -> None:
    from .._utils.files import replacing
    from ..plotting import SweepDisplay

    display = SweepDisplay.from_result(result)
    with writing(plot), replacing(plot) as stream:
        display.figure_.savefig(stream, format=Path(plot).suffix[1:], dpi=150)
