"""Builder of vector instructions, for innermost loops that numba's own code is too slow for.

LLVM maps vectors of 16 numbers to the vector registers of the processor.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, misc, type-arg, import-untyped"

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types

LANES = 16
FLOATS = ir.VectorType(ir.FloatType(), LANES)
INTS = ir.VectorType(ir.IntType(32), LANES)
_ALIGNMENT = 4  # of a single number: arrays are not aligned to vectors


class Code:
    """Builder of the instructions of one call."""

    names: tuple[str, ...]  # of the arguments

    def __init__(self, context: Any, builder: Any, signature: Any, arguments: Any) -> None:
        self.builder = builder
        self.values = dict(zip(self.names, arguments, strict=True))
        self.arrays = {
            name: context.make_array(kind)(context, builder, value)
            for name, kind, value in zip(self.names, signature.args, arguments, strict=True)
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

    def load_vector(self, name, index, kind=FLOATS):
        return self.builder.load(self.vector_at(name, index, kind), align=_ALIGNMENT)

    def store_vector(self, value, name, index, kind=FLOATS):
        self.builder.store(value, self.vector_at(name, index, kind), align=_ALIGNMENT)

    def spread(self, number, kind=FLOATS):
        """Return a vector filled with one number."""
        one = self.builder.insert_element(
            ir.Constant(kind, ir.Undefined), number, ir.Constant(ir.IntType(32), 0)
        )
        zeros = ir.Constant(INTS, [0] * LANES)
        return self.builder.shuffle_vector(one, ir.Constant(kind, ir.Undefined), zeros)

    def add_product(self, total, factor, other):
        """Add a product to the sum that is kept at an address, rounding once if possible."""
        product = self.builder.fmul(factor, other, flags=["contract"])
        added = self.builder.fadd(self.builder.load(total), product, flags=["contract"])
        self.builder.store(added, total)


def constant(number: int) -> ir.Constant:
    return ir.Constant(ir.IntType(64), number)
