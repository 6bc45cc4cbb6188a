"""Scores of clusters against known classes, as reports and the command line show them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ._data.agreement import SharedRows
from .metrics import matched_f1


def scores_against(classes: NDArray[np.int32], labels: NDArray[np.int64]) -> dict[str, float]:
    """Return F1, ARI and NMI over the rows whose class is known: those with a code of 0 or more."""
    known = classes >= 0
    classes, labels = classes[known], labels[known]
    shared = SharedRows.of(classes, labels)
    return {
        "F1": matched_f1(classes, labels),
        "ARI": shared.adjusted_rand(),
        "NMI": shared.normalized_mutual_information(),
    }
