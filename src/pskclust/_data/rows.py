"""The rows of a fit: checked values with a metric and weights."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from .._utils.parallel import map_chunks, rows_per_chunk
from .distance_metrics import check_metric, require_latitude_first, to_points, warn_if_unlikely
from .weights import RowWeights, Weights

# Function that maps points, (m, d), to a mask, (m,).
Condition = Callable[[NDArray[np.float64]], NDArray[np.bool_]]
# Names of columns for messages; None if they have none.
ColumnNames = Sequence[str] | NDArray[Any] | None

_AROUND_GAPS = (
    "leave such rows out. To fill the gaps, use say sklearn.impute.SimpleImputer, but filled rows "
    "may form a cluster of their own"
)
# Dates in digits, year first or last, perhaps with a time.
_DATE = re.compile(
    r"\d{4}([-/.])\d{1,2}\1\d{1,2}([T ].*)?|\d{1,2}([-/.])\d{1,2}\3(\d{4}|\d{2})( .*)?"
)
# Delimiters that pandas does not expect in a CSV file.
_DELIMITER = re.compile(r"[;\t|]")
# Values of X in messages of scikit-learn, ahead of its advice.
_VALUES_OF_ARRAY = re.compile(r":\narray=.*?\n(?=Reshape)", re.DOTALL)
_VALUES_OF_COMPLEX = re.compile(r"(?<=^Complex data not supported)\n.*", re.DOTALL)
_WAY_OUT_OF_COMPLEX = ": pass the real and imaginary parts as columns of their own."


class FitRows(Protocol):
    """The rows of a fit, in memory, read in blocks, or on a Dask cluster."""

    @property
    def metric(self) -> str: ...

    @property
    def weights(self) -> RowWeights: ...

    @property
    def n_columns(self) -> int: ...

    def __len__(self) -> int: ...

    def points(self, chosen: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the rows in `chosen`, which is ascending, as points in Euclidean space."""

    def rows_where(self, condition: Condition, n_jobs: int | None) -> NDArray[np.intp]:
        """Return the row numbers, ascending, of the points that meet a condition."""


@dataclass(frozen=True)
class Data:
    """Checked rows of a fit in memory."""

    rows: NDArray[Any]
    metric: str
    weights: Weights

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def n_columns(self) -> int:
        return int(self.rows.shape[1])

    def only(self, chosen: slice) -> Data:
        """Return the data of the chosen rows."""
        return Data(self.rows[chosen], self.metric, self.weights.only(chosen))

    def points(self, chosen: slice | NDArray[np.intp] = slice(None)) -> NDArray[np.float64]:
        """Return the chosen rows as points in Euclidean space."""
        return to_points(self.rows[chosen], self.metric)

    def rows_where(self, condition: Condition, n_jobs: int | None) -> NDArray[np.intp]:
        """Return the row numbers, ascending, of the points that meet a condition."""

        def find(chunk: slice) -> NDArray[np.intp]:
            found: NDArray[np.intp] = np.flatnonzero(condition(self.points(chunk)))
            found += chunk.start
            return found

        chunk_rows = rows_per_chunk(self.rows.shape[1])
        found = list(map_chunks(find, len(self), chunk_rows, n_jobs))
        return np.concatenate([np.empty(0, dtype=np.intp), *found])


def check_rows(
    estimator: BaseEstimator,
    X: ArrayLike,
    metric: str,
    *,
    reset: bool = False,
    min_samples: int = 1,
    names: ColumnNames = None,
    around_gaps: str | None = None,
) -> NDArray[Any]:
    """Return X as an array of finite numbers, (n, d), that keeps its numeric type.

    Set (with `reset`) or check `n_features_in_` and `feature_names_in_` of `estimator`. Errors name
    columns by these names, or by `names` if they are given. `around_gaps` is the advice in the
    error for a missing value, if it is not the usual one.
    """
    if sparse.issparse(X):
        raise TypeError(
            f"X is sparse ({type(X).__name__}), which is not supported: cells need dense rows. "
            "Reduce it first, say with sklearn.decomposition.TruncatedSVD, or pass X.toarray() "
            "if that fits into memory."
        )
    fitted = None if reset else getattr(estimator, "feature_names_in_", None)
    refuse_other_columns(X, names if fitted is None else fitted)
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
        _name_the_bad_entry(X, error)
        short = _VALUES_OF_COMPLEX.sub(_WAY_OUT_OF_COMPLEX, _VALUES_OF_ARRAY.sub(". ", str(error)))
        if short != str(error):
            raise type(error)(short) from None
        raise
    if rows.dtype.kind not in "biuf":
        _name_the_bad_entry(X, TypeError())
    if names is None:
        names = getattr(estimator, "feature_names_in_", None)
    if reset:
        require_latitude_first(names, metric)
    rows = check_values(rows, metric, names, around_gaps=around_gaps)
    if reset:
        warn_if_unlikely(rows, metric)
    return rows


