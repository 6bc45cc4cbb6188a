"""Compiled loops over neighbour blocks that label rows, fill cluster tables and score members."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import numpy as np

from . import neighbour_blocks
from .compiling import compiled_into, compiled_with, compiled_within
from .neighbour_blocks import (
    BLOCK,
    block_bounds,
    blocks_of,
    common_score,
    count_rows,
    row_score,
    score_block,
    super_bounds,
)

compiled = compiled_with(neighbour_blocks)


@compiled
def expand_cells(
    layout,
    rows,  # IN   (m,) positions of rows
    cells,  # OUT  (m, t)
):
    """Write the cells of some rows to a dense array."""
    for number in range(len(rows)):
        block, place = divmod(rows[number], BLOCK)
        for i in range(cells.shape[1]):
            cells[number, i] = layout.block_cells[block, i]
        for mixed in range(layout.mixed_start[block], layout.mixed_start[block + 1]):
            cells[number, layout.mixed_partitionings[mixed]] = layout.mixed_cells[mixed, place]


@compiled
def cluster_scores(
    layout,
    rows,  # IN   (m,) positions of rows, ascending
    tables,  # IN   (k, t, psi + 1)
    own,  # TMP  (64,)
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
            common = common_score(layout, block, tables[cluster])
            score_block(layout, block, common, tables[cluster], own)
            for number in range(first, last):
                scores[number, cluster] = own[rows[number] - block * BLOCK]
        first = last


@compiled
def row_results(
    layout,
    superblocks,  # IN   (m,) numbers of the superblocks
    order,  # IN   (n,) row number at each position
    labels,  # IN   (n,) by position
    steps,  # IN   (n,) by position
    tables,  # IN   (k, t, psi + 1)
    denominators,  # IN   (k,) divisors that turn scores into similarities
    scores,  # TMP  (64,)
    labels_out,  # OUT  (n,) by row number, like the next two arrays
    similarities_out,  # OUT  (n,) of each row to its own cluster; 0 for noise
    steps_out,  # OUT  (n,)
):
    """Write each row's label, similarity and growth step to arrays in row order."""
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
                leader = first
                while labels[leader] != label:
                    leader += 1
                if leader < place:
                    continue
                common = common_score(layout, block, tables[label])
                score_block(layout, block, common, tables[label], scores)
                for other in range(place, last):
                    if labels[other] == label:
                        similarity = scores[other - first] / denominators[label]
                        similarities_out[order[other]] = similarity


@compiled_within
def largest_gain(own, other, cells, start, stop):
    """Return the largest difference between the contributions of some cells to two closenesses."""
    largest = -np.inf
    for place in range(start, stop):
        largest = max(largest, other[cells[place]] - own[cells[place]])
    return largest


@compiled_within
def could_be_closer(
    layout,
    superblock,  # IN   number of the superblock
    block,  # IN   number of a block of it, or -1 for all of its rows
    own,  # IN   the cluster of its rows
    other,  # IN   another cluster
    closeness,  # IN   (k, t, psi + 1) contribution of a cell to a row's closeness to a cluster
    gap,  # IN   by how much the other cluster's sum of contributions must be larger
):
    """Return whether a row could be closer to another cluster than to its own."""
    gain = -gap
    ours, others = closeness[own], closeness[other]
    if block < 0:
        for i in range(len(ours)):
            at = superblock * len(ours) + i
            start, stop = layout.super_start[at], layout.super_start[at + 1]
            gain += largest_gain(ours[i], others[i], layout.super_cells, start, stop)
    else:
        for i in range(len(ours)):
            cell = layout.block_cells[block, i]
            gain += others[i, cell] - ours[i, cell]
        for mixed in range(layout.mixed_start[block], layout.mixed_start[block + 1]):
            i = layout.mixed_partitionings[mixed]
            start, stop = layout.distinct_start[mixed], layout.distinct_start[mixed + 1]
            gain += largest_gain(ours[i], others[i], layout.distinct_cells, start, stop)
    # The tolerance covers rounding errors of up to 2e-12; rows in doubt are labelled elsewhere.
    return gain > -1e-9


