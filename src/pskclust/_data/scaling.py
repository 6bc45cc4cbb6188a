"""Scaling of the columns of a table before a fit, saved so that it can be repeated.

A value is scaled by one subtraction and one division in float64, with numbers that a model file
stores exactly. So a row that is scaled again is exactly equal to the row of the fit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .sources import RowBlocks, numbered, of_length

SCALINGS = ("none", "standard", "minmax")
MISSING = ("refuse", "drop", "mean")

_CHUNK_ROWS = 1 << 16


@dataclass(frozen=True, eq=False)
class Preparation:
    """Columns of a fit, with their scaling and their means.

    Attributes
    ----------
    columns : tuple of str
        Names of the columns that were clustered, in order.
    scaling : {"none", "standard", "minmax"}
        No scaling, to mean 0 and variance 1, or to the range 0 to 1.
    offset, scale : ndarray of float64, shape (n_columns,)
        A value x was clustered as (x - offset) / scale.
    means : ndarray of float64, shape (n_columns,)
        Mean of each column before scaling, to fill in missing values.
    missing : {"refuse", "drop", "mean"}
        Treatment of missing values in the fit. With "mean", `apply` replaces missing values by
        `means`. With "drop", the fit left such rows out; `apply` returns all rows, so drop them
        first.
    """

    columns: tuple[str, ...]
    scaling: str
    offset: NDArray[np.float64]
    scale: NDArray[np.float64]
    means: NDArray[np.float64]
    missing: str = "refuse"

    @classmethod
    def of(
        cls,
        rows: NDArray[Any] | RowBlocks,
        columns: Iterable[str],
        scaling: str,
        means: NDArray[np.float64],
        weight: NDArray[np.float64] | None = None,
        missing: str = "refuse",
    ) -> Preparation:
        """Return the preparation that scales these rows, weighted by `weight`."""
        n_columns = rows.shape[1]
        offset, scale = np.zeros(n_columns), np.ones(n_columns)
        with np.errstate(over="ignore", invalid="ignore"):
            if scaling == "standard":
                offset, scale = mean_and_deviation(rows, weight)
            elif scaling == "minmax":
                offset, largest = _range(rows, weight)
                scale = largest - offset
        if not np.isfinite(offset + scale).all():
            raise ValueError(
                f"scaling={scaling!r} overflows, because values of X are too large. Divide them by "
                "a constant first."
            )
        # Division by 1 leaves a constant column constant.
        scale[~(scale > 0)] = 1.0
        return cls(tuple(columns), scaling, offset, scale, means, missing)

    def apply(self, X: Any, names: Sequence[str] | None = None) -> NDArray[Any]:
        """Return the rows of X, filled in and scaled as for the fit.

        Missing values are replaced by `means` if `missing` is "mean", and remain NaN otherwise. The
        result has all rows of X, even if the fit left out rows with missing values.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_columns), or a table with these columns
            A table with column names may have more columns, in any order.
        names : sequence of str or None, default=None
            Names of the columns of an array. An array with names may have more columns, in any
            order.

        Returns
        -------
        rows : ndarray of shape (n_samples, n_columns)
            The rows for ``PSKC.predict``.

        Examples
        --------
        >>> import numpy as np
        >>> from pskclust._data.scaling import Preparation
        >>> X = np.array([[1.0], [3.0]])
        >>> Preparation.of(X, ["size"], "standard", X.mean(axis=0)).apply(X)
        array([[-1.],
               [ 1.]])
        """
        columns = list(self.columns)
        if hasattr(X, "columns"):
            X = X.select(columns) if hasattr(X, "select") else X[columns]
        rows = np.asarray(X)
        if rows.dtype == object and hasattr(X, "to_numpy"):
            # pandas has types of numbers in which a missing value is not NaN.
            rows = X.to_numpy(np.float64, na_value=np.nan)
        if names is not None:
            missing = sorted(set(columns) - set(names))
            if missing:
                raise ValueError(f"X has no column {missing[0]!r}. It has {list(names)}.")
            rows = rows[:, [list(names).index(column) for column in columns]]
        if rows.ndim != 2 or rows.shape[1] != len(self.columns):
            raise ValueError(
                f"X has shape {rows.shape}. Pass the {len(self.columns)} columns of the fit."
            )
        if self.missing == "mean" and np.isnan(rows).any():
            rows = fill(rows, self.means)
        if self.scaling == "none":
            return rows
        scaled = np.empty(rows.shape)
        for start in range(0, len(rows), _CHUNK_ROWS):
            some = slice(start, start + _CHUNK_ROWS)
            np.subtract(rows[some], self.offset, out=scaled[some], dtype=np.float64)
            scaled[some] /= self.scale
        return scaled

    @property
    def way_around_gaps(self) -> str | None:
        """Treatment of missing values in rows to predict; None if the fit had no rule."""
        if self.missing == "mean":
            return (
                "pass a table with the columns of the fit, or model.preparation_.apply(X); both "
                "use the column means of the fit"
            )
        if self.missing == "drop":
            return (
                "leave such rows out, as the fit did (model.preparation_.apply returns all rows, "
                "so it cannot)"
            )
        return None

    def apply_all(self, rows: NDArray[Any] | RowBlocks) -> NDArray[Any] | RowBlocks:
        """Return the scaled rows: an array, or row blocks that are scaled when they are read."""
        if not isinstance(rows, RowBlocks):
            return self.apply(rows)
        return RowBlocks(*rows.shape, lambda: map(self.apply, rows))

    def to_parts(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Return the preparation as JSON values and arrays, for a model file."""
        words = {
            "columns": list(self.columns),
            "scaling": self.scaling,
            "missing": self.missing,
        }
        return words, {"offset": self.offset, "scale": self.scale, "means": self.means}

    @classmethod
    def from_parts(cls, words: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> Preparation:
        """Return the preparation from the parts that `to_parts` returned."""
        # Model files of earlier versions do not say how missing values were treated.
        missing = words.get("missing", "refuse")
        return cls(tuple(words["columns"]), words["scaling"], **arrays, missing=missing)

    def looks_unscaled(self, rows: NDArray[Any], fitted: NDArray[np.float64]) -> bool:
        """Return whether rows seem not to be scaled yet, given some scaled rows of the fit.

        Fewer than half of the rows are within the range of the fit, but half of them or more would
        be after scaling.
        """
        if self.scaling == "none" or not len(rows):
            return False
        low, high = fitted.min(axis=0), fitted.max(axis=0)

        def share_within(some: NDArray[Any]) -> float:
            return float(np.mean(((some >= low) & (some <= high)).all(axis=1)))

        return share_within(rows) < 0.5 <= share_within(self.apply(rows))


def fill(rows: NDArray[Any], values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return rows with missing values replaced by `values`, one for each column."""
    return np.where(np.isnan(rows), values, rows.astype(np.float64, copy=False))


def mean_and_deviation(
    rows: NDArray[Any] | RowBlocks, weight: NDArray[np.float64] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the weighted mean and standard deviation of each column."""
    n_rows, n_columns = rows.shape
    total = float(n_rows) if weight is None else weight.sum()
    mean, squares = np.zeros(n_columns), np.zeros(n_columns)
    # BLAS products are avoided, because their results may depend on the number of threads.
    for weights, chunk in _weighted_chunks(rows, weight):
        mean += (weights[:, np.newaxis] * chunk).sum(axis=0) / total
    # A second pass keeps the variance accurate if the mean is large.
    for weights, chunk in _weighted_chunks(rows, weight):
        squares += (weights[:, np.newaxis] * np.square(chunk - mean)).sum(axis=0)
    return mean, np.sqrt(squares / total)


def chunks(rows: NDArray[Any] | Iterable[NDArray[Any]]) -> Iterator[NDArray[Any]]:
    """Yield rows in chunks of fixed size, so that sums of arrays and of row blocks are equal."""
    if isinstance(rows, np.ndarray):
        for start in range(0, len(rows), _CHUNK_ROWS):
            yield rows[start : start + _CHUNK_ROWS]
    else:
        yield from map(np.ascontiguousarray, of_length(rows, _CHUNK_ROWS))


def _weighted_chunks(
    rows: NDArray[Any] | RowBlocks, weight: NDArray[np.float64] | None
) -> Iterator[tuple[NDArray[np.float64], NDArray[Any]]]:
    for start, chunk in numbered(chunks(rows)):
        n_rows = len(chunk)
        yield np.ones(n_rows) if weight is None else weight[start : start + n_rows], chunk


def _range(
    rows: NDArray[Any] | RowBlocks, weight: NDArray[np.float64] | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the smallest and the largest value of each column, over rows with weight above 0."""
    low, high = np.full(rows.shape[1], np.inf), np.full(rows.shape[1], -np.inf)
    for weights, chunk in _weighted_chunks(rows, weight):
        taking_part = chunk[weights > 0].astype(np.float64, copy=False)
        low = np.minimum(low, taking_part.min(axis=0, initial=np.inf))
        high = np.maximum(high, taking_part.max(axis=0, initial=-np.inf))
    if weight is not None and not (weight > 0).any():
        raise ValueError(
            "sample_weight is zero for every row. At least one weight must be positive."
        )
    return low, high
