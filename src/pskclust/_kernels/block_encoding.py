"""Compiled loops that put rows in order and find the cells of blocks of neighbours.

Cells are exact: rounding is monotone, so a bound computed by the operations of a distance, in
their order, on smaller or larger operands is never on the wrong side of that distance.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import numpy as np

from ._compiling import compiled
from .blocks import BLOCK


@compiled
def curve_keys(
    points,  # IN   (m, d)
    low,  # IN   (d,)
    scale,  # IN   (d,) levels per unit
    bits,  # IN   bits of each coordinate
    row_bits,  # IN   bits of a row number
    first_row,  # IN   number of the first row
    keys,  # OUT  (m,) place on a Morton curve, then the row number
):
    """Make numbers that sort rows along a curve that stays close to itself."""
    n_rows, n_columns = points.shape
    top = (1 << bits) - 1
    for row in range(n_rows):
        key = np.uint64(0)
        for column in range(n_columns):
            level = min(int((points[row, column] - low[column]) * scale[column]), top)
            for bit in range(bits):
                key |= np.uint64((level >> bit) & 1) << np.uint64(bit * n_columns + column)
        keys[row] = (key << np.uint64(row_bits)) | np.uint64(first_row + row)


@compiled
def find_boxes(
    points,  # IN   (n_blocks, d, 64)
    low,  # OUT  (n_blocks + 1, d) of each block, then of all of them
    high,  # OUT  (n_blocks + 1, d)
):
    n_blocks, n_columns, _ = points.shape
    for column in range(n_columns):
        all_low, all_high = np.inf, -np.inf
        for block in range(n_blocks):
            smallest = largest = points[block, column, 0]
            for place in range(1, BLOCK):
                smallest = min(smallest, points[block, column, place])
                largest = max(largest, points[block, column, place])
            low[block, column] = smallest
            high[block, column] = largest
            all_low = min(all_low, smallest)
            all_high = max(all_high, largest)
        low[n_blocks, column] = all_low
        high[n_blocks, column] = all_high


@compiled
def keep_possible(
    low,  # IN   (n_boxes, d)
    high,  # IN   (n_boxes, d)
    box,  # IN   which box
    centres,  # IN   (t, psi, d)
    i,  # IN   which partitioning
    among,  # IN   centres to choose from,
    first,  # IN   from here
    last,  # IN   to here
    nearest2,  # TMP  (psi,)
    kept,  # OUT  the centres that may be nearest to a point of the box
    end,  # IN   where to put the first of them
):
    """Return where the kept centres end."""
    closest2 = np.inf
    for place in range(first, last):
        near = far = 0.0
        for column in range(centres.shape[2]):
            value = centres[i, among[place], column]
            below = low[box, column] - value
            above = value - high[box, column]
            inside = max(below, above, 0.0)
            outside = max(abs(below), abs(above))
            near += inside * inside
            far += outside * outside
        nearest2[place - first] = near
        closest2 = min(closest2, far)
    for place in range(first, last):
        if nearest2[place - first] <= closest2:
            kept[end] = among[place]
            end += 1
    return end


@compiled
def nearest_in_block(
    points,  # IN   (n_blocks, d, 64)
    block,  # IN   which block
    centres,  # IN   (t, psi, d)
    i,  # IN   which partitioning
    among,  # IN   centres to choose from
    n_among,  # IN   how many
    distance2,  # TMP  (64,)
    closest2,  # TMP  (64,)
    nearest,  # OUT  (64,)
):
    """Find the nearest centre of each row; of several at the same distance the first wins."""
    for a in range(n_among):
        j = np.int64(among[a])
        for place in range(BLOCK):
            distance2[place] = 0.0
        for column in range(points.shape[1]):
            value = centres[i, j, column]
            for place in range(BLOCK):
                apart = points[block, column, place] - value
                distance2[place] += apart * apart
        for place in range(BLOCK):
            closer = a == 0 or distance2[place] < closest2[place]
            closest2[place] = distance2[place] if closer else closest2[place]
            nearest[place] = j if closer else nearest[place]


@compiled
def shared_cell(
    points,  # IN   (n_blocks, d, 64)
    n_here,  # IN   how many rows the block has
    low,  # IN   (n_blocks + 1, d)
    high,  # IN   (n_blocks + 1, d)
    block,  # IN   which block
    centres,  # IN   (t, psi, d)
    i,  # IN   which partitioning
    among,  # IN   centres to choose from,
    first,  # IN   from here
    last,  # IN   to here
    distances2,  # TMP  (3, max(psi, 64))
    candidates,  # OUT  (psi,) centres that may be nearest to a row of the block
    nearest,  # OUT  (64,) the nearest of each row, if there are several
):
    """Return the cell that all rows of a block share, psi if there is none; and the candidates."""
    if last - first == 1:
        return np.int64(among[first]), 1
    n_kept = keep_possible(
        low, high, block, centres, i, among, first, last, distances2[0], candidates, 0
    )
    if n_kept == 1:
        return np.int64(candidates[0]), 1
    nearest_in_block(
        points, block, centres, i, candidates, n_kept, distances2[1], distances2[2], nearest
    )
    for place in range(1, n_here):
        if nearest[place] != nearest[0]:
            return np.int64(centres.shape[1]), n_kept
    return nearest[0], n_kept


@compiled
def list_cells(
    nearest,  # IN   (64,)
    n_here,  # IN   how many rows there are
    candidates,  # IN   (psi,)
    n_kept,  # IN   how many candidates there are
    i,  # IN   which partitioning
    present,  # OUT  (t, psi) set where a cell has a row
    cells,  # OUT  the different cells of the rows
    end,  # IN   where to put the first of them
):
    """Return where the different cells end."""
    for number in range(n_kept):
        n_members = 0
        for place in range(n_here):
            n_members += nearest[place] == candidates[number]
        if n_members:
            present[i, candidates[number]] = True
            cells[end] = candidates[number]
            end += 1
    return end


@compiled
def keep_present(
    present,  # INOUT (t, psi) False again at the end
    super_end,  # INOUT (t,)
    super_cells,  # INOUT (t * psi,)
):
    """Of the cells that a superblock could have, keep those that it has; return how many."""
    end = first = 0
    for i in range(len(super_end)):
        last = super_end[i]
        for place in range(first, last):
            cell = super_cells[place]
            if present[i, cell]:
                present[i, cell] = False
                super_cells[end] = cell
                end += 1
        first = last
        super_end[i] = end
    return end


@compiled
def encode_superblock(
    points,  # IN   (n_blocks, d, 64) rows of one superblock; a short last block is filled up
    n_rows,  # IN   how many rows it has
    centres,  # IN   (t, psi, d)
    everything,  # IN   (psi,) 0, 1, 2 and so on
    low,  # TMP  (n_blocks + 1, d)
    high,  # TMP  (n_blocks + 1, d)
    distances2,  # TMP  (3, max(psi, 64))
    candidates,  # TMP  (psi,)
    nearest,  # TMP  (64,)
    present,  # TMP  (t, psi) False, and False again at the end
    block_cells,  # OUT  (n_blocks, t) the cell of all rows of a block, psi if they differ
    mixed_end,  # OUT  (n_blocks,) where the mixed partitionings of a block end
    mixed_partitionings,  # OUT  (mixed,)
    mixed_cells,  # OUT  (mixed, 64)
    distinct_end,  # OUT  (mixed,) where the cells of a mixed partitioning end
    distinct_cells,  # OUT  (distinct,)
    super_end,  # OUT  (t,) where the superblock's cells in a partitioning end
    super_cells,  # OUT  (t * psi,)
):
    """Find the cells of all rows; return how many mixed, distinct and superblock's there are."""
    n_blocks, n_partitions = block_cells.shape
    psi = centres.shape[1]
    find_boxes(points, low, high)
    end = 0
    for i in range(n_partitions):
        end = keep_possible(
            low, high, n_blocks, centres, i, everything, 0, psi, distances2[0], super_cells, end
        )
        super_end[i] = end
    n_mixed = n_distinct = 0
    for block in range(n_blocks):
        n_here = min(BLOCK, n_rows - block * BLOCK)
        first = 0
        for i in range(n_partitions):
            cell, n_kept = shared_cell(
                points,
                n_here,
                low,
                high,
                block,
                centres,
                i,
                super_cells,
                first,
                super_end[i],
                distances2,
                candidates,
                nearest,
            )
            first = super_end[i]
            block_cells[block, i] = cell
            if cell < psi:
                present[i, cell] = True
                continue
            for place in range(n_here):
                mixed_cells[n_mixed, place] = nearest[place]
            n_distinct = list_cells(
                nearest, n_here, candidates, n_kept, i, present, distinct_cells, n_distinct
            )
            mixed_partitionings[n_mixed] = i
            distinct_end[n_mixed] = n_distinct
            n_mixed += 1
        mixed_end[block] = n_mixed
    return n_mixed, n_distinct, keep_present(present, super_end, super_cells)
