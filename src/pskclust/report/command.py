"""FitCommand: the command that writes a report, as the report shows it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, eq=False)
class FitCommand:
    """A command that writes a report: its text, its hints, and the spelling of parameters."""

    line: str  # the command that gives the same labels
    hints: Sequence[str]  # on columns
    as_options: Callable[[str], str]  # writes parameters in a text as options
