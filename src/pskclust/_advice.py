"""Advice for the next fit, in reports and the explorer: a parameter to change, and its new value.

The rules are those of the paper: raise psi if clusters that should be apart are joined, and
lower tau if clusters that should be whole are split. For chosen and linked clusters, change
`n_clusters` instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ._estimator import PSKC

MUCH_NOISE = 0.1
FEW_ROWS = 100
# A fragment is a cluster smaller than this fraction of the cluster that holds the median row.
FRAGMENT = 0.1
MIN_FRAGMENT_LIMIT = 3


class AdviceRule(NamedTuple):
    """A situation, the action for it, and the parameters that the action sets."""

    situation: str
    action: str
    change: dict[str, Any]


class Hint(NamedTuple):
    """A sentence about a result, and the parameters that it proposes to change, if any."""

    text: str
    change: dict[str, Any] | None = None


@dataclass(frozen=True, eq=False)
class Outcome:
    """The figures of a fit that advice is based on."""

    sizes: NDArray[np.float64]  # (k,) numbers of rows, or sums of weights
    n_noise: float
    n_rows: int
    psi: int
    tau: float | None  # None if clusters were chosen
    replace: bool = False
    min_cluster_size: int = 0
    n_parts: int | None = None  # None unless clusters are chosen or linked
    second_choice: int | None = None  # number of clusters; None unless clusters are chosen
    are_alike: bool = False  # whether all rows are in the same cells, so that nothing splits them
    unit: str = "rows"  # the things that `sizes` counts: rows or pixels

    @classmethod
    def of(
        cls,
        model: PSKC,
        sizes: ArrayLike | None = None,
        n_noise: float | None = None,
        unit: str = "rows",
    ) -> Outcome:
        """Return the figures of a fitted model; by default, sizes count rows."""
        linkage = model.fitted_.linkage
        if n_noise is None:
            n_noise = float(np.count_nonzero(model.labels_ < 0))
        return cls(
            sizes=np.asarray(model.cluster_sizes_ if sizes is None else sizes, dtype=np.float64),
            n_noise=n_noise,
            n_rows=len(model.labels_),
            psi=int(model.psi_),
            tau=model.tau_,
            replace=bool(model.replace),
            min_cluster_size=int(model.min_cluster_size or 0),
            n_parts=None if linkage is None else len(linkage.tree),
            second_choice=_second_choice(model),
            are_alike=bool(model.similarities_.min() >= 1),
            unit=unit,
        )

    @property
    def n_clusters(self) -> int:
        return len(self.sizes)


def rules(outcome: Outcome) -> list[AdviceRule]:
    """Return the rules for splitting clusters and for joining them, as far as that is possible."""
    found = [splitting(outcome), None if outcome.n_clusters == 1 else joining(outcome)]
    return [rule for rule in found if rule is not None]


def splitting(outcome: Outcome) -> AdviceRule | None:
    """Return the rule for splitting clusters; None if no more clusters are possible."""
    situation = "Clusters that should be apart are joined"
    if outcome.n_parts is not None:
        number = outcome.n_clusters + 1
        if outcome.n_clusters == 1 and outcome.second_choice is not None:
            number = outcome.second_choice
        # A single cluster is not divided into parts unless more clusters are asked for.
        elif outcome.are_alike or outcome.n_clusters >= max(2, outcome.n_parts):
            return None
        return AdviceRule(situation, "ask for more", {"n_clusters": number})
    psi = 2 * outcome.psi if outcome.replace else min(2 * outcome.psi, outcome.n_rows)
    return AdviceRule(situation, "raise psi", {"psi": psi})


def joining(outcome: Outcome) -> AdviceRule:
    situation = "Clusters that should be whole are split"
    if outcome.n_parts is not None:
        number = max(1, outcome.n_clusters - 1)
        return AdviceRule(situation, "ask for fewer", {"n_clusters": number})
    tau = 0.1 if outcome.tau is None else outcome.tau
    return AdviceRule(situation, "lower tau", {"tau": three_digits(tau / 2)})


def hints(outcome: Outcome) -> list[Hint]:
    """Return the hints that apply to a result."""
    if not outcome.n_clusters and outcome.min_cluster_size > 1:
        return [
            Hint(
                f"No cluster of {outcome.min_cluster_size:,} {outcome.unit} or more was found. Use "
                "a smaller min_cluster_size, or none.",
                {"min_cluster_size": None},
            )
        ]
    if not outcome.n_clusters:
        return [
            Hint(
                f"No cluster was found: no pair of {outcome.unit} is similar enough to start one. "
                "Lower tau.",
                joining(outcome).change,
            )
        ]
    found = [_on_one_cluster(outcome), _on_noise(outcome), _on_fragments(outcome)]
    if outcome.unit == "rows":
        found.append(on_few_rows(outcome.n_rows))
    return [hint for hint in found if hint is not None]


def on_few_rows(n_rows: int) -> Hint | None:
    """Return a hint if the clusters are uncertain because there are few rows."""
    if n_rows >= FEW_ROWS:
        return None
    return Hint(
        f"There are only {n_rows} rows. With fewer than {FEW_ROWS}, clusters are uncertain."
    )


def three_digits(value: float) -> float:
    """Return a value rounded to three significant digits, for people to read and type."""
    return float(f"{value:.3g}")


def _second_choice(model: PSKC) -> int | None:
    """Return the best number of clusters that was not chosen; None if there is none."""
    numbers = () if model.auto_ is None else model.auto_.numbers
    return next((number.n_clusters for number in numbers if not number.is_chosen), None)


def _on_one_cluster(outcome: Outcome) -> Hint | None:
    if outcome.n_clusters > 1:
        return None
    rule = splitting(outcome)
    if rule is None:
        return Hint(f"There is only one cluster. The {outcome.unit} are too alike to divide them.")
    return Hint(f"There is only one cluster. If you expect more, {rule.action}.", rule.change)


def _on_noise(outcome: Outcome) -> Hint | None:
    share = outcome.n_noise / float(outcome.sizes.sum() + outcome.n_noise)
    if share < MUCH_NOISE:
        return None
    if outcome.n_parts is not None:
        return Hint(
            f"{share:.0%} of the {outcome.unit} are noise. noise='nearest' assigns each to its "
            "most similar cluster.",
            {"noise": "nearest"},
        )
    return Hint(
        f"{share:.0%} of the {outcome.unit} are noise. A lower tau takes more of them into "
        "clusters; noise='nearest' assigns each to its most similar cluster.",
        joining(outcome).change,
    )


def _on_fragments(outcome: Outcome) -> Hint | None:
    descending = np.sort(outcome.sizes)[::-1]
    middle = np.searchsorted(np.cumsum(descending), outcome.sizes.sum() / 2)
    limit = max(MIN_FRAGMENT_LIMIT, int(FRAGMENT * descending[middle]))
    number = int(np.count_nonzero(outcome.sizes < limit))
    if not 0 < number < outcome.n_clusters or outcome.min_cluster_size >= limit:
        return None
    have = "cluster has" if number == 1 else "clusters have"
    return Hint(
        f"{number:,} {have} fewer than {limit:,} {outcome.unit}, far fewer than the others. "
        f"min_cluster_size={limit} dissolves {'it: its' if number == 1 else 'them: their'} "
        f"{outcome.unit} move to other clusters or become noise.",
        {"min_cluster_size": limit},
    )
