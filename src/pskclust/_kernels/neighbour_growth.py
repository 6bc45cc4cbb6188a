"""Compiled loops over neighbour blocks that grow clusters."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import numpy as np

from . import neighbour_blocks
from .compiling import compiled_into, compiled_with, compiled_within
from .neighbour_blocks import (
    BLOCK,
    UNKNOWN,
    block_bounds,
    blocks_of,
    bounds_pay,
    common_score,
    count_rows,
    row_score,
    score_block,
    super_bounds,
)

compiled = compiled_with(neighbour_blocks)

# From this many rows on, scoring a whole block is faster than scoring rows one by one.
_MANY_ROWS = 40


@compiled
def count_blocks(
    layout,
    superblocks,  # IN   (m,) numbers of the superblocks
    chosen,  # IN   (n_blocks,) bits of the rows to count
    units,  # IN   (n,)
    own_units,  # TMP  (64,)
    counts,  # OUT  (t, psi + 1) added to
):
    """Add the chosen rows of some superblocks to a table; return their mass."""
    mass = 0
    for superblock in superblocks:
        first_block, last_block = blocks_of(layout, superblock)
        for block in range(first_block, last_block):
            if chosen[block]:
                mass += count_rows(layout, block, chosen[block], units, own_units, counts)
    return mass


@compiled
def take_over(
    counts,  # IN   (t, psi) the new table
    table,  # INOUT (t, psi + 1) the previous table, made equal to the new one
    holders_start,  # IN   (t * psi + 1,) start of each cell's superblocks
    holders,  # IN   superblocks with rows in each cell
    highest,  # INOUT (n_superblocks,) upper bounds on scores; UNKNOWN where a count has changed
):
    """Copy a table, and invalidate the bounds of superblocks with a cell whose count changed."""
    n_partitions, psi = counts.shape
    n_known = 0
    for superblock in range(len(highest)):
        n_known += highest[superblock] != UNKNOWN
    for i in range(n_partitions):
        for cell in range(psi):
            if counts[i, cell] == table[i, cell]:
                continue
            table[i, cell] = counts[i, cell]
            if not n_known:
                continue
            flat = i * psi + cell
            for place in range(holders_start[flat], holders_start[flat + 1]):
                n_known -= highest[holders[place]] != UNKNOWN
                highest[holders[place]] = UNKNOWN


@compiled
def absorb(
    layout,
    superblocks,  # IN   (m,) numbers of the superblocks
    table,  # IN   (t, psi + 1) of the cluster
    min_score,  # IN   lowest score with which a row joins
    cluster,  # IN   number of the cluster
    step,  # IN   the growth step
    highest,  # OUT  (n_superblocks,) upper bounds on the scores of open rows
    visited,  # INOUT (n_superblocks,) the last cluster for which the blocks were visited
    scored,  # INOUT (n_blocks,) the last cluster against which the rows were scored
    open_rows,  # INOUT (n_blocks,) bits of the rows in no cluster
    n_open,  # INOUT (n_superblocks,) number of rows in no cluster
    labels,  # OUT  (n,) of the rows that join
    steps,  # OUT  (n,) of the rows that join
    joined,  # OUT  (n_blocks,) bits of the rows that join; unchanged for blocks without any
    scores,  # TMP  (64,)
):
    """Let rows join a cluster; return their number and a bound on the other open rows' scores."""
    n_taken = 0
    best_left = np.int64(-1)
    for superblock in superblocks:
        # A superblock that was not excluded in an earlier step is seldom excluded in this one.
        if visited[superblock] != cluster:
            highest[superblock] = super_bounds(layout, superblock, table)[1]
            if highest[superblock] < min_score:
                best_left = max(best_left, highest[superblock])
                continue
            visited[superblock] = cluster
        left = np.int64(-1)
        first_block, last_block = blocks_of(layout, superblock)
        for block in range(first_block, last_block):
            if not open_rows[block]:
                continue
            joining, most = who_join(
                layout, block, table, min_score, cluster, open_rows[block], scored, scores
            )
            left = max(left, most)
            if not joining:
                continue
            open_rows[block] &= ~joining
            joined[block] = joining
            for place in range(BLOCK):
                if joining >> np.uint64(place) & np.uint64(1):
                    labels[block * BLOCK + place] = cluster
                    steps[block * BLOCK + place] = step
                    n_open[superblock] -= 1
                    n_taken += 1
        highest[superblock] = left
        best_left = max(best_left, left)
    return n_taken, best_left


