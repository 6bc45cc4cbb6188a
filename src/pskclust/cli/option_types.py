"""Types of option values: whole numbers, numbers or a word, lists of numbers, delimiters."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import click

_DELIMITER_WORDS = {
    "tab": "\t",
    "\\t": "\t",
    "space": " ",
    "comma": ",",
    "semicolon": ";",
    "pipe": "|",
}


class WholeNumber(click.IntRange):
    """Option type: a whole number within limits."""

    name = "whole number"

    def get_metavar(self, *about: Any, **more: Any) -> str:
        return "N"

    def _describe_range(self) -> str:
        """Return the limits in words, for the help and for errors."""
        if self.max is None:
            return f"{self.min:,} or more"
        return f"{self.min:,} to {self.max:,}"


class LargeNumber(WholeNumber):
    """Option type: a whole number, which may be written as 1e9."""

    def convert(self, value: Any, param: Any, ctx: Any) -> Any:
        with contextlib.suppress(ValueError, OverflowError):
            number = float(value)
            if isinstance(value, str) and "e" in value.lower() and number.is_integer():
                value = int(number)
        return super().convert(value, param, ctx)


def number_or(kind: type[int] | type[float], word: str) -> Callable[[str], Any]:
    """Return an option type: a number or the given word, such as auto."""

    def convert(value: str) -> Any:
        try:
            return value if value == word else kind(value)
        except ValueError:
            what = "a whole number" if kind is int else "a number"
            raise click.BadParameter(f"{value!r} is neither {what} nor {word!r}.") from None

    return convert


def several(kind: type[int] | type[float]) -> Callable[[str], list[Any]]:
    """Return an option type: numbers separated by commas."""

    def convert(value: str) -> list[Any]:
        try:
            return [kind(part) for part in value.split(",")]
        except ValueError:
            what = "whole numbers" if kind is int else "numbers"
            message = f"{value!r} must be {what} separated by commas."
            raise click.BadParameter(message) from None

    return convert


def delimiter_of(context: Any, option: Any, value: str | None) -> str | None:
    """Return the delimiter, which may be written as a word."""
    if value is None:
        return None
    delimiter = _DELIMITER_WORDS.get(value.lower(), value)
    if len(delimiter) != 1 or delimiter in '\r\n"':
        raise click.BadParameter(
            f"{value!r} is not a delimiter. Give one character, or one of the words "
            f"{', '.join(word for word in _DELIMITER_WORDS if word.isalpha())}."
        )
    return delimiter
