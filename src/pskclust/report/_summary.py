"""Numbers in a report: summaries of the columns, the clusters and their typical members."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

MAX_COLUMNS = 40
MAX_CLUSTERS = 24
MAX_TRAITS = 6
_N_MEMBERS = 5
# Typical members are searched for among at most this many members of a cluster.
_MEMBERS_TO_LOOK_AT = 1000
_VALUES_AT_A_TIME = 1 << 22


@dataclass(frozen=True, eq=False)
class Columns:
    """Mean and spread of each column over all rows, and ranges of the first columns."""

    means: NDArray[np.float64]  # (d,)
    spreads: NDArray[np.float64]  # (d,) standard deviations
    ranges: NDArray[np.float64]  # (few, 3) smallest, median, largest

    @classmethod
    def of(cls, rows: NDArray[Any]) -> Columns:
        means, spreads = _mean_and_spread(rows, np.arange(len(rows)))
        few = range(min(MAX_COLUMNS, rows.shape[1]))
        ranges = [np.percentile(rows[:, column], [0, 50, 100]) for column in few]
        return cls(means, spreads, np.array(ranges))


@dataclass(frozen=True, eq=False)
class Trait:
    """A column in which a cluster differs from the whole data set."""

    column: int
    mean: float
    spread: float
    difference: float  # mean of the cluster minus mean of all rows, in standard deviations of all


@dataclass(frozen=True, eq=False)
class Cluster:
    """Size, similarities, distinctive columns and typical members of a cluster."""

    number: int
    size: int
    share: float
    quartiles: NDArray[np.float64]  # (3,) of the similarities of members
    traits: list[Trait]  # in decreasing order of the difference
    members: list[int]  # numbers of typical rows, the row nearest to the mean first


@dataclass(frozen=True, eq=False)
class Summary:
    """Numbers about all rows and their clusters."""

    columns: Columns
    sizes: NDArray[np.int64]  # (k,)
    quartiles: NDArray[np.float64]  # (k, 3)
    clusters: list[Cluster]  # the largest clusters, in the order of their numbers
    n_noise: int

    @classmethod
    def of(cls, model: Any, rows: NDArray[Any]) -> Summary:
        columns = Columns.of(rows)
        members = _members(model.labels_, model.n_clusters_)
        scores = _outlier_scores(model)
        sizes = np.array([len(some) for some in members], dtype=np.int64)
        quartiles = [np.percentile(model.similarities_[some], [25, 50, 75]) for some in members]
        largest = np.sort(np.argsort(-sizes, kind="stable")[:MAX_CLUSTERS])
        clusters = [
            Cluster(
                int(number),
                int(sizes[number]),
                sizes[number] / len(rows),
                quartiles[number],
                _traits(rows, members[number], columns),
                _typical(rows, members[number], scores, columns.spreads),
            )
            for number in largest
        ]
        n_noise = int(np.count_nonzero(model.labels_ < 0))
        return cls(columns, sizes, np.reshape(quartiles, (-1, 3)), clusters, n_noise)


def _members(labels: NDArray[np.int64], n_clusters: int) -> list[NDArray[np.intp]]:
    """Return the row numbers of the members of each cluster."""
    by_label = np.argsort(labels, kind="stable")
    ends = np.searchsorted(labels[by_label], np.arange(-1, n_clusters), side="right")
    return [by_label[start:end] for start, end in itertools.pairwise(ends)]


def _mean_and_spread(
    rows: NDArray[Any], chosen: NDArray[np.intp]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the mean and standard deviation of each column over `chosen` rows, chunk by chunk.

    Values are measured from the first row, so that a constant column has a spread of exactly 0.
    """
    first = rows[chosen[0]].astype(np.float64)
    step = max(1, _VALUES_AT_A_TIME // rows.shape[1])
    parts = [chosen[start : start + step] for start in range(0, len(chosen), step)]
    mean = first + sum((rows[part] - first).sum(axis=0) for part in parts) / len(chosen)
    squares = sum(np.square(rows[part] - mean).sum(axis=0) for part in parts)
    return np.asarray(mean), np.sqrt(squares / len(chosen))


def _traits(rows: NDArray[Any], members: NDArray[np.intp], columns: Columns) -> list[Trait]:
    means, spreads = _mean_and_spread(rows, members)
    different = np.where(columns.spreads > 0, columns.spreads, np.inf)
    differences = (means - columns.means) / different
    most = np.argsort(-np.abs(differences), kind="stable")[:MAX_TRAITS]
    return [
        Trait(int(column), means[column], spreads[column], differences[column]) for column in most
    ]


def _outlier_scores(model: Any) -> NDArray[np.float64]:
    """Return outlier scores; for a model file of an earlier version, negative similarities."""
    known = model.fitted_.whole is not None
    return np.asarray(model.outlier_scores_ if known else -model.similarities_)


def _typical(
    rows: NDArray[Any],
    members: NDArray[np.intp],
    scores: NDArray[np.float64],
    spreads: NDArray[np.float64],
) -> list[int]:
    """Return typical members: the one nearest to the mean of the columns, and others far apart.

    All are among the half of the members with lower outlier scores. The members that are most
    similar to their cluster may be at its edge, where cells are large.

    Each further member is the farthest from those found before it, with columns measured in
    standard deviations. Of equal rows, only one is returned.
    """
    by_score = members[np.argsort(scores[members], kind="stable")]
    half = by_score[: max(_N_MEMBERS, len(members) // 2)]
    most = min(_MEMBERS_TO_LOOK_AT, max(_N_MEMBERS, _VALUES_AT_A_TIME // rows.shape[1]))
    some = half[:: -(-len(half) // most)]
    varying = spreads > 0
    points = rows[some][:, varying] / spreads[varying]
    first = int(np.square(points - points.mean(axis=0)).sum(axis=1).argmin())
    found, distances = [first], np.full(len(some), np.inf)
    while len(found) < _N_MEMBERS:
        from_last = np.square(points - points[found[-1]]).sum(axis=1)
        distances = np.minimum(distances, from_last)
        farthest = int(distances.argmax())
        if not distances[farthest] > 0:
            break
        found.append(farthest)
    return [int(some[place]) for place in (first, *sorted(found[1:]))]