@compiled_into
def mark_clusters(
    layout,
    superblock,  # IN   which superblock
    psi,  # IN   number of cells of each partitioning
    starts,  # IN   (t * psi + 1,) start of each cell's clusters
    clusters,  # IN   clusters with members in each cell
    marks,  # OUT  (k,) number of the superblock, for clusters that share a cell with it
):
    """Mark the clusters that share a cell with a row of a superblock."""
    n_partitions = layout.block_cells.shape[1]
    for i in range(n_partitions):
        at = superblock * n_partitions + i
        for place in range(layout.super_start[at], layout.super_start[at + 1]):
            cell = i * psi + np.int64(layout.super_cells[place])
            for near in range(starts[cell], starts[cell + 1]):
                marks[clusters[near]] = superblock


@compiled_within
def may_leave(layout, superblock, block, own, closeness, offsets, marks):
    """Return whether a row could be closer to another cluster.

    `block` is the number of a block, or -1 for all rows of the superblock.
    """
    # Of the clusters that share no cell with the superblock, the one with the lowest offset is the
    # closest.
    lowest = np.int64(-1)
    for other in range(len(closeness)):
        gap = offsets[other] - offsets[own]
        if other == own:
            continue
        if marks[other] != superblock:
            if gap < 0 and (lowest < 0 or offsets[other] < offsets[lowest]):
                lowest = np.int64(other)
        elif could_be_closer(layout, superblock, block, own, other, closeness, gap):
            return True
    if lowest < 0:
        return False
    gap = offsets[lowest] - offsets[own]
    return could_be_closer(layout, superblock, block, own, lowest, closeness, gap)


@compiled
def judge_blocks(
    layout,
    superblocks,  # IN   (m,) numbers of the superblocks
    labels,  # IN   (n,)
    tables,  # IN   (k, t, psi + 1)
    starts,  # IN   (t * psi + 1,) start of each cell's clusters
    clusters,  # IN   clusters with members in each cell
    closeness,  # IN   (k, t, psi + 1) contribution of a cell to a row's closeness to a cluster
    offsets,  # IN   (k,) subtracted from the sum of contributions
    marks,  # TMP  (k,) -1 on entry
    content,  # OUT  (n_blocks,) cluster of all rows if certainly no row would leave it, else -1
    own_low,  # OUT  (n_blocks,) lower bound of the rows' scores against that cluster
):
    """Find the blocks in which no row can be closer to another cluster than to its own."""
    for superblock in superblocks:
        first_block, last_block = blocks_of(layout, superblock)
        mark_clusters(layout, superblock, tables.shape[2] - 1, starts, clusters, marks)
        common = np.int64(-1)
        for block in range(first_block, last_block):
            content[block] = shared_label(labels, block)
            alike = block == first_block or content[block] == common
            common = content[block] if alike else np.int64(-1)
        # Numba would compile the callees once more for the literal -1.
        whole = np.int64(-1)
        if common >= 0 and not may_leave(
            layout, superblock, whole, common, closeness, offsets, marks
        ):
            lowest = super_bounds(layout, superblock, tables[common])[0]
            for block in range(first_block, last_block):
                own_low[block] = lowest
            continue
        for block in range(first_block, last_block):
            own = content[block]
            if own < 0:
                continue
            if may_leave(layout, superblock, block, own, closeness, offsets, marks):
                content[block] = -1
                continue
            score = common_score(layout, block, tables[own])
            own_low[block] = block_bounds(layout, block, score, tables[own])[0]


@compiled_into
def shared_label(labels, block):
    """Return the common label of the rows of a block, -1 if they differ."""
    own = labels[block * BLOCK]
    for row in range(block * BLOCK + 1, min((block + 1) * BLOCK, len(labels))):
        if labels[row] != own:
            return np.int64(-1)
    return own


