"""What psi and tau are when the caller does not say.

Fixed numbers, measured as docs/defaults.md tells; they suit many data sets and no data set best.
"""

from __future__ import annotations

DEFAULT_PSI = 64
DEFAULT_TAU = 0.01
DEFAULT_GAUSSIAN_TAU = 0.1


def choose_psi(n_slots: int) -> int:
    """Return psi for data of `n_slots` rows: never more than there are."""
    return max(2, min(DEFAULT_PSI, n_slots))
