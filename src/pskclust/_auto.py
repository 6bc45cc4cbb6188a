"""Choosing psi and the number of clusters by what the data shows, without labels.

Several kernels of each psi grow parts of the same rows and link them to 2, 3, ... clusters. A cut
that the data asks for comes out the same whatever the kernel, and its clusters are less alike
each other than the halves of each. Cuts into fewer, larger clusters of clusters show both as
well, so more clusters are worth more: a cut is chosen by the logarithm of their number, less what
it lacks in being reproduced and in being separated.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray
from scipy import sparse

from ._consensus import Labels, likeness, mean_jaccard, shared_rows, vote
from ._contact import company, contact
from ._kernel_sweep import Parts, Recipe, draw_nested, grow_parts
from ._partition import Partition, RowSource, draw_rows
from ._progress import Progress, Report, ignore
from ._validation import Data
from ._weights import uniform_weights

# Growth stops at the first of these, and at a later one only where more clusters are asked for
# than it leaves parts.
PART_TAUS = (0.1, 0.3, 0.6, 0.9)
PSIS = (8, 16, 32, 64, 128, 256)
N_KERNELS = 8
# With this many, every cell of the largest psi holds 16 rows: more tell little that is new.
MAX_ROWS = 4_000
# Of so many rows a cluster must be on average, unless their number is given.
MIN_ROWS_PER_CLUSTER = 20
# A cut that kernels agree on but for a row in fourteen is as good as others may be. A hundredth
# less than that, or than what is as good as the best one, weighs as much as thrice the clusters.
REPRODUCED = 0.93
_WORTH_OF_ENOUGH = 100.0
# Below, what is most reproduced is no better than cuts of one round cluster are.
_HARDLY_REPRODUCED = 0.85
# Clusters that are separated and reproduced by this much share next to nothing. They are cut
# further only if each part is separated by half: a part of a ring is not.
APART = 0.98
_SEPARATED_BY_HALF = 0.5
# Of fewer rows, kernels differ so much that true cuts are reproduced hardly better than those of
# one cluster. What half of the kernels agree on tells more, and is reproduced better.
FEW_ROWS = 1_000
_HARDLY_REPRODUCED_OF_FEW = 0.9
_HALVES = ((0, 1, 2, 3), (0, 2, 4, 6), (0, 1, 4, 5))
# There, clusters that do not touch are believed more readily: a part of what they lack counts.
_NO_CONTACT = 0.05
_FULL_CONTACT = 0.2
_LACKING_WITHOUT_CONTACT = 0.25
# Cuts that are reproduced as well as the best but for this much are as good.
_AS_GOOD = 0.02
# What a cut is worth: a hundredth less reproduced weighs as much as a fifth more clusters.
_WORTH_OF_REPRODUCED = 20.0
_WORTH_OF_SEPARATED = 0.5
# Cuts of one cluster, uniform or round, are worth less, and those of touching clusters more.
WORTH_OF_ONE = -1.75
# A cut with less in a round of pairs is not looked at further.
_HOPELESS = 0.8
_HOPELESS_OF_FEW = 0.5


@dataclass(frozen=True)
class Cut:
    """A psi and a number of clusters, and what speaks for them.

    Attributes
    ----------
    psi, n_clusters : int
    reproduced : float
        How well kernels find each other's clusters again: the mean over clusters, and over pairs
        of kernels, of the largest Jaccard index with a cluster of the other one. Of fewer than
        1,000 rows, the mean of that and of the same between what halves of the kernels agree on.
    separated, weakest : float
        Mean over rows, and the least, of 1 - a / c, where a is how alike the row's cluster and the
        most alike other one are, and c how alike the cluster's own halves are.
    contact : float
        How much the cluster that touches another one most does so: the mean over a twentieth of its
        rows of the share that another cluster has in their company at the finest scale. Looked at
        for fewer than 1,000 rows only, else 1.
    """

    psi: int
    n_clusters: int
    reproduced: float
    separated: float
    weakest: float
    contact: float = 1.0

    @property
    def credit(self) -> float:
        """How well it is reproduced, much of what it lacks being forgiven without contact."""
        touching = (self.contact - _NO_CONTACT) / (_FULL_CONTACT - _NO_CONTACT)
        counts = np.interp(touching, (0, 1), (_LACKING_WITHOUT_CONTACT, 1))
        return float(1 - counts * (1 - self.reproduced))

    @property
    def worth(self) -> float:
        """How much speaks for the cut, all in all: the most clusters that are found again."""
        return (
            math.log(self.n_clusters)
            - _WORTH_OF_REPRODUCED * (1 - self.credit)
            - _WORTH_OF_SEPARATED * (2 - self.separated - self.weakest)
        )


@dataclass(frozen=True)
class AutoChoice:
    """What was chosen, why, and of what.

    Attributes
    ----------
    chosen : Cut
    runner_up : Cut or None
        What would have been chosen without the chosen number of clusters.
    reason : str
        Why, in a sentence.
    cuts : tuple of Cut
        All that were compared, by psi, then by number of clusters.
    n_rows, n_kernels : int
        How many rows were looked at, and how many kernels of each psi.
    """

    chosen: Cut
    runner_up: Cut | None
    reason: str
    cuts: tuple[Cut, ...] = field(repr=False)
    n_rows: int
    n_kernels: int

    def __str__(self) -> str:
        """Return the choice in a sentence."""
        words = f"psi {self.chosen.psi}, since {self.reason}"
        if self.runner_up is not None:
            words += f"; next best are {self.runner_up.n_clusters} at psi {self.runner_up.psi}"
        return words

    def clusterings(self, parts: list[Parts]) -> list[NDArray[np.int64]]:
        """Return the labels that each kernel gives when its parts are linked as chosen."""
        return [each.cut(self.chosen.n_clusters) for each in parts]


@dataclass(frozen=True, eq=False)
class Chosen:
    """The choice, and the kernels that it is made of."""

    choice: AutoChoice
    tau: float
    rows: NDArray[np.intp]  # (n,) the rows that were looked at
    parts: list[Parts]  # of the kernels with the chosen psi
    labels: NDArray[np.int64]  # (n,) that these kernels agree on


def sizes_for(n_rows: int, psi: int | None) -> tuple[int, ...]:
    """Return what psi may be: that given, or all of which cells hold two rows or more."""
    if psi is not None:
        return (psi,)
    return tuple(size for size in PSIS if size <= n_rows // 2) or (max(2, n_rows // 2),)


def choose(
    data: RowSource,
    recipe: Recipe,
    psi: int | None,
    taus: tuple[float, ...],
    n_clusters: int | None,
    rng: RandomState,
    n_jobs: int | None,
    report: Report = ignore,
) -> Chosen:
    """Choose what is not given of psi and the number of clusters.

    Of `taus` it is the first that leaves as many parts as clusters are asked for.
    """
    n_rows = min(MAX_ROWS, data.weights.n_slots)
    if n_clusters is not None and n_clusters > n_rows:
        raise ValueError(
            f"n_clusters={n_clusters} is more than the {n_rows} rows to choose by. Use a smaller "
            "n_clusters."
        )
    # A row of weight w is w rows, here as everywhere.
    rows = np.sort(draw_rows(data.weights, 1, n_rows, False, rng)[0])
    sample = Data(data.points(rows), "euclidean", uniform_weights(n_rows))
    sizes = sizes_for(n_rows, psi)
    kernels = [draw_nested(sample, recipe, sizes, rng) for _ in range(N_KERNELS)]
    for tau in taus:
        by_psi = _grow(sample, replace(recipe, tau=tau), kernels, n_jobs)
        fewest = {size: min(map(len, parts)) for size, parts in by_psi.items()}
        if n_clusters is None or n_clusters <= max(1, *fewest.values()):
            break
    else:
        raise ValueError(
            f"n_clusters={n_clusters} is more than the {max(fewest.values())} parts that growth "
            "finds to link. Use a larger psi or tau, or a smaller n_clusters."
        )
    report(Progress("choose", N_KERNELS, N_KERNELS))
    met = company(by_psi[sizes[-1]]) if n_rows < FEW_ROWS else None
    cuts: list[Cut] = []
    for size, parts in by_psi.items():
        most = n_clusters or max(2, n_rows // MIN_ROWS_PER_CLUSTER)
        numbers = range(max(2, n_clusters or 2), min(most, fewest[size]) + 1)
        cuts += _judge(size, parts, numbers, met)
    choice = decide(tuple(cuts), sizes[0], n_clusters, n_rows)
    chosen = by_psi[choice.chosen.psi]
    labels = vote(choice.clusterings(chosen), choice.chosen.n_clusters)
    return Chosen(choice, tau, rows, chosen, labels)


def _grow(
    sample: Data, recipe: Recipe, kernels: list[list[Partition]], n_jobs: int | None
) -> dict[int, list[Parts]]:
    """Return the parts that each kernel grows, by psi."""
    grown = grow_parts(sample, recipe, kernels, n_jobs)
    return {same_psi[0].partition.psi: list(same_psi) for same_psi in zip(*grown, strict=True)}


def _judge(
    psi: int, parts: list[Parts], numbers: range, met: NDArray[np.float64] | None
) -> list[Cut]:
    """Return what speaks for each of some numbers of clusters.

    Of few rows it is known in how many cells each has `met` each other one.
    """
    # Pairs of neighbours first: they show which cuts are worth comparing in all pairs.
    order = sorted(
        itertools.combinations(range(len(parts)), 2),
        key=lambda pair: pair[1] - pair[0] not in (1, len(parts) - 1),
    )
    tables = {
        (a, b): shared_rows(parts[a].labels, parts[b].labels, len(parts[a]), len(parts[b]))
        for a, b in order
    }
    cuts = [_judge_cut(psi, parts, number, order, tables) for number in numbers]
    return cuts if met is None else [_look_closer(cut, parts, met) for cut in cuts]


def _judge_cut(
    psi: int,
    parts: list[Parts],
    n_clusters: int,
    order: list[tuple[int, int]],
    tables: dict[tuple[int, int], NDArray[np.int64]],
) -> Cut:
    joins = [_indicator(each.tree.cut(n_clusters), n_clusters) for each in parts]
    agreements: list[float] = []
    for number, (a, b) in enumerate(order):
        if number == len(parts) and np.mean(agreements) < _HOPELESS:
            break
        agreements.append(mean_jaccard(joins[a] @ (joins[b] @ tables[a, b].T).T))
    separations = np.mean([each.tree.separations[n_clusters - 1] for each in parts], axis=0)
    return Cut(psi, n_clusters, float(np.mean(agreements)), *separations.tolist())


def _look_closer(cut: Cut, parts: list[Parts], met: NDArray[np.float64]) -> Cut:
    """Return a cut of few rows with what halves of the kernels agree on, and with contact."""
    if cut.reproduced < _HOPELESS_OF_FEW:
        return cut
    labels = [each.cut(cut.n_clusters) for each in parts]
    alike = likeness(labels, cut.n_clusters)
    by_halves = _reproduced_by_halves(labels, cut.n_clusters, alike)
    touching = contact(met, vote(labels, cut.n_clusters, alike), cut.n_clusters)
    return replace(cut, reproduced=(cut.reproduced + by_halves) / 2, contact=touching)


def _reproduced_by_halves(labels: list[Labels], n_clusters: int, alike: NDArray[np.int64]) -> float:
    """Return how well the consensus of the kernels of one half is found again by the other."""

    def agreed(kernels: tuple[int, ...]) -> Labels:
        chosen = [labels[number] for number in kernels]
        return vote(chosen, n_clusters, alike[np.ix_(kernels, kernels)])

    agreements = []
    for half in _HALVES:
        others = tuple(number for number in range(len(labels)) if number not in half)
        shared = shared_rows(agreed(half), agreed(others), n_clusters, n_clusters)
        agreements.append(mean_jaccard(shared))
    return float(np.mean(agreements))


def _indicator(clusters: NDArray[np.int64], n_clusters: int) -> sparse.csc_array:
    """Return a matrix (k, m) with a one where a part belongs to a cluster."""
    ones, starts = np.ones(len(clusters), dtype=np.int64), np.arange(len(clusters) + 1)
    return sparse.csc_array((ones, clusters, starts), shape=(n_clusters, len(clusters)))


def decide(
    cuts: tuple[Cut, ...], smallest_psi: int, n_clusters: int | None, n_rows: int
) -> AutoChoice:
    """Choose among cuts."""
    chosen, reason = _best(cuts, smallest_psi, n_clusters, n_rows)
    others = tuple(cut for cut in cuts if cut.n_clusters != chosen.n_clusters)
    runner_up = _best(others, smallest_psi, None, n_rows)[0] if others else None
    return AutoChoice(chosen, runner_up, reason, cuts, n_rows, N_KERNELS)


def least_credit(n_rows: int) -> float:
    """Return how well the best cut must be reproduced, lest there be one cluster only."""
    return _HARDLY_REPRODUCED_OF_FEW if n_rows < FEW_ROWS else _HARDLY_REPRODUCED


def _best(
    cuts: tuple[Cut, ...], smallest_psi: int, n_clusters: int | None, n_rows: int
) -> tuple[Cut, str]:
    if n_clusters is not None and cuts:
        return _worthiest(cuts, 0.0), f"{n_clusters} clusters were asked for"
    one = Cut(smallest_psi, 1, 1.0, 0.0, 0.0)
    few = n_rows < FEW_ROWS
    least = least_credit(n_rows)
    most = max((cut.credit for cut in cuts), default=0.0)
    if most < least:
        return one, f"no cut is reproduced as well as {least}: one cluster"
    enough = most - _AS_GOOD if few else min(REPRODUCED, most - _AS_GOOD)
    candidates = tuple(cut for cut in _without_parts(cuts) if cut.credit >= least)
    chosen = _worthiest(candidates, enough)
    if not few and _counted(chosen, enough) < WORTH_OF_ONE:
        return one, f"no cut counts for as much as {WORTH_OF_ONE}: one cluster"
    found = (
        f"{chosen.n_clusters} clusters are reproduced ({chosen.reproduced:.2f}) and separated "
        f"({chosen.separated:.2f})"
    )
    if not few and most < REPRODUCED:
        return chosen, f"{found}; no cut is reproduced as well as {REPRODUCED}"
    return chosen, f"{found}; no other cut counts for more"


def _without_parts(cuts: tuple[Cut, ...]) -> tuple[Cut, ...]:
    """Leave out cuts that cut clusters which are apart, but not at their joints."""
    apart = [
        cut.n_clusters for cut in cuts if min(cut.reproduced, cut.separated, cut.weakest) >= APART
    ]
    if not apart:
        return cuts
    return tuple(
        cut for cut in cuts if cut.n_clusters <= max(apart) or cut.weakest >= _SEPARATED_BY_HALF
    )


def _worthiest(cuts: tuple[Cut, ...], enough: float) -> Cut:
    return max(cuts, key=lambda cut: (_counted(cut, enough), -cut.psi))


def _counted(cut: Cut, enough: float) -> float:
    """Return what a cut is worth, less what it lacks in being reproduced enough."""
    return cut.worth - _WORTH_OF_ENOUGH * max(0.0, enough - cut.credit)
