"""Sentences about a choice: its reason, the second choice, and a warning."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence

from .._utils.callers import stack_level
from .._utils.wording import counted
from .options import NEGLIGIBLE_ODDS, AutoChoice, NumberOption, Option
from .split_tree import MAX_LEAVES

# A clustering with a smaller mean Jaccard index is not called stable (Hennig, 2007).
STABLE = 0.75


def reason_of(chosen: Option, numbers: Sequence[NumberOption], n_clusters: int | None) -> str:
    if n_clusters is not None:
        return reason_if_given(n_clusters)
    second = second_choice(numbers)
    if chosen.n_clusters == 1:
        return f"1 cluster: no split into more clusters is stable and well separated{second}"
    is_stable = (chosen.stability or 0.0) >= STABLE
    how = "stable: random halves of the rows give the same clusters"
    if not is_stable:
        how = "unclear: random halves of the rows give partly different clusters"
        # The second sentence does not call the clusters unclear again.
        second = second.replace("; unclear: ", ". ")
    return (
        f"{counted(chosen.n_clusters, 'cluster')}, {how} (stability {chosen.stability:.0%}, "
        f"least stable cluster {chosen.least_stability:.0%}){second}"
    )


def reason_if_given(n_clusters: int) -> str:
    return f"{counted(n_clusters, 'cluster')}, the number that was set"


def second_choice(numbers: Sequence[NumberOption]) -> str:
    """Return the second choice in words, or a caveat if other numbers have higher odds.

    Numbers of clusters with negligible odds are not named.
    """
    likely = [number for number in numbers if number.odds >= NEGLIGIBLE_ODDS]
    others = [number for number in likely if not number.is_chosen]
    if not others:
        return ""
    chosen = next(number for number in numbers if number.is_chosen)
    higher = [number for number in others if number.odds > chosen.odds]
    if not higher:
        return f"; second choice: {counted(others[0].n_clusters, 'cluster')}"
    have = "cluster has" if [number.n_clusters for number in higher] == [1] else "clusters have"
    return (
        f"; unclear: {_listed(str(number.n_clusters) for number in higher)} {have} higher odds "
        f"({_listed(f'{number.odds:.0%}' for number in higher)}) than {chosen.n_clusters} "
        f"({chosen.odds:.0%}), the most typical of the best candidates; to settle it, set the "
        "number of clusters"
    )


def _listed(words: Iterable[str]) -> str:
    """Return words with commas, and "and" before the last one."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def warn_of_limit(choice: AutoChoice) -> None:
    """Warn if there may be more clusters than are considered."""
    likeliest = choice.numbers[0].n_clusters
    if MAX_LEAVES in (likeliest, choice.chosen.n_clusters):
        is_chosen = choice.chosen.n_clusters == MAX_LEAVES
        how = "were chosen" if is_chosen else "have the highest odds of all numbers"
        warnings.warn(
            f"{MAX_LEAVES} clusters {how}, the most that are considered unless their number "
            "is given. If there are more, use n_clusters=k for k clusters, or psi and tau for "
            "clusters that grow on all rows. If there are fewer, as is likely for texts, try a "
            "layer in layers_ or a smaller n_clusters.",
            UserWarning,
            stacklevel=stack_level(),
        )