def check_values(
    rows: NDArray[Any],
    metric: str,
    names: ColumnNames = None,
    first_row: int = 0,
    around_gaps: str | None = None,
) -> NDArray[Any]:
    """Return rows of X if they are finite numbers that `metric` allows, else raise an error.

    `rows` are consecutive rows of X, starting at `first_row`. `around_gaps` is the advice in the
    error for a missing value, if it is not the usual one.
    """
    if rows.dtype.kind not in "biuf":
        raise TypeError(f"X has the type {rows.dtype}, not numbers. Encode it as numbers first.")
    if rows.dtype.itemsize > 8:
        rows = rows.astype(np.float64)
    _require_finite(rows, names, first_row, around_gaps or _AROUND_GAPS)
    check_metric(rows, metric, first_row)
    return rows


def check_columns(
    estimator: BaseEstimator, n_columns: int, names: Sequence[str] | None, *, reset: bool
) -> None:
    """Set or check `n_features_in_` and `feature_names_in_`, as scikit-learn does for arrays."""
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


def _require_finite(
    rows: NDArray[Any], names: ColumnNames, first_row: int, around_gaps: str
) -> None:
    step = rows_per_chunk(rows.shape[1])
    for start in range(0, len(rows), step):
        finite = np.isfinite(rows[start : start + step])
        if not finite.all():
            row, column = np.argwhere(~finite)[0]
            value = rows[start + row, column]
            what, way = value, "leave such rows out, or replace them with a finite number"
            if np.isnan(value):
                what, way = "NaN", around_gaps
            where = "" if names is None else f" (column {names[column]!r})"
            raise ValueError(
                f"X[{first_row + start + row}, {column}]{where} is {what}. Every value must be "
                f"finite: {way}."
            )


def refuse_other_columns(X: Any, known: ColumnNames = None) -> None:
    """Raise ValueError if a data frame has columns that do not hold numbers.

    `known` are the columns of a fit, None for the data frame of a fit.
    """
    columns, types = getattr(X, "columns", None), getattr(X, "dtypes", None)
    if not isinstance(columns, Iterable) or not isinstance(types, Iterable):
        return
    texts = ("str", "object", "categor", "utf8", "enum")
    times = ("date", "time", "duration")
    columns = list(columns)
    if not columns:
        raise ValueError("X is a table without columns. Pass a table with columns of numbers.")
    _refuse_equal_names(columns)
    found = [(column, str(kind)) for column, kind in zip(columns, types, strict=False)]
    dates = [each for each in found if each[1].lower().startswith(times)]
    words = [
        each for each in found if each[1].lower().startswith(texts) and not _all_numbers(X[each[0]])
    ]
    if not dates and not words:
        return
    (column, kind), *others = words + dates
    if known is not None and not any(name in known for name, _ in words + dates):
        way_out = "It was not in the fit: pass X[model.feature_names_in_]."
    elif words and len(columns) == 1 and (delimiter := _DELIMITER.search(str(column))):
        way_out = (
            f"Its name holds {delimiter[0]!r}: if X was read from a file, read it with "
            f"pandas.read_csv(path, sep={delimiter[0]!r})."
        )
    elif words:
        way_out = _way_out_of_text(column, X[column])
    else:
        way_out = _way_out_of_dates("days since a date")
    rest = ", ".join(repr(str(name)) for name, _ in others)
    raise ValueError(
        f"Column {str(column)!r} of X does not hold numbers ({kind}). {way_out}"
        + (f" Other columns without numbers: {rest}." if rest else "")
    )


def _refuse_equal_names(columns: list[Any]) -> None:
    for column in columns:
        if (times := columns.count(column)) > 1:
            raise ValueError(
                f"X has {times} columns named {str(column)!r}. Rename them, or leave out all but "
                "one."
            )


def _way_out_of_text(column: Any, values: Any) -> str:
    """Return the advice on a column of texts: numbers with commas, dates or categories."""
    present = [str(value) for value in values if value is not None and value == value]
    if any("," in value for value in present) and _all_numbers(
        [value.replace(".", "").replace(",", ".") for value in present]
    ):
        return (
            "Write its numbers with a decimal point instead of the comma (decimal=',' in "
            "pandas.read_csv), or leave it out."
        )
    if present and all(_DATE.fullmatch(value.strip()) for value in present):
        return _way_out_of_dates(
            f"(pd.to_datetime(X[{column!r}]) - pd.Timestamp('2000-01-01')).dt.days"
        )
    # Beside a few scaled numbers, columns of 0 and 1 outweigh the rest.
    return (
        "Leave it out, or encode it, say with sklearn.preprocessing.OneHotEncoder, only if its "
        "categories should affect the clusters."
    )


def _way_out_of_dates(number: str) -> str:
    return f"Convert it to numbers, such as {number}, or leave it out."


def _all_numbers(values: ArrayLike) -> bool:
    try:
        np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        return False
    return True


def _name_the_bad_entry(X: ArrayLike, error: Exception) -> None:
    """Raise an error that names the first entry of X that is not a number."""
    try:
        entries = np.asarray(X)
    except ValueError:  # rows of different lengths, which NumPy's message explains
        return
    if entries.ndim != 2 or entries.dtype.kind not in "OSUT":
        return
    for (row, column), value in np.ndenumerate(entries.astype(object)):
        try:
            float(value)
        except (TypeError, ValueError) as no_number:
            raise type(no_number)(
                f"X[{row}, {column}] is {value!r}, which is not a number ({no_number}). Leave that "
                "column out, or encode it as numbers."
            ) from error
