"""Choosing psi and the number of clusters by what the data shows, without labels.

Several kernels of each psi are looked at, of larger psi too where there are many clusters. Cuts
into fewer, larger clusters of clusters are reproduced and separated as well as the one that the
data asks for, so more clusters are worth more: a cut is chosen by the logarithm of their number,
less what it lacks in being reproduced and in being separated.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

from .._cells.drawing import draw_rows
from .._data.rows import Data, FitRows
from .._data.weights import uniform_weights
from .._utils.progress import Progress, Report, ignore
from .candidates import (
    OF_FEW_ROWS,
    OF_MANY_ROWS,
    Cut,
    Standard,
    judge,
    look_closer,
    standard_for,
)
from .consensus import most_typical, vote
from .overlap import Company
from .sample import Parts, Recipe, draw_nested, grow_parts

# Growth stops at the first of these, and at a later one only where more clusters are asked for
# than it leaves parts.
PART_TAUS = (0.1, 0.3, 0.6, 0.9)
PSIS = (8, 16, 32, 64, 128, 256)
# With this many, every cell of the largest psi holds 16 rows: more tell little that is new.
MAX_ROWS = 4_000
# A cluster of fewer cells is hardly told from its neighbours. Where the largest psi shows more
# clusters than that, a larger one is looked at, unless there may be no clusters at all: then fewer
# are found again by one kernel and by another than there are cells for.
_CELLS_PER_CLUSTER = 5
_CELLS_PER_CLUSTER_FOUND_AGAIN = 8
FINER_PSIS = (512, 1024)
# Cells of these hold so many rows, or of small data so many at the least.
_ROWS_PER_CELL = 8
_MIN_ROWS_PER_FINE_CELL = 4
# More rows are not looked at whatever psi is given.
MOST_ROWS = 8_192
# Of so many rows a cluster must be on average, unless their number is given.
MIN_ROWS_PER_CLUSTER = 20
# Cuts of one cluster, uniform or round, are worth less, and those of touching clusters more.
WORTH_OF_ONE = -1.75
# A hundredth less than is enough weighs as much as thrice the clusters.
_WORTH_OF_ENOUGH = 100.0
# Cuts that are reproduced as well as the best but for this much are as good.
_AS_GOOD = 0.02
# Clusters that are separated and reproduced by this much share next to nothing. They are cut
# further only if each part is separated, too: a part of a ring is not.
APART = 0.98
# Those that are reproduced by as much and hardly touch are cut only if each part is separated by
# half, or touches others little.
_HARDLY_TOUCHING = 0.1
_SEPARATED_BY_HALF = 0.5


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
        How many rows the chosen psi was judged by, and how many kernels of each psi.
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
            next_best = self.runner_up
            words += (
                f"; next best are {next_best.n_clusters} at psi {next_best.psi}"
                if next_best.n_clusters > 1
                else "; next best is one cluster"
            )
        return words

    def clusterings(self, parts: list[Parts]) -> list[NDArray[np.int64]]:
        """Return the labels that each kernel gives when its parts are linked as chosen."""
        return [each.cut(self.chosen.n_clusters) for each in parts]


@dataclass(frozen=True, eq=False)
class _Look:
    """What kernels of some psi show of some rows."""

    tau: float
    rows: NDArray[np.intp]  # (n,)
    parts: dict[int, list[Parts]]  # by psi

    @property
    def standard(self) -> Standard:
        return standard_for(len(self.rows))

    def cuts(self, n_clusters: int | None) -> tuple[Cut, ...]:
        """Return what speaks for all cuts, or for those into so many clusters, at first sight."""
        most = n_clusters or max(2, len(self.rows) // MIN_ROWS_PER_CLUSTER)
        cuts: list[Cut] = []
        for psi, parts in self.parts.items():
            numbers = range(max(2, n_clusters or 2), min(most, _fewest(parts)) + 1)
            cuts += judge(psi, parts, numbers, self.standard)
        return tuple(cuts)


@dataclass(frozen=True, eq=False)
class Chosen:
    """The choice, and the kernels that it is made of."""

    choice: AutoChoice
    tau: float
    rows: NDArray[np.intp]  # (n,) the rows that were looked at
    parts: list[Parts]  # of the kernels with the chosen psi
    labels: NDArray[np.int64]  # (n,) that these kernels agree on


def choose(
    data: FitRows,
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
    n_slots = data.weights.n_slots
    if psi is not None and psi > MOST_ROWS:
        raise ValueError(
            f"psi={psi} is more than the {MOST_ROWS} rows to choose the number of clusters by. Use "
            "a smaller psi, or give tau too, without linking."
        )

    def look(sizes: tuple[int, ...]) -> _Look:
        n_rows = min(n_slots, max(MAX_ROWS, min(MOST_ROWS, _ROWS_PER_CELL * sizes[-1])))
        # A row of weight w is w rows, here as everywhere.
        rows = np.sort(draw_rows(data.weights, 1, n_rows, False, rng)[0])
        sample = Data(data.points(rows), "euclidean", uniform_weights(n_rows))
        tau, parts = _grow(sample, recipe, sizes, taus, n_clusters, rng, n_jobs)
        n_kernels = len(parts[sizes[0]])
        report(Progress("choose", n_kernels, n_kernels))
        return _Look(tau, rows, parts)

    sizes = sizes_for(n_slots, psi, n_clusters)
    looks = [look(sizes)]
    cuts = _looked_at_closer(looks[0], looks[0].cuts(n_clusters), n_clusters)
    while psi is None and n_clusters is None and shows_too_many(cuts, sizes[-1]):
        sizes = finer_sizes(sizes, n_slots)
        if not sizes:
            break
        looks.append(look(sizes))
        cuts += looks[-1].cuts(n_clusters)
    choice = decide(cuts, min(looks[0].parts), n_clusters, len(looks[0].rows))
    chosen = next(each for each in looks if choice.chosen.psi in each.parts)
    parts = chosen.parts[choice.chosen.psi]
    choice = replace(choice, n_rows=len(chosen.rows), n_kernels=len(parts))
    labels = vote(choice.clusterings(parts), choice.chosen.n_clusters)
    if n_clusters == 1:
        labels = np.zeros_like(labels)
    elif n_clusters is not None and len(np.unique(labels[labels >= 0])) < n_clusters:
        labels = most_typical(choice.clusterings(parts), n_clusters)
    return Chosen(choice, chosen.tau, chosen.rows, parts, labels)


def sizes_for(n_rows: int, psi: int | None, n_clusters: int | None) -> tuple[int, ...]:
    """Return what psi may be: that given, or those that are looked at first.

    Cells hold two rows or more. For many clusters that are asked for, there are larger ones.
    """
    if psi is not None:
        return (psi,)
    most = min(MAX_ROWS, n_rows) // 2
    sizes = tuple(size for size in PSIS if size <= most) or (max(2, most),)
    while (n_clusters or 0) * _CELLS_PER_CLUSTER > sizes[-1]:
        finer = finer_sizes(sizes, n_rows)
        if not finer:
            break
        sizes += finer
    return sizes


def finer_sizes(sizes: tuple[int, ...], n_rows: int) -> tuple[int, ...]:
    """Return the next larger psi, or nothing if there are too few rows for it."""
    most = n_rows // _MIN_ROWS_PER_FINE_CELL
    return tuple(size for size in FINER_PSIS if sizes[-1] < size <= most)[:1]


def shows_too_many(cuts: tuple[Cut, ...], largest_psi: int) -> bool:
    """Whether the largest psi shows more clusters than it has cells to tell apart."""
    best = max(cuts, key=lambda cut: cut.worth, default=None)
    if best is None or best.psi < largest_psi or best.reproduced >= APART:
        return False
    n_found_again = best.n_clusters * best.reproduced**2
    return (
        best.n_clusters * _CELLS_PER_CLUSTER >= largest_psi
        and n_found_again * _CELLS_PER_CLUSTER_FOUND_AGAIN >= largest_psi
    )


def _grow(
    sample: Data,
    recipe: Recipe,
    sizes: tuple[int, ...],
    taus: tuple[float, ...],
    n_clusters: int | None,
    rng: RandomState,
    n_jobs: int | None,
) -> tuple[float, dict[int, list[Parts]]]:
    """Return the first tau that leaves enough parts, and those that kernels grow, by psi."""
    n_kernels = standard_for(len(sample)).n_kernels
    kernels = [draw_nested(sample, recipe, sizes, rng) for _ in range(n_kernels)]
    most_of_all = 0
    for tau in taus:
        grown = grow_parts(sample, replace(recipe, tau=tau), kernels, n_jobs)
        parts = {
            size: list(same) for size, same in zip(sizes, zip(*grown, strict=True), strict=True)
        }
        most = max(map(_fewest, parts.values()))
        if n_clusters is None or n_clusters <= max(1, most):
            return tau, parts
        most_of_all = max(most_of_all, most)
    raise ValueError(
        f"n_clusters={n_clusters} is more than the {most_of_all} parts that growth finds to link. "
        f"Use n_clusters <= {max(1, most_of_all)}, or a larger psi or tau."
    )


def _fewest(parts: list[Parts]) -> int:
    return min(map(len, parts))


def _looked_at_closer(
    look: _Look, cuts: tuple[Cut, ...], n_clusters: int | None
) -> tuple[Cut, ...]:
    """Return cuts, having looked closer at those where that may change what is chosen."""
    few = look.standard is OF_FEW_ROWS
    promising = {cut for cut in cuts if cut.reproduced >= look.standard.worth_a_look}
    if not few:
        beaten = {cut for cut in _beaten(cuts) if cut.reproduced < APART}
        promising = promising - beaten if n_clusters is None else set()
    company = Company(look.parts[max(look.parts)][: None if few else 1], pairs=few)
    return tuple(
        look_closer(cut, look.parts[cut.psi], company) if cut in promising else cut for cut in cuts
    )


def _beaten(cuts: tuple[Cut, ...]) -> set[Cut]:
    """Return the cuts that are worth less than the best, even if their clusters do not touch.

    The best is one that counts for all it is worth, and that is not left out for being of parts.
    """
    worths = [
        cut.worth
        for cut in cuts
        if cut.reproduced >= OF_MANY_ROWS.enough and cut.weakest >= OF_MANY_ROWS.joint
    ]
    best = max([WORTH_OF_ONE, *worths])
    return {cut for cut in cuts if replace(cut, contact=0.0).worth <= best}


def decide(
    cuts: tuple[Cut, ...], smallest_psi: int, n_clusters: int | None, n_rows: int
) -> AutoChoice:
    """Choose among cuts."""
    standard = standard_for(n_rows)
    chosen, reason = _best(cuts, smallest_psi, n_clusters, standard)
    others = tuple(cut for cut in cuts if cut.n_clusters != chosen.n_clusters)
    runner_up = _best(others, smallest_psi, None, standard)[0] if others else None
    if runner_up is not None and runner_up.n_clusters == chosen.n_clusters:
        runner_up = _worthiest(others, 0.0)
    return AutoChoice(chosen, runner_up, reason, cuts, n_rows, standard.n_kernels)


def _best(
    cuts: tuple[Cut, ...], smallest_psi: int, n_clusters: int | None, standard: Standard
) -> tuple[Cut, str]:
    one = Cut(smallest_psi, 1, 1.0, 0.0, 0.0)
    if n_clusters == 1:
        return one, "one cluster was asked for"
    if n_clusters is not None:
        return _worthiest(cuts, 0.0), f"{n_clusters} clusters were asked for"
    most = max((cut.credit for cut in cuts), default=0.0)
    if most < standard.least:
        return one, f"no cut is reproduced as well as {standard.least}: one cluster"
    enough = min(standard.enough, most - _AS_GOOD)
    candidates = _without_parts(cuts, standard)
    chosen = _worthiest(tuple(cut for cut in candidates if cut.credit >= standard.least), enough)
    if _counted(chosen, enough) < WORTH_OF_ONE:
        return one, f"no cut counts for as much as {WORTH_OF_ONE}: one cluster"
    found = (
        f"{chosen.n_clusters} clusters are reproduced ({chosen.reproduced:.2f}) and separated "
        f"({chosen.separated:.2f})"
    )
    if standard is OF_MANY_ROWS and most < standard.enough:
        return chosen, f"{found}; no cut is reproduced as well as {standard.enough}"
    return chosen, f"{found}; no other cut counts for more"


def _without_parts(cuts: tuple[Cut, ...], standard: Standard) -> tuple[Cut, ...]:
    """Leave out cuts that cut clusters which are apart, but not at their joints."""
    alone = max((cut.n_clusters for cut in cuts if _apart(cut)), default=0)
    hardly = max((cut.n_clusters for cut in cuts if _hardly_touching(cut)), default=0)

    def of_parts(cut: Cut) -> bool:
        if 0 < alone < cut.n_clusters and cut.weakest < standard.joint:
            return True
        touching = cut.contact is not None and cut.contact > standard.touching
        return 0 < hardly < cut.n_clusters and cut.weakest < _SEPARATED_BY_HALF and touching

    return tuple(cut for cut in cuts if not of_parts(cut))


def _apart(cut: Cut) -> bool:
    return min(cut.reproduced, cut.separated, cut.weakest) >= APART


def _hardly_touching(cut: Cut) -> bool:
    return cut.reproduced >= APART and cut.contact is not None and cut.contact <= _HARDLY_TOUCHING


def _worthiest(cuts: tuple[Cut, ...], enough: float) -> Cut:
    return max(cuts, key=lambda cut: (_counted(cut, enough), -cut.psi))


def _counted(cut: Cut, enough: float) -> float:
    """Return what a cut is worth, less what it lacks in being reproduced enough."""
    return cut.worth - _WORTH_OF_ENOUGH * max(0.0, enough - cut.credit)
