"""Options that commands share, and their translation to parameters of PSKC."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import click

from .._data.distance_metrics import METRICS
from .._data.parameters import METHODS
from .._data.scaling import MISSING, SCALINGS
from .._utils.wording import ParameterWords
from ..tables.formats import FORMATS
from .option_types import WholeNumber, delimiter_of, number_or

Command = TypeVar("Command", bound=Callable[..., Any])


@dataclass
class RunOptions:
    """Options that are the same for all commands."""

    debug: bool = False


def _split(context: Any, option: Any, values: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names in values such as ``a,b``; a name in quotes may contain commas."""
    try:
        rows = [row for value in values for row in csv.reader([value])]
    except csv.Error:
        raise click.BadParameter(
            "put quotes around a name with a line break: '\"a\nb\"'."
        ) from None
    return tuple(name.strip() for row in rows for name in row if name.strip())


def _names(flag: str, name: str, words: str, metavar: str = "NAMES") -> Any:
    return click.option(
        flag, name, multiple=True, metavar=metavar, callback=_split, expose_value=True, help=words
    )


def _set_debug(context: click.Context, option: Any, value: bool) -> None:
    if value:
        context.find_object(RunOptions).debug = True  # type: ignore[union-attr]


debug_option = click.option(
    "--debug",
    is_flag=True,
    expose_value=False,
    callback=_set_debug,
    help="Show where an error came from.",
)
force_option = click.option("--force", is_flag=True, help="Overwrite existing files.")
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
color_option = click.option(
    "--color",
    "color_space",
    type=click.Choice(("lab", "rgb", "hsv")),
    default="lab",
    show_default=True,
    help="Space in which the colours of an image are compared.",
)
jobs_option = click.option(
    "--n-jobs",
    type=int,
    default=-1,
    show_default="all",
    metavar="N",
    help="Number of threads. Results do not depend on it.",
)
device_option = click.option(
    "--device",
    default=None,
    metavar="NAME",
    help="Find cells on a PyTorch device: cuda, cuda:1, mps, cpu. Results do not depend on it.",
)

_FORMAT_OPTIONS = (
    click.option(
        "--format",
        "kind",
        type=click.Choice(FORMATS),
        help="Format of DATA, if the file extension does not show it.",
    ),
    click.option(
        "--delimiter",
        metavar="CHAR",
        callback=delimiter_of,
        help="Delimiter of a text table, such as ';' or tab. Detected by default.",
    ),
    click.option(
        "--header/--no-header",
        "has_header",
        default=None,
        help="Whether the first line of a text table names its columns. Detected by default.",
    ),
    click.option(
        "--encoding", metavar="NAME", help="Encoding of a text table. UTF-8 or UTF-16 by default."
    ),
)
_DROP_OPTION = _names("--drop", "drop", "Columns to leave out.")
_ID_OPTION = _names("--id", "ids", "Columns to leave out, and to write beside the labels.")
_COLUMN_OPTIONS = (
    _names(
        "--columns",
        "columns",
        "Columns to cluster, such as a,b,c. Default: all columns, except those that another option "
        "names.",
    ),
    _DROP_OPTION,
    _ID_OPTION,
    click.option(
        "--label",
        metavar="NAME",
        help="Column of known classes. It is not clustered; the clusters are compared with it.",
    ),
    click.option(
        "--weight",
        metavar="NAME",
        help="Column of weights. A row of weight 2 counts as two equal rows.",
    ),
    click.option(
        "--scale",
        "scaling",
        type=click.Choice(SCALINGS),
        default="none",
        show_default=True,
        help="Scale columns: standard to mean 0 and variance 1, minmax to the range 0 to 1.",
    ),
)
_FITTED_COLUMNS_OPTION = _names(
    "--columns",
    "columns",
    "Columns of DATA in the order of the fit, such as a,b,c; names of the fit may be in any order. "
    "Default: the columns with the names of the fit.",
)
_MISSING_VALUES_OPTION = _names(
    "--missing-values",
    "missing_values",
    "Texts that stand for a missing value in a text table, such as unknown,none. Always missing: "
    "empty cells, NA, NaN, null, ? and the like.",
    metavar="TEXTS",
)
_MISSING_WORDS = (
    "Missing values: stop with an error (refuse), give such rows no label (drop), or use column "
    "means (mean)."
)
_MISSING_OPTION = click.option(
    "--missing",
    type=click.Choice(MISSING),
    default="refuse",
    show_default=True,
    help=_MISSING_WORDS,
)
_MISSING_OF_FIT_OPTION = click.option(
    "--missing",
    type=click.Choice(MISSING),
    help=f"{_MISSING_WORDS} Default: mean if fit had --missing mean, else refuse.",
)

_SEED_OPTION = click.option(
    "--seed",
    "random_state",
    type=WholeNumber(0, 2**32 - 1),
    default=0,
    show_default=True,
    help="Seed of the random numbers. The same seed gives the same labels.",
)


def _scale_options(psi: int | str, tau: float | str) -> tuple[Any, ...]:
    """Return the options for psi and tau, with these defaults."""
    return (
        click.option(
            "--psi",
            type=number_or(int, "auto"),
            metavar="N|auto",
            default=str(psi),
            show_default=True,
            help="Number of cells in each partitioning. Raise it if clusters that should be apart "
            "are joined.",
        ),
        click.option(
            "--tau",
            type=number_or(float, "auto"),
            metavar="NUMBER|auto",
            default=str(tau),
            show_default=True,
            help="Similarity at which growth stops. Lower it if clusters that should be whole are "
            "split.",
        ),
    )


_SCALE_OPTIONS = _scale_options("auto", "auto")
# The paper's values for images.
_IMAGE_SCALE_OPTIONS = _scale_options(16, 0.1)


