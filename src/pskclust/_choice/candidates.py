"""What speaks for clusters that parts of the same rows are linked to.

Several kernels of one psi grow parts and link them to 2, 3, ... clusters. A cut that the data asks
for comes out the same whatever the kernel, and its clusters are less alike each other than the
halves of each.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .consensus import mean_jaccard, shared_rows, vote
from .overlap import Company, contact
from .sample import Parts

# Clusters that do not touch are believed more readily: a part of what they lack counts.
_NO_CONTACT = 0.05
_FULL_CONTACT = 0.2
_LACKING_WITHOUT_CONTACT = 0.25
# What a cut is worth: a hundredth less reproduced weighs as much as a fifth more clusters.
_WORTH_OF_REPRODUCED = 20.0
_WORTH_OF_SEPARATED = 0.5


@dataclass(frozen=True)
class Standard:
    """What is asked of cuts: more of few rows, where kernels differ much by chance."""

    n_kernels: int  # of each psi
    n_alike: int  # so many of them, those most like the others, count
    hopeless: float  # a cut with less in a round of pairs is not compared further
    worth_a_look: float  # those that are reproduced less at first sight are not looked at closer
    least: float  # if none is reproduced as well, there is one cluster
    enough: float  # what a cut lacks to this, or to what is as good as the best, weighs much
    joint: float  # clusters that share nothing are cut only into parts that are separated as well
    touching: float  # those that hardly touch, into parts separated by half or in no more contact


OF_MANY_ROWS = Standard(
    n_kernels=8,
    n_alike=8,
    hopeless=0.8,
    worth_a_look=0.75,
    # Cuts of one round cluster are reproduced less.
    least=0.85,
    # Then kernels agree but for a row in fourteen.
    enough=0.93,
    joint=0.5,
    touching=0.2,
)
OF_FEW_ROWS = Standard(
    n_kernels=16,
    # Now and then a kernel joins parts in a way of its own, of 16 seldom more than three.
    n_alike=13,
    hopeless=0.5,
    worth_a_look=0.5,
    least=0.92,
    enough=1.0,
    # Thin shapes of few rows have gaps by chance.
    joint=0.7,
    touching=0.1,
)
FEW_ROWS = 1_000


def standard_for(n_rows: int) -> Standard:
    """Return what is asked of cuts of so many rows."""
    return OF_FEW_ROWS if n_rows < FEW_ROWS else OF_MANY_ROWS


@dataclass(frozen=True)
class Cut:
    """A psi and a number of clusters, and what speaks for them.

    Attributes
    ----------
    psi, n_clusters : int
    reproduced : float
        How well kernels find each other's clusters again: the mean over clusters, and over pairs
        of kernels, of the largest Jaccard index with a cluster of the other one. Of fewer than
        1,000 rows, those three of the 16 kernels that are least like the others do not count.
    separated, weakest : float
        Mean over rows, and the least, of 1 - a / c, where a is how alike the row's cluster and the
        most alike other one are, and c how alike the cluster's own halves are.
    contact : float or None
        How much the cluster that touches another one most does so: the mean over a twentieth of its
        rows of the share that another cluster has in their company at the finest scale. None
        where it was not looked at, and all that is lacking counts.
    """

    psi: int
    n_clusters: int
    reproduced: float
    separated: float
    weakest: float
    contact: float | None = None

    @property
    def credit(self) -> float:
        """How well it is reproduced, much of what it lacks being forgiven without contact."""
        if self.contact is None:
            return self.reproduced
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


def judge(psi: int, parts: list[Parts], numbers: range, standard: Standard) -> list[Cut]:
    """Return what speaks for each of some numbers of clusters, at first sight."""
    # Pairs of neighbours first: they show which cuts are worth comparing in all pairs.
    order = sorted(
        itertools.combinations(range(len(parts)), 2),
        key=lambda pair: pair[1] - pair[0] not in (1, len(parts) - 1),
    )
    tables = {
        (a, b): shared_rows(parts[a].labels, parts[b].labels, len(parts[a]), len(parts[b]))
        for a, b in order
    }
    return [_judge_cut(psi, parts, number, tables, standard) for number in numbers]


def _judge_cut(
    psi: int,
    parts: list[Parts],
    n_clusters: int,
    tables: dict[tuple[int, int], NDArray[np.int64]],
    standard: Standard,
) -> Cut:
    runs = [_Runs.of(each.tree.cut(n_clusters)) for each in parts]
    agreements: dict[tuple[int, int], float] = {}
    for (a, b), table in tables.items():
        if len(agreements) == len(parts) and np.mean([*agreements.values()]) < standard.hopeless:
            break
        agreements[a, b] = mean_jaccard(runs[b].total(runs[a].total(table).T).T)
    separations = np.mean([each.tree.separations[n_clusters - 1] for each in parts], axis=0)
    reproduced = _mean_of_most_alike(agreements, len(parts), standard.n_alike)
    return Cut(psi, n_clusters, reproduced, *separations.tolist())


def _mean_of_most_alike(
    agreements: dict[tuple[int, int], float], n_kernels: int, n_alike: int
) -> float:
    """Return the mean agreement of pairs of those kernels that are most like all others.

    If some pairs were not compared, it is the mean of those that were.
    """
    if len(agreements) < n_kernels * (n_kernels - 1) // 2 or n_alike == n_kernels:
        return float(np.mean([*agreements.values()]))
    table = np.zeros((n_kernels, n_kernels))
    for (a, b), agreement in agreements.items():
        table[a, b] = table[b, a] = agreement
    alike = np.argsort(-table.sum(axis=1), kind="stable")[:n_alike]
    return float(table[np.ix_(alike, alike)].sum() / (n_alike * (n_alike - 1)))


def look_closer(cut: Cut, parts: list[Parts], company: Company) -> Cut:
    """Return a cut with contact at the finest scale, of the clusters that kernels agree on.

    If they do not agree on as many, it is 1: what they do not agree on cannot be told apart.
    """
    agreed = vote([each.cut(cut.n_clusters) for each in parts], cut.n_clusters)
    if len(np.unique(agreed[agreed >= 0])) < cut.n_clusters:
        return replace(cut, contact=1.0)
    return replace(cut, contact=contact(company.with_members(agreed, cut.n_clusters), agreed))


class _Runs(NamedTuple):
    """Parts in the order of their clusters."""

    order: NDArray[np.intp]  # (m,)
    starts: NDArray[np.intp]  # (k,) of each cluster

    @classmethod
    def of(cls, clusters: NDArray[np.int64]) -> _Runs:
        order = np.argsort(clusters, kind="stable")
        return cls(order, np.flatnonzero(np.diff(clusters[order], prepend=-1)))

    def total(self, table: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the sums over the parts of each cluster, (k, ...), of what has a row for each."""
        return np.add.reduceat(table[self.order], self.starts, axis=0)
