"""Outcome of a choice for the user: candidates, numbers of clusters, and the reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from .._utils.wording import ShortRepr

ONE = "one"
# The best numbers of clusters are listed: five, and up to ten if their odds are not negligible.
_FEWEST_NUMBERS, _MOST_NUMBERS = 5, 10
NEGLIGIBLE_ODDS = 0.001


@dataclass(frozen=True, repr=False)
class Option(ShortRepr):
    """A candidate clustering and the evidence for it.

    Attributes
    ----------
    kind : {"one", "average", "path"}
        "one" for one cluster. Otherwise the kind of tree of which the candidate is a cut: average
        linkage for compact clusters, or single linkage on mutual reachability for winding ones.
    psi : int
        Number of cells of the kernel that the tree was grown from.
    n_clusters : int
    score : float
        Estimate of the log odds that the candidate is the best one; only differences matter. Odds
        also take into account how far other draws of the trees support a candidate. The score of
        one cluster is on another scale: the log odds that there is more than one. Compare odds
        instead.
    odds : float
        Weight of this candidate among the candidates that are compared, 0 to 1. Candidates that
        are nearly equal share the odds, so each has small odds: see `numbers` of
        :class:`AutoChoice`.
    stability : float
        How well trees of halves of the rows find a cluster again, 0 to 1; the mean over clusters.
    least_stability : float
        The same for the least stable cluster.
    agreement : float
        How well trees of other psi and of the other kind find the clusters again, 0 to 1.
    separation : float
        Mean over rows of (a - b) / max(a, b), where a is the similarity to the own cluster and b
        that to the nearest other one.
    overlap : float
        Fraction of the rows in the cells of a cluster's members that belong to other clusters, at
        the finest scale, 0 to 1; the mean over clusters.
    """

    kind: str
    psi: int
    n_clusters: int
    score: float
    odds: float
    stability: float | None
    least_stability: float | None
    agreement: float | None
    separation: float | None
    overlap: float | None


@dataclass(frozen=True, repr=False)
class NumberOption(ShortRepr):
    """One of the numbers of clusters that a choice considered.

    Attributes
    ----------
    n_clusters : int
    odds : float
        Sum of the odds of the best candidates with this number, 0 to 1.
    stability, least_stability, agreement, separation, overlap : float or None
        Evidence for the best of these candidates, or for the chosen one. None for one cluster.
    is_chosen : bool
        Whether this number was chosen.
    """

    n_clusters: int
    odds: float
    stability: float | None
    least_stability: float | None
    agreement: float | None
    separation: float | None
    overlap: float | None
    is_chosen: bool


@dataclass(frozen=True)
class AutoChoice:
    """The chosen clustering, the best other candidates, and the reason.

    Attributes
    ----------
    chosen : Option
    candidates : tuple of Option
        The best candidates, highest odds first.
    reason : str
        Reason for the choice, in words. It names the second choice if its odds are 0.1% or more.
    n_rows : int
        Number of sampled rows that the choice was made on.
    layers : tuple of Option
        Cuts of the chosen tree from coarse to fine, including the chosen cut. Each band of numbers
        of clusters (2 to 3, 4 to 7, 8 to 15, ...) has the cut with the best score among those
        whose splits are, on average, more likely real than not. For cuts finer than the chosen
        one, only the additional splits count. With a given `n_clusters`, only the chosen cut.
    numbers : tuple of NumberOption
        The chosen number of clusters and the best others, highest odds first. The odds of a number
        are the sum over the best candidates with this number.
    """

    chosen: Option
    candidates: tuple[Option, ...] = field(repr=False)
    reason: str
    n_rows: int
    layers: tuple[Option, ...] = field(default=(), repr=False)
    numbers: tuple[NumberOption, ...] = field(default=(), repr=False)

    def __str__(self) -> str:
        """Return the reason."""
        return self.reason


def numbers_of(options: Sequence[Option], chosen: Option) -> tuple[NumberOption, ...]:
    """Return the chosen number of clusters and the best others, highest odds first."""
    listed = list(dict.fromkeys([*options, chosen]))
    by_odds = sorted(listed, key=lambda option: option.odds)
    # The last entry remains: the chosen candidate, or the one with the highest odds.
    best = {option.n_clusters: option for option in [*by_odds, chosen]}
    numbers = [
        NumberOption(
            number,
            min(1.0, sum(option.odds for option in listed if option.n_clusters == number)),
            option.stability,
            option.least_stability,
            option.agreement,
            option.separation,
            option.overlap,
            number == chosen.n_clusters,
        )
        for number, option in best.items()
    ]
    by_rank = sorted(numbers, key=lambda number: -number.odds)
    likely = [number for number in by_rank if number.odds >= NEGLIGIBLE_ODDS]
    n_listed = min(max(len(likely), _FEWEST_NUMBERS), _MOST_NUMBERS)
    return tuple(
        number for rank, number in enumerate(by_rank) if rank < n_listed or number.is_chosen
    )
