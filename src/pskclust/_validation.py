"""Input to checked arrays, and the rules that relate parameters to data."""

from __future__ import annotations

import numbers
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.utils.validation import validate_data

from ._metric import METRICS, check_metric, column_ranges, to_points, warn_of_radians
from ._parallel import rows_per_chunk
from ._weights import Weights

METHODS = ("voronoi", "hypersphere", "tree")


@dataclass(frozen=True)
class Data:
    """The rows of a fit, checked: what everything after validation works on."""

    rows: NDArray[Any]
    metric: str
    weights: Weights

    def __len__(self) -> int:
        return len(self.rows)

    def only(self, chosen: slice) -> Data:
        """Return the data of the chosen rows."""
        return Data(self.rows[chosen], self.metric, self.weights.only(chosen))

    def points(self, chosen: slice | NDArray[np.intp] = slice(None)) -> NDArray[np.float64]:
        """Return the points, in Euclidean space, of the chosen rows."""
        return to_points(self.rows[chosen], self.metric)


@dataclass(frozen=True)
class Rule:
    """What a parameter may be, and how to say so."""

    words: str
    admits: Callable[[Any], bool]


def one_of(*choices: str) -> Rule:
    words = "one of " + ", ".join(map(repr, choices)) if len(choices) > 1 else repr(choices[0])
    return Rule(words, lambda value: isinstance(value, str) and value in choices)


def whole(low: int) -> Rule:
    return Rule(f"a whole number of {low} or more", lambda value: _is_whole(value) and value >= low)


def between(low: float, high: float) -> Rule:
    words = f"a number above {low:g}" + (f" and below {high:g}" if high < np.inf else "")
    return Rule(words, lambda value: is_number(value) and low < value < high)


def _is_whole(value: object) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, bool)


def is_number(value: object) -> bool:
    return isinstance(value, numbers.Real) and not isinstance(value, bool)


_FLAG = Rule("True or False", lambda value: isinstance(value, bool | np.bool_))
NOT_NEGATIVE = Rule("a number of 0 or more", lambda value: is_number(value) and 0 <= value < np.inf)
NONE = Rule("None", lambda value: value is None)
_PATH = Rule("a path", lambda value: isinstance(value, str | os.PathLike))
_FUNCTION = Rule("a function", callable)
_GROWTH_RATE = Rule(
    "a number above 0 and below 1, large enough for the threshold to fall",
    lambda value: is_number(value) and 0 < 1 - value < 1,
)
_JOBS = Rule(
    "a whole number other than 0 (-1 means all processors)",
    lambda value: _is_whole(value) and value != 0,
)

KERNEL_RULES: dict[str, tuple[Rule, ...]] = {
    "psi": (whole(2), one_of("auto")),
    "n_partitions": (whole(1),),
    "method": (one_of(*METHODS),),
    "metric": (one_of(*METRICS),),
    "replace": (_FLAG,),
    "n_jobs": (_JOBS, NONE),
}

CLUSTERING_RULES: dict[str, tuple[Rule, ...]] = KERNEL_RULES | {
    "tau": (between(0, 1), one_of("auto")),
    "n_clusters": (whole(1), NONE),
    "linking": (_FLAG, one_of("auto")),
    "growth_rate": (_GROWTH_RATE,),
    "kernel": (one_of("isolation", "gaussian"),),
    "gamma": (between(0, np.inf), one_of("scale")),
    "refine": (_FLAG,),
    "min_cluster_size": (whole(1), NONE),
    "noise": (one_of("keep", "nearest"),),
    "verbose": (_FLAG, whole(0)),
    "callback": (_FUNCTION, NONE),
    "scratch_dir": (_PATH, NONE),
    "checkpoint": (_PATH, NONE),
}


def check_parameters(
    parameters: Mapping[str, object], rules: Mapping[str, tuple[Rule, ...]]
) -> None:
    """Raise ValueError for the first parameter that breaks its rules."""
    for name, allowed in rules.items():
        value = parameters[name]
        if not any(rule.admits(value) for rule in allowed):
            ways = ", or ".join(rule.words for rule in allowed)
            raise ValueError(f"{name}={value!r} is not allowed. Use {ways}.")


def check_linking(parameters: Mapping[str, Any]) -> bool:
    """Return whether clusters are to be linked; raise ValueError if that cannot be."""
    linking, n_clusters = parameters["linking"], parameters["n_clusters"]
    if not linking:
        if n_clusters is not None:
            raise ValueError(
                f"n_clusters={n_clusters} needs linking, but linking=False. Use linking='auto', "
                "or leave n_clusters out."
            )
        return False
    if parameters["kernel"] == "gaussian":
        if linking != "auto" and n_clusters is None:
            raise ValueError(
                "kernel='gaussian' does not choose how many clusters are linked, but linking=True. "
                "Give n_clusters, or use kernel='isolation'."
            )
        return n_clusters is not None
    asked_for = linking != "auto" or n_clusters is not None
    return asked_for or "auto" in (parameters["psi"], parameters["tau"])


def check_rows(
    estimator: Any, X: ArrayLike, metric: str, *, reset: bool = False, min_samples: int = 1
) -> NDArray[Any]:
    """Return X as a real, finite (n, d) array of whatever type it came in.

    Set or check `n_features_in_` and `feature_names_in_` of `estimator` on the way.
    """
    if sparse.issparse(X):
        raise TypeError(
            f"X is sparse ({type(X).__name__}), which is not supported: cells need every value. "
            "Reduce it first, say with sklearn.decomposition.TruncatedSVD, or pass X.toarray() "
            "if that fits into memory."
        )
    _refuse_other_columns(X)
    try:
        rows: NDArray[Any] = validate_data(
            estimator,
            X,
            reset=reset,
            dtype="numeric",
            ensure_all_finite=False,
            ensure_min_samples=min_samples,
        )
    except (TypeError, ValueError) as error:
        _name_what_is_no_number(X, error)
        raise
    if rows.dtype.kind not in "biuf":
        _name_what_is_no_number(X, TypeError())
    rows = check_values(rows, metric, getattr(estimator, "feature_names_in_", None))
    if reset and metric == "haversine":
        warn_of_radians(rows)
    return rows


