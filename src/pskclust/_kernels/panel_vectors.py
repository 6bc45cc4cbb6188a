"""Products of a few rows with a panel of centres in float32, written with vector instructions.

The sums stay in registers, where they are compared with a limit. BLAS would write them to memory,
from which they have to be read again.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call, misc, type-arg, attr-defined"
# mypy: disable-error-code="import-untyped"

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, codegen, types
from numba.extending import intrinsic

from .vector_code import FLOATS, LANES, Code, constant


def _has_wide_registers() -> bool:
    """Return whether compiled code may use the 32 registers of 16 numbers of AVX-512."""
    features = numba.config.CPU_FEATURES
    return "+avx512f" in (codegen.get_host_cpu_features() if features is None else features)


# Six rows and one vector of centres fill the 16 registers of 8 numbers of AVX2; four vectors fill
# those of AVX-512.
TILE_ROWS = 6
_VECTORS = 4 if _has_wide_registers() else 1
PANEL_CENTRES = LANES * _VECTORS


def _multiply_tile(
    rows,  # IN   (m, k) float32
    first,  # IN   the first of the six rows that are multiplied
    panels,  # IN   (p, k, 64) float32, a column for each centre
    panel,  # IN   which panel
    limits,  # IN   (m,) float32, a limit on the sums of each row
    sums,  # OUT  (6, 64) float32
    hits,  # OUT  (6,) int64: bit c tells that the sum of centre c does not exceed the limit
):
    """Multiply six rows by a panel. A sum that is NaN does not exceed a limit."""
    for place in range(TILE_ROWS):
        hits[place] = 0
        for centre in range(PANEL_CENTRES):
            total = np.float32(0)
            for k in range(rows.shape[1]):
                total += rows[first + place, k] * panels[panel, k, centre]
            sums[place, centre] = total
            if not total > limits[first + place]:
                # The last of 64 bits is the sign.
                hits[place] |= (1 << centre) if centre < 63 else -(1 << 63)


def _lowest_bit(bits):
    """Return the number of the lowest bit of an integer that is set."""
    bits = int(bits)
    return (bits & -bits).bit_length() - 1


class _Tile(Code):
    """Builder of the instructions of one product."""

    names = ("rows", "first", "panels", "panel", "limits", "sums", "hits")

    def totals(self):
        """Return the sums of each row, as lists of vectors."""
        builder, width = self.builder, self.length("rows", 1)
        zeros = ir.Constant(FLOATS, [0.0] * LANES)
        memory = [
            [cgutils.alloca_once_value(builder, zeros) for _ in range(_VECTORS)]
            for _ in range(TILE_ROWS)
        ]
        starts = [builder.mul(self.row(place), width) for place in range(TILE_ROWS)]
        start = builder.mul(self.values["panel"], width)
        with cgutils.for_range(builder, width) as loop:
            at = builder.mul(builder.add(start, loop.index), constant(PANEL_CENTRES))
            centres = [
                self.load_vector("panels", builder.add(at, constant(v * LANES)))
                for v in range(_VECTORS)
            ]
            for own_start, own in zip(starts, memory, strict=True):
                number = self.load_number("rows", builder.add(own_start, loop.index))
                factor = self.spread(number)
                for total, centre in zip(own, centres, strict=True):
                    self.add_product(total, centre, factor)
        return [[builder.load(one) for one in own] for own in memory]

    def compare(self, totals):
        builder, bits = self.builder, ir.IntType(64)
        for place, own in enumerate(totals):
            limit = self.spread(self.load_number("limits", self.row(place)))
            hits = constant(0)
            for v, total in enumerate(own):
                self.store_vector(total, "sums", constant(place * PANEL_CENTRES + v * LANES))
                within = builder.fcmp_unordered("<=", total, limit)
                within = builder.zext(builder.bitcast(within, ir.IntType(LANES)), bits)
                hits = builder.or_(hits, builder.shl(within, constant(v * LANES)))
            builder.store(hits, builder.gep(self.arrays["hits"].data, [constant(place)]))

    def row(self, place):
        return self.builder.add(self.values["first"], constant(place))


@intrinsic
def _vectors_multiply_tile(typing_context, rows, first, panels, panel, limits, sums, hits):
    def write(context, builder, signature, values):
        code = _Tile(context, builder, signature, values)
        code.compare(code.totals())
        return context.get_dummy_value()

    index = types.intp
    return types.void(rows, index, panels, index, limits, sums, hits), write


@intrinsic
def _counted_lowest_bit(typing_context, bits):
    def write(context, builder, signature, values):
        return builder.cttz(values[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.int64), write


multiply_tile: Any = _multiply_tile if numba.config.DISABLE_JIT else _vectors_multiply_tile
lowest_bit: Any = _lowest_bit if numba.config.DISABLE_JIT else _counted_lowest_bit
