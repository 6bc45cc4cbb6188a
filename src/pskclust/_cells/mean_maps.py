"""Mean maps of groups: the mean of the feature maps of their rows (Eq. 2), as sparse rows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from .._data.groups import Groups
from .._kernels.reference import Cells, one_hot
from .partition import Partition

# The feature maps of this many rows take about 40 MB with 100 partitionings.
_ROWS_AT_A_TIME = 1 << 15


def mean_maps(
    groups: Groups,
    partition: Partition,
    cells_of: Callable[[NDArray[np.intp]], Cells],
    rows_at_a_time: int = _ROWS_AT_A_TIME,
) -> sparse.csr_array:
    """Return the mean map of each group, (g, t * psi); `cells_of` returns the cells of rows.

    Counts are integers, and each is divided once by the size of its group. So the result does not
    depend on the order of rows or on `rows_at_a_time`.
    """
    # Rows are sorted by group, so that most groups are counted in one part.
    order = np.argsort(groups.numbers, kind="stable")
    owners: list[NDArray[np.intp]] = []
    parts: list[sparse.csr_array] = []
    for start in range(0, len(order), rows_at_a_time):
        rows = order[start : start + rows_at_a_time]
        owner, place = np.unique(groups.numbers[rows], return_inverse=True)
        features = one_hot(cells_of(rows), partition.psi, partition.no_cell)
        owners.append(owner)
        parts.append(_sums(features, place, len(owner)))
    counts = _sums(
        sparse.vstack(parts, format="csr"), np.concatenate(owners), len(groups.names)
    ).astype(np.float64)
    counts.data /= np.repeat(groups.sizes, np.diff(counts.indptr))
    return counts


def _sums(rows: sparse.csr_array, owner: NDArray[np.intp], n_owners: int) -> sparse.csr_array:
    """Return a sum of rows for each owner, with sorted columns; row i belongs to `owner[i]`."""
    ones = np.ones(len(owner), dtype=np.int64)
    shape = n_owners, len(owner)
    sums = sparse.csr_array((ones, (owner, np.arange(len(owner)))), shape=shape) @ rows
    sums = sparse.csr_array(sums)
    sums.sort_indices()
    return sums
