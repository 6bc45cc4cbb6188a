"""Neighbour blocks: 64 rows that lie close together, with bounds and scores of their rows.

In most partitionings all rows of a neighbour block share a cell. Such a pair of block and
partitioning is stored as one cell number. The other pairs are called mixed; they store a cell
number for each row. The distinct cells of a block, or of a superblock of many blocks, bound the
scores of its rows.

Tables have an additional last column of zeros, to which the cell number of mixed pairs refers.

The functions here are inlined into the compiled loops of `neighbour_growth` and `neighbour_labels`,
which name this file in `compiled_with`, so that a change here renews their cached code.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .compiling import compiled_into, compiled_within

BLOCK = 64
ALL_ROWS = np.uint64(2**64 - 1)
UNKNOWN = np.iinfo(np.int64).max
# With more distinct cells per mixed pair, bounds are not worth computing.
_MAX_CELLS_TO_BOUND = 12


class Layout(NamedTuple):
    """The cells of all rows, block by block."""

    blocks_per_superblock: int
    block_cells: NDArray[np.unsignedinteger]  # (n_blocks, t) common cell of the rows, psi if mixed
    mixed_start: NDArray[np.int64]  # (n_blocks + 1,) starts of the blocks in the mixed arrays
    mixed_partitionings: NDArray[np.uint16]  # (mixed,) partitioning of each mixed pair
    mixed_cells: NDArray[np.unsignedinteger]  # (mixed, 64) cell of each row of a mixed pair
    distinct_start: NDArray[np.int64]  # (mixed + 1,) starts of the mixed pairs in `distinct_cells`
    distinct_cells: NDArray[np.unsignedinteger]  # (distinct,) distinct cells of a mixed pair
    super_start: NDArray[np.int64]  # (n_superblocks * t + 1,) starts in `super_cells`
    super_cells: NDArray[np.unsignedinteger]  # distinct cells of a superblock in a partitioning


@compiled_within
def blocks_of(layout, superblock):
    """Return the first block of a superblock, and the block after its last one."""
    first = superblock * layout.blocks_per_superblock
    return first, min(first + layout.blocks_per_superblock, len(layout.block_cells))


@compiled_within
def extremes(table, i, cells, start, stop):
    """Return the smallest and the largest count of some cells of a partitioning."""
    small = large = table[i, cells[start]]
    for place in range(start + 1, stop):
        count = table[i, cells[place]]
        small = count if count < small else small
        large = count if count > large else large
    return small, large


@compiled_within
def super_bounds(layout, superblock, table):
    """Return the lowest and the highest score that a row of a superblock can have."""
    n_partitions = len(table)
    lowest = highest = 0
    for i in range(n_partitions):
        start = layout.super_start[superblock * n_partitions + i]
        stop = layout.super_start[superblock * n_partitions + i + 1]
        small, large = extremes(table, i, layout.super_cells, start, stop)
        lowest += small
        highest += large
    return lowest, highest


@compiled_within
def common_score(layout, block, table):
    """Return the part of the score that all rows of a block share."""
    total = 0
    for i in range(len(table)):
        total += table[i, layout.block_cells[block, i]]
    return total


@compiled_within
def block_bounds(layout, block, common, table):
    """Return the lowest and the highest score that a row of a block can have."""
    lowest = highest = common
    for mixed in range(layout.mixed_start[block], layout.mixed_start[block + 1]):
        i = np.int64(layout.mixed_partitionings[mixed])
        start, stop = layout.distinct_start[mixed], layout.distinct_start[mixed + 1]
        small, large = extremes(table, i, layout.distinct_cells, start, stop)
        lowest += small
        highest += large
    return lowest, highest


@compiled_within
def bounds_pay(layout, block):
    """Return whether a block has few enough distinct cells for bounds to be worth computing."""
    first, last = layout.mixed_start[block], layout.mixed_start[block + 1]
    n_distinct = layout.distinct_start[last] - layout.distinct_start[first]
    return n_distinct <= _MAX_CELLS_TO_BOUND * (last - first)


@compiled_within
def row_score(layout, block, place, common, table):
    """Return the score of one row."""
    score = common
    for mixed in range(layout.mixed_start[block], layout.mixed_start[block + 1]):
        i = layout.mixed_partitionings[mixed]
        score += table[i, layout.mixed_cells[mixed, place]]
    return score


@compiled_within
def score_block(layout, block, common, table, scores):
    """Fill the scores, (64,), of all rows of a block."""
    cells, partitionings = layout.mixed_cells, layout.mixed_partitionings
    for place in range(BLOCK):
        scores[place] = common
    mixed, stop = layout.mixed_start[block], layout.mixed_start[block + 1]
    # Adding four partitionings at a time loads and stores the scores a quarter as often.
    while mixed + 4 <= stop:
        a, b = partitionings[mixed], partitionings[mixed + 1]
        c, d = partitionings[mixed + 2], partitionings[mixed + 3]
        for place in range(BLOCK):
            scores[place] += (
                table[a, cells[mixed, place]]
                + table[b, cells[mixed + 1, place]]
                + table[c, cells[mixed + 2, place]]
                + table[d, cells[mixed + 3, place]]
            )
        mixed += 4
    while mixed < stop:
        i = partitionings[mixed]
        for place in range(BLOCK):
            scores[place] += table[i, cells[mixed, place]]
        mixed += 1


@compiled_into
def count_rows(layout, block, chosen, units, counts):
    """Add a block's rows to a table if their bit in `chosen` is set; return their mass."""
    start = block * BLOCK
    n_here = min(BLOCK, len(units) - start)
    mass = 0
    for place in range(n_here):
        if chosen >> np.uint64(place) & np.uint64(1):
            mass += units[start + place]
    for i in range(len(counts)):
        counts[i, layout.block_cells[block, i]] += mass
    for mixed in range(layout.mixed_start[block], layout.mixed_start[block + 1]):
        i = layout.mixed_partitionings[mixed]
        if chosen == ALL_ROWS:
            for place in range(BLOCK):
                counts[i, layout.mixed_cells[mixed, place]] += units[start + place]
            continue
        for place in range(n_here):
            if chosen >> np.uint64(place) & np.uint64(1):
                counts[i, layout.mixed_cells[mixed, place]] += units[start + place]
    return mass
