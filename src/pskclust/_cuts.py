"""What speaks for clusters that parts of the same rows are linked to.

Several kernels of one psi grow parts and link them to 2, 3, ... clusters. A cut that the data asks
for comes out the same whatever the kernel, and its clusters are less alike each other than the
halves of each.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ._consensus import Labels, likeness, mean_jaccard, shared_rows, vote
from ._contact import Company, contact
from ._kernel_sweep import Parts

# Halves of the kernels, each with the rest for its other one.
_HALVES = ((0, 1, 2, 3), (0, 2, 4, 6), (0, 1, 4, 5))
# Clusters that do not touch are believed more readily: a part of what they lack counts.
_NO_CONTACT = 0.05
_FULL_CONTACT = 0.2
_LACKING_WITHOUT_CONTACT = 0.25
# What a cut is worth: a hundredth less reproduced weighs as much as a fifth more clusters.
_WORTH_OF_REPRODUCED = 20.0
_WORTH_OF_SEPARATED = 0.5
# A cut with less in a round of pairs is not looked at further.
_HOPELESS = 0.8


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


def judge(psi: int, parts: list[Parts], numbers: range) -> list[Cut]:
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
    return [_judge_cut(psi, parts, number, order, tables) for number in numbers]


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


def look_closer(cut: Cut, parts: list[Parts], company: Company, halves: bool) -> Cut:
    """Return a cut with contact at the finest scale, and with what halves of kernels agree on."""
    labels = [each.cut(cut.n_clusters) for each in parts]
    alike = likeness(labels, cut.n_clusters)
    agreed = vote(labels, cut.n_clusters, alike)
    touching = contact(company.with_members(agreed, cut.n_clusters), agreed)
    if not halves:
        return replace(cut, contact=touching)
    by_halves = _reproduced_by_halves(labels, cut.n_clusters, alike)
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
