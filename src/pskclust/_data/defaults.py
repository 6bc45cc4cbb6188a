"""Default psi and tau of grown clusters.

The best fixed setting over 25 benchmark sets was psi 64 with tau 0.01, as docs/parameters.md shows.
A row's similarity to a cluster that covers m cells is about 1/m, so tau is proportional to 1/psi.
Small data has fewer cells, one for every four rows.
"""

from __future__ import annotations

MAX_PSI = 64
ROWS_PER_CELL = 4
TAU_TIMES_PSI = 0.64
GAUSSIAN_TAU = 0.1


def choose_psi(n_slots: int) -> int:
    """Return the default psi for data of `n_slots` rows."""
    return max(2, min(MAX_PSI, n_slots // ROWS_PER_CELL))


def choose_tau(psi: int) -> float:
    """Return the default tau for partitionings of `psi` cells."""
    return TAU_TIMES_PSI / psi
