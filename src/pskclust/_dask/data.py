"""Rows of a fit in the blocks of a Dask collection, which stay on the cluster."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import dask.array as da
import numpy as np
from distributed import Future
from numpy.typing import ArrayLike, NDArray

from .._data.checks import check_overflow
from .._data.distance_metrics import column_ranges, to_points, warn_if_unlikely
from .._data.rows import Condition, Data, check_values
from .._data.weights import (
    are_whole,
    checked_weights,
    exact_sum,
    in_units,
    sum_of,
    uniform_weights,
    unit_exponent,
)
from .tasks import Tasks

if TYPE_CHECKING:
    import dask.dataframe as dd

DaskRows: TypeAlias = "da.Array | dd.DataFrame"
# Weights may also be an array in this process.
DaskColumn: TypeAlias = "da.Array | dd.Series | ArrayLike"
DaskArray: TypeAlias = da.Array


@dataclass(frozen=True)
class Collection:
    """Dask array or dataframe, as an array whose blocks contain whole rows."""

    array: da.Array
    names: list[str] | None
    dtype: np.dtype[Any] | None  # None for a dataframe, whose blocks may be of several types

    @classmethod
    def of(cls, X: DaskRows) -> Collection:
        """Return X as a collection, or raise TypeError if X is not a Dask collection."""
        if not hasattr(X, "__dask_graph__"):
            raise TypeError(
                f"X is of type {type(X).__name__}, not a Dask array or dataframe. Pass "
                "dask.array.from_array(X), or use pskclust.PSKC."
            )
        names, kind = None, getattr(X, "dtype", None)
        if hasattr(X, "to_dask_array"):
            names = _column_names(X)
            X = X.to_dask_array()
        if X.ndim != 2:
            raise ValueError(
                f"X has {X.ndim} dimension(s). Pass an array of rows and columns, such as "
                "X.reshape(-1, 1)."
            )
        return cls(X if X.numblocks[1] == 1 else X.rechunk({1: -1}), names, kind)

    @property
    def n_columns(self) -> int:
        return int(self.array.shape[1])

    def announced(self) -> list[Announced]:
        """Return the number of rows, the width and the type that X declares for each block."""
        return [
            Announced(None if np.isnan(n_rows) else int(n_rows), self.n_columns, self.dtype)
            for n_rows in self.array.chunks[0]
        ]

    def blocks(self) -> list[Any]:
        """Return a delayed object for each block."""
        return list(self.array.to_delayed().ravel())


def _column_names(frame: Any) -> list[str] | None:
    """Return the names of the columns if all are strings; raise ValueError for a text column."""
    from pandas.api.types import is_numeric_dtype  # pandas is installed where dataframes are used

    for name, kind in frame.dtypes.items():
        if not is_numeric_dtype(kind):
            raise ValueError(
                f"Column {name!r} of X does not hold numbers ({kind}). Leave it out with "
                f"X.drop(columns=[{name!r}]), or encode it as numbers if it should affect the "
                "clusters."
            )
    names = list(frame.columns)
    return names if all(isinstance(name, str) for name in names) else None


class Announced(NamedTuple):
    """Shape and type that X declares for a block; None where they are unknown."""

    n_rows: int | None
    n_columns: int
    dtype: np.dtype[Any] | None

    def difference(self, rows: NDArray[Any]) -> str | None:
        """Describe how rows differ from the declared shape and type; None if they do not."""
        if rows.ndim != 2 or rows.shape[1] != self.n_columns:
            return f"has shape {rows.shape}, but X declares {self.n_columns} columns"
        if self.n_rows is not None and len(rows) != self.n_rows:
            return f"has {len(rows)} rows, but X declares {self.n_rows}"
        if self.dtype is not None and rows.dtype != self.dtype:
            return f"has the type {rows.dtype}, but X declares {self.dtype}"
        return None


class _Summary(NamedTuple):
    """Length, validity and extreme values of the rows of a block."""

    difference: str | None  # how the block differs from the announced shape and type
    n_rows: int
    good: bool
    extremes: list[NDArray[Any]]


class DaskData:
    """Blocks of a collection and of weights; the cluster keeps the rows until `release`.

    A lost block is computed again, as long as its sources exist.
    """

    weights: UniformWeights | DaskWeights

    def __init__(self, X: Collection, metric: str, tasks: Tasks) -> None:
        self.metric = metric
        self.n_columns = X.n_columns
        self._tasks = tasks
        self._names = X.names
        self._sources, self._announced = X.blocks(), X.announced()
        self.rows: dict[int, Future] = {}

    def read(self, sample_weight: DaskColumn | None, resolution: int) -> None:
        """Compute all blocks on the cluster, and check them."""
        self._check()
        self.weights = weights_of(sample_weight, self, resolution, self._tasks)

    def __len__(self) -> int:
        return int(self.lengths.sum())

    def require(self, blocks: Sequence[int]) -> None:
        """Compute some blocks on the cluster, and keep them there."""
        missing = [block for block in blocks if block not in self.rows]
        futures = self._tasks.client.compute([self._sources[block] for block in missing])
        self.rows.update(zip(missing, futures, strict=True))

    def forget_lost(self) -> None:
        """Drop the futures of lost blocks, so that `require` computes them again."""
        lost = ("cancelled", "lost", "error")
        self.rows = {block: rows for block, rows in self.rows.items() if rows.status not in lost}

    def release(self) -> None:
        """Release all blocks."""
        for future in self.rows.values():
            future.release()
        self.rows.clear()

    def run(self, block: int) -> range:
        """Return the row numbers of a block."""
        return range(int(self.starts[block]), int(self.starts[block + 1]))

    def points(self, chosen: NDArray[np.intp]) -> NDArray[np.float64]:
        """Return the points of the chosen rows, whose numbers must be ascending."""
        parts = _by_block(chosen, self.starts)

        def draw() -> list[NDArray[np.float64]]:
            rows = self._all_rows()
            futures = [
                self._tasks.client.submit(_take, rows[block], places, self.metric, pure=False)
                for block, places in parts
            ]
            return self._tasks.gather(futures, "drawing the centres")

        return np.concatenate(self._tasks.repeated(draw))

    def rows_where(self, condition: Condition, n_jobs: int | None) -> NDArray[np.intp]:
        """Return the row numbers, ascending, of the points that meet a condition."""

        def find() -> list[NDArray[np.intp]]:
            rows, shared = self._all_rows(), self._tasks.shared(condition)
            futures = [
                self._tasks.client.submit(_where, block, shared, self.metric, n_jobs, pure=False)
                for block in rows
            ]
            return self._tasks.gather(futures, "finding noise")

        found = self._tasks.repeated(find)
        numbers = [start + own for start, own in zip(self.starts[:-1], found, strict=True)]
        return np.concatenate([np.empty(0, dtype=np.intp), *numbers])

    def _all_rows(self) -> list[Future]:
        """Return the futures of all blocks; lost blocks are computed again."""
        blocks = range(len(self._sources))
        self.forget_lost()
        self.require(blocks)
        return [self.rows[block] for block in blocks]

    def _summaries(self) -> list[_Summary]:
        futures = self._tasks.client.map(
            _summarise, self._all_rows(), self._announced, metric=self.metric, pure=False
        )
        return self._tasks.gather(futures, "reading the blocks of X")

    def _check(self) -> None:
        client = self._tasks.client
        names = None if self._names is None else np.array(self._names, dtype=object)
        summaries = self._tasks.repeated(self._summaries)
        for block, summary in enumerate(summaries):
            if summary.difference is not None:
                raise ValueError(
                    f"Block {block} of X {summary.difference}. Declare the shape and the type of "
                    "the blocks, say with da.from_delayed(block, shape, dtype)."
                )
        self.lengths = np.array([summary.n_rows for summary in summaries], dtype=np.int64)
        self.starts = np.concatenate([[0], np.cumsum(self.lengths)])
        for block, summary in enumerate(summaries):
            if not summary.good:
                # Now that the number of its first row is known, the message can name the row.
                first_row = int(self.starts[block])
                future = client.submit(
                    check_block, self.rows[block], self.metric, names, first_row, pure=False
                )
                self._tasks.gather([future], "checking a block of X")
        if len(self) < 2:
            raise ValueError(f"X has {len(self)} sample(s). A fit needs two rows or more.")
        extremes = np.array([row for summary in summaries for row in summary.extremes])
        if self.metric == "euclidean":
            check_overflow(extremes)
        warn_if_unlikely(extremes, self.metric)


def check_block(
    block: Any, metric: str, names: NDArray[Any] | None = None, first_row: int = 0
) -> NDArray[Any]:
    """Return the rows of a block, or raise an error if their values are not allowed."""
    rows = np.asarray(block)
    return check_values(rows, metric, names, first_row) if len(rows) else rows


def _summarise(block: Any, announced: Announced, metric: str) -> _Summary:
    found = np.asarray(block)
    difference = announced.difference(found)
    if difference is not None:
        return _Summary(difference, 0, False, [])
    try:
        rows = check_block(block, metric)
    except (TypeError, ValueError):
        return _Summary(None, len(found), False, [])
    return _Summary(None, len(rows), True, list(column_ranges(rows)) if len(rows) else [])


def _where(block: Any, condition: Condition, metric: str, n_jobs: int | None) -> NDArray[np.intp]:
    rows = np.asarray(block)
    return Data(rows, metric, uniform_weights(len(rows))).rows_where(condition, n_jobs)


def _take(block: Any, places: NDArray[np.intp], metric: str) -> NDArray[np.float64]:
    return to_points(np.asarray(block)[places], metric)


class UniformWeights:
    """Weights of rows that all have weight 1."""

    one = 1
    uniform = True
    units = None

    def __init__(self, n_rows: int) -> None:
        self.n_slots = self.total = n_rows

    def rows_at(self, places: NDArray[np.int64]) -> NDArray[np.intp]:
        return places


class DaskWeights:
    """Weights of rows on the cluster, in blocks that match those of the rows."""

    uniform = False

    def __init__(self, sources: Sequence[Any], data: DaskData, resolution: int, tasks: Tasks):
        self._sources, self._data, self._tasks = sources, data, tasks
        runs = [data.run(block) for block in range(len(sources))]
        client = tasks.client
        weights = client.compute(list(sources))
        futures = [
            client.submit(_weigh, own, run, pure=False)
            for own, run in zip(weights, runs, strict=True)
        ]
        parts = tasks.gather(futures, "reading sample_weight")
        total = sum_of(number for sums, _ in parts for number in sums)
        self._exponent = unit_exponent(total, all(whole for _, whole in parts), resolution)
        self.one = 1 << self._exponent
        counted = [client.submit(_count, own, self._exponent, pure=False) for own in weights]
        counts = np.array(tasks.gather(counted, "counting sample_weight")).reshape(-1, 2)
        self._ends = np.concatenate([[0], np.cumsum(counts[:, 0])])
        self.total = int(self._ends[-1])
        self.n_slots = max(self.total // self.one, int(counts[:, 1].sum()))
        if self.n_slots < 2:
            raise ValueError(
                "sample_weight leaves only 1 sample of X. A fit needs two rows or more."
            )

    def units(self, block: int) -> Future:
        """Return a future of the weights of a block, in units."""
        client = self._tasks.client
        weights = client.compute(self._sources[block])
        return client.submit(_in_units, weights, self._exponent, pure=False)

    def rows_at(self, places: NDArray[np.int64]) -> NDArray[np.intp]:
        order = np.argsort(places, axis=None, kind="stable")
        client, parts = self._tasks.client, _by_block(places.ravel()[order], self._ends)
        futures = [
            client.submit(_rows_at, self.units(block), some, pure=False) for block, some in parts
        ]
        found = self._tasks.gather(futures, "drawing by weight")
        rows = np.empty(places.size, dtype=np.intp)
        rows[order] = np.concatenate(
            [self._data.starts[block] + own for (block, _), own in zip(parts, found, strict=True)]
        )
        return rows.reshape(places.shape)


def weights_of(
    sample_weight: DaskColumn | None, data: DaskData, resolution: int, tasks: Tasks
) -> UniformWeights | DaskWeights:
    """Return the weights of the rows, with the same block lengths as the rows."""
    if sample_weight is None:
        return UniformWeights(len(data))
    weights = _weight_array(sample_weight, data)
    lengths = tuple(data.lengths.tolist())
    known = weights.ndim == 1 and not np.isnan(weights.shape[0])
    if known and weights.shape[0] == len(data):
        weights = weights.rechunk((lengths,))
    elif known or weights.ndim != 1 or weights.numblocks[0] != len(lengths):
        raise ValueError(
            f"sample_weight has shape {weights.shape}, in {weights.numblocks[0]} blocks, but X has "
            f"{len(data)} rows in {len(lengths)} blocks. Pass one weight for each row, in blocks "
            "like those of X."
        )
    return DaskWeights(list(weights.to_delayed().ravel()), data, resolution, tasks)


def _weight_array(sample_weight: DaskColumn, data: DaskData) -> da.Array:
    if hasattr(sample_weight, "to_dask_array"):
        return sample_weight.to_dask_array()
    if hasattr(sample_weight, "__dask_graph__"):
        return sample_weight
    weights = checked_weights(sample_weight, len(data))
    return da.from_array(weights, chunks=(tuple(data.lengths.tolist()),))


def _weigh(block: Any, run: range) -> tuple[list[float], bool]:
    weights = checked_weights(block, len(run), run.start)
    return exact_sum(weights), are_whole(weights)


def _in_units(block: Any, exponent: int) -> NDArray[np.int64]:
    return in_units(np.asarray(block, dtype=np.float64), exponent)


def _count(block: Any, exponent: int) -> tuple[int, int]:
    units = _in_units(block, exponent)
    return int(units.sum()), int(np.count_nonzero(units))


def _rows_at(units: NDArray[np.int64], places: NDArray[np.int64]) -> NDArray[np.intp]:
    return np.cumsum(units).searchsorted(places, side="right")


def _by_block(
    rising: NDArray[np.int64], starts: NDArray[np.int64]
) -> list[tuple[int, NDArray[np.int64]]]:
    """Return the blocks that contain some ascending positions, and the positions within each."""
    cuts = np.searchsorted(rising, starts)
    return [
        (block, rising[first:last] - starts[block])
        for block, (first, last) in enumerate(itertools.pairwise(cuts))
        if first < last
    ]
