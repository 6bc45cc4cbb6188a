"""The innermost loop of products in float32, written with vector instructions.

A plain loop is three times slower, because its sums are stored and loaded every few columns. Here
the sums stay in registers from the first column to the last.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, misc, type-arg, attr-defined"
# mypy: disable-error-code="import-untyped"

from __future__ import annotations

from typing import Any

import numba
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from .vector_code import INTS, LANES, Code, constant

# Number of vectors of rows, and number of centres, that are compared at a time: their sums fill
# half of the registers, and the factors take a few more.
_VECTORS, CENTRES_AT_A_TIME = 2, 4
ROWS_AT_A_TIME = LANES * _VECTORS


def _compare_with_four(
    rows,  # IN   (k, n) float32, a row of the data in each column
    first,  # IN   the first of the 32 rows that are compared
    centres,  # IN   (m, k) float32, negated, because products are to be subtracted
    halves,  # IN   (m,) float32 half of their squared lengths
    kept,  # IN   (at least start + 4,) int32 which centres to compare with
    start,  # IN   index in `kept` of the first of the four centres
    smallest,  # INOUT (2, n) float32 the smallest and the second smallest sum of each row
    nearest,  # INOUT (n,) int32 index in `kept` of the centre with the smallest sum
):
    """Compare 32 rows with four centres by sums: half the squared distance, less a row's constant.

    The constant, half the squared length of the row, does not change the order of centres.
    """
    for place in range(first, first + ROWS_AT_A_TIME):
        for number in range(start, start + CENTRES_AT_A_TIME):
            value = halves[kept[number]]
            for k in range(len(rows)):
                value += rows[k, place] * centres[kept[number], k]
            if value < smallest[0, place]:
                smallest[1, place], smallest[0, place] = smallest[0, place], value
                nearest[place] = number
            elif value < smallest[1, place]:
                smallest[1, place] = value


class _Comparison(Code):
    """Builder of the instructions of one comparison."""

    names = ("rows", "first", "centres", "halves", "kept", "start", "smallest", "nearest")

    def sums(self):
        """Return the sums of all rows for each of four centres, as a list of vectors."""
        builder = self.builder
        width, n_columns = self.length("rows", 1), self.length("rows", 0)
        starts, memory = [], []
        for c in range(CENTRES_AT_A_TIME):
            place = builder.add(self.values["start"], constant(c))
            row = builder.sext(self.load_number("kept", place), ir.IntType(64))
            starts.append(builder.mul(row, self.stride("centres", 0)))
            half = self.spread(self.load_number("halves", row))
            memory.append([cgutils.alloca_once_value(builder, half) for _ in range(_VECTORS)])
        with cgutils.for_range(builder, n_columns) as loop:
            at = builder.add(builder.mul(loop.index, width), self.values["first"])
            rows = [
                self.load_vector("rows", builder.add(at, constant(v * LANES)))
                for v in range(_VECTORS)
            ]
            column = builder.mul(loop.index, self.stride("centres", 1))
            for start, own in zip(starts, memory, strict=True):
                factor = self.spread(self.load_number("centres", builder.add(start, column)))
                for v in range(_VECTORS):
                    self.add_product(own[v], rows[v], factor)
        return [[builder.load(one) for one in own] for own in memory]

    def keep_two_smallest(self, sums):
        builder = self.builder
        width = self.length("smallest", 1)
        for v in range(_VECTORS):
            offset = constant(v * LANES)
            at = builder.add(self.values["first"], offset)
            best, second = (
                self.load_vector("smallest", at),
                self.load_vector("smallest", builder.add(at, width)),
            )
            nearest = self.load_vector("nearest", at, INTS)
            for c in range(CENTRES_AT_A_TIME):
                number = builder.add(self.values["start"], constant(c))
                number = self.spread(builder.trunc(number, ir.IntType(32)), INTS)
                closer = builder.fcmp_ordered("<", sums[c][v], best)
                larger = builder.select(closer, best, sums[c][v])
                less = builder.fcmp_ordered("<", larger, second)
                second = builder.select(less, larger, second)
                best = builder.select(closer, sums[c][v], best)
                nearest = builder.select(closer, number, nearest)
            self.store_vector(best, "smallest", at)
            self.store_vector(second, "smallest", builder.add(at, width))
            self.store_vector(nearest, "nearest", at, INTS)


def _compiled_compare_with_four(typing_context, *arguments):
    def write(context, builder, signature, values):
        code = _Comparison(context, builder, signature, values)
        code.keep_two_smallest(code.sums())
        return context.get_dummy_value()

    return types.void(*arguments), write


@intrinsic
def _vectors_compare_with_four(
    typing_context, rows, first, centres, halves, kept, start, smallest, nearest
):
    index = types.intp
    return _compiled_compare_with_four(
        typing_context, rows, index, centres, halves, kept, index, smallest, nearest
    )


compare_with_four: Any = (
    _compare_with_four if numba.config.DISABLE_JIT else _vectors_compare_with_four
)
