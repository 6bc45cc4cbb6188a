"""Compiled loops that sort rows by the leaves of a k-d tree, which are the blocks."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import numpy as np

from .compiling import compiled, compiled_into, compiled_within
from .neighbour_blocks import BLOCK

# Number of rows of a range that are sampled to find its widest column.
_SAMPLE = 128
# One in this many sampled rows is used to find where rows are sparse. Steps are rounded down, so
# a sample has fewer than 2 * _SAMPLE rows.
_SAMPLES_PER_VALUE = 4
MAX_VALUES = 2 * _SAMPLE // _SAMPLES_PER_VALUE
# More than the number of times a range can be halved.
MAX_WAITING = 64
# Number of rows that are sampled to find a pivot if there are many rows.
_PIVOT_SAMPLE, _MANY_ROWS = 63, 2000
# Number of rows that are compared with a pivot before some of them are swapped.
BATCH = 64
# A split moves away from the middle only to a position that is this many times sparser.
_MIN_TIMES_SPARSER = 1.5


@compiled_into
def split_range(
    points,  # INOUT (n, d)
    order,  # INOUT (n,) moved along with the points
    first,  # IN   first row of the range
    last,  # IN   end of the range
    unit,  # IN   ranges of more than this many blocks are split at a multiple of it
    values,  # TMP  (MAX_VALUES,)
    misplaced,  # TMP  (2, BATCH)
):
    """Split rows in two along the column in which they vary most; return the border."""
    step = max(1, (last - first) // _SAMPLE)
    widest, chosen = -1.0, np.int64(0)
    for column in range(points.shape[1]):
        count, total, total2 = 0, 0.0, 0.0
        for row in range(first, last, step):
            value = points[row, column] - points[first, column]
            count += 1
            total += value
            total2 += value * value
        variance = (total2 - total * total / count) / count
        if variance > widest:
            widest, chosen = variance, np.int64(column)
    n_blocks = (last - first + BLOCK - 1) // BLOCK
    n_values = list_rising(points, first, last, _SAMPLES_PER_VALUE * step, chosen, values)
    n_below = blocks_below(values, n_values, n_blocks, unit)
    place = first + BLOCK * n_below
    pivot = values[n_below * n_values // n_blocks]
    select(points, order, first, last, place, chosen, pivot, values, misplaced)
    return place


@compiled_into
def list_rising(points, first, last, step, column, values):
    """List every `step`-th value of a column in ascending order; return their number.

    Inserting the values one by one compiles faster than NumPy's sort.
    """
    count = (last - first + step - 1) // step
    for number in range(count):
        insert(points[first + number * step, column], values, number)
    return count


@compiled_into
def insert(value, values, count):
    """Insert a value into `count` ascending values."""
    at = count
    while at > 0 and values[at - 1] > value:
        values[at] = values[at - 1]
        at -= 1
    values[at] = value


@compiled_into
def blocks_below(
    values,  # IN   values of some of the rows, ascending
    n_values,  # IN   number of values
    n_blocks,  # IN   number of blocks of the range
    unit,  # IN   number of blocks of a superblock
):
    """Return the number of blocks in the first part of a range.

    Usually this is the largest power of two below `n_blocks`, so that superblocks are parts of the
    tree, too. But if rows are much sparser at another position, the range is split there to
    separate clusters, because a block with rows of two clusters has a wide box.
    """
    n_below = 1
    while 2 * n_below < n_blocks:
        n_below *= 2
    unit = 1 if n_blocks <= unit else unit
    chosen, widest = n_below, _MIN_TIMES_SPARSER * width_at(values, n_values, n_below / n_blocks)
    for other in range(unit * (1 + n_blocks // (4 * unit)), 3 * n_blocks // 4 + 1, unit):
        width = width_at(values, n_values, other / n_blocks)
        if width > widest:
            chosen, widest = other, width
    return chosen


@compiled_into
def width_at(values, n_values, share):
    """Return the distance between a value below and a value above a quantile."""
    at, around = np.int64(share * n_values), max(1, n_values // 16)
    return values[min(at + around, n_values - 1)] - values[max(at - around, 0)]


@compiled_into
def select(points, order, first, last, place, column, pivot, values, misplaced):
    """Partition rows so that values before `place` do not exceed those from `place` on."""
    state = np.uint64(first + last)
    while last - first > 1:
        border = partition(points, order, first, last, pivot, column, misplaced)
        if border == first:
            # No value is below the pivot, so values equal to it are moved to the front.
            above = np.nextafter(pivot, np.inf)
            border = move_to_front(points, order, first, last, above, column)
            if place <= border:
                return
        if place < border:
            last = border
        elif place > border:
            first = border
        else:
            return
        # The next pivot is a quantile of a few pseudorandom rows, so that no common order is slow.
        n_values = _PIVOT_SAMPLE if last - first > _MANY_ROWS else 3
        for number in range(n_values):
            state = state * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
            offset = np.int64(state >> np.uint64(33)) % (last - first)
            insert(points[first + offset, column], values, number)
        pivot = values[(place - first) * n_values // (last - first)]


@compiled_into
def partition(
    points,  # INOUT (n, d)
    order,  # INOUT (n,)
    first,  # IN   first row of the range
    last,  # IN   end of the range
    pivot,  # IN
    column,  # IN   column that is compared with the pivot
    misplaced,  # TMP  (2, BATCH)
):
    """Move rows with a value below the pivot to the front; return the first row after them.

    Rows that have to move are listed in batches from both ends, then swapped. The order of rows is
    random, so a processor would mispredict every second branch; listing needs no branches.
    """
    n_left = n_right = done_left = done_right = 0
    while last - first > 2 * BATCH:
        if not n_left:
            done_left = 0
            for offset in range(BATCH):
                misplaced[0, n_left] = offset
                n_left += not points[first + offset, column] < pivot
        if not n_right:
            done_right = 0
            for offset in range(BATCH):
                misplaced[1, n_right] = offset
                n_right += points[last - 1 - offset, column] < pivot
        n_swaps = min(n_left, n_right)
        for number in range(n_swaps):
            left = first + misplaced[0, done_left + number]
            right = last - 1 - misplaced[1, done_right + number]
            swap(points, order, left, right)
        n_left, n_right = n_left - n_swaps, n_right - n_swaps
        done_left, done_right = done_left + n_swaps, done_right + n_swaps
        first += BATCH if not n_left else 0
        last -= BATCH if not n_right else 0
    return move_to_front(points, order, first, last, pivot, column)


@compiled_within
def move_to_front(points, order, first, last, limit, column):
    """Move rows with a value below a limit to the front; return their end."""
    end = first
    for row in range(first, last):
        value = points[row, column]
        swap(points, order, end, row)
        end += value < limit
    return end


@compiled_within
def swap(points, order, one, other):
    """Swap two rows."""
    for column in range(points.shape[1]):
        value = points[one, column]
        points[one, column] = points[other, column]
        points[other, column] = value
    order[one], order[other] = order[other], order[one]


@compiled
def split(
    points,  # INOUT (n, d)
    order,  # INOUT (n,) moved along with the points
    first,  # IN   first row of the range
    last,  # IN   end of the range
    unit,  # IN   ranges of more than this many blocks are split at a multiple of it
    largest,  # IN   ranges of at most this many rows are not split
    once,  # IN   whether to stop after the first split
    values,  # TMP  (MAX_VALUES,)
    misplaced,  # TMP  (2, BATCH)
    ends,  # TMP  (MAX_WAITING,)
):
    """Split a range into small ones; if `once`, split it into two and return the border."""
    # Waiting parts are adjacent: the top one starts at `first`, and each of the others starts where
    # the one above it ends.
    ends[0] = last
    n_waiting = 1
    while n_waiting:
        last = ends[n_waiting - 1]
        if last - first <= largest:
            first = last
            n_waiting -= 1
            continue
        place = split_range(points, order, first, last, unit, values, misplaced)
        if once:
            return place
        ends[n_waiting] = place
        n_waiting += 1
    return last
