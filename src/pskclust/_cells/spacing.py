"""Distances between the centres of a partitioning, used as the sizes of its cells."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

from .._utils.parallel import map_items, one_blas_thread, rows_per_chunk

# With more columns, a search tree visits nearly all centres.
_MAX_COLUMNS_FOR_SEARCH_TREES = 8
# Each centre is compared with centres of at most _MAX_NUMBERS values in total, but with at least
# _MIN_CENTRES of them.
_MAX_NUMBERS, _MIN_CENTRES = 1 << 16, 32
# A squared distance below this fraction of a squared norm is a rounding error.
_ROUNDING = 1e-13
_ROWS_AT_A_TIME = 256  # whose squares stay in the cache


def log_spacings(
    points: NDArray[np.float64], centres: NDArray[np.intp], n_jobs: int | None = 1
) -> NDArray[np.float64]:
    """Return the log distance from each centre to the nearest distinct centre, (t, psi).

    `centres` are indices of points, (t, psi). With many columns, each centre is compared only with
    the first centres of its partitioning. If all centres are equal, the log distance is 0.
    """
    # Most points are centres of several partitionings.
    norms = _squared_lengths(points)
    few_columns = points.shape[1] <= _MAX_COLUMNS_FOR_SEARCH_TREES
    # With one thread, rounding does not depend on the number of threads.
    with one_blas_thread:
        gaps = map_items(
            lambda own: _gaps(points, norms, own), list(centres), 1 if few_columns else n_jobs
        )
        # Equal centres are found outside threads, because this copies all centres.
        return np.array(
            [
                np.log(own_gaps) if own_gaps.all() else _log_gaps_of_distinct(points[own])
                for own, own_gaps in zip(centres, gaps, strict=True)
            ]
        )


def _squared_lengths(points: NDArray[np.float64]) -> NDArray[np.float64]:
    lengths2 = np.empty(len(points))
    for start in range(0, len(points), _ROWS_AT_A_TIME):
        some = points[start : start + _ROWS_AT_A_TIME]
        lengths2[start : start + _ROWS_AT_A_TIME] = (some * some).sum(axis=1)
    return lengths2


def _log_gaps_of_distinct(centres: NDArray[np.float64]) -> NDArray[np.float64]:
    different, number = np.unique(centres, axis=0, return_inverse=True)
    if len(different) == 1:
        return np.zeros(len(centres))
    gaps = _gaps(different, _squared_lengths(different), np.arange(len(different)))
    # Rounding may reduce the distance between nearly equal centres to 0.
    gaps = np.maximum(gaps, gaps[gaps > 0].min(initial=1.0))
    return np.asarray(np.log(gaps)[number.ravel()])


def _gaps(
    points: NDArray[np.float64], norms: NDArray[np.float64], own: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Return the distance from each centre to the nearest other centre; 0 if the two are equal."""
    n_columns = points.shape[1]
    if len(own) == 1:
        return np.zeros(1)
    if n_columns <= _MAX_COLUMNS_FOR_SEARCH_TREES:
        centres = points[own]
        return np.asarray(KDTree(centres).query(centres, 2)[0])[:, 1]
    some = own[: max(_MIN_CENTRES, _MAX_NUMBERS // n_columns)]
    others = points[some]
    nearest = np.empty(len(own))
    step = rows_per_chunk(max(n_columns, len(some)))
    for start in range(0, len(own), step):
        chunk = own[start : start + step]
        products = points[chunk] @ others.T
        products *= 2
        gaps2 = norms[chunk, np.newaxis] + norms[some]
        gaps2 -= products
        # Each of the others is skipped where it meets itself.
        np.fill_diagonal(gaps2[:, start:], np.inf)
        nearest[start : start + step] = gaps2.min(axis=1)
    return np.sqrt(np.where(nearest > _ROUNDING * norms[own], nearest, 0.0))
