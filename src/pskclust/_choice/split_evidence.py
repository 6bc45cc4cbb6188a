"""Evidence for each single split of a tree, without labels.

The names of columns are those in docs/automatic.md and in weights.json.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .borders import (
    LEAST,
    NOT_FOUND,
    Border,
    Floats,
    Nodes,
    Sides,
    border_of,
    cohesion_of,
    low_quantile,
    mean,
)
from .discriminant import separations
from .scales import Around
from .stability import Grown, GrownTree, HeldOut

# How well the sides are found again, how large they are, and at which height they were joined.
_OF_NODES = (
    "found_low",
    "found_high",
    "found_whole",
    "found_worst",
    "crossed_low",
    "crossed_whole",
    "log_size",
    "log_share",
    "log_whole",
    "log_cells",
    "height",
    "height_below",
    "height_above",
)
# How much the sides differ and touch.
_OF_SIDES = (
    "ratio",
    "silhouette",
    "ambiguous",
    "contact",
    "contact_smaller",
    "valley",
    "silhouette_low",
    "silhouette_q10",
    "silhouette_q25",
    "fine_silhouette",
    "apart",
    "dip",
)
# The same for the matching split of the tree of one half, measured on rows of the other half.
_HELD_OUT = (
    "held_ratio",
    "held_silhouette",
    "held_contact",
    "held_valley",
    "held_valley_least",
    "held_sure",
    "held_saddle",
    "held_wide_valley",
    "held_wide_sure",
    "held_wide_contact",
)
_OF_BORDERS = ("saddle", "wide_valley", "wide_contact")
SPLIT_NAMES = (*_OF_NODES, *_OF_SIDES, *_HELD_OUT, *_OF_BORDERS)
_NO_SILHOUETTE = 0.1


def split_evidence(grown: Grown, number: int) -> Floats:
    """Return the evidence for each split of a tree, (s, len(SPLIT_NAMES))."""
    each = grown.trees[number]
    tree = each.tree
    if not tree.n_splits:
        return np.zeros((0, len(SPLIT_NAMES)))
    large, small = tree.children.T
    swapped = tree.sizes[large] < tree.sizes[small]
    large, small = np.where(swapped, small, large), np.where(swapped, large, small)
    return np.column_stack(
        [
            *_of_nodes(grown, number, large, small),
            *_of_sides(grown, each, large, small),
            _held_out(grown, each, small),
            *_of_borders(grown, each, large, small),
        ]
    )


def _of_nodes(grown: Grown, number: int, large: Nodes, small: Nodes) -> list[Floats]:
    each, crossed = grown.trees[number], grown.crossed[number]
    tree, found = each.tree, each.found.mean(axis=0)
    sizes, whole = tree.sizes, tree.owners
    below = np.zeros(tree.n_nodes)
    below[whole] = tree.heights
    parent = tree.parents[whole]
    above = np.where(parent >= 0, below[parent], tree.heights)
    return [
        np.minimum(found[large], found[small]),
        np.maximum(found[large], found[small]),
        found[whole],
        np.minimum(each.found[:, large].min(axis=0), each.found[:, small].min(axis=0)),
        np.minimum(crossed[large], crossed[small]),
        crossed[whole],
        np.log(sizes[small]),
        np.log(sizes[small] / sizes[whole]),
        np.log(sizes[whole] / grown.n_rows),
        np.log(tree.psi * sizes[whole] / grown.n_rows),
        tree.heights,
        tree.heights - np.maximum(below[large], below[small]),
        above - tree.heights,
    ]


def _of_sides(grown: Grown, each: GrownTree, large: Nodes, small: Nodes) -> list[Floats]:
    tree = each.tree
    sides = Sides.of(large, small, tree.within[tree.leaves[grown.rows]])
    cohesion = cohesion_of(each.meetings, tree.sizes, sides)
    silhouettes, inside = cohesion.silhouettes, sides.inside
    border = border_of(each.fine_meetings, grown.log_gaps, grown.dimension, sides)
    per_row = each.fine_meetings / tree.sizes
    one, other = per_row[:, large], per_row[:, small]
    fine = (one - other) / np.maximum(one + other, LEAST)
    return [
        cohesion.ratio(sides),
        mean(silhouettes, inside),
        mean(silhouettes < _NO_SILHOUETTE, inside),
        border.contact,
        border.contact_of_other,
        border.valley,
        np.minimum(mean(silhouettes, sides.in_one), mean(silhouettes, sides.in_other)),
        low_quantile(silhouettes, inside, 0.1),
        low_quantile(silhouettes, inside, 0.25),
        mean(np.where(sides.in_one, fine, -fine), inside),
        *separations(grown.axes, tree.within[tree.leaves], large, small),
    ]


def _held_out(grown: Grown, each: GrownTree, small: Nodes) -> Floats:
    """Return the evidence from rows that were not used to grow a split: the mean over halves.

    The matching split in the tree of a half is the one that makes the node most similar to the
    smaller side.
    """
    found = np.array([_of_half(grown, half, small) for half in each.held_out])
    means = found.mean(axis=0)
    return np.column_stack([means[:, :4], found[:, :, 3].min(axis=0), means[:, 4:]])


def _of_half(grown: Grown, half: HeldOut, small: Nodes) -> Floats:
    tree = half.tree
    if not tree.n_splits:
        return np.tile(NOT_FOUND, (len(small), 1))
    one, other = tree.children.T
    sides = Sides.of(one, other, half.within[half.rows])
    cohesion = cohesion_of(half.meetings, half.within.sum(axis=0).astype(np.float64), sides)
    few, more = _borders(half.around, half.within, grown.dimension, one, other)
    evidence = np.column_stack(
        [
            cohesion.ratio(sides),
            mean(cohesion.silhouettes, sides.inside),
            few.contact,
            few.valley,
            few.sure,
            few.saddle,
            more.valley,
            more.sure,
            more.contact,
        ]
    )
    answer: Floats = evidence[half.matches[small]]
    return answer


def _of_borders(grown: Grown, each: GrownTree, large: Nodes, small: Nodes) -> list[Floats]:
    within = each.tree.within[each.tree.leaves]
    few, more = _borders(grown.around, within, grown.dimension, large, small)
    return [few.saddle, more.valley, more.contact]


def _borders(
    around: Around, within: NDArray[np.bool_], dimension: float, one: Nodes, other: Nodes
) -> tuple[Border, Border]:
    """Return the borders of splits, measured with a few nearest rows of each row and with more."""
    sides = Sides.of(one, other, within)
    few, more = around.counts(within)
    return (
        border_of(few, around.log_few, dimension, sides),
        border_of(more, around.log_more, dimension, sides),
    )
