"""Compiled loop that labels whole superblocks by bounds, without finding the cells of rows."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

from __future__ import annotations

from . import boxes, neighbour_blocks
from .boxes import bound_gains
from .compiling import compiled_into, compiled_with
from .neighbour_blocks import extremes

compiled = compiled_with(boxes, neighbour_blocks)

# Labels of superblocks in which rows may have different ones, and of noise.
UNSETTLED, _NOISE = -2, -1


@compiled_into
def find_box(points, first, last, low, high):
    """Fill the lower and the upper corner, (1, d), of the box around some points."""
    for column in range(points.shape[1]):
        low[0, column] = high[0, column] = points[first, column]
        for place in range(first + 1, last):
            low[0, column] = min(low[0, column], points[place, column])
            high[0, column] = max(high[0, column], points[place, column])


@compiled_into
def bound_scores(
    low,  # IN   (1, d)
    high,  # IN   (1, d)
    centres,  # IN   (t, d, psi)
    tables,  # IN   (k, t, psi + 1)
    bounds,  # TMP  (2, psi)
    possible,  # TMP  (psi,) centres that may be nearest to a point of the box
    scores,  # OUT  (2, k) the lowest and the highest score that a point of the box can have
):
    """Bound the scores of all points of a box against each cluster."""
    for cluster in range(len(tables)):
        scores[0, cluster] = scores[1, cluster] = 0
    for i in range(len(centres)):
        bound_gains(low, high, 0, centres[i], centres.shape[2], bounds)
        n_possible = 0
        for number in range(centres.shape[2]):
            possible[n_possible] = number
            n_possible += bounds[1, number] >= 0
        for cluster in range(len(tables)):
            small, large = extremes(tables[cluster], i, possible, 0, n_possible)
            scores[0, cluster] += small
            scores[1, cluster] += large


@compiled_into
def common_label(scores, denominators, threshold):
    """Return the label of all rows with scores between bounds; UNSETTLED if it may differ."""
    sure, label = 0.0, _NOISE
    for cluster in range(len(denominators)):
        sure = max(sure, scores[0, cluster] / denominators[cluster])
    for cluster in range(len(denominators)):
        highest = scores[1, cluster] / denominators[cluster]
        if highest < sure or highest <= threshold:
            continue
        if label != _NOISE or sure <= threshold:
            return UNSETTLED
        label = cluster
    return label


@compiled
def label_superblocks(
    points,  # IN   (n, d)
    order,  # IN   (n,) row number at each position
    superblocks,  # IN   (m,) numbers of the superblocks
    n_rows,  # IN   number of rows of a superblock
    centres,  # IN   (t, d, psi)
    tables,  # IN   (k, t, psi + 1)
    denominators,  # IN   (k,)
    threshold,  # IN   value that a similarity must exceed
    box,  # TMP  (2, 1, d)
    bounds,  # TMP  (2, psi)
    possible,  # TMP  (psi,)
    scores,  # TMP  (2, k)
    common,  # OUT  (n_superblocks,) the label of all rows, or UNSETTLED
    labels,  # OUT  (n,) by row number, where the label is settled
):
    """Find the superblocks in which all rows are most similar to the same cluster."""
    for superblock in superblocks:
        first, last = superblock * n_rows, min((superblock + 1) * n_rows, len(points))
        find_box(points, first, last, box[0], box[1])
        bound_scores(box[0], box[1], centres, tables, bounds, possible, scores)
        label = common_label(scores, denominators, threshold)
        common[superblock] = label
        for place in range(first, last if label != UNSETTLED else first):
            labels[order[place]] = label
