"""Rows that are read block by block, from anything that yields them.

The package `tables` makes them of files.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

# A block of a few megabytes: large enough to read fast, small enough to be no matter.
_BLOCK_BYTES = 1 << 24


class RowBlocks:
    """Rows that are read block by block and never all in memory.

    ``PSKC.fit`` and ``PSKC.predict`` take it in place of an array. They make one of the path of a
    file by themselves; :func:`pskclust.tables.stream_table` makes one of some columns of a file.

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

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns, as of an array."""
        return self.n_rows, self.n_columns

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

    @contextlib.contextmanager
    def on_disk(self, folder: str | os.PathLike[str]) -> Iterator[NDArray[Any]]:
        """Give all rows as an array that is mapped from a file, which has no name and never stays.

        Parameters
        ----------
        folder : str or path-like
            Where the file is, and must have room.
        """
        with tempfile.TemporaryFile(dir=folder) as stream:
            kind: np.dtype[Any] = np.dtype(np.float32)
            for block in self:
                kind = np.result_type(kind, block.dtype)
            for block in self:
                stream.write(np.ascontiguousarray(block, dtype=kind).data)
            stream.flush()
            yield np.memmap(stream, dtype=kind, mode="r", shape=self.shape)

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


def numbered(blocks: Iterable[NDArray[Any]]) -> Iterator[tuple[int, NDArray[Any]]]:
    """Yield the blocks that are not empty, each with the number of its first row."""
    first_row = 0
    for rows in blocks:
        if len(rows):
            yield first_row, rows
        first_row += len(rows)


def of_length(blocks: Iterable[NDArray[Any]], n_rows: int) -> Iterator[NDArray[Any]]:
    """Yield the rows of all blocks again, in blocks of equal length; the last may be shorter."""
    waiting: list[NDArray[Any]] = []
    n_waiting = 0
    for block in blocks:
        rows = block
        while n_waiting + len(rows) >= n_rows:
            first, rows = rows[: n_rows - n_waiting], rows[n_rows - n_waiting :]
            yield np.concatenate([*waiting, first]) if waiting else first
            waiting, n_waiting = [], 0
        if len(rows):
            waiting.append(rows)
            n_waiting += len(rows)
    if n_waiting:
        yield np.concatenate(waiting)


def _rows_per_block(n_columns: int, chunks: tuple[int, ...] | None = None) -> int:
    """Return how many rows to read at a time: whole chunks, where the array has them."""
    rows = max(1, _BLOCK_BYTES // (8 * max(1, n_columns)))
    return rows if not chunks else max(1, rows // chunks[0]) * int(chunks[0])
