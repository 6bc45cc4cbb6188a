"""Compiled loop that arranges the cells of rows block by block."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import numpy as np

from .compiling import compiled, compiled_within
from .neighbour_blocks import BLOCK


@compiled_within
def is_shared(cells, block, i):
    """Return whether all rows of a block have the same cell in a partitioning."""
    n_others = np.int32(0)
    for place in range(1, BLOCK):
        n_others += np.int32(cells[block, i, place] != cells[block, i, 0])
    return n_others == 0


@compiled_within
def list_distinct(
    cells,  # IN   (n_blocks, t, 64)
    block,  # IN   which block
    i,  # IN   which partitioning
    present,  # INOUT (t, psi) set where a cell has a row of the superblock
    seen,  # INOUT (psi,) the pair of block and partitioning that a cell was last seen in
    pair,  # IN   number of this pair of block and partitioning
    distinct_cells,  # OUT  (distinct,)
    end,  # IN   index at which the list continues
):
    """List the distinct cells of a block in a partitioning; return the end of the list."""
    for place in range(BLOCK):
        cell = cells[block, i, place]
        if seen[cell] != pair:
            seen[cell] = pair
            present[i, cell] = True
            distinct_cells[end] = cell
            end += 1
    return end


@compiled
def lay_out(
    cells,  # IN   (n_blocks, t, 64) of some superblocks; copies of a row fill the last block
    blocks_per_superblock,  # IN
    present,  # TMP  (t, psi) all False on entry and on return
    seen,  # TMP  (psi,)
    block_cells,  # OUT  (n_blocks, t) the cell of all rows of a block, psi if they differ
    mixed_end,  # OUT  (n_blocks,) where the mixed partitionings of a block end
    mixed_partitionings,  # OUT  (mixed,)
    mixed_cells,  # OUT  (mixed, 64)
    distinct_end,  # OUT  (mixed,) where the cells of a mixed partitioning end
    distinct_cells,  # OUT  (distinct,)
    super_end,  # OUT  (n_superblocks, t) where a superblock's cells in a partitioning end
    super_cells,  # OUT  (n_superblocks * t * psi,)
):
    """Fill the arrays of a layout; return the numbers of mixed, distinct and superblock entries."""
    n_blocks, n_partitions = block_cells.shape
    psi = present.shape[1]
    n_mixed = n_distinct = n_super = np.int64(0)
    for cell in range(psi):
        seen[cell] = -1
    for block in range(n_blocks):
        for i in range(n_partitions):
            if is_shared(cells, block, i):
                block_cells[block, i] = cells[block, i, 0]
                present[i, cells[block, i, 0]] = True
                continue
            block_cells[block, i] = psi
            for place in range(BLOCK):
                mixed_cells[n_mixed, place] = cells[block, i, place]
            n_distinct = list_distinct(
                cells, block, i, present, seen, n_mixed, distinct_cells, n_distinct
            )
            mixed_partitionings[n_mixed] = i
            distinct_end[n_mixed] = n_distinct
            n_mixed += 1
        mixed_end[block] = n_mixed
        if (block + 1) % blocks_per_superblock and block + 1 < n_blocks:
            continue
        for i in range(n_partitions):
            for cell in range(psi):
                if present[i, cell]:
                    present[i, cell] = False
                    super_cells[n_super] = cell
                    n_super += 1
            super_end[block // blocks_per_superblock, i] = n_super
    return n_mixed, n_distinct, n_super
