"""Sample weights as whole numbers, so that their sums are exact.

A row of integer weight w counts as w equal rows. Fractional weights are stored in fixed point: each
is rounded to a multiple of 1/`one`, where `one` is the largest power of two for which every score
of a fit is an exact float64.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

LARGEST_EXACT = 1 << 53


class RowWeights(Protocol):
    """Weights of rows as whole numbers of units; a weight of 1 is `one` units."""

    @property
    def n_slots(self) -> int: ...

    @property
    def total(self) -> int: ...

    @property
    def one(self) -> int: ...

    @property
    def uniform(self) -> bool: ...

    def rows_at(self, places: NDArray[np.int64]) -> NDArray[np.intp]: ...


@dataclass(frozen=True)
class Weights:
    """The weight of each row, in units.

    Attributes
    ----------
    units : ndarray of int64, shape (n_samples,)
        Weight of each row in units.
    one : int
        Number of units in a weight of 1.
    """

    units: NDArray[np.int64]
    one: int

    def only(self, chosen: slice) -> Weights:
        return Weights(self.units[chosen], self.one)

    @property
    def total(self) -> int:
        return int(self.units.sum())

    @property
    def uniform(self) -> bool:
        """Whether all rows have weight 1 because no weights were given."""
        return self.units.strides == (0,)

    @property
    def n_slots(self) -> int:
        """Number of centres that can be drawn without replacement: the total weight of all rows.

        With weights below 1, it is at least the number of rows of positive weight.
        """
        if self.uniform:
            return len(self.units)
        return max(self.total // self.one, int(np.count_nonzero(self.units)))

    def rows_at(self, places: NDArray[np.int64]) -> NDArray[np.intp]:
        """Return the rows at some positions of the cumulative weights."""
        if self.uniform:
            return places
        rows: NDArray[np.intp] = np.cumsum(self.units).searchsorted(places, side="right")
        return rows


def uniform_weights(n_samples: int) -> Weights:
    """Return weight 1 for each row, without allocating memory."""
    return Weights(np.broadcast_to(np.int64(1), n_samples), one=1)


def check_weights(sample_weight: ArrayLike | None, n_samples: int, resolution: int) -> Weights:
    """Return `sample_weight` as multiples of a unit, small enough for exact sums of scores.

    `resolution` is the score of a row of weight 1 against itself.
    """
    if sample_weight is None:
        return uniform_weights(n_samples)
    weights = checked_weights(sample_weight, n_samples)
    exponent = unit_exponent(sum_of(weights), are_whole(weights), resolution)
    return Weights(in_units(weights, exponent), one=1 << exponent)


def unit_exponent(total: float, whole: bool, resolution: int) -> int:
    """Return the number of binary places to which weights with the sum `total` are rounded."""
    if not total:
        raise ValueError(
            "sample_weight is zero for every row. At least one weight must be positive."
        )
    room = LARGEST_EXACT // (2 * resolution)
    if total > room:
        raise ValueError(
            f"sample_weight sums to {_in_words(total)}, but sums are exact only up to {room:g}. "
            "Divide all weights by the same number."
        )
    return 0 if whole else math.floor(math.log2(room) - math.log2(total))


def _in_words(total: float) -> str:
    return f"{total:g}" if total < math.inf else "more than the largest float"


def in_units(weights: NDArray[np.float64], exponent: int) -> NDArray[np.int64]:
    units = np.rint(np.ldexp(weights, exponent)).astype(np.int64)
    units[(units == 0) & (weights > 0)] = 1
    return units


def are_whole(weights: NDArray[np.float64]) -> bool:
    return bool(np.all(weights == np.floor(weights)))


def sum_of(weights: Iterable[float]) -> float:
    """Return the sum of weights, rounded once; infinity if it overflows."""
    try:
        return math.fsum(weights)
    except OverflowError:
        return math.inf


def exact_sum(weights: NDArray[np.float64]) -> list[float]:
    """Return a few numbers whose exact sum is the exact sum of all weights.

    The exact sums of several parts can therefore be combined and then rounded once.
    """
    if sum_of(weights) == math.inf:
        return [math.inf]
    parts: list[float] = []
    while rest := math.fsum([*weights.tolist(), *(-part for part in parts)]):
        parts.append(rest)
    return parts


def checked_weights(
    sample_weight: ArrayLike, n_samples: int, first_row: int = 0
) -> NDArray[np.float64]:
    """Return the weights of consecutive rows, starting at `first_row`, after checking them."""
    try:
        weights: NDArray[Any] = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"sample_weight must contain only numbers: {error}.") from error
    if weights.shape != (n_samples,):
        raise ValueError(
            f"sample_weight has shape {weights.shape}, but X has {n_samples} rows. "
            f"Pass one weight for each row, in an array of shape ({n_samples},)."
        )
    bad = np.flatnonzero(~np.isfinite(weights) | (weights < 0))
    if len(bad):
        raise ValueError(
            f"sample_weight[{first_row + bad[0]}] is {weights[bad[0]]}. Weights must be finite and "
            "not negative; use 0 to leave a row out."
        )
    return weights
