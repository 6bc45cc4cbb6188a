"""Rows that are read block by block from any source.

The package `tables` provides row blocks that are read from files.
"""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

# Blocks of this size are read fast and take little memory.
_BLOCK_BYTES = 1 << 24


class RowBlocks:
    """Rows that are read block by block and are never all in memory.

    ``PSKC.fit``, ``PSKC.predict`` and :func:`pskclust.sweep` accept row blocks in place of an
    array. They also accept the path of a file; use :func:`pskclust.tables.stream_table` to read
    only some of its columns.

    Parameters
    ----------
    n_rows : int
        Number of rows in all blocks together.
    n_columns : int
        Number of columns of each block.
    read : callable
        Function without arguments that returns the blocks in the order of the rows: an iterable
        of array-likes of shape (m, n_columns), where m may differ from block to block. It is
        called once for each pass over the rows and must return the same rows every time.
    names : sequence of str or None, default=None
        Names of the columns. With names, a fitted model checks the column names of new rows.

    Attributes
    ----------
    shape : tuple of two int
        Number of rows and number of columns.
    kept : ndarray of bool, shape (number of rows of the file,), or None
        The rows of a file that are left if rows with missing values are dropped; None if no row
        was left out. ``table.loc[rows.kept, "cluster"] = model.labels_`` adds labels to the table.

    See Also
    --------
    pskclust.tables.stream_table : Return row blocks that are read from a file.
    PSKC.fit : Find the clusters of arrays, files or row blocks.

    Examples
    --------
    >>> import numpy as np
    >>> from pskclust import PSKC, RowBlocks
    >>> def read():
    ...     for number in range(10):
    ...         yield np.random.RandomState(number).randn(100, 2)
    >>> rows = RowBlocks(1000, 2, read)
    >>> PSKC(psi=16, tau=0.1, random_state=0).fit(rows).labels_.shape
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
        self.kept: NDArray[np.bool_] | None = None
        self._read = read

    def __repr__(self) -> str:
        return f"RowBlocks({self.n_rows} rows, {self.n_columns} columns)"

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and number of columns."""
        return self.n_rows, self.n_columns

    def __iter__(self) -> Iterator[NDArray[Any]]:
        """Yield the blocks as arrays; raise ValueError if their shapes do not fit `shape`."""
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
                f"The blocks of X hold {more} {self.n_rows} rows. Every pass must return n_rows "
                "rows, so the source must not change during a fit."
            )

    @contextlib.contextmanager
    def on_disk(self, folder: str | os.PathLike[str]) -> Iterator[NDArray[Any]]:
        """Yield all rows as an array that is mapped from a temporary file.

        Parameters
        ----------
        folder : str or path-like
            Folder for the file, with room for all rows. The file is removed afterwards.

        Yields
        ------
        rows : memmap of shape (n_rows, n_columns)
            The rows, read-only, as float32 or the smallest wider type that holds all blocks.

        Examples
        --------
        >>> from tempfile import TemporaryDirectory
        >>> from pskclust import RowBlocks
        >>> blocks = RowBlocks(4, 1, lambda: ([[row], [row + 1]] for row in (0, 2)))
        >>> with TemporaryDirectory() as folder, blocks.on_disk(folder) as rows:
        ...     print(rows.ravel().tolist())
        [0.0, 1.0, 2.0, 3.0]
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
        """Return row blocks that are read from an array on disk.

        Parameters
        ----------
        array : array of shape (n_rows, n_columns)
            A memory map, a Zarr array, an HDF5 data set, or any object that has a `shape` and can
            be sliced.

        Returns
        -------
        rows : RowBlocks
            Blocks of about 16 MB: whole chunks of the array, if it has chunks.

        Examples
        --------
        >>> import numpy as np
        >>> from pskclust import RowBlocks
        >>> RowBlocks.from_array(np.zeros((1000, 2)))
        RowBlocks(1000 rows, 2 columns)
        """
        if len(array.shape) != 2:
            raise ValueError(
                f"X has shape {tuple(array.shape)}. Pass an array of shape (n_rows, n_columns)."
            )
        n_rows, n_columns = array.shape
        step = _rows_per_block(n_columns, getattr(array, "chunks", None))

        def read() -> Iterator[Any]:
            for start in range(0, n_rows, step):
                yield array[start : start + step]

        return cls(n_rows, n_columns, read)


def numbered(blocks: Iterable[NDArray[Any]]) -> Iterator[tuple[int, NDArray[Any]]]:
    """Yield each block that is not empty, with the number of its first row."""
    first_row = 0
    for rows in blocks:
        if len(rows):
            yield first_row, rows
        first_row += len(rows)


def of_length(blocks: Iterable[NDArray[Any]], n_rows: int) -> Iterator[NDArray[Any]]:
    """Yield all rows in new blocks of `n_rows` rows; the last block may be shorter."""
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
    """Return the number of rows in a block: whole chunks, if the array has chunks."""
    rows = max(1, _BLOCK_BYTES // (8 * max(1, n_columns)))
    return rows if not chunks else max(1, rows // chunks[0]) * int(chunks[0])
