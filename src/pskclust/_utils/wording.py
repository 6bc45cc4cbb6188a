"""Wording that several interfaces share: percentages, counts, and parameters in messages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

_QUOTES = "'\""


def percentage(share: float) -> str:
    """Return a fraction as a percentage; only 0 is shown as 0.0%, and only 1 as 100.0%."""
    if 0 < share < 0.001:
        return "< 0.1%"
    shown = f"{share:.1%}"
    return "> 99.9%" if share < 1 and shown == "100.0%" else shown


def counted(number: int, noun: str) -> str:
    """Return ``1 row`` or ``2 rows``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


class ShortRepr:
    """Mixin for dataclasses whose repr shows numbers with three digits."""

    def __repr__(self) -> str:
        values = vars(self).items()
        shown = (
            f"{name}={value:.3g}" if isinstance(value, float) else f"{name}={value!r}"
            for name, value in values
        )
        return f"{type(self).__name__}({', '.join(shown)})"


class ParameterWords:
    """Messages of the library with its parameters in the words of an interface.

    Parameters
    ----------
    names : iterable of str
        Parameters that the interface has words for.
    with_value : callable
        Returns the words for a parameter with a value, such as ``--tau 0.1`` for ``tau=0.1``.
    """

    def __init__(self, names: Iterable[str], with_value: Callable[[str, str], str]) -> None:
        self._with_value = with_value
        any_name = "|".join(names)
        self._value = re.compile(rf"\b({any_name})=([{_QUOTES}]?[-+\w.:]*\w[{_QUOTES}]?)")
        self._limit = re.compile(rf"\b({any_name}) <= ([\d.]*\d)")

    def of(self, message: str) -> str:
        """Return a message in the words of the interface."""
        # Nobody types None: an option or a field that is left out stands for it.
        plain = message.replace(" rows of X", " rows").replace(", or None", "")
        plain = self._value.sub(
            lambda found: self._with_value(found[1], found[2].strip(_QUOTES)), plain
        )
        return self._limit.sub(
            lambda found: f"{self._with_value(found[1], found[2])} or less", plain
        )
