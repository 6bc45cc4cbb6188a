"""Time of each stage of a fit."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable

import numpy as np

from pskclust import PSKC


def fit_by_stages(
    model: PSKC, X: np.ndarray, clock: Callable[[], float] = time.process_time
) -> tuple[PSKC, Counter[str]]:
    """Return the fitted model, and the seconds of each stage as measured by `clock`."""
    seconds: Counter[str] = Counter()
    latest = clock()

    def hear(progress) -> None:
        nonlocal latest
        now = clock()
        seconds[progress.stage] += now - latest
        latest = now

    return model.set_params(callback=hear).fit(X), seconds
