"""Parameter values in types that JSON can hold."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np


def plain_value(value: Any) -> Any:
    """Return a parameter value as a type that JSON can hold; None for a random generator."""
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        return float(value)
    if isinstance(value, tuple):
        return [plain_value(item) for item in value]
    return value if isinstance(value, str) else None