@compiled_into
def who_join(
    layout,
    block,  # IN   which block
    table,  # IN   (t, psi + 1)
    min_score,  # IN   lowest score with which a row joins
    cluster,  # IN   number of the cluster
    open_rows,  # IN   bits of the rows in no cluster
    scored,  # INOUT (n_blocks,) the last cluster against which the rows were scored
    scores,  # TMP  (64,)
):
    """Return the bits of the rows that join, and a bound on the scores of the other open rows."""
    common = common_score(layout, block, table)
    # Bounds that decided nothing in an earlier step seldom decide in this one.
    if scored[block] != cluster and bounds_pay(layout, block):
        low, high = block_bounds(layout, block, common, table)
        if high < min_score:
            return np.uint64(0), high
        if low >= min_score:
            return open_rows, np.int64(-1)
    scored[block] = cluster
    most = np.int64(-1)
    joining = np.uint64(0)
    together = bits_in(open_rows) >= _MANY_ROWS
    if together:
        score_block(layout, block, common, table, scores)
    for place in range(BLOCK):
        bit = np.uint64(1) << np.uint64(place)
        if open_rows & bit:
            if not together:
                scores[place] = row_score(layout, block, place, common, table)
            if scores[place] >= min_score:
                joining |= bit
            else:
                most = max(most, scores[place])
    return joining, most


@compiled_within
def bits_in(word):
    """Return the number of set bits in a word."""
    count = 0
    while word:
        word &= word - np.uint64(1)
        count += 1
    return count


@compiled
def best_row(
    layout,
    table,  # IN   (t, psi + 1)
    open_rows,  # IN   (n_blocks,) bits of the rows in no cluster
    n_open,  # IN   (n_superblocks,) number of rows in no cluster
    order,  # IN   (n,) row number at each position
    besides,  # IN   number of a row to ignore
    highest,  # INOUT (n_blocks,) upper bounds on the scores of a block, or UNKNOWN
    super_highest,  # INOUT (n_superblocks,) the same for superblocks
    left,  # TMP  (n_superblocks,) bounds of superblocks that were not visited yet
    scores,  # TMP  (64,)
):
    """Return the position and score of the best open row; ties go to the lowest row number.

    Bounds stay valid in later calls, as long as no count increases.
    """
    best_place, best_score = np.int64(-1), np.int64(-1)
    for superblock in range(len(n_open)):
        if not n_open[superblock]:
            super_highest[superblock] = -1
        elif super_highest[superblock] == UNKNOWN:
            super_highest[superblock] = super_bounds(layout, superblock, table)[1]
        left[superblock] = super_highest[superblock]
    while True:
        highest_left = np.int64(0)
        for other in range(1, len(left)):
            if left[other] > left[highest_left]:
                highest_left = np.int64(other)
        if left[highest_left] < max(best_score, 0):
            return best_place, best_score
        left[highest_left] = -1
        first_block, last_block = blocks_of(layout, highest_left)
        most = np.int64(-1)
        for block in range(first_block, last_block):
            if highest[block] >= best_score:
                highest[block], best_place, best_score = best_in_block(
                    layout, block, table, open_rows, order, besides, scores, best_place, best_score
                )
            most = max(most, highest[block])
        # The superblock's bound may be lower than the bound of a block that was not visited.
        super_highest[highest_left] = min(most, super_highest[highest_left])


@compiled_into
def best_in_block(layout, block, table, open_rows, order, besides, scores, best_place, best_score):
    """Return a bound on the scores of a block's open rows, and the best row and score so far."""
    if not open_rows[block]:
        return np.int64(-1), best_place, best_score
    common = common_score(layout, block, table)
    if bounds_pay(layout, block):
        high = block_bounds(layout, block, common, table)[1]
        if high < best_score:
            return high, best_place, best_score
    together = bits_in(open_rows[block]) >= _MANY_ROWS
    if together:
        score_block(layout, block, common, table, scores)
    most = np.int64(0)
    for place in range(min(BLOCK, len(order) - block * BLOCK)):
        row = block * BLOCK + place
        if not open_rows[block] >> np.uint64(place) & np.uint64(1) or order[row] == besides:
            continue
        if not together:
            scores[place] = row_score(layout, block, place, common, table)
        score = scores[place]
        most = max(most, score)
        if score > best_score or (score == best_score and order[row] < order[best_place]):
            best_place, best_score = np.int64(row), score
    return most, best_place, best_score
