"""Compiled loops that find the cells of neighbour blocks with 4 to 32 columns.

In data with clusters, a box around the rows of a block excludes most centres. The remaining centres
are compared with the rows by products in float32.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from . import block_products, boxes, vector_code, vectors
from .block_products import (
    FEW_ROWS,
    NEVER,
    compare,
    margin_of_error,
    n_within,
    settle_block,
    settle_row,
    shift_centres,
    shift_rows,
    sum_for_row,
)
from .boxes import bound_gains, find_boxes
from .compiling import compiled_into, compiled_with
from .neighbour_blocks import BLOCK
from .vectors import CENTRES_AT_A_TIME

compiled = compiled_with(block_products, boxes, vector_code, vectors)

# Number of blocks in a group, whose common box is tried first.
BLOCKS_PER_GROUP = 4
# If boxes exclude less than a tenth of the centres in the first partitionings, the others do not
# use boxes.
_TRIALS, _MIN_SHARE_RULED_OUT = 3, 0.1
# Up to this many centres are compared with the rows directly, which is faster than using a box.
_FEW_CENTRES = 12


class Centres(NamedTuple):
    """The centres of all partitionings."""

    points: NDArray[np.float64]  # (u, d) the distinct centres
    numbers: NDArray[np.intp]  # (t, psi) index of each centre in `points`
    columns: NDArray[np.float64]  # (t, d, psi) coordinates of all centres


class Workspace(NamedTuple):
    """Working arrays that a thread reuses from call to call."""

    low: NDArray[np.float64]  # (blocks of a group + 1, d) lower corners; the last is the group's
    high: NDArray[np.float64]  # (blocks of a group + 1, d) upper corners
    middle: NDArray[np.float64]  # (d,) middle of the group's box
    rows: NDArray[np.float32]  # (blocks of a group, d, 64) rows minus the middle
    bounds: NDArray[np.float64]  # (2, psi) of `bound_gains`
    possible: NDArray[np.float64]  # (d, psi) centres that may be nearest to a row of a group
    in_group: NDArray[np.int32]  # (psi,) their numbers in the partitioning
    shifted: NDArray[np.float32]  # (psi + 1, d) the middle minus these centres
    halves: NDArray[np.float32]  # (psi + 1,) half of the squared lengths of `shifted`
    in_block: NDArray[np.int32]  # (psi + 4,) indices of the centres that may be nearest in a block
    candidates: NDArray[np.intp]  # (psi,) their indices among the distinct centres
    sums: NDArray[np.float32]  # (psi,) values that `compare` compares, for one row
    smallest: NDArray[np.float32]  # (2, 64) the two smallest sums of each row
    distances2: NDArray[np.float64]  # (2, 64) exact squared distances
    nearest: NDArray[np.int32]  # (64,) index in `in_block` of each row's nearest centre


def make_workspace(n_columns: int, psi: int) -> Workspace:
    space = Workspace(
        low=np.empty((BLOCKS_PER_GROUP + 1, n_columns)),
        high=np.empty((BLOCKS_PER_GROUP + 1, n_columns)),
        middle=np.empty(n_columns),
        rows=np.empty((BLOCKS_PER_GROUP, n_columns, BLOCK), dtype=np.float32),
        bounds=np.empty((2, psi)),
        possible=np.empty((n_columns, psi)),
        in_group=np.empty(psi, dtype=np.int32),
        shifted=np.zeros((psi + 1, n_columns), dtype=np.float32, order="F"),
        halves=np.empty(psi + 1, dtype=np.float32),
        in_block=np.arange(psi + CENTRES_AT_A_TIME, dtype=np.int32),
        candidates=np.empty(psi, dtype=np.intp),
        sums=np.empty(psi, dtype=np.float32),
        smallest=np.empty((2, BLOCK), dtype=np.float32),
        distances2=np.empty((2, BLOCK)),
        nearest=np.empty(BLOCK, dtype=np.int32),
    )
    space.halves[psi] = NEVER
    return space


@compiled_into
def enter_group(points, first, last, space):
    """Subtract a group's middle from its rows; return the largest distance from the middle."""
    find_boxes(points, first, last, 0, space.low, space.high)
    whole, radius = len(space.low) - 1, 0.0
    for column in range(points.shape[1]):
        space.middle[column] = (space.low[whole, column] + space.high[whole, column]) / 2
    for block in range(first, last):
        rows = space.rows[block - first]
        radius = max(radius, shift_rows(points, block, space.middle, rows, space.distances2[0]))
    return radius


