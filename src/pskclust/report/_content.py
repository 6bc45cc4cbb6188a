"""Content of a report page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, NamedTuple

from .._advice import AdviceRule
from .._choice.layers import Layer
from .._choice.options import AutoChoice, NumberOption
from ._classes import KnownClasses
from ._pictures import EmbeddedPicture
from ._summary import Summary
from .command import FitCommand


class Provenance(NamedTuple):
    """Given parameters, chosen values, and the call that repeats the fit."""

    given: Mapping[str, str]
    choice: str | None  # None if nothing was chosen
    call: str
    rows: str  # description of the rows to fit, such as "the same rows"
    note: str | None  # None if the call returns the same labels every time


class ChoiceContent(NamedTuple):
    """The numbers of clusters that a choice considered, and the reason for the chosen one."""

    reason: str
    n_rows: int  # number of rows that the choice was made on
    numbers: Sequence[NumberOption]
    is_asked: bool = False  # whether the number was given, not compared with others

    @classmethod
    def of(cls, choice: AutoChoice, is_asked: bool) -> ChoiceContent:
        return cls(choice.reason, choice.n_rows, choice.numbers, is_asked)


class Content(NamedTuple):
    """Content of a report page."""

    title: str
    date: date
    command: FitCommand | None  # None for a report from Python
    facts: Mapping[str, str]
    summary: Summary
    names: Sequence[str]
    ids: Sequence[Any] | None
    rows: Any
    similarities: Any
    confidences: Any  # (k,) mean confidence of each cluster; None if it tells nothing
    pictures: Sequence[EmbeddedPicture]
    provenance: Provenance
    details: Mapping[str, str]
    scores: Mapping[str, float]
    classes: KnownClasses | None
    choice: ChoiceContent | None  # None if clusters grew
    layers: Sequence[Layer]
    rules: Sequence[AdviceRule]
    hints: Sequence[str]  # on the clusters
    column_hints: Sequence[str]
