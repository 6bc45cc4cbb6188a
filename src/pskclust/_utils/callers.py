"""The line of a user's code that a warning points to."""

from __future__ import annotations

import inspect

_LIBRARIES = ("pskclust", "sklearn")


def stack_level() -> int:
    """Return the `stacklevel` with which ``warnings.warn`` points to the caller of the library.

    This is the first caller outside pskclust and scikit-learn, whose mixins and pipelines call
    methods of pskclust.
    """
    frame, level = inspect.currentframe(), 0
    while frame and frame.f_globals.get("__name__", "").partition(".")[0] in _LIBRARIES:
        frame, level = frame.f_back, level + 1
    return level
