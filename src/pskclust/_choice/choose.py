"""Choose a clustering of a sample without labels: the most typical of the best candidates."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.random import RandomState
from numpy.typing import NDArray

from .._data.rows import FitRows
from .._data.weights import RowWeights
from .._utils.memory import require_memory
from .._utils.parallel import one_blas_thread
from .._utils.progress import Progress, Report, ignore
from .._utils.wording import counted
from .bands import best_of_bands
from .borders import Floats
from .consensus import numbers_by_size, share_agreeing
from .draws import N_BEST, Draw
from .evidence import Candidate, gather_evidence
from .noise import NoiseRule
from .options import ONE, AutoChoice, Option, numbers_of
from .pooling import MAX_DRAWS, Place, Pool, best_of, pool_draws
from .reasons import reason_if_given, reason_of, warn_of_limit
from .reassignment import reassigned
from .sample import Sample, Samples, draw_samples
from .similarity import (
    draw_nested_cells,
    nearest_of,
    nearest_rows,
    shared_cells,
    squared_distances,
)
from .split_tree import AVERAGE, SplitTree, condense, join_rows, settle
from .stability import MAX_PLACING_PSI, grow_trees, min_rows_for

# More rows add little information, and the cost grows with their square.
MAX_ROWS = 2_000
# In fewer rows, clusters cannot be distinguished from chance.
MIN_ROWS_TO_DIVIDE = 12
# Largest share of rows in clusters below `min_cluster_size` for a cut to be a candidate.
MAX_SHARE_TOO_SMALL = 0.1
_N_SHOWN = 10
# Memory of a choice. For each pair of rows: distances, neighbours and shared cells. For each cell
# of a row: its number at each psi, and the products that count shared cells. For each row of a
# draw: its nodes, its clusters in the best candidates, and its cells. For each pair of the best
# candidates of all draws: their agreement. Values are those of all rows that are drawn, of the
# first sample, and of the sample of a draw.
_BYTES_PER_PAIR = 50
_BYTES_PER_CELL = 50
_BYTES_PER_ROW_OF_DRAW = 700
_BYTES_PER_CELL_OF_DRAW = 6
_BYTES_PER_PAIR_OF_CANDIDATES = 60
_BYTES_PER_VALUE = 8


@dataclass(frozen=True, eq=False)
class Chosen:
    """The outcome of a choice on a sample."""

    noise: NoiseRule
    rows: NDArray[np.intp]  # (n,) row numbers of the sample without noise, ascending
    points: NDArray[np.float64]  # (n, d)
    choice: AutoChoice
    cut: NDArray[np.int64]  # (n,) clusters of the cut, numbered as in `labels`
    labels: NDArray[np.int64]  # (n,) clusters after the reassignment of rows
    confidences: NDArray[np.float64]  # (n,) share of the odds of candidates that agree
    tree: SplitTree
    centres: NDArray[np.intp]  # (t, psi) rows of the sample: centres of the cells that assign rows
    cells: NDArray[np.int32]  # (t, n) these cells, of the rows of the sample


def choose(
    data: FitRows,
    psi: int | None,
    n_clusters: int | None,
    n_partitions: int,
    rng: RandomState,
    n_jobs: int | None = 1,
    report: Report = ignore,
    min_cluster_size: int = 0,
) -> Chosen:
    """Choose a clustering of a sample of rows; psi and the number of clusters may be given.

    `min_cluster_size` counts in all rows, not only in the sample. It does not limit a choice whose
    number of clusters is given.
    """
    n_slots = data.weights.n_slots
    n_rows = min(n_slots, MAX_ROWS)
    # One draw is enough if the number of clusters is given, and small data is its own sample.
    n_samples = 1 if n_clusters or n_rows == n_slots else MAX_DRAWS
    n_drawn = min(n_slots, n_samples * n_rows)
    bytes_per_row = _BYTES_PER_ROW_OF_DRAW + _BYTES_PER_CELL_OF_DRAW * n_partitions
    require_memory(
        {
            "distances": _BYTES_PER_PAIR * n_rows**2,
            "cells": _BYTES_PER_CELL * n_rows * n_partitions,
            "draws": bytes_per_row * n_rows * MAX_DRAWS,
            "candidates": _BYTES_PER_PAIR_OF_CANDIDATES * (N_BEST * MAX_DRAWS) ** 2,
            "samples": _BYTES_PER_VALUE * data.n_columns * (n_drawn + 2 * n_rows),
        },
        f"Choosing clusters on {n_rows} rows with n_partitions={n_partitions}",
        "Use a smaller n_partitions.",
    )
    samples = draw_samples(data, n_rows, n_samples, rng)
    report(Progress("choose", 0, 1))
    noise = samples.noise
    rows, points = samples.rows, samples.points
    if psi is not None and psi > len(rows):
        # With tau, clusters grow on all rows, of which there may be more.
        or_tau = ", or set tau as well, so that clusters grow on all rows"
        raise ValueError(
            f"psi={psi} is more than the {len(rows)} rows that the choice is made on. Use psi <= "
            f"{len(rows)}{or_tau if psi <= n_slots else ''}."
        )
    least = 0.0 if n_clusters else _least_rows(min_cluster_size, data.weights, n_rows)
    # One thread, so that rounding does not depend on the number of threads.
    with one_blas_thread:
        found: _Found | _RuledOut | None = None
        if len(rows) >= MIN_ROWS_TO_DIVIDE:
            found = _best_of_many(samples, psi, n_clusters, n_partitions, rng, n_jobs, least)
        if not isinstance(found, _Found):
            reason = _reason_for_one(len(rows), min_cluster_size, found)
            found = _by_one_tree(points, psi, n_clusters, n_partitions, rng, reason)
    if n_clusters is None:
        warn_of_limit(found.choice)
    report(Progress("choose", 1, 1, found.choice.chosen.n_clusters))
    return Chosen(noise, rows, points, *found)


class _Found(NamedTuple):
    choice: AutoChoice
    cut: NDArray[np.int64]
    labels: NDArray[np.int64]
    confidences: NDArray[np.float64]
    tree: SplitTree
    centres: NDArray[np.intp]
    cells: NDArray[np.int32]


class _RuledOut(NamedTuple):
    """Outcome if all candidates have clusters that are too small."""

    n_clusters: int  # of the best candidate without the limit on sizes


def _best_of_many(
    samples: Samples,
    psi: int | None,
    n_clusters: int | None,
    n_partitions: int,
    rng: RandomState,
    n_jobs: int | None,
    least_rows: float,
) -> _Found | _RuledOut | None:
    """Return the best candidate of all trees; None if no tree has a cut into `n_clusters`."""
    numbers = None if n_clusters is None else np.arange(max(2, n_clusters), n_clusters + 1)
    # If all draws have the same rows, values that do not depend on a draw are computed once.
    shared = None if samples.others else Sample(samples.points)

    def drawn(before: list[Draw]) -> Draw:
        points = samples.of_draw(len(before))
        sample = Sample(points) if shared is None else shared
        sizes = sample.sizes if psi is None else [psi]
        grown = grow_trees(sample, sizes, n_partitions, rng, numbers, n_jobs)
        draw = Draw.of(grown, gather_evidence(grown, n_jobs))
        if not samples.others or not before:
            return draw
        return draw.over(before[0], nearest_of(samples.points, points))

    pool = pool_draws(drawn, is_open=n_clusters is None)
    if pool is None:
        return None
    if n_clusters is not None:
        pool = pool._replace(several=np.inf)
    draws = [draw.without(_too_small(draw, least_rows)) for draw in pool.draws]
    best = best_of(draws) if least_rows > 1 else pool.best
    if best is None:
        place = pool.best.place
        candidate = pool.draws[place.draw].found.candidates[place.candidate]
        return _RuledOut(candidate.n_clusters if pool.several > 0 else 1)
    several = pool.several if n_clusters is None else np.inf
    return _found(Pool(draws, best, several), n_clusters)


def _found(pool: Pool, n_clusters: int | None) -> _Found:
    """Return the winner of a pool, or one cluster, with the candidates that it was chosen from."""
    draws, best, several = pool
    share_of_one = 1 / (1 + math.exp(several))
    odds = dict(zip(best.places, (1 - share_of_one) * best.odds, strict=True))

    def option(place: Place) -> Option:
        return _option(draws[place.draw], place.candidate, odds.get(place, 0.0))

    options = [option(place) for place in best.places]
    chosen, draw = options[best.winner], draws[best.place.draw]
    number = draw.found.candidates[best.place.candidate].tree
    tree = draw.grown.trees[number].tree
    if n_clusters is None:
        one = Option(ONE, tree.psi, 1, several, share_of_one, *[None] * 5)
        options = [one, *options]
        chosen = one if several <= 0 else chosen
    shown = sorted(options, key=lambda option: -option.odds)[:_N_SHOWN]
    candidates, logits = draw.found.candidates, draw.logits[number]
    cuts = _supported_cuts(candidates, number, logits, chosen.n_clusters, tree.n_splits + 1)
    bands = best_of_bands({k: draw.score[cut] for k, cut in cuts.items()}, [chosen.n_clusters])
    layers = tuple(
        chosen if k == chosen.n_clusters else option(Place(best.place.draw, cuts[k])) for k in bands
    )
    considered = numbers_of(options, chosen)
    reason = reason_of(chosen, considered, n_clusters)
    n_rows = draw.grown.n_rows
    choice = AutoChoice(chosen, tuple(shown), reason, n_rows, layers, considered)
    centres, cells = draw.grown.placing_centres, draw.grown.placing_cells
    if chosen.n_clusters == 1:
        one_label, confidences = np.zeros(n_rows, dtype=np.int64), np.full(n_rows, share_of_one)
        return _Found(choice, one_label, one_label, confidences, tree, centres, cells)
    cut = best.labels[best.winner]
    labels = reassigned(cut, cells, centres.shape[1], min_rows_for(n_rows))
    numbers = numbers_by_size(labels)
    cut, labels = numbers[cut], numbers[labels]
    confidences = (1 - share_of_one) * share_agreeing(labels, best.labels, best.odds)
    return _Found(choice, cut, labels, confidences, tree, centres, cells)


def _supported_cuts(
    candidates: list[Candidate], tree: int, logits: Floats, chosen: int, most: int
) -> dict[int, int]:
    """Return the cuts of a tree whose splits are likely real on average.

    The result maps numbers of clusters, up to `most`, to indices of candidates. For a cut finer
    than the chosen one, only the additional splits count. `logits` are the log odds of the splits
    of the tree.
    """

    def is_supported(n_clusters: int) -> bool:
        first = chosen - 1 if n_clusters > chosen else 0
        return bool(logits[first : n_clusters - 1].mean() > 0)

    return {
        candidate.n_clusters: number
        for number, candidate in enumerate(candidates)
        if candidate.tree == tree
        and candidate.n_clusters <= most
        and is_supported(candidate.n_clusters)
    }


def _least_rows(min_cluster_size: int, weights: RowWeights, n_rows: int) -> float:
    """Return the fewest rows that a cluster may have in a sample of `n_rows`."""
    # Without a margin for chance: dissolving chosen clusters is worse than choosing larger ones.
    return min_cluster_size * weights.one / weights.total * n_rows


def _too_small(draw: Draw, least_rows: float) -> NDArray[np.bool_]:
    """Return which cuts have many rows in clusters of fewer than `least_rows` rows."""
    numbers = range(len(draw.found.candidates))
    if least_rows <= 1:
        return np.zeros(len(numbers), dtype=bool)
    sizes = [np.bincount(draw.labels(number)) for number in numbers]
    shares = [some[some < least_rows].sum() / some.sum() for some in sizes]
    return np.array(shares) > MAX_SHARE_TOO_SMALL


def _by_one_tree(
    points: NDArray[np.float64],
    psi: int | None,
    asked: int | None,
    n_partitions: int,
    rng: RandomState,
    reason_for_one: str,
) -> _Found:
    """Return the cut of a single tree of all rows into `asked` clusters of any size.

    Used for few rows, for more clusters than the other trees have, and for one cluster if no cut
    has clusters that are large enough.
    """
    n_rows, n_clusters = len(points), asked or 1
    psi = max(2, n_rows // 2) if psi is None else min(psi, n_rows)
    distances = squared_distances(points)
    near = nearest_rows(distances, min(n_rows, psi))
    placing = min(psi, MAX_PLACING_PSI)
    drawn = draw_nested_cells(distances, near, sorted({placing, psi}), n_partitions, rng)
    joined = join_rows(shared_cells(drawn.cells[-1], psi), n_partitions, AVERAGE)
    possible = 1 + int(np.count_nonzero(joined[:, 2] > 0))
    if n_clusters > possible:
        raise ValueError(
            f"n_clusters={n_clusters} is more than the {counted(possible, 'cluster')} that "
            f"the {n_rows:,} sampled rows without noise can form (a sample has at most "
            f"{MAX_ROWS:,} rows). Use n_clusters <= {possible}."
        )
    tree = condense(joined, AVERAGE, psi, 1, n_clusters)
    tree = settle(tree, tree.nodes, distances, near)
    labels = tree.cut(n_clusters)
    labels = numbers_by_size(labels)[labels]
    kind = AVERAGE if n_clusters > 1 else ONE
    chosen = Option(kind, psi, n_clusters, 0.0, 1.0, *[None] * 5)
    reason = reason_for_one if asked is None else reason_if_given(n_clusters)
    numbers = numbers_of([chosen], chosen)
    choice = AutoChoice(chosen, (chosen,), reason, n_rows, (chosen,), numbers)
    centres, cells = drawn.centres[:, :placing], drawn.cells[0]
    return _Found(choice, labels, labels, np.ones(n_rows), tree, centres, cells)


def _option(draw: Draw, number: int, odds: float) -> Option:
    candidate = draw.found.candidates[number]
    tree = draw.grown.trees[candidate.tree].tree
    shown = ("found", "found_least", "crossed", "silhouette", "contact")
    return Option(
        tree.kind,
        tree.psi,
        candidate.n_clusters,
        float(draw.score[number]),
        float(odds),
        *(float(draw.evidence[name][number]) for name in shown),
    )


def _reason_for_one(n_rows: int, min_cluster_size: int, ruled_out: _RuledOut | None) -> str:
    """Return why there is one cluster although no candidate was compared with others."""
    if ruled_out is None:
        if n_rows < MIN_ROWS_TO_DIVIDE:
            return (
                f"1 cluster: fewer than {MIN_ROWS_TO_DIVIDE} rows (here {n_rows}) are divided only "
                "if you set the number of clusters"
            )
        return f"1 cluster: {n_rows:,} rows are too few, or too alike, to split"
    if ruled_out.n_clusters == 1:
        return "1 cluster: no split into more clusters is stable and well separated"
    return (
        f"1 cluster: every split leaves more than {MAX_SHARE_TOO_SMALL:.0%} of the rows in "
        f"clusters of fewer than min_cluster_size={min_cluster_size:,} rows; without this limit, "
        f"{counted(ruled_out.n_clusters, 'cluster')}"
    )
