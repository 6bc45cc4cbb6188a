"""Merging of equal rows, if there are many of them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .rows import Data
from .weights import Weights

# Clustering fewer rows takes less time than finding the equal rows among them.
_MIN_ROWS = 10_000
_ROWS_TO_LOOK_AT = 1 << 14
# Rows are merged if at most this fraction is distinct. The limit is higher for a sample, which
# contains fewer copies.
_MAX_SHARE, _MAX_SHARE_OF_SAMPLE = 0.5, 0.9


@dataclass(frozen=True, eq=False)
class EqualRows:
    """The distinct rows, in the order of their first copies, and the copies of each."""

    first_copies: NDArray[np.intp]  # (m,) row number of each first copy, ascending
    numbers: NDArray[np.intp]  # (n,) index of the distinct row that each row equals
    n_copies: NDArray[np.int64]  # (m,) number of copies, including the first

    def merged(self, data: Data) -> Data:
        """Return data with each distinct row once, weighted by the number of its copies."""
        return replace(data, rows=data.rows[self.first_copies], weights=Weights(self.n_copies, 1))

    def second_copy(self, number: int) -> int:
        """Return the row number of the second copy of a distinct row."""
        copies = np.flatnonzero(self.numbers == number)
        return int(copies[1])


def find_equal_rows(data: Data, always: bool = False) -> EqualRows | None:
    """Return the equal rows, or None if there are too few for merging to save time.

    With `always`, rows are merged even if that saves no time. Weighted rows are never merged.
    """
    n_rows = len(data)
    if not data.weights.uniform:
        return None
    if always:
        return _group(data.rows, max_share=1.0)
    if n_rows < _MIN_ROWS:
        return None
    some = data.rows[:: -(-n_rows // _ROWS_TO_LOOK_AT)]
    if len(np.unique(_hashes(some))) > _MAX_SHARE_OF_SAMPLE * len(some):
        return None
    return _group(data.rows)


def _group(rows: NDArray[Any], max_share: float = _MAX_SHARE) -> EqualRows | None:
    hashes, first_copies, numbers, n_copies = np.unique(
        _hashes(rows), return_index=True, return_inverse=True, return_counts=True
    )
    if len(hashes) > max_share * len(rows):
        return None
    by_first_copy = np.argsort(first_copies)
    places = np.empty_like(by_first_copy)
    places[by_first_copy] = np.arange(len(places))
    groups = EqualRows(
        first_copies[by_first_copy], places[numbers], n_copies[by_first_copy].astype(np.int64)
    )
    # If two distinct rows have the same hash (a chance of about 1 in 10^19), nothing is merged.
    return groups if _all_equal(rows, groups) else None


def _hashes(rows: NDArray[Any]) -> NDArray[np.uint64]:
    """Return a hash of each row; equal rows have equal hashes."""
    hashes = np.zeros(len(rows), dtype=np.uint64)
    for column in rows.T:
        # Adding 0 turns -0.0 into 0.0.
        hashes ^= (column.astype(np.float64) + 0.0).view(np.uint64)
        hashes *= np.uint64(0x9E3779B97F4A7C15)
        hashes ^= hashes >> np.uint64(29)
    return hashes


def _all_equal(rows: NDArray[Any], groups: EqualRows) -> bool:
    return all(
        bool((column == column[groups.first_copies][groups.numbers]).all()) for column in rows.T
    )
