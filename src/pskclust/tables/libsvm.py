"""Tables in LibSVM files, with a class and ``index:value`` pairs on each line.

The value of an index that a line leaves out is 0.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .base import Batch, NamedColumns, batch_rows, require_few_columns
from .compressed import line_blocks, opened_stream
from .errors import TableError

if TYPE_CHECKING:
    import pyarrow as pa

CLASS_COLUMN = "class"

_PIECE_BYTES = 1 << 22
# Every index below this is accepted, because rows stay sparse until columns are selected.
_ANY_INDEX = 2**31 - 1


class LibsvmTable(NamedColumns):
    """Table in a LibSVM file; the columns are named by their indices in the file."""

    def __init__(self, path: Path, name: str) -> None:
        self._path = path
        lowest, highest, n_rows = 1, 0, 0
        for rows, _, _ in self._pieces(name):
            n_rows += rows.shape[0]
            if len(rows.indices):
                lowest = min(lowest, int(rows.indices.min()))
                highest = max(highest, int(rows.indices.max()))
        require_few_columns(highest, name)
        columns = tuple(str(index) for index in range(lowest, highest + 1))
        super().__init__(name, columns, (CLASS_COLUMN,), n_rows=n_rows)

    def holds(self, column: str) -> bool:
        # An index that no line has is a column of zeros.
        return column == CLASS_COLUMN or (column.isdecimal() and int(column) < _ANY_INDEX)

    def batches(self, numbers: Sequence[str], others: Sequence[str] = ()) -> Iterator[Batch]:
        wanted = list(dict.fromkeys([*numbers, *others]))
        size = batch_rows(len(wanted))
        for rows, classes, share in self._pieces(self.name):
            for start in range(0, rows.shape[0], size):
                some = slice(start, start + size)
                dense = _dense(rows[some], classes[some], wanted)
                carried = [_to_arrow(dense[:, wanted.index(name)]) for name in others]
                yield Batch(dense[:, : len(numbers)], carried, share)

    def _pieces(self, name: str) -> Iterator[tuple[Any, Any, float]]:
        from pyarrow import ArrowException

        try:
            with opened_stream(self._path) as (stream, share):
                for lines in line_blocks(stream, _PIECE_BYTES):
                    rows, classes = _parsed(lines, name)
                    if rows.shape[0]:
                        yield rows, classes, share()
        except (ArrowException, OSError) as error:
            raise TableError(f"{name} is damaged: {error}.") from error


def _parsed(lines: bytes, name: str) -> tuple[Any, Any]:
    """Return the sparse rows and the classes of some lines."""
    from sklearn.datasets import load_svmlight_file

    try:
        found = load_svmlight_file(io.BytesIO(lines), n_features=_ANY_INDEX, zero_based=True)
    except (ValueError, OverflowError) as error:
        raise TableError(
            f"{name} is not in LibSVM format: each line must be a class and index:value "
            f"pairs ({error})."
        ) from error
    rows, classes = found
    return rows, classes


def _dense(rows: Any, classes: NDArray[np.float64], wanted: list[str]) -> NDArray[np.float64]:
    """Return some columns of sparse rows as a dense array.

    SciPy's selection of columns would need memory for all possible indices.
    """
    dense = np.zeros((rows.shape[0], len(wanted)))
    # The class has no index in the file; -1 stands for it.
    indices = np.array([-1 if name == CLASS_COLUMN else int(name) for name in wanted])
    order = np.argsort(indices)
    places = np.searchsorted(indices[order], rows.indices).clip(max=len(wanted) - 1)
    is_wanted = indices[order][places] == rows.indices
    numbers = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))
    dense[numbers[is_wanted], order[places[is_wanted]]] = rows.data[is_wanted]
    dense[:, indices == -1] = classes[:, np.newaxis]
    return dense


def _to_arrow(values: Any) -> pa.Array:
    import pyarrow as pa

    return pa.array(np.ascontiguousarray(values))
