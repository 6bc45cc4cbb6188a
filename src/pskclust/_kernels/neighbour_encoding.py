"""Compiled loops that find the cells of neighbour blocks with few columns.

Cells are exact: a centre is excluded only if, for every point of a box, it is farther than another
centre by more than the rounding errors.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import numpy as np

from . import boxes
from .boxes import EPSILON, SMALLEST, bound_gains, find_boxes
from .compiling import compiled_into, compiled_with, compiled_within
from .neighbour_blocks import BLOCK

compiled = compiled_with(boxes)

# Up to this number of possible centres of a superblock, the bounds of all its blocks are computed
# together, with vector instructions.
FEW_CENTRES = 16


@compiled_within
def keep_possible(
    low,  # IN   (n_boxes, d)
    high,  # IN   (n_boxes, d)
    box,  # IN   which box
    centres,  # IN   (d, psi)
    numbers,  # IN   (psi,) numbers of the centres, ascending
    n_centres,  # IN   number of centres to choose from
    bounds,  # TMP  (2, psi)
    kept,  # OUT  (d, psi) the centres that may be nearest to a point of the box
    kept_numbers,  # OUT  (psi,)
):
    """Keep the centres that may be nearest to a point of a box; return their number."""
    bound_gains(low, high, box, centres, n_centres, bounds)
    end = 0
    for number in range(n_centres):
        if bounds[1, number] >= 0:
            for column in range(len(centres)):
                kept[column, end] = centres[column, number]
            kept_numbers[end] = numbers[number]
            end += 1
    return end


@compiled_into
def share_cells(
    corners,  # IN   (2, d, n_blocks) lower and upper corners of the blocks of a superblock
    n_blocks,  # IN   number of blocks
    centres,  # IN   (d, psi)
    numbers,  # IN   (psi,)
    n_centres,  # IN   number of centres to choose from
    outside2,  # TMP  (FEW_CENTRES + 1, n_blocks) largest squared distances; the last is the least
    own,  # TMP  (d, n_blocks) the centre to which the others are compared
    gains,  # TMP  (n_blocks,)
    best,  # TMP  (n_blocks,) its index
    n_kept,  # TMP  (n_blocks,)
    cells,  # OUT  (n_blocks,) the cell of blocks with one possible centre, psi for others
):
    """Find the blocks that have one possible centre; the bounds are those of `bound_gains`."""
    n_columns, psi = centres.shape
    low, high = corners[0], corners[1]
    for a in range(n_centres):
        for b in range(n_blocks):
            outside2[a, b] = 0.0
        for column in range(n_columns):
            value = centres[column, a]
            for b in range(n_blocks):
                outside = max(high[column, b] - value, value - low[column, b])
                outside2[a, b] += outside * outside
    for b in range(n_blocks):
        outside2[FEW_CENTRES, b] = np.inf
    for a in range(n_centres):
        for b in range(n_blocks):
            closer = outside2[a, b] < outside2[FEW_CENTRES, b]
            outside2[FEW_CENTRES, b] = outside2[a, b] if closer else outside2[FEW_CENTRES, b]
            best[b] = a if closer else best[b]
    for column in range(n_columns):
        for b in range(n_blocks):
            own[column, b] = centres[column, best[b]]
    margin = 4 * (n_columns + 8) * EPSILON
    for b in range(n_blocks):
        n_kept[b] = 0
    for a in range(n_centres):
        for b in range(n_blocks):
            gains[b] = margin * (outside2[a, b] + outside2[FEW_CENTRES, b]) + SMALLEST
        for column in range(n_columns):
            value = centres[column, a]
            for b in range(n_blocks):
                reference = own[column, b]
                point = high[column, b] if value > reference else low[column, b]
                gains[b] += (value - reference) * ((point - reference) + (point - value))
        for b in range(n_blocks):
            n_kept[b] += np.int64(gains[b] >= 0)
    for b in range(n_blocks):
        cells[b] = numbers[best[b]] if n_kept[b] == 1 else psi


@compiled_into
def nearest_in_block(
    points,  # IN   (n_blocks, d, 64)
    block,  # IN   which block
    centres,  # IN   (d, psi)
    numbers,  # IN   (psi,)
    n_centres,  # IN   number of centres to choose from
    distances2,  # TMP  (2, 64)
    nearest,  # OUT  (64,)
):
    """Find the nearest centre of each row; ties go to the first centre."""
    for a in range(n_centres):
        number = np.int64(numbers[a])
        for place in range(BLOCK):
            distances2[0, place] = 0.0
        for column in range(points.shape[1]):
            value = centres[column, a]
            for place in range(BLOCK):
                apart = points[block, column, place] - value
                distances2[0, place] += apart * apart
        for place in range(BLOCK):
            closer = a == 0 or distances2[0, place] < distances2[1, place]
            distances2[1, place] = distances2[0, place] if closer else distances2[1, place]
            nearest[place] = number if closer else nearest[place]


@compiled_into
def shared_cell(
    points,  # IN   (n_blocks, d, 64)
    n_here,  # IN   number of rows in the block
    low,  # IN   (n_blocks + 1, d)
    high,  # IN   (n_blocks + 1, d)
    block,  # IN   which block
    centres,  # IN   (d, psi)
    numbers,  # IN   (psi,)
    n_centres,  # IN   number of centres to choose from
    bounds,  # TMP  (2, max(psi, 64))
    kept,  # OUT  (d, psi) centres that may be nearest to a row of the block
    kept_numbers,  # OUT  (psi,)
    nearest,  # OUT  (64,) the nearest centre of each row, if several centres are kept
):
    """Return the common cell of a block (-1 if it is mixed) and the number of kept centres."""
    n_kept = keep_possible(
        low, high, block, centres, numbers, n_centres, bounds, kept, kept_numbers
    )
    if n_kept == 1:
        return np.int64(kept_numbers[0]), n_kept
    nearest_in_block(points, block, kept, kept_numbers, n_kept, bounds, nearest)
    for place in range(1, n_here):
        if nearest[place] != nearest[0]:
            return np.int64(-1), n_kept
    return nearest[0], n_kept


@compiled_into
def list_cells(
    nearest,  # IN   (64,)
    n_here,  # IN   number of rows
    candidates,  # IN   (psi,)
    n_kept,  # IN   number of candidates
    present,  # OUT  (psi,) set to True for cells with a row
    cells,  # OUT  the distinct cells of the rows
    end,  # IN   index at which the list continues
):
    """List the distinct cells of a block; return the end of the list."""
    for number in range(n_kept):
        n_members = 0
        for place in range(n_here):
            n_members += nearest[place] == candidates[number]
        if n_members:
            present[candidates[number]] = True
            cells[end] = candidates[number]
            end += 1
    return end


@compiled_into
def list_present(
    present,  # INOUT (t, psi) True for cells with a row; all False on return
    possible,  # IN   (t, psi) the cells that a superblock could have
    n_possible,  # IN   (t,) number of these cells
    superblock,  # IN   which superblock
    super_end,  # OUT  (n_superblocks, t)
    super_cells,  # OUT  (n_superblocks * t * psi,)
    end,  # IN   index at which the list continues
):
    """List the distinct cells of a superblock; return the end of the list."""
    for i in range(len(possible)):
        for place in range(n_possible[i]):
            cell = possible[i, place]
            if present[i, cell]:
                present[i, cell] = False
                super_cells[end] = cell
                end += 1
        super_end[superblock, i] = end
    return end


@compiled
def encode_superblocks(
    points,  # IN   (n_blocks, d, 64) rows of some superblocks; a short last block is filled up
    n_rows,  # IN   number of rows without the padding
    blocks_per_superblock,  # IN
    centres,  # IN   (t, d, psi)
    everything,  # IN   (psi,) the numbers 0 to psi - 1
    low,  # TMP  (n_blocks + 1, d)
    high,  # TMP  (n_blocks + 1, d)
    bounds,  # TMP  (2, max(psi, 64))
    possible,  # TMP  (t, d, psi) centres that may be nearest to a row of a superblock
    possible_numbers,  # TMP  (t, psi)
    n_possible,  # TMP  (t,)
    kept,  # TMP  (d, psi) centres that may be nearest to a row of a block
    kept_numbers,  # TMP  (psi,)
    nearest,  # TMP  (64,)
    present,  # TMP  (t, psi) all False on entry and on return
    corners,  # TMP  of `share_cells`, like the next five
    outside2,
    own,
    gains,
    best,
    n_kept,
    block_cells,  # OUT  (n_blocks, t) the cell of all rows of a block, psi if they differ
    mixed_end,  # OUT  (n_blocks,) where the mixed partitionings of a block end
    mixed_partitionings,  # OUT  (mixed,)
    mixed_cells,  # OUT  (mixed, 64)
    distinct_end,  # OUT  (mixed,) where the cells of a mixed partitioning end
    distinct_cells,  # OUT  (distinct,)
    super_end,  # OUT  (n_superblocks, t) where a superblock's cells in a partitioning end
    super_cells,  # OUT  (n_superblocks * t * psi,)
):
    """Find the cells of all rows; return the numbers of mixed, distinct and superblock entries.

    Half of the function's length is the list of its arrays, which are filled in one pass.
    """
    n_blocks, n_partitions = block_cells.shape
    psi = centres.shape[2]
    n_mixed = n_distinct = n_super = np.int64(0)
    for first in range(0, n_blocks, blocks_per_superblock):
        last = min(first + blocks_per_superblock, n_blocks)
        find_boxes(points, first, last, first, low, high)
        for block in range(first, last):
            for column in range(points.shape[1]):
                corners[0, column, block - first] = low[block, column]
                corners[1, column, block - first] = high[block, column]
        for i in range(n_partitions):
            n_possible[i] = keep_possible(
                low,
                high,
                len(low) - 1,
                centres[i],
                everything,
                psi,
                bounds,
                possible[i],
                possible_numbers[i],
            )
            if n_possible[i] <= FEW_CENTRES:
                share_cells(
                    corners,
                    last - first,
                    possible[i],
                    possible_numbers[i],
                    n_possible[i],
                    outside2,
                    own,
                    gains,
                    best,
                    n_kept,
                    block_cells[first:last, i],
                )
            else:
                for block in range(first, last):
                    block_cells[block, i] = psi
        for block in range(first, last):
            n_here = min(BLOCK, n_rows - block * BLOCK)
            for i in range(n_partitions):
                if block_cells[block, i] < psi:
                    present[i, block_cells[block, i]] = True
                    continue
                cell, n_left = shared_cell(
                    points,
                    n_here,
                    low,
                    high,
                    block,
                    possible[i],
                    possible_numbers[i],
                    n_possible[i],
                    bounds,
                    kept,
                    kept_numbers,
                    nearest,
                )
                if cell >= 0:
                    block_cells[block, i] = cell
                    present[i, cell] = True
                    continue
                for place in range(BLOCK):
                    mixed_cells[n_mixed, place] = nearest[place]
                n_distinct = list_cells(
                    nearest, n_here, kept_numbers, n_left, present[i], distinct_cells, n_distinct
                )
                mixed_partitionings[n_mixed] = i
                distinct_end[n_mixed] = n_distinct
                n_mixed += 1
            mixed_end[block] = n_mixed
        n_super = list_present(
            present,
            possible_numbers,
            n_possible,
            first // blocks_per_superblock,
            super_end,
            super_cells,
            n_super,
        )
    return n_mixed, n_distinct, n_super
