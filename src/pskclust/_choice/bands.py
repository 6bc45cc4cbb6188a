"""Bands of cluster counts, each twice as wide as the one before, for layers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


def best_of_bands(scores: Mapping[int, float], known: Iterable[int]) -> list[int]:
    """Return the best number of each band, ascending: 2 to 3, 4 to 7, 8 to 15, and so on.

    The best number has the highest score; ties go to the smallest number. A number in `known` is
    always the best of its band; if there are several in one band, the last one is.
    """
    best = {number.bit_length(): number for number in known}
    for number in sorted(scores, key=lambda number: (-scores[number], number)):
        best.setdefault(number.bit_length(), number)
    return sorted(best.values())