def check_values(
    rows: NDArray[Any], metric: str, names: NDArray[Any] | None = None, first_row: int = 0
) -> NDArray[Any]:
    """Return the rows of X from `first_row` on, if they are finite numbers that `metric` allows."""
    if rows.dtype.kind not in "biuf":
        raise TypeError(f"X holds {rows.dtype}, not numbers. Encode it as numbers first.")
    if rows.dtype.itemsize > 8:
        rows = rows.astype(np.float64)
    _require_finite(rows, names, first_row)
    check_metric(rows, metric, first_row)
    return rows


def check_columns(
    estimator: Any, n_columns: int, names: Sequence[str] | None, *, reset: bool
) -> None:
    """Set or check `n_features_in_` and `feature_names_in_` as scikit-learn does for arrays."""
    if reset:
        estimator.n_features_in_ = n_columns
        estimator.__dict__.pop("feature_names_in_", None)
        if names is not None:
            estimator.feature_names_in_ = np.array(names, dtype=object)
        return
    if n_columns != estimator.n_features_in_:
        raise ValueError(
            f"X has {n_columns} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input."
        )
    fitted = getattr(estimator, "feature_names_in_", None)
    if names is not None and fitted is not None and list(names) != list(fitted):
        raise ValueError(
            f"The columns of X are {', '.join(names)}, but those of the fit were "
            f"{', '.join(fitted)}. Pass the same columns in the same order."
        )


def check_distances(rows: NDArray[Any], *others: NDArray[Any]) -> None:
    """Raise ValueError if a squared distance between these rows could overflow or vanish."""
    ranges = [column_ranges(some) for some in (rows, *others)]
    low = np.min([smallest for smallest, _ in ranges], axis=0).astype(np.float64)
    high = np.max([largest for _, largest in ranges], axis=0).astype(np.float64)
    with np.errstate(over="ignore", under="ignore"):
        spread = high - low
        squared_diameter = np.square(spread).sum()
        widest = int(np.argmax(spread))
        vanishes = spread[widest] > 0 and spread[widest] ** 2 < np.finfo(np.float64).tiny
    if not np.isfinite(squared_diameter):
        raise ValueError(
            f"Column {widest} of X runs from {low[widest]:g} to {high[widest]:g}: squared "
            "distances overflow. Scale X down, say with sklearn.preprocessing.StandardScaler."
        )
    if vanishes:
        raise ValueError(
            f"No column of X is wider than {spread[widest]:g}: squared distances underflow. "
            "Scale X up, say with sklearn.preprocessing.StandardScaler."
        )


def check_psi(psi: int, n_slots: int, replace: bool, *, weighted: bool) -> None:
    """Raise ValueError if `psi` different centres cannot be drawn."""
    if replace or psi <= n_slots:
        return
    rows = "total weight" if weighted else "rows of X"
    raise ValueError(
        f"psi={psi} is more than the {n_slots} {rows}. Use psi <= {n_slots}, or replace=True to "
        "draw centres with replacement."
    )


def _require_finite(rows: NDArray[Any], names: NDArray[Any] | None, first_row: int) -> None:
    step = rows_per_chunk(rows.shape[1])
    for start in range(0, len(rows), step):
        finite = np.isfinite(rows[start : start + step])
        if not finite.all():
            row, column = np.argwhere(~finite)[0]
            value = rows[start + row, column]
            what = "NaN" if np.isnan(value) else value
            where = "" if names is None else f" (column {names[column]!r})"
            raise ValueError(
                f"X[{first_row + start + row}, {column}]{where} is {what}. Every value must be "
                "finite: leave such rows out, or fill them in, say with "
                "sklearn.impute.SimpleImputer."
            )


def _refuse_other_columns(X: Any) -> None:
    columns, types = getattr(X, "columns", None), getattr(X, "dtypes", None)
    if not isinstance(columns, Iterable) or not isinstance(types, Iterable):
        return
    texts = ("str", "object", "categor", "utf8", "enum")
    times = ("date", "time", "duration")
    for column, kind in zip(columns, types, strict=False):
        name = str(kind).lower()
        if name.startswith(times) or (name.startswith(texts) and not _all_numbers(X[column])):
            raise ValueError(
                f"Column {str(column)!r} of X is no number ({kind}). Leave it out, or encode it as "
                "numbers, say with sklearn.preprocessing.OneHotEncoder."
            )


def _all_numbers(values: Any) -> bool:
    try:
        np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        return False
    return True


def _name_what_is_no_number(X: Any, error: Exception) -> None:
    """Raise again, with the place and the value, an error about an entry that is no number."""
    try:
        entries = np.asarray(X)
    except ValueError:  # rows of different lengths: NumPy's own message says so
        return
    if entries.ndim != 2 or entries.dtype.kind not in "OSUT":
        return
    for (row, column), value in np.ndenumerate(entries.astype(object)):
        try:
            float(value)
        except (TypeError, ValueError) as no_number:
            raise type(no_number)(
                f"X[{row}, {column}] is {value!r}, which is no number ({no_number}). Leave that "
                "column out, or encode it as numbers."
            ) from error
