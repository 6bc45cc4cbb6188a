"""Candidates of a choice as HTML."""

from __future__ import annotations

from collections.abc import Sequence

from .._choice.choose import MAX_ROWS
from .._choice.options import NumberOption
from ._content import ChoiceContent
from ._html import figure, prose, share_words, table
from ._pictures import EmbeddedPicture

_HEAD = (
    "clusters",
    "odds",
    "stability",
    "least stable cluster",
    "agreement",
    "separation",
    "overlap",
)
_ODDS = (
    "Candidates are clusterings at several scales. The odds of a number of clusters are the sum "
    "over the best candidates with this number; the odds of all candidates add up to 1. The other "
    "columns show the evidence for the best candidate with that number of clusters."
)
_EVIDENCE = (
    "Stability shows how well its "
    "clusters are found again in half of the rows: the mean over clusters, and the value of the "
    "least stable cluster. Agreement shows how well they are found again at other scales. "
    "Separation shows how much more similar rows are to their own cluster than to the nearest "
    "other cluster. Overlap is the share of rows near a cluster that belong to other clusters. "
    "All are best at 1, except overlap, which is best at 0."
)


def candidates(
    choice: ChoiceContent | None, n_rows: int, pictures: Sequence[EmbeddedPicture]
) -> list[str]:
    """Return the reason for a choice and its candidates; an empty list without a choice."""
    if choice is None:
        return []
    reason = choice.reason[0].upper() + choice.reason[1:]
    rows = [_HEAD, *(_cells(option, choice.is_asked) for option in choice.numbers)]
    evidence = f"{_ODDS} {_EVIDENCE}"
    if choice.is_asked:
        # One number has no odds against others.
        rows, pictures, evidence = [[row[0], *row[2:]] for row in rows], (), _EVIDENCE
    return [
        f"<p>{prose(reason)}.</p>",
        table(rows[0], rows[1:]),
        *map(figure, pictures),
        f"<p>{prose(evidence)}</p>",
        f"<p>{prose(_rows_of_choice(choice.n_rows, n_rows))}</p>",
    ]


def _rows_of_choice(n_used: int, n_rows: int) -> str:
    """Return a sentence on the rows that the choice was made on: all of them, or a sample."""
    if n_used > n_rows:
        return (
            f"The choice was made on a sample of {n_used:,} rows, in which rows of large weight "
            "occur several times."
        )
    if n_used == n_rows:
        return f"The choice was made on all {n_rows:,} rows."
    return (
        f"The choice was made on {n_used:,} of {n_rows:,} rows: a random sample of at most "
        f"{MAX_ROWS:,} rows, without those that look like noise. All rows were then assigned to "
        "the chosen clusters."
    )


def _cells(option: NumberOption, is_asked: bool) -> list[str]:
    name = f"{option.n_clusters:,}"
    # A number that was asked for was not chosen.
    is_marked = option.is_chosen and not is_asked
    evidence = (
        option.stability,
        option.least_stability,
        option.agreement,
        option.separation,
        option.overlap,
    )
    return [
        f"<strong>{name}, chosen</strong>" if is_marked else name,
        share_words(option.odds),
        *("" if value is None else f"{value:.2f}" for value in evidence),
    ]
