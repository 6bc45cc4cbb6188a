"""Compiled growth for a sample of a few thousand rows of weight 1 that is fitted many times.

`grow_rows` is a twin of `grow` in `_pskc/growth.py`: the same Algorithm 1, without an engine. A
change of one must be made in both; `test_kernel_sweep.py` (`test_compiled_growth_is_growth`)
checks that they give the same clusters to the bit.
"""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

import math

import numpy as np

from .compiling import compiled, compiled_within


@compiled
def grow_rows(
    cells,  # IN   (n, t)
    psi,  # IN   number of cells of each partitioning; beyond is having no cell
    tau,
    growth_rate,
    starts,  # IN   (t * (psi + 1) + 1,) where the rows of a cell start; empty to do without
    members,  # IN   (n * t,) the rows
    labels,  # OUT  (n,)
    steps,  # OUT  (n,)
    seeds,  # OUT  (n,) the first k
    n_steps,  # OUT  (n,) the first k
):
    """Run Algorithm 1 on rows of weight 1; return the number of clusters k.

    What each row scores against the growing cluster, and against all rows left, is kept from step
    to step: a row that joins adds to the scores of the rows in its cells. Where cells hold many
    rows, it is faster to count and to score anew. The steps share so many arrays that they are one
    function.
    """
    n_rows, n_partitions = cells.shape
    labels[:] = -1
    steps[:] = -1
    counts = np.zeros((n_partitions, psi + 1), dtype=np.int64)
    left_scores = np.zeros(n_rows, dtype=np.int64)
    scores = np.zeros(n_rows, dtype=np.int64)
    left = np.arange(n_rows)
    add_rows(cells, psi, left, counts)
    score_rows(cells, counts, left, left_scores)
    joined = np.empty(n_rows, dtype=np.int64)
    n_left, n_clusters = n_rows, 0
    while n_left > 1:
        first = best_of(left[:n_left], left_scores)
        joined[0], labels[first] = first, n_clusters
        n_left = drop_labelled(left, n_left, labels)
        counts[:] = 0
        scores[:] = 0
        take_in(cells, psi, joined[:1], left[:n_left], starts, members, counts, scores)
        second = best_of(left[:n_left], scores)
        threshold = (1 - growth_rate) * (scores[second] / n_partitions)
        if threshold <= tau:
            labels[first] = -1
            break
        joined[1], labels[second] = second, n_clusters
        steps[first] = steps[second] = 0
        n_added, n_joined, step = 1, 2, 0
        while True:
            if n_added < n_joined:
                added = joined[n_added:n_joined]
                n_added = n_joined
                n_left = drop_labelled(left, n_left, labels)
                take_in(cells, psi, added, left[:n_left], starts, members, counts, scores)
            if threshold <= tau:
                break
            step += 1
            min_score = smallest_passing_score(threshold, n_partitions * n_joined)
            for place in range(n_left):
                row = left[place]
                if scores[row] >= min_score:
                    labels[row], steps[row] = n_clusters, step
                    joined[n_joined] = row
                    n_joined += 1
            threshold *= 1 - growth_rate
        for place in range(n_left):
            left_scores[left[place]] -= scores[left[place]]
        seeds[n_clusters], n_steps[n_clusters] = first, step
        n_clusters += 1
    return n_clusters


@compiled_within
def smallest_passing_score(threshold, denominator):
    score = math.floor(threshold * denominator)
    while score / denominator > threshold:
        score -= 1
    while not score / denominator > threshold:
        score += 1
    return score


@compiled_within
def best_of(rows, scores):
    """Find the row with the highest score, the first one if there are ties."""
    best = rows[0]
    for row in rows:
        if scores[row] > scores[best]:
            best = row
    return best


@compiled_within
def drop_labelled(left, n_left, labels):
    """Leave only the rows in no cluster, in their order; return how many they are."""
    n_kept = 0
    for place in range(n_left):
        if labels[left[place]] < 0:
            left[n_kept] = left[place]
            n_kept += 1
    return n_kept


@compiled_within
def take_in(cells, psi, rows, left, starts, members, counts, scores):
    """Bring the scores of the rows left up to date with rows that join the cluster."""
    if len(starts) > 0:
        add_to_scores(cells, psi, rows, starts, members, scores)
    else:
        add_rows(cells, psi, rows, counts)
        score_rows(cells, counts, left, scores)


@compiled_within
def add_rows(cells, psi, rows, counts):
    for row in rows:
        for i in range(cells.shape[1]):
            if cells[row, i] < psi:
                counts[i, cells[row, i]] += 1


@compiled_within
def score_rows(cells, counts, rows, scores):
    for row in rows:
        score = 0
        for i in range(cells.shape[1]):
            score += counts[i, cells[row, i]]
        scores[row] = score


@compiled_within
def add_to_scores(cells, psi, rows, starts, members, scores):
    """Add what rows that join a cluster give to the scores of all rows that share their cells."""
    for row in rows:
        for i in range(cells.shape[1]):
            if cells[row, i] < psi:
                cell = i * (psi + 1) + cells[row, i]
                for place in range(starts[cell], starts[cell + 1]):
                    scores[members[place]] += 1


@compiled
def add_company(
    cells,  # IN   (n, t)
    psi,  # IN   number of cells of each partitioning; beyond is having no cell
    labels,  # IN   (n,) -1 for rows in no cluster
    met,  # INOUT (n, k) in how many cells a row meets members of each cluster
):
    """Count the company that members of each cluster give to each row, itself aside."""
    n_rows, n_partitions = cells.shape
    n_clusters = met.shape[1]
    # The last column is that of rows in no cluster.
    counts = np.empty((psi, n_clusters + 1))
    for i in range(n_partitions):
        counts[:] = 0
        for row in range(n_rows):
            if cells[row, i] < psi:
                counts[cells[row, i], labels[row]] += 1
        for row in range(n_rows):
            if cells[row, i] < psi:
                for cluster in range(n_clusters):
                    met[row, cluster] += counts[cells[row, i], cluster]
                if labels[row] >= 0:
                    met[row, labels[row]] -= 1
