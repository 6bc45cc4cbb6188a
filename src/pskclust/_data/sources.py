"""Rows that are read block by block, from files or from anything that yields them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .._utils.optional import optional

# A block of a few megabytes: large enough to read fast, small enough to be no matter.
_BLOCK_BYTES = 1 << 24


class RowBlocks:
    """Rows that are read block by block and never all in memory.

    ``PSKC.fit`` and ``PSKC.predict`` take it in place of an array.

    Parameters
    ----------
    n_rows, n_columns : int
        How many rows and columns there are in all.
    read : callable
        Called with no argument, returns the blocks in the order of the rows: an iterable of
        array-likes of shape (m, n_columns), of any length each. It is called once for each pass
        over the rows and must give the same rows every time.
    names : sequence of str or None, default=None
        Names of the columns.

    Examples
    --------
    >>> import numpy as np
    >>> from pskclust import PSKC, RowBlocks
    >>> def read():
    ...     for number in range(10):
    ...         yield np.random.RandomState(number).randn(100, 2)
    >>> rows = RowBlocks(1000, 2, read)
    >>> PSKC(random_state=0).fit(rows).labels_.shape
    (1000,)
    """

    def __init__(
        self,
        n_rows: int,
        n_columns: int,
        read: Callable[[], Iterable[Any]],
        names: Sequence[str] | None = None,
    ) -> None:
        self.n_rows = int(n_rows)
        self.n_columns = int(n_columns)
        self.names = None if names is None else [str(name) for name in names]
        self._read = read

    def __repr__(self) -> str:
        return f"RowBlocks({self.n_rows} rows, {self.n_columns} columns)"

    def __iter__(self) -> Iterator[NDArray[Any]]:
        """Yield the blocks as arrays; raise ValueError where they are not what was announced."""
        n_read = 0
        for block in self._read():
            rows = np.asarray(block)
            if rows.ndim != 2 or rows.shape[1] != self.n_columns:
                raise ValueError(
                    f"A block of X has shape {rows.shape}, but X has {self.n_columns} columns. "
                    f"Every block must have shape (m, {self.n_columns})."
                )
            n_read += len(rows)
            if n_read > self.n_rows:
                break
            yield rows
        if n_read != self.n_rows:
            more = "more than" if n_read > self.n_rows else f"only {n_read} of"
            raise ValueError(
                f"The blocks of X hold {more} {self.n_rows} rows. Every pass must give as many "
                "rows as n_rows says, so nothing may change them meanwhile."
            )

    @classmethod
    def from_array(cls, array: Any) -> Self:
        """Return the rows of an array on disk: a memory map, or a Zarr or HDF5 array.

        Parameters
        ----------
        array : array of shape (n_rows, n_columns)
            Anything with a `shape` that can be sliced.
        """
        if len(array.shape) != 2:
            raise ValueError(
                f"X has shape {tuple(array.shape)}. Pass an array of two dimensions: rows, columns."
            )
        n_rows, n_columns = array.shape
        step = _rows_per_block(n_columns, getattr(array, "chunks", None))

        def read() -> Iterator[Any]:
            for start in range(0, n_rows, step):
                yield array[start : start + step]

        return cls(n_rows, n_columns, read)

    @classmethod
    def from_npy(cls, path: str | os.PathLike[str]) -> Self:
        """Return the rows of an NPY file, as ``numpy.save`` writes it."""
        return cls.from_array(np.load(path, mmap_mode="r", allow_pickle=False))

    @classmethod
    def from_parquet(cls, path: Any, columns: Sequence[str] | None = None) -> Self:
        """Return the rows of a Parquet file or of a folder of them.

        Parameters
        ----------
        path : str, path-like or pyarrow.dataset.Dataset
        columns : sequence of str or None, default=None
            The columns to use, all if None.
        """
        dataset = path
        if not hasattr(path, "to_batches"):
            dataset = optional("pyarrow.dataset", "Reading Parquet", "cli").dataset(path)
        names = list(dataset.schema.names if columns is None else columns)
        _refuse_what_is_no_number(dataset.schema, names)

        def read() -> Iterator[Any]:
            size = _rows_per_block(len(names))
            # Little is read ahead, since many batches at once could be much.
            for batch in dataset.to_batches(
                columns=names, batch_size=size, batch_readahead=2, fragment_readahead=1
            ):
                values = [column.to_numpy(zero_copy_only=False) for column in batch.columns]
                yield np.column_stack(values)

        return cls(dataset.count_rows(), len(names), read, names)


def row_blocks(X: Any) -> RowBlocks | None:
    """Return X as blocks if it is to be read from somewhere, None if it is in memory."""
    if isinstance(X, RowBlocks):
        return X
    if isinstance(X, str | os.PathLike):
        return _from_path(Path(X))
    if hasattr(X, "__dask_graph__"):
        raise TypeError(
            f"X is a dask collection ({type(X).__name__}). Fit it with pskclust.dask.PSKC, or pass "
            "X.compute() if that fits into memory."
        )
    if hasattr(X, "to_batches") and hasattr(X, "count_rows"):
        return RowBlocks.from_parquet(X)
    on_disk = all(hasattr(X, name) for name in ("shape", "dtype", "chunks", "__getitem__"))
    return RowBlocks.from_array(X) if on_disk else None


def _from_path(path: Path) -> RowBlocks:
    if not path.exists():
        raise FileNotFoundError(f"X is {str(path)!r}, but there is no such file or folder.")
    if path.suffix == ".npy":
        return RowBlocks.from_npy(path)
    if path.is_dir() or path.suffix in (".parquet", ".pq"):
        return RowBlocks.from_parquet(path)
    raise ValueError(
        f"X is {str(path)!r}, which is neither an .npy nor a .parquet file nor a folder of the "
        "latter. Read it by yourself and pass pskclust.RowBlocks."
    )


def _rows_per_block(n_columns: int, chunks: tuple[int, ...] | None = None) -> int:
    """Return how many rows to read at a time: whole chunks, where the array has them."""
    rows = max(1, _BLOCK_BYTES // (8 * max(1, n_columns)))
    return rows if not chunks else max(1, rows // chunks[0]) * int(chunks[0])


def _refuse_what_is_no_number(schema: Any, names: Sequence[str]) -> None:
    for name in names:
        index = schema.get_field_index(name)
        if index < 0:
            raise ValueError(
                f"X has no column {name!r}. Its columns are: {', '.join(schema.names)}."
            )
        kind = np.dtype(schema.field(index).type.to_pandas_dtype())
        if kind.kind not in "biuf":
            raise ValueError(
                f"Column {name!r} of X is no number ({schema.field(index).type}). Leave it out: "
                "pass pskclust.RowBlocks.from_parquet(path, columns=[...])."
            )