def _number_options(default: str) -> tuple[Any, ...]:
    """Return the option for the number of clusters; `default` is the help text on its default."""
    return (
        click.option(
            "--n-clusters",
            type=int,
            default=None,
            metavar="N",
            help=f"Exact number of clusters. {default}",
        ),
    )


def _metric_option(metrics: Sequence[str], words: str) -> Any:
    return click.option(
        "--metric", type=click.Choice(metrics), default="euclidean", show_default=True, help=words
    )


_NUMBER_OPTIONS = _number_options("Chosen by default.")
_IMAGE_NUMBER_OPTIONS = _number_options(
    "By default, growth with --psi and --tau gives the number; if both are auto, it is chosen."
)
_METRIC_OPTION = _metric_option(
    METRICS, "Distance between rows. Haversine takes latitude and longitude in degrees."
)
# A colour has no latitude.
_IMAGE_METRIC_OPTION = _metric_option(("euclidean", "cosine"), "Distance between colours.")
_OTHER_OPTIONS = (
    click.option(
        "--growth-rate",
        type=float,
        metavar="NUMBER",
        default=0.1,
        show_default=True,
        help="Fraction by which the threshold of growth falls in each step.",
    ),
    click.option(
        "--n-partitions",
        type=int,
        metavar="N",
        default=100,
        show_default=True,
        help="Number of random partitionings. Time and memory grow with it.",
    ),
    click.option(
        "--method",
        type=click.Choice(METHODS),
        default="voronoi",
        show_default=True,
        help="Shape of the cells: Voronoi cells, balls, or leaves of random trees.",
    ),
    _METRIC_OPTION,
    click.option(
        "--replace/--no-replace",
        default=False,
        help="Draw centres with replacement, which allows more cells than rows.",
    ),
    click.option(
        "--refine/--no-refine",
        default=None,
        callback=lambda context, option, value: "auto" if value is None else value,
        help="Move rows between clusters if that raises the objective. Default: for grown "
        "clusters only.",
    ),
    click.option(
        "--min-cluster-size",
        type=int,
        default=None,
        metavar="N",
        help="Dissolve clusters of fewer than N rows.",
    ),
    click.option(
        "--noise",
        type=click.Choice(("keep", "nearest")),
        default="keep",
        show_default=True,
        help="Keep noise, or assign each noise row to its most similar cluster.",
    ),
    jobs_option,
    device_option,
    _SEED_OPTION,
)


def _parameters_of(options: Iterable[Any]) -> tuple[str, ...]:
    """Return the names under which options are passed to a command."""

    def command() -> None: ...

    for option in options:
        option(command)
    return tuple(option.name for option in command.__click_params__)  # type: ignore[attr-defined]


# Each of these options is a parameter of PSKC with the same name.
OTHER_PARAMETERS = _parameters_of(_OTHER_OPTIONS)
PARAMETERS = _parameters_of((*_SCALE_OPTIONS, *_NUMBER_OPTIONS, *_OTHER_OPTIONS))


def data_options(command: Command) -> Command:
    """Add the options that say how to read a table to be clustered."""
    return _with(
        command, *_COLUMN_OPTIONS, _MISSING_OPTION, _MISSING_VALUES_OPTION, *_FORMAT_OPTIONS
    )


def new_data_options(command: Command) -> Command:
    """Add the options that say how to read new rows for a fitted model."""
    columns = (_FITTED_COLUMNS_OPTION, _DROP_OPTION, _ID_OPTION)
    return _with(
        command, *columns, _MISSING_OF_FIT_OPTION, _MISSING_VALUES_OPTION, *_FORMAT_OPTIONS
    )


def clustering_options(command: Command) -> Command:
    """Add an option for every parameter of PSKC."""
    return _with(command, *_SCALE_OPTIONS, *_NUMBER_OPTIONS, *_OTHER_OPTIONS)


def image_clustering_options(command: Command) -> Command:
    """Add an option for every parameter of PSKC, with the values and defaults for images."""
    others = (_IMAGE_METRIC_OPTION if one is _METRIC_OPTION else one for one in _OTHER_OPTIONS)
    return _with(command, *_IMAGE_SCALE_OPTIONS, *_IMAGE_NUMBER_OPTIONS, *others)


def other_clustering_options(command: Command) -> Command:
    """Add an option for every parameter of PSKC but psi, tau and n_clusters."""
    return _with(command, *_OTHER_OPTIONS)


def check_clustering(parameters: dict[str, Any]) -> None:
    """Raise a usage error for the first parameter that PSKC would reject."""
    from .._data.parameters import CLUSTERING_RULES, check_parameters

    known = {name: CLUSTERING_RULES[name] for name in parameters if name in CLUSTERING_RULES}
    try:
        check_parameters(parameters, known)
    except ValueError as error:
        raise click.UsageError(as_options(str(error))) from error


def as_options(message: str) -> str:
    """Return a message of the library with parameters written as options: --tau 0.1 for tau=0.1."""
    return _WORDS.of(message).replace("set the number of clusters", "set --n-clusters")


_YES_OR_NO = {"True": "yes", "False": "no"}


def _flag(name: str) -> str:
    return "--seed" if name == "random_state" else f"--{name.replace('_', '-')}"


def _as_option(name: str, value: str) -> str:
    flag = _flag(name)
    if name in ("replace", "refine"):
        return flag if value == "True" else flag.replace("--", "--no-")
    return f"{flag} {_YES_OR_NO.get(value, value)}"


_WORDS = ParameterWords(PARAMETERS, _as_option)


def _with(command: Command, *options: Any) -> Command:
    for option in reversed(options):
        command = option(command)
    return command
