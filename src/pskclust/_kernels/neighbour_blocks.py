"""Compiled loops over rows in blocks of 64 that lie close together, for data of few dimensions.

In most partitionings all rows of a block share a cell. Such a pair of block and partitioning is
kept as one number; only the others, the mixed ones, keep a number for each row. The few cells
that a block holds, and those of a superblock of many blocks, bound the scores of all its rows.

Tables have a column more than there are cells, which holds zeros: the cell of a mixed block.

All of it stands in one file, since the cached code of a function is made anew only when its own
file changes, not when that of a function it calls does.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .compiling import compiled, compiled_within

BLOCK = 64
UNKNOWN = np.iinfo(np.int64).max


class Layout(NamedTuple):
    """The cells of all rows, block by block."""

    blocks_per_superblock: int
    block_cells: NDArray[np.unsignedinteger]  # (n_blocks, t) the cell of all rows, psi if mixed
    mixed_start: NDArray[np.int64]  # (n_blocks + 1,) where a block's mixed partitionings start
    mixed_partitionings: NDArray[np.uint16]  # (mixed,)
    mixed_cells: NDArray[np.unsignedinteger]  # (mixed, 64)
    distinct_start: NDArray[np.int64]  # (mixed + 1,) where the cells of a mixed one start
    distinct_cells: NDArray[np.unsignedinteger]  # (distinct,) the cells its rows have
    super_start: NDArray[np.int64]  # (n_superblocks * t + 1,)
    super_cells: NDArray[np.unsignedinteger]  # the cells a superblock has in a partitioning


@compiled_within
def blocks_of(layout, superblock):
    """Return the first block of a superblock, and the one after its last."""
    first = superblock * layout.blocks_per_superblock
    return first, min(first + layout.blocks_per_superblock, len(layout.block_cells))


@compiled_within
def extremes(tables, cluster, i, cells, start, stop):
    """Return the smallest and the largest count of some cells of a partitioning."""
    small = large = tables[cluster, i, cells[start]]
    for place in range(start + 1, stop):
        count = tables[cluster, i, cells[place]]
        small = min(small, count)
        large = max(large, count)
    return small, large


@compiled_within
def super_bounds(layout, superblock, tables, cluster):
    """Return the lowest and the highest score that a row of a superblock can have."""
    n_partitions = tables.shape[1]
    lowest = highest = 0
    for i in range(n_partitions):
        start = layout.super_start[superblock * n_partitions + i]
        stop = layout.super_start[superblock * n_partitions + i + 1]
        small, large = extremes(tables, cluster, i, layout.super_cells, start, stop)
        lowest += small
        highest += large
    return lowest, highest


@compiled_within
def common_score(layout, block, tables, cluster):
    """Return what the partitionings that are not mixed add to the score of every row."""
    total = 0
    for i in range(tables.shape[1]):
        total += tables[cluster, i, layout.block_cells[block, i]]
    return total


@compiled_within
def block_bounds(layout, block, common, tables, cluster):
    """Return the lowest and the highest score that a row of a block can have."""
    lowest = highest = common
    for mixed in range(layout.mixed_start[block], layout.mixed_start[block + 1]):
        i = layout.mixed_partitionings[mixed]
        start, stop = layout.distinct_start[mixed], layout.distinct_start[mixed + 1]
        small, large = extremes(tables, cluster, i, layout.distinct_cells, start, stop)
        lowest += small
        highest += large
    return lowest, highest


@compiled_within
def row_score(layout, block, place, common, tables, cluster):
    """Return the score of one row."""
    score = common
    for mixed in range(layout.mixed_start[block], layout.mixed_start[block + 1]):
        i = layout.mixed_partitionings[mixed]
        score += tables[cluster, i, layout.mixed_cells[mixed, place]]
    return score


@compiled_within
def score_block(layout, block, common, tables, cluster, scores):
    """Fill the scores, (64,), of all rows of a block."""
    for place in range(BLOCK):
        scores[place] = common
    for mixed in range(layout.mixed_start[block], layout.mixed_start[block + 1]):
        i = layout.mixed_partitionings[mixed]
        for place in range(BLOCK):
            scores[place] += tables[cluster, i, layout.mixed_cells[mixed, place]]


@compiled_within
def count_rows(layout, block, chosen, units, counts):
    """Add the rows of a block that `chosen` has a bit for to a table; return their mass."""
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
        for place in range(n_here):
            if chosen >> np.uint64(place) & np.uint64(1):
                counts[i, layout.mixed_cells[mixed, place]] += units[start + place]
    return mass


@compiled
def count_blocks(
    layout,
    superblocks,  # IN   (m,) which ones
    chosen,  # IN   (n_blocks,) bits of the rows to count
    units,  # IN   (n,)
    counts,  # OUT  (t, psi + 1) added to
):
    """Add rows to a table; return their mass."""
    mass = 0
    for superblock in superblocks:
        first_block, last_block = blocks_of(layout, superblock)
        for block in range(first_block, last_block):
            if chosen[block]:
                mass += count_rows(layout, block, chosen[block], units, counts)
    return mass


@compiled
def take_over(
    counts,  # IN   (t, psi) a table
    tables,  # INOUT (1, t, psi + 1) the one before, made equal
    holders_start,  # IN   (t * psi + 1,) where the superblocks that hold a cell start
    holders,  # IN   their numbers
    highest,  # INOUT (n_superblocks,) bounds on scores; UNKNOWN where a count has changed
):
    """Take a table, and forget the bounds of superblocks with a cell whose count is new."""
    n_partitions, psi = counts.shape
    for i in range(n_partitions):
        for cell in range(psi):
            if counts[i, cell] == tables[0, i, cell]:
                continue
            tables[0, i, cell] = counts[i, cell]
            flat = i * psi + cell
            for place in range(holders_start[flat], holders_start[flat + 1]):
                highest[holders[place]] = UNKNOWN


@compiled
def absorb(
    layout,
    superblocks,  # IN   (m,) which ones
    tables,  # IN   (1, t, psi + 1) of the cluster
    min_score,  # IN   what a row needs to join
    cluster,  # IN   its number
    step,  # IN   the growth step
    highest,  # OUT  (n_superblocks,) bounds on the scores of their rows
    open_rows,  # INOUT (n_blocks,) bits of the rows in no cluster
    n_open,  # INOUT (n_superblocks,) how many they are
    labels,  # OUT  (n,) of the rows that join
    steps,  # OUT  (n,) of the rows that join
    joined,  # OUT  (n_blocks,) their bits, set where there are any
):
    """Return how many rows join, and a bound on the scores of all others."""
    n_taken = 0
    best_left = -1
    scores = np.empty(BLOCK, dtype=np.int64)
    for superblock in superblocks:
        first_block, last_block = blocks_of(layout, superblock)
        lowest, highest[superblock] = super_bounds(layout, superblock, tables, 0)
        if highest[superblock] < min_score:
            best_left = max(best_left, highest[superblock])
            continue
        for block in range(first_block, last_block):
            if not open_rows[block]:
                continue
            joining = open_rows[block]
            if lowest < min_score:
                common = common_score(layout, block, tables, 0)
                low, high = block_bounds(layout, block, common, tables, 0)
                if high < min_score:
                    best_left = max(best_left, high)
                    continue
                if low < min_score:
                    score_block(layout, block, common, tables, 0, scores)
                    for place in range(min(BLOCK, len(labels) - block * BLOCK)):
                        bit = np.uint64(1) << np.uint64(place)
                        if joining & bit and scores[place] < min_score:
                            joining &= ~bit
                            best_left = max(best_left, scores[place])
            if not joining:
                continue
            open_rows[block] &= ~joining
            joined[block] = joining
            for place in range(min(BLOCK, len(labels) - block * BLOCK)):
                if joining >> np.uint64(place) & np.uint64(1):
                    labels[block * BLOCK + place] = cluster
                    steps[block * BLOCK + place] = step
                    n_open[superblock] -= 1
                    n_taken += 1
    return n_taken, best_left


@compiled
def best_row(
    layout,
    tables,  # IN   (1, t, psi + 1)
    open_rows,  # IN   (n_blocks,)
    n_open,  # IN   (n_superblocks,) how many rows are open in each
    order,  # IN   (n,) number of each row
    besides,  # IN   number of a row that does not count
    bounds,  # TMP  (n_superblocks,) on the scores in each
):
    """Return the place and the score of the best open row; of equal ones, the lowest number."""
    best_place, best_score = np.int64(-1), np.int64(-1)
    for superblock in range(len(n_open)):
        bounds[superblock] = -1
        if n_open[superblock]:
            bounds[superblock] = super_bounds(layout, superblock, tables, 0)[1]
    while True:
        superblock = 0
        for other in range(1, len(bounds)):
            if bounds[other] > bounds[superblock]:
                superblock = other
        if bounds[superblock] < max(best_score, 0):
            return best_place, best_score
        bounds[superblock] = -1
        first_block, last_block = blocks_of(layout, superblock)
        for block in range(first_block, last_block):
            if not open_rows[block]:
                continue
            common = common_score(layout, block, tables, 0)
            if block_bounds(layout, block, common, tables, 0)[1] < best_score:
                continue
            for place in range(min(BLOCK, len(order) - block * BLOCK)):
                row = block * BLOCK + place
                is_open = open_rows[block] >> np.uint64(place) & np.uint64(1)
                if not is_open or order[row] == besides:
                    continue
                score = row_score(layout, block, place, common, tables, 0)
                if score > best_score or (score == best_score and order[row] < order[best_place]):
                    best_place, best_score = np.int64(row), score


@compiled
def expand_cells(
    layout,
    rows,  # IN   (m,) places of rows
    cells,  # OUT  (m, t)
):
    """Write the cells of some rows out in full."""
    for number in range(len(rows)):
        block, place = divmod(rows[number], BLOCK)
        for i in range(cells.shape[1]):
            cells[number, i] = layout.block_cells[block, i]
        for mixed in range(layout.mixed_start[block], layout.mixed_start[block + 1]):
            cells[number, layout.mixed_partitionings[mixed]] = layout.mixed_cells[mixed, place]


@compiled
def cluster_scores(
    layout,
    rows,  # IN   (m,) places of rows, rising
    tables,  # IN   (k, t, psi + 1)
    scores,  # OUT  (m, k)
):
    """Score some rows against all clusters."""
    first = 0
    while first < len(rows):
        block = rows[first] // BLOCK
        last = first
        while last < len(rows) and rows[last] // BLOCK == block:
            last += 1
        for cluster in range(len(tables)):
            common = common_score(layout, block, tables, cluster)
            for number in range(first, last):
                scores[number, cluster] = common
            for mixed in range(layout.mixed_start[block], layout.mixed_start[block + 1]):
                i = layout.mixed_partitionings[mixed]
                for number in range(first, last):
                    cell = layout.mixed_cells[mixed, rows[number] - block * BLOCK]
                    scores[number, cluster] += tables[cluster, i, cell]
        first = last


@compiled
def row_results(
    layout,
    superblocks,  # IN   (m,) which ones
    order,  # IN   (n,) number of the row at each place
    labels,  # IN   (n,) by place
    steps,  # IN   (n,) by place
    tables,  # IN   (k, t, psi + 1)
    denominators,  # IN   (k,) what makes similarities of scores
    labels_out,  # OUT  (n,) by number, like all that follow
    similarities_out,  # OUT  (n,) of each row to its own cluster; 0 for noise
    steps_out,  # OUT  (n,)
):
    """Write what is known of each row to the place of its number."""
    scores = np.empty(BLOCK, dtype=np.int64)
    for superblock in superblocks:
        first_block, last_block = blocks_of(layout, superblock)
        for block in range(first_block, last_block):
            first, last = block * BLOCK, min((block + 1) * BLOCK, len(labels))
            for place in range(first, last):
                row, label = order[place], labels[place]
                labels_out[row], steps_out[row] = label, steps[place]
                if label < 0:
                    similarities_out[row] = 0.0
                    continue
                if label in labels[first:place]:
                    continue
                common = common_score(layout, block, tables, label)
                score_block(layout, block, common, tables, label, scores)
                for other in range(place, last):
                    if labels[other] == label:
                        similarity = scores[other - first] / denominators[label]
                        similarities_out[order[other]] = similarity


@compiled_within
def could_be_closer(
    layout,
    block,  # IN   which block
    own,  # IN   the cluster of its rows
    other,  # IN   another one
    closeness,  # IN   (k, t, psi + 1) what a cell adds to the closeness to a cluster
    gap,  # IN   how much more the other must add up to
):
    """Return whether a row of a block could be closer to another cluster than to its own."""
    gain = -gap
    for i in range(closeness.shape[1]):
        cell = layout.block_cells[block, i]
        gain += closeness[other, i, cell] - closeness[own, i, cell]
    for mixed in range(layout.mixed_start[block], layout.mixed_start[block + 1]):
        i = layout.mixed_partitionings[mixed]
        largest = -np.inf
        for place in range(layout.distinct_start[mixed], layout.distinct_start[mixed + 1]):
            cell = layout.distinct_cells[place]
            largest = max(largest, closeness[other, i, cell] - closeness[own, i, cell])
        gain += largest
    # These sums are rounded, at most by a part in 10^12 of 2; labels are settled elsewhere.
    return gain > -1e-9


@compiled
def judge_blocks(
    layout,
    superblocks,  # IN   (m,) which ones
    labels,  # IN   (n,)
    tables,  # IN   (k, t, psi + 1)
    closeness,  # IN   (k, t, psi + 1) what a cell adds to the closeness to a cluster
    offsets,  # IN   (k,) and what is taken from it in the end
    reach,  # TMP  (k,) whether a cluster shares a cell with the superblock
    content,  # OUT  (n_blocks,) cluster that all rows have and none would leave; -1 if unsure
    own_low,  # OUT  (n_blocks,) a bound below the scores of those rows against it
):
    """Find the blocks in which no row would be closer to another cluster than to its own."""
    n_rows = len(labels)
    for superblock in superblocks:
        first_block, last_block = blocks_of(layout, superblock)
        for cluster in range(len(tables)):
            reach[cluster] = super_bounds(layout, superblock, tables, cluster)[1] > 0
        for block in range(first_block, last_block):
            content[block] = -1
            own = labels[block * BLOCK]
            for row in range(block * BLOCK + 1, min((block + 1) * BLOCK, n_rows)):
                if labels[row] != own:
                    own = -1
            if own < 0:
                continue
            common = common_score(layout, block, tables, own)
            own_low[block] = block_bounds(layout, block, common, tables, own)[0]
            content[block] = own
            for other in range(len(tables)):
                gap = offsets[other] - offsets[own]
                # Without a cell in common, the other can be closer only by its lower offset.
                if other == own or (not reach[other] and gap >= 0):
                    continue
                if could_be_closer(layout, block, own, other, closeness, gap):
                    content[block] = -1
                    break


@compiled
def weakest_rows(
    layout,
    blocks,  # IN   (m,) blocks by rising bound
    content,  # IN   (n_blocks,) the cluster of all rows of a block
    own_low,  # IN   (n_blocks,) a bound below their scores against it
    tables,  # IN   (k, t, psi + 1)
    n_rows,  # IN   how many rows there are
    weakest,  # OUT  (k,) the lowest score of a row against its own cluster
):
    """Find the weakest row of each cluster, looking only where it can be."""
    for block in blocks:
        own = content[block]
        if own_low[block] >= weakest[own]:
            continue
        common = common_score(layout, block, tables, own)
        for place in range(min(BLOCK, n_rows - block * BLOCK)):
            score = row_score(layout, block, place, common, tables, own)
            weakest[own] = min(weakest[own], score)


@compiled
def most_similar(
    layout,
    superblocks,  # IN   (m,) which ones
    tables,  # IN   (k, t, psi + 1)
    denominators,  # IN   (k,)
    threshold,  # IN   what a similarity must exceed
    possible,  # TMP  (2, k)
    labels,  # OUT  (n,)
):
    """Find the most similar cluster of each row, -1 where none exceeds the threshold."""
    n_clusters, n_rows = len(tables), len(labels)
    commons = np.empty(n_clusters, dtype=np.int64)
    highs = np.empty(n_clusters)
    for superblock in superblocks:
        sure = 0.0
        for cluster in range(n_clusters):
            low, high = super_bounds(layout, superblock, tables, cluster)
            sure = max(sure, low / denominators[cluster])
            highs[cluster] = high / denominators[cluster]
        n_super = 0
        for cluster in range(n_clusters):
            if highs[cluster] >= sure and highs[cluster] > threshold:
                possible[0, n_super] = cluster
                n_super += 1
        first_block, last_block = blocks_of(layout, superblock)
        for block in range(first_block, last_block):
            sure = 0.0
            for number in range(n_super):
                cluster = possible[0, number]
                commons[cluster] = common_score(layout, block, tables, cluster)
                low, high = block_bounds(layout, block, commons[cluster], tables, cluster)
                sure = max(sure, low / denominators[cluster])
                highs[cluster] = high / denominators[cluster]
            n_here = 0
            for number in range(n_super):
                cluster = possible[0, number]
                if highs[cluster] >= sure and highs[cluster] > threshold:
                    possible[1, n_here] = cluster
                    n_here += 1
            settled = n_here == 0 or (n_here == 1 and sure > threshold)
            for row in range(block * BLOCK, min((block + 1) * BLOCK, n_rows)):
                labels[row] = -1
                if settled and n_here == 1:
                    labels[row] = possible[1, 0]
                elif not settled:
                    best = threshold
                    for number in range(n_here):
                        cluster = possible[1, number]
                        place = row - block * BLOCK
                        score = row_score(layout, block, place, commons[cluster], tables, cluster)
                        if score / denominators[cluster] > best:
                            best = score / denominators[cluster]
                            labels[row] = cluster
