"""The innermost loop of products in float32, written with vector instructions.

A plain loop is three times slower, because its sums are stored and loaded every few columns. Here
the sums stay in registers from the first column to the last. LLVM maps vectors of 16 numbers to
the vector registers of the processor.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, misc, type-arg, attr-defined"
# mypy: disable-error-code="import-untyped"

from __future__ import annotations

from typing import Any

import numba
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

LANES = 16
# Number of vectors of rows, and number of centres, that are compared at a time: their sums fill
# half of the registers, and the factors take a few more.
_VECTORS, CENTRES_AT_A_TIME = 2, 4
ROWS_AT_A_TIME = LANES * _VECTORS

_FLOATS = ir.VectorType(ir.FloatType(), LANES)
_INTS = ir.VectorType(ir.IntType(32), LANES)
_ALIGNMENT = 4  # of a single number: arrays are not aligned to vectors


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


class _Code:
    """Builder of the instructions of one call."""

    def __init__(self, context: Any, builder: Any, signature: Any, arguments: Any) -> None:
        self.builder = builder
        names = ("rows", "first", "centres", "halves", "kept", "start", "smallest", "nearest")
        self.values = dict(zip(names, arguments, strict=True))
        self.arrays = {
            name: context.make_array(kind)(context, builder, value)
            for name, kind, value in zip(names, signature.args, arguments, strict=True)
            if isinstance(kind, types.Array)
        }

    def length(self, name, axis):
        return cgutils.unpack_tuple(self.builder, self.arrays[name].shape)[axis]

    def stride(self, name, axis):
        """Return the stride of an axis, in elements of four bytes."""
        in_bytes = cgutils.unpack_tuple(self.builder, self.arrays[name].strides)[axis]
        return self.builder.ashr(in_bytes, ir.Constant(ir.IntType(64), 2))

    def load_number(self, name, index):
        return self.builder.load(self.builder.gep(self.arrays[name].data, [index]))

    def vector_at(self, name, index, kind):
        pointer = self.builder.gep(self.arrays[name].data, [index])
        return self.builder.bitcast(pointer, kind.as_pointer())

    def load_vector(self, name, index, kind=_FLOATS):
        return self.builder.load(self.vector_at(name, index, kind), align=_ALIGNMENT)

    def store_vector(self, value, name, index, kind=_FLOATS):
        self.builder.store(value, self.vector_at(name, index, kind), align=_ALIGNMENT)

    def spread(self, number, kind=_FLOATS):
        """Return a vector filled with one number."""
        one = self.builder.insert_element(ir.Constant(kind, ir.Undefined), number, _index(0))
        zeros = ir.Constant(_INTS, [0] * LANES)
        return self.builder.shuffle_vector(one, ir.Constant(kind, ir.Undefined), zeros)

    def sums(self):
        """Return the sums of all rows for each of four centres, as a list of vectors."""
        builder = self.builder
        width, n_columns = self.length("rows", 1), self.length("rows", 0)
        starts, memory = [], []
        for c in range(CENTRES_AT_A_TIME):
            place = builder.add(self.values["start"], ir.Constant(ir.IntType(64), c))
            row = builder.sext(self.load_number("kept", place), ir.IntType(64))
            starts.append(builder.mul(row, self.stride("centres", 0)))
            half = self.spread(self.load_number("halves", row))
            memory.append([cgutils.alloca_once_value(builder, half) for _ in range(_VECTORS)])
        with cgutils.for_range(builder, n_columns) as loop:
            at = builder.add(builder.mul(loop.index, width), self.values["first"])
            rows = [
                self.load_vector("rows", builder.add(at, ir.Constant(ir.IntType(64), v * LANES)))
                for v in range(_VECTORS)
            ]
            column = builder.mul(loop.index, self.stride("centres", 1))
            for start, own in zip(starts, memory, strict=True):
                factor = self.spread(self.load_number("centres", builder.add(start, column)))
                for v in range(_VECTORS):
                    product = builder.fmul(rows[v], factor, flags=["contract"])
                    total = builder.fadd(builder.load(own[v]), product, flags=["contract"])
                    builder.store(total, own[v])
        return [[builder.load(one) for one in own] for own in memory]

    def keep_two_smallest(self, sums):
        builder = self.builder
        width = self.length("smallest", 1)
        for v in range(_VECTORS):
            offset = ir.Constant(ir.IntType(64), v * LANES)
            at = builder.add(self.values["first"], offset)
            best, second = (
                self.load_vector("smallest", at),
                self.load_vector("smallest", builder.add(at, width)),
            )
            nearest = self.load_vector("nearest", at, _INTS)
            for c in range(CENTRES_AT_A_TIME):
                number = builder.add(self.values["start"], ir.Constant(ir.IntType(64), c))
                number = self.spread(builder.trunc(number, ir.IntType(32)), _INTS)
                closer = builder.fcmp_ordered("<", sums[c][v], best)
                larger = builder.select(closer, best, sums[c][v])
                less = builder.fcmp_ordered("<", larger, second)
                second = builder.select(less, larger, second)
                best = builder.select(closer, sums[c][v], best)
                nearest = builder.select(closer, number, nearest)
            self.store_vector(best, "smallest", at)
            self.store_vector(second, "smallest", builder.add(at, width))
            self.store_vector(nearest, "nearest", at, _INTS)


def _index(number: int) -> ir.Constant:
    return ir.Constant(ir.IntType(32), number)


def _compiled_compare_with_four(typing_context, *arguments):
    def write(context, builder, signature, values):
        code = _Code(context, builder, signature, values)
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