@compiled
def weakest_rows(
    layout,
    blocks,  # IN   (m,) numbers of blocks, in ascending order of `own_low`
    content,  # IN   (n_blocks,) the cluster of all rows of a block
    own_low,  # IN   (n_blocks,) lower bound of the rows' scores against that cluster
    tables,  # IN   (k, t, psi + 1)
    n_rows,  # IN   number of all rows
    scores,  # TMP  (64,)
    weakest,  # INOUT (k,) the lowest score of a row against its own cluster
):
    """Find the lowest score of a member of each cluster; skip blocks that cannot contain it."""
    for block in blocks:
        own = content[block]
        if own_low[block] >= weakest[own]:
            continue
        common = common_score(layout, block, tables[own])
        # The bound so far may be that of the superblock.
        if block_bounds(layout, block, common, tables[own])[0] >= weakest[own]:
            continue
        score_block(layout, block, common, tables[own], scores)
        for place in range(min(BLOCK, n_rows - block * BLOCK)):
            weakest[own] = min(weakest[own], scores[place])


@compiled
def most_similar(
    layout,
    superblocks,  # IN   (m,) numbers of the superblocks
    tables,  # IN   (k, t, psi + 1)
    denominators,  # IN   (k,)
    threshold,  # IN   value that a similarity must exceed
    possible,  # TMP  (2, k)
    commons,  # TMP  (k,)
    highs,  # TMP  (k,)
    labels,  # OUT  (n,)
):
    """Find the most similar cluster of each row; -1 if no similarity exceeds the threshold."""
    n_clusters, n_rows = len(tables), len(labels)
    for superblock in superblocks:
        sure = 0.0
        for cluster in range(n_clusters):
            low, high = super_bounds(layout, superblock, tables[cluster])
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
                commons[cluster] = common_score(layout, block, tables[cluster])
                low, high = block_bounds(layout, block, commons[cluster], tables[cluster])
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
                        score = row_score(layout, block, place, commons[cluster], tables[cluster])
                        if score / denominators[cluster] > best:
                            best = score / denominators[cluster]
                            labels[row] = cluster


@compiled
def count_clusters(
    layout,
    superblocks,  # IN   (m,) numbers of the superblocks
    labels,  # IN   (n,)
    units,  # IN   (n,)
    bits,  # TMP  (64,) uint64
    own_units,  # TMP  (64,)
    tables,  # OUT  (k, t, psi + 1) added to
    masses,  # OUT  (k,) added to
):
    """Add the rows of each cluster to its table."""
    for superblock in superblocks:
        first_block, last_block = blocks_of(layout, superblock)
        for block in range(first_block, last_block):
            first, last = block * BLOCK, min((block + 1) * BLOCK, len(labels))
            # The bits of a cluster's members are stored at the position of its first member.
            for place in range(first, last):
                bits[place - first] = np.uint64(0)
                leader = first
                while labels[leader] != labels[place]:
                    leader += 1
                bits[leader - first] |= np.uint64(1) << np.uint64(place - first)
            for place in range(first, last):
                cluster = labels[place]
                if cluster >= 0 and bits[place - first]:
                    masses[cluster] += count_rows(
                        layout, block, bits[place - first], units, own_units, tables[cluster]
                    )


@compiled
def best_members(
    layout,
    superblocks,  # IN   (m,) numbers of the superblocks
    order,  # IN   (n,) row number at each position
    labels,  # IN   (n,)
    units,  # IN   (n,)
    tables,  # IN   (k, t, psi + 1)
    scores,  # TMP  (64,)
    best_places,  # INOUT (k,) position of the best member of each cluster; -1 if none is known
    best_scores,  # INOUT (k,) its score against the cluster; -1 if none is known
):
    """Find the best member of each cluster; ties go to the lowest row number."""
    for superblock in superblocks:
        first_block, last_block = blocks_of(layout, superblock)
        for block in range(first_block, last_block):
            first, last = block * BLOCK, min((block + 1) * BLOCK, len(labels))
            for place in range(first, last):
                cluster = labels[place]
                leader = first
                while labels[leader] != cluster:
                    leader += 1
                if cluster < 0 or leader < place:
                    continue
                common = common_score(layout, block, tables[cluster])
                high = block_bounds(layout, block, common, tables[cluster])[1]
                if high < best_scores[cluster]:
                    continue
                score_block(layout, block, common, tables[cluster], scores)
                for other in range(place, last):
                    if labels[other] != cluster or units[other] == 0:
                        continue
                    score, best = scores[other - first], best_places[cluster]
                    if score > best_scores[cluster] or (
                        score == best_scores[cluster] and order[other] < order[best]
                    ):
                        best_places[cluster], best_scores[cluster] = other, score
