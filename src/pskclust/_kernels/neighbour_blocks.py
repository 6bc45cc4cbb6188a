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
UNKNOWN = np.iinfo(np.int64).max
# With more distinct cells per mixed pair, bounds are not worth computing.
_MAX_CELLS_TO_BOUND = 12
# With this many distinct cells, a mixed pair is counted row by row.
_MANY_CELLS = 6
# Up to this many rows of a block are counted one by one, in all their cells.
_FEW_ROWS = 16


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
        scores[place] = 0
    for mixed in range(layout.mixed_start[block], layout.mixed_start[block + 1]):
        i = partitionings[mixed]
        start = layout.distinct_start[mixed]
        if layout.distinct_start[mixed + 1] - start == 2:
            # Comparing cells takes vector instructions; looking up their counts does not.
            other = layout.distinct_cells[start + 1]
            count = table[i, layout.distinct_cells[start]]
            common += count
            more = table[i, other] - count
            for place in range(BLOCK):
                scores[place] += more if cells[mixed, place] == other else 0
        else:
            for place in range(BLOCK):
                scores[place] += table[i, cells[mixed, place]]
    for place in range(BLOCK):
        scores[place] += common


@compiled_into
def count_row(layout, block, place, weight, counts):
    """Add a row to a table, except for its cells in partitionings where its block is not mixed."""
    for mixed in range(layout.mixed_start[block], layout.mixed_start[block + 1]):
        i = layout.mixed_partitionings[mixed]
        counts[i, layout.mixed_cells[mixed, place]] += weight


@compiled_into
def count_rows(layout, block, chosen, units, own_units, counts):
    """Add a block's rows to a table if their bit in `chosen` is set; return their mass.

    `own_units`, (64,), is temporary.
    """
    start = block * BLOCK
    n_here = min(BLOCK, len(units) - start)
    mass, n_chosen = 0, np.int64(0)
    for place in range(BLOCK):
        own_units[place] = 0
    for place in range(n_here):
        is_chosen = np.int64(chosen >> np.uint64(place) & np.uint64(1))
        own_units[place] = units[start + place] * is_chosen
        mass += own_units[place]
        n_chosen += is_chosen
    for i in range(len(counts)):
        counts[i, layout.block_cells[block, i]] += mass
    if n_chosen <= _FEW_ROWS:
        for place in range(n_here):
            if own_units[place]:
                count_row(layout, block, place, own_units[place], counts)
        return mass
    for mixed in range(layout.mixed_start[block], layout.mixed_start[block + 1]):
        i = layout.mixed_partitionings[mixed]
        first, last = layout.distinct_start[mixed], layout.distinct_start[mixed + 1] - 1
        if last - first >= _MANY_CELLS:
            for place in range(BLOCK):
                counts[i, layout.mixed_cells[mixed, place]] += own_units[place]
            continue
        # With few cells, comparing cells takes vector instructions; adding row by row does not.
        rest = mass
        for number in range(first, last):
            cell = layout.distinct_cells[number]
            here = 0
            for place in range(BLOCK):
                here += own_units[place] if layout.mixed_cells[mixed, place] == cell else 0
            counts[i, cell] += here
            rest -= here
        counts[i, layout.distinct_cells[last]] += rest
    return mass