@compiled_into
def keep_in_group(i, centres, bounded, space):
    """List centres that may be nearest to a group's rows; return number and largest distance."""
    psi, whole = centres.numbers.shape[1], len(space.low) - 1
    columns = centres.columns[i]
    if bounded:
        bound_gains(space.low, space.high, whole, columns, psi, space.bounds)
    count = np.int64(0)
    for number in range(psi):
        space.in_group[count] = number
        count += not bounded or space.bounds[1, number] >= 0
    for column in range(columns.shape[0]):
        for a in range(count):
            space.possible[column, a] = columns[column, space.in_group[a]]
    farthest = shift_centres(
        space.possible, space.middle, count, space.shifted.T, space.halves, space.bounds[0]
    )
    return count, farthest


@compiled_into
def keep_in_block(box, n_in_group, bounded, space):
    """List the group's centres that may be nearest to a row of one block; return their number."""
    if bounded:
        bound_gains(space.low, space.high, box, space.possible, n_in_group, space.bounds)
    count = np.int64(0)
    for a in range(n_in_group):
        space.in_block[count] = a
        count += not bounded or space.bounds[1, a] >= 0
    # Pad the list to a multiple of four with a centre that is never nearest.
    for a in range(count, count + CENTRES_AT_A_TIME - 1):
        space.in_block[a] = len(space.halves) - 1
    return count


@compiled_into
def write_nearest(
    points,  # IN   (n_blocks, d, 64)
    block,  # IN   which block
    rows,  # IN   (d, 64) its rows minus the middle
    i,  # IN   which partitioning
    n_kept,  # IN   number of centres that may be nearest
    margin,  # IN   difference of two sums beyond which their order is certain
    centres,  # IN   Centres
    space,  # INOUT Workspace
    cells,  # OUT  (n_blocks, t, 64)
):
    """Find each row's nearest kept centre; settle doubtful cases by exact distances."""
    kept, smallest, nearest = space.in_block, space.smallest, space.nearest
    compare(rows, space.shifted, space.halves, kept, n_kept, smallest, nearest)
    n_unsure = n_within(smallest, margin)
    if n_unsure:
        for a in range(n_kept):
            space.candidates[a] = centres.numbers[i, space.in_group[kept[a]]]
        if n_unsure > FEW_ROWS:
            settle_block(
                points, block, centres.points, space.candidates, n_kept, space.distances2, nearest
            )
        else:
            settle_rows(points, block, rows, n_kept, margin, centres, space)
    for place in range(BLOCK):
        cells[block, i, place] = space.in_group[kept[nearest[place]]]


@compiled_into
def settle_rows(points, block, rows, n_kept, margin, centres, space):
    """Use exact distances for rows whose two smallest sums differ by at most a margin."""
    smallest = space.smallest
    for place in range(BLOCK):
        if smallest[1, place] > smallest[0, place] + margin:
            continue
        least = np.float32(np.inf)
        for a in range(n_kept):
            kept = space.in_block[a]
            space.sums[a] = sum_for_row(rows, place, space.shifted, kept, space.halves[kept])
            least = min(least, space.sums[a])
        space.nearest[place] = settle_row(
            points,
            block,
            place,
            centres.points,
            space.candidates,
            n_kept,
            space.sums,
            least + margin,
        )


@compiled
def find_cells_in_boxes(
    points,  # IN   (n_blocks, d, 64)
    centres,  # IN   Centres
    space,  # TMP  Workspace
    cells,  # OUT  (n_blocks, t, 64)
):
    """Find the cells of all rows of some blocks, using boxes around the rows."""
    n_blocks, n_columns = points.shape[:2]
    n_partitions, psi = centres.numbers.shape
    for first in range(0, n_blocks, BLOCKS_PER_GROUP):
        last = min(first + BLOCKS_PER_GROUP, n_blocks)
        radius = enter_group(points, first, last, space)
        bounded, n_left = True, 0
        for i in range(n_partitions):
            if i == _TRIALS:
                bounded = n_left < (1 - _MIN_SHARE_RULED_OUT) * _TRIALS * (last - first) * psi
            n_in_group, farthest = keep_in_group(i, centres, bounded, space)
            margin = margin_of_error(n_columns, radius + farthest)
            worth_it = bounded and n_in_group > _FEW_CENTRES
            for block in range(first, last):
                n_kept = keep_in_block(block - first, n_in_group, worth_it, space)
                n_left += n_kept
                rows = space.rows[block - first]
                write_nearest(points, block, rows, i, n_kept, margin, centres, space, cells)
