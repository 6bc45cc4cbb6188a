"""Compiled loops that sort rows by the leaves of a k-d tree, which are the blocks."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import numpy as np

from .compiling import compiled, compiled_into
from .neighbour_blocks import BLOCK

# Number of rows of a range that are sampled to find its widest column.
_SAMPLE = 256
# One in this many of them is used to find where rows are sparse. Steps are rounded down, so fewer
# than twice the sample are used.
_SAMPLES_PER_VALUE = 4
MAX_VALUES = 2 * _SAMPLE // _SAMPLES_PER_VALUE
# More than the number of times a range can be halved.
MAX_WAITING = 64
# Number of rows that are sampled to find the value that splits many rows near a position.
_PIVOT_SAMPLE, _MANY_ROWS = 63, 2000
# Ranges of more blocks than this are split between multiples of it.
_UNIT_OF_MANY = 32
# A split moves away from the middle only to a position that is this many times sparser.
_MIN_TIMES_SPARSER = 1.5


@compiled_into
def split_range(
    points,  # INOUT (n, d)
    order,  # INOUT (n,) moved along with the points
    first,  # IN   rows from here
    last,  # IN   to here
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
    """Sort the values of some rows; return their number. A loop compiles faster than a sort."""
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
    values,  # IN   values of some of the rows, rising
    n_values,  # IN   how many there are
    n_blocks,  # IN   of all of them
):
    """Return the number of blocks in the first part of a range.

    That is the largest power of two below all, so that superblocks are parts, too. But where the
    rows are much sparser elsewhere, clusters are parted there: a block with rows of two has a wide
    box.
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
    """Return the distance between values around a quantile."""
    at, around = np.int64(share * n_values), max(1, n_values // 16)
    return values[min(at + around, n_values - 1)] - values[max(at - around, 0)]


@compiled_into
def select(points, order, first, last, place, column, values):
    """Partition rows so that values before `place` do not exceed those from it on."""
    state = np.uint64(first + last)
    while last - first > 1:
        # The pivot is a quantile of a few positions that no data can be prepared for.
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
    first,  # IN   rows from here
    last,  # IN   to here
    once,  # IN   whether to leave the two parts as they are
    values,  # TMP  (MAX_VALUES,)
    ends,  # TMP  (MAX_WAITING,)
):
    """Split a range of rows, and its parts, into blocks; return the last border."""
    # Waiting parts are adjacent, the last one first: each starts where the previous one ends.
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
