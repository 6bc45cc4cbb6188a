"""Compiled loops that put rows in the order of the leaves of a k-d tree, which are blocks."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import numpy as np

from .compiling import compiled, compiled_within
from .neighbour_blocks import BLOCK

# Rows of a range that are looked at to find its widest column.
_SAMPLE = 256
# One in this many of them is looked at to find where rows are sparse.
_SAMPLES_PER_VALUE = 4
# Rows that are looked at for the value that parts many rows near a given place.
_PIVOT_SAMPLE, _MANY_ROWS = 63, 2000
# Ranges of more blocks than this are split between multiples of it.
_UNIT_OF_MANY = 32
# A split leaves the middle for a place that is this many times sparser.
_MIN_TIMES_SPARSER = 1.5


@compiled
def split_range(
    points,  # INOUT (n, d)
    order,  # INOUT (n,) moved along with the points
    first,  # IN   rows from here
    last,  # IN   to here
):
    """Split rows in two at a place in the column in which they vary most; return the place."""
    step = max(1, (last - first) // _SAMPLE)
    widest, chosen = -1.0, 0
    for column in range(points.shape[1]):
        count, total, total2 = 0, 0.0, 0.0
        for row in range(first, last, step):
            value = points[row, column] - points[first, column]
            count += 1
            total += value
            total2 += value * value
        variance = (total2 - total * total / count) / count
        if variance > widest:
            widest, chosen = variance, column
    n_blocks = (last - first + BLOCK - 1) // BLOCK
    values = rising_values(points, first, last, _SAMPLES_PER_VALUE * step, chosen)
    place = first + BLOCK * blocks_below(values, n_blocks)
    select(points, order, first, last, place, chosen)
    return place


@compiled_within
def rising_values(points, first, last, step, column):
    """Return the values of some rows, rising. They are few: a loop compiles faster than a sort."""
    values = np.empty((last - first + step - 1) // step)
    for number in range(len(values)):
        value, at = points[first + number * step, column], number
        while at > 0 and values[at - 1] > value:
            values[at] = values[at - 1]
            at -= 1
        values[at] = value
    return values


@compiled_within
def blocks_below(
    values,  # IN   values of some of the rows, rising
    n_blocks,  # IN   of all of them
):
    """Return how many of the blocks of a range are to be its first part.

    That is the largest power of two below all, so that superblocks are parts, too. But where the
    rows are much sparser elsewhere, clusters are parted there: a block with rows of two has a wide
    box.
    """
    n_below = 1
    while 2 * n_below < n_blocks:
        n_below *= 2
    unit = 1 if n_blocks <= _UNIT_OF_MANY else _UNIT_OF_MANY
    chosen, widest = n_below, _MIN_TIMES_SPARSER * width_at(values, n_below / n_blocks)
    for other in range(unit * (1 + n_blocks // (4 * unit)), 3 * n_blocks // 4 + 1, unit):
        width = width_at(values, other / n_blocks)
        if width > widest:
            chosen, widest = other, width
    return chosen


@compiled_within
def width_at(values, share):
    """Return how far some values around a share of all lie apart."""
    at, around = int(share * len(values)), max(1, len(values) // 16)
    return values[min(at + around, len(values) - 1)] - values[max(at - around, 0)]


@compiled_within
def select(points, order, first, last, place, column):
    """Move rows until those before `place` have values no larger than those from there on."""
    state = np.uint64(first + last)
    values = np.empty(_PIVOT_SAMPLE)
    while last - first > 1:
        # Of a few places that no data can be prepared for, the value at the share that is wanted.
        n_values = _PIVOT_SAMPLE if last - first > _MANY_ROWS else 3
        for number in range(n_values):
            state = state * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
            offset = np.int64(state >> np.uint64(33)) % (last - first)
            value, at = points[first + offset, column], number
            while at > 0 and values[at - 1] > value:
                values[at] = values[at - 1]
                at -= 1
            values[at] = value
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
def split_to_blocks(points, order, first, last):
    """Split a range of rows, and its parts, until they are blocks."""
    # Parts that wait stand side by side, the last one first: each starts where the one before ends.
    ends = np.empty(64, dtype=np.int64)
    ends[0] = last
    n_waiting = 1
    while n_waiting:
        last = ends[n_waiting - 1]
        if last - first > BLOCK:
            ends[n_waiting] = split_range(points, order, first, last)
            n_waiting += 1
        else:
            first = last
            n_waiting -= 1
