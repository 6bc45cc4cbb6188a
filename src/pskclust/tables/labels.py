"""Functions that write labels beside the columns of a table, batch by batch."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .base import MAX_BATCH_ROWS, Table
from .errors import TableError
from .writing import Write, table_file, table_stream

if TYPE_CHECKING:
    import pyarrow as pa

_NAMES = ("cluster", "similarity")


class Labelled(NamedTuple):
    """Some rows with their labels, in the order of the file."""

    carried: list[Any]  # columns of the table, as Arrow arrays
    labels: NDArray[np.int64]
    similarities: NDArray[np.float64] | None
    nothing: NDArray[np.bool_] | None  # marks rows that were left out and have no label


def write_labels(output: Path | BinaryIO, names: Sequence[str], pieces: Iterable[Labelled]) -> int:
    """Write columns and labels to a file, in the format of its extension, or as CSV to a stream.

    Return the number of rows written. The file is written completely or not at all.
    """
    n_rows = 0
    write: Write | None = None
    with contextlib.ExitStack() as stack:
        for piece in pieces:
            batch = _record_batch(names, piece)
            with _explaining_types():
                if write is None:
                    write = stack.enter_context(_opened(output, batch.schema))
                write(batch)
            n_rows += batch.num_rows
    return n_rows


def pieces_of_fit(
    table: Table,
    features: Sequence[str],
    carried: Sequence[str],
    kept: NDArray[np.bool_] | None,
    labels: NDArray[np.int64],
    similarities: NDArray[np.float64],
) -> Iterator[Labelled]:
    """Yield the labels of a fit beside the columns of its table, which is read again."""
    if kept is not None:
        labels, similarities = _spread(labels, kept, -1), _spread(similarities, kept, 0.0)
    start = 0
    for columns, n_rows in _carried_columns(table, features, carried, len(labels)):
        some = slice(start, start + n_rows)
        nothing = None if kept is None else ~kept[some]
        start += n_rows
        yield Labelled(columns, labels[some], similarities[some], nothing)
    if start != len(labels):
        raise TableError(f"{table.name} has changed since it was read. Start again.")


def values_of(table: Table, column: str, kept: NDArray[np.bool_] | None) -> list[Any]:
    """Return the values of one column in the rows that `kept` marks; None keeps all rows."""
    values = [
        value for batch in table.batches((), (column,)) for value in batch.others[0].to_pylist()
    ]
    return values if kept is None else [values[row] for row in np.flatnonzero(kept)]


def _carried_columns(
    table: Table, features: Sequence[str], carried: Sequence[str], n_rows: int
) -> Iterator[tuple[list[Any], int]]:
    if not carried:
        for start in range(0, n_rows, MAX_BATCH_ROWS):
            yield [], min(MAX_BATCH_ROWS, n_rows - start)
        return
    # Columns that were clustered are written as numbers, even if the file holds them as text.
    numbers = [name for name in features if name in carried]
    for batch in table.batches(numbers, carried):
        yield batch.others, len(batch.others[0])


def _spread(values: NDArray[Any], kept: NDArray[np.bool_], nothing: float) -> NDArray[Any]:
    everywhere = np.full(len(kept), nothing, dtype=values.dtype)
    everywhere[kept] = values
    return everywhere


def _record_batch(names: Sequence[str], piece: Labelled) -> pa.RecordBatch:
    import pyarrow as pa

    from .arrow_values import arrow_numbers

    arrays = [
        array.dictionary_decode() if pa.types.is_dictionary(array.type) else array
        for array in piece.carried
    ]
    own = [arrow_numbers(piece.labels, piece.nothing)]
    if piece.similarities is not None:
        own.append(arrow_numbers(piece.similarities, piece.nothing))
    own_names = [f"pskc_{name}" if name in names else name for name in _NAMES[: len(own)]]
    return pa.RecordBatch.from_arrays(arrays + own, [*names, *own_names])


def _opened(output: Path | BinaryIO, schema: pa.Schema) -> contextlib.AbstractContextManager[Write]:
    if isinstance(output, Path):
        return table_file(output, schema)
    return table_stream(output, "csv", schema)


@contextlib.contextmanager
def _explaining_types() -> Iterator[None]:
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError) as error:
        raise TableError(
            f"columns of these types cannot be written to that format ({error}). Use the "
            "extension .parquet."
        ) from error
