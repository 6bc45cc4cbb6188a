"""Conversion of columns between Arrow and NumPy, and descriptions of their types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.types as kinds
from numpy.typing import NDArray

from .base import Numbers, float_type


def strange_columns(schema: pa.Schema) -> dict[str, str]:
    """Return the columns of a schema that do not hold numbers, with their types in words."""
    found = {field.name: _what_is_no_number(_plain_type(field.type)) for field in schema}
    return {name: words for name, words in found.items() if words}


def to_numbers(batch: pa.RecordBatch, columns: Sequence[str]) -> Numbers:
    """Return some columns of a batch as one array, with NaN for missing values."""
    arrays = [batch.column(batch.schema.get_field_index(name)) for name in columns]
    numbers = np.empty(
        (batch.num_rows, len(columns)), float_type([_numpy_type(a.type) for a in arrays])
    )
    for number, array in enumerate(arrays):
        numbers[:, number] = _values(array)
    return numbers


def release_memory() -> None:
    """Release the memory that Arrow has reserved for further batches."""
    pa.default_memory_pool().release_unused()


def _values(array: pa.Array) -> Any:
    if kinds.is_dictionary(array.type):
        array = array.dictionary_decode()
    if kinds.is_null(array.type):
        return np.nan
    if kinds.is_boolean(array.type) or kinds.is_decimal(array.type):
        array = array.cast(pa.float64())
    if array.null_count or array.buffers()[1] is None:
        return array.to_numpy(zero_copy_only=False)
    return plain_values(array)


def plain_values(array: pa.Array) -> Any:
    """Return an array without missing values as NumPy; ``to_numpy`` would import pandas."""
    buffer = array.buffers()[1]
    if buffer is None:
        return np.zeros(0, dtype=array.type.to_pandas_dtype())
    values = np.frombuffer(buffer, dtype=array.type.to_pandas_dtype())
    return values[array.offset : array.offset + len(array)]


def arrow_numbers(values: NDArray[Any], missing: NDArray[np.bool_] | None = None) -> pa.Array:
    """Return numbers as an Arrow array, null where `missing`; ``pa.array`` would import pandas."""
    values = np.ascontiguousarray(values)
    valid = None if missing is None else np.packbits(~missing, bitorder="little")
    buffers = [None if valid is None else pa.py_buffer(valid), pa.py_buffer(values)]
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), buffers)


def _plain_type(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if kinds.is_dictionary(kind) else kind


def _numpy_type(kind: pa.DataType) -> Any:
    plain = _plain_type(kind)
    if kinds.is_integer(plain) or kinds.is_floating(plain):
        return plain.to_pandas_dtype()
    return np.float64


def _what_is_no_number(kind: pa.DataType) -> str | None:
    if (
        kinds.is_integer(kind)
        or kinds.is_floating(kind)
        or kinds.is_boolean(kind)
        or kinds.is_decimal(kind)
        or kinds.is_null(kind)
    ):
        return None
    if kinds.is_string(kind) or kinds.is_large_string(kind) or kinds.is_string_view(kind):
        return "is text"
    if kinds.is_temporal(kind):
        return "is a date or time"
    return f"is {kind}"
