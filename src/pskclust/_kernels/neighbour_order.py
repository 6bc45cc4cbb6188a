"""Compiled loops that sort rows by the leaves of a k-d tree, which are the blocks."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import numpy as np

from .compiling import compiled, compiled_into
from .neighbour_blocks import BLOCK

# Number of rows of a range that are sampled to find its widest column.
_SAMPLE = 256
# One in this many sampled rows is used to find where rows are sparse. Steps are rounded down, so
# a sample has fewer than 2 * _SAMPLE rows.
_SAMPLES_PER_VALUE = 4
MAX_VALUES = 2 * _SAMPLE // _SAMPLES_PER_VALUE
# More than the number of times a range can be halved.
MAX_WAITING = 64
# Number of rows that are sampled to find a pivot if there are many rows.
_PIVOT_SAMPLE, _MANY_ROWS = 63, 2000
# Ranges of more than this many blocks are split at a multiple of it.
_UNIT_OF_MANY = 32
# A split moves away from the middle only to a position that is this many times sparser.
_MIN_TIMES_SPARSER = 1.5


@compiled_into
def split_range(
    points,  # INOUT (n, d)
    order,  # INOUT (n,) moved along with the points
    first,  # IN   first row of the range
    last,  # IN   end of the range
    values,  # TMP  (MAX_VALUES,)
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
    place = first + BLOCK * blocks_below(values, n_values, n_blocks)
    select(points, order, first, last, place, chosen, values)
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
):
    """Return the number of blocks in the first part of a range.

    Usually this is the largest power of two below `n_blocks`, so that superblocks are parts of the
    tree, too. But if rows are much sparser at another position, the range is split there to
    separate clusters, because a block with rows of two clusters has a wide box.
    """
    n_below = 1
    while 2 * n_below < n_blocks:
        n_below *= 2
    unit = 1 if n_blocks <= _UNIT_OF_MANY else _UNIT_OF_MANY
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
def select(points, order, first, last, place, column, values):
    """Partition rows so that values before `place` do not exceed those from `place` on."""
    state = np.uint64(first + last)
    while last - first > 1:
        # The pivot is a quantile of a few pseudorandom rows, so that no common order is slow.
        n_values = _PIVOT_SAMPLE if last - first > _MANY_ROWS else 3
        for number in range(n_values):
            state = state * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
            offset = np.int64(state >> np.uint64(33)) % (last - first)
            insert(points[first + offset, column], values, number)
        pivot = values[(place - first) * n_values // (last - first)]
        left, right = first, last - 1
        while left <= right:
            while points[left, column] < pivot:
                left += 1
            while points[right, column] > pivot:
                right -= 1
            if left <= right:
                for other in range(points.shape[1]):
                    value = points[left, other]
                    points[left, other] = points[right, other]
                    points[right, other] = value
                order[left], order[right] = order[right], order[left]
                left += 1
                right -= 1
        if place <= right:
            last = right + 1
        elif place >= left:
            first = left
        else:
            return


@compiled
def split(
    points,  # INOUT (n, d)
    order,  # INOUT (n,) moved along with the points
    first,  # IN   first row of the range
    last,  # IN   end of the range
    once,  # IN   whether to stop after the first split
    values,  # TMP  (MAX_VALUES,)
    ends,  # TMP  (MAX_WAITING,)
):
    """Split a range of rows into blocks; if `once`, split it into two and return the border."""
    # Waiting parts are adjacent: the top one starts at `first`, and each of the others starts where
    # the one above it ends.
    ends[0] = last
    n_waiting = 1
    while n_waiting:
        last = ends[n_waiting - 1]
        if last - first <= BLOCK:
            first = last
            n_waiting -= 1
            continue
        place = split_range(points, order, first, last, values)
        if once:
            return place
        ends[n_waiting] = place
        n_waiting += 1
    return last
