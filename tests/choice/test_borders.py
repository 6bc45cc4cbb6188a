"""The two sides of splits, against loops over rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from pskclust._choice.borders import (
    DEEPEST,
    NO_VALLEY,
    Sides,
    border_of,
    cohesion_of,
    low_quantile,
    mean,
)
from pskclust._choice.discriminant import MAX_AXES, principal_axes, separations
from pskclust._choice.scales import N_FEW, N_MORE, Around
from pskclust._choice.similarity import nearest_rows, squared_distances

RNG = np.random.RandomState
N_ROWS, N_NODES = 60, 5


@pytest.fixture
def sides():
    """Two splits of some of the rows, into nodes 1 and 2, and 3 and 4."""
    within = np.zeros((N_ROWS, N_NODES), dtype=bool)
    within[:, 0] = True
    within[:25, 1] = within[25:, 2] = True
    within[:10, 3] = within[10:25, 4] = True
    return Sides.of(np.array([1, 3]), np.array([2, 4]), within)


@pytest.fixture
def meetings():
    return RNG(0).randint(1, 40, (N_ROWS, N_NODES)).astype(np.float32)


def test_cohesion_compares_the_own_side_with_the_other(sides, meetings):
    sizes = np.array([60.0, 25, 35, 10, 15])
    found = cohesion_of(meetings, sizes, sides)
    for split, (one, other) in enumerate(((1, 2), (3, 4))):
        for row in range(N_ROWS):
            if not sides.inside[row, split]:
                continue
            mine, theirs = (one, other) if sides.in_one[row, split] else (other, one)
            own = meetings[row, mine] / (sizes[mine] - 1)
            across = meetings[row, theirs] / sizes[theirs]
            assert found.own[row, split] == pytest.approx(own)
            assert found.other[row, split] == pytest.approx(across)
            silhouette = (own - across) / (own + across)
            assert found.silhouettes[row, split] == pytest.approx(silhouette, abs=1e-6)


def test_a_valley_is_the_density_of_the_sparser_side_less_that_of_the_border(sides, meetings):
    gaps = RNG(1).randn(N_ROWS)
    found = border_of(meetings, gaps, 2.0, sides)
    for split, (one, other) in enumerate(((1, 2), (3, 4))):
        shares, border, cores = [], [], ([], [])
        for row in np.flatnonzero(sides.inside[:, split]):
            mine, theirs = (one, other) if sides.in_one[row, split] else (other, one)
            share = meetings[row, theirs] / (meetings[row, mine] + meetings[row, theirs])
            shares.append(share)
            border.append((gaps[row], share * (1 - share)))
            cores[int(mine == other)].append((gaps[row], 1 - share))
        of_border, *of_cores = (
            np.average(np.array(some)[:, 0], weights=np.array(some)[:, 1])
            for some in (border, cores[0], cores[1])
        )
        assert found.contact[split] == pytest.approx(np.mean(shares), rel=1e-6)
        assert found.valley[split] == pytest.approx(2 * (of_border - max(of_cores)), rel=1e-5)


def densest(gaps, weights):
    """The largest gap in the densest quarter, by weight, of the rows."""
    order = np.argsort(gaps, kind="stable")
    sums = [sum(weights[order[: number + 1]]) for number in range(len(order))]
    return next(
        gaps[row] for row, some in zip(order, sums, strict=True) if some >= weights.sum() / 4
    )


@pytest.mark.parametrize("seed", range(20))
def test_borders_of_many_splits_are_those_of_loops(seed):
    """Splits of many, few and no rows, some of which meet neither side."""
    rng = RNG(seed)
    leaves = rng.randint(0, 9, N_ROWS)
    within = leaves[:, np.newaxis] == np.arange(10)
    one, other = np.array([(0, 1), (2, 3), (5, 4), (6, 9), (7, 8)]).T
    # Each row meets 8 others or none, so that shares and their sums are exact.
    meetings = rng.randint(0, 9, (N_ROWS, 10))
    meetings[:, other] = 8 - meetings[:, one]
    meetings[rng.rand(N_ROWS) < 0.2] = 0
    gaps, sides = rng.randn(N_ROWS), Sides.of(one, other, within)
    found = border_of(meetings.astype(np.float32), gaps, 3.0, sides)
    for split, pair in enumerate(zip(one, other, strict=True)):
        mine = np.where(within[:, pair[0]], *meetings[:, pair].T)
        theirs = np.where(within[:, pair[0]], *meetings[:, pair[::-1]].T)
        shares = np.where(mine + theirs > 0, theirs / np.maximum(mine + theirs, 1), 0)
        in_one, in_other = (within[:, node] * (1 - shares) for node in pair)
        weights = shares * (1 - shares) * within[:, pair].any(axis=1)
        if not in_one.any() or not in_other.any():
            assert (found.contact[split], found.saddle[split]) == (1, NO_VALLEY)
            continue
        inside = within[:, pair].any(axis=1)
        assert found.contact[split] == pytest.approx(shares[inside].mean())
        assert found.contact_of_other[split] == pytest.approx(shares[within[:, pair[1]]].mean())
        if not weights.any():
            assert (found.valley[split], found.saddle[split]) == (DEEPEST, DEEPEST)
            continue
        means = [np.average(gaps, weights=some) for some in (weights, in_one, in_other)]
        depth = 3 * (means[0] - max(means[1:]))
        assert found.valley[split] == pytest.approx(np.clip(depth, NO_VALLEY, DEEPEST), abs=1e-9)
        sure = depth * np.sqrt(1 + 4 * weights.sum())
        assert found.sure[split] == pytest.approx(np.clip(sure, -6, 20))
        peak = max(densest(gaps, in_one), densest(gaps, in_other))
        saddle = np.clip(3 * (densest(gaps, weights) - peak), NO_VALLEY, DEEPEST)
        assert found.saddle[split] == pytest.approx(saddle)


def test_sides_that_share_no_cell_have_the_deepest_valley(sides, meetings):
    apart = np.where(sides.in_one[:, :1], [0, 1, 0, 0, 0], [0, 0, 1, 0, 0]).astype(np.float32)
    found = border_of(apart, RNG(0).randn(N_ROWS), 2.0, sides)
    assert found.contact[0] == 0
    assert found.valley[0] == found.saddle[0] == DEEPEST


def test_a_side_that_no_row_is_on_shows_no_valley(sides, meetings):
    nobody = replace(sides, in_other=np.zeros_like(sides.in_other))
    found = border_of(meetings, RNG(0).randn(N_ROWS), 2.0, nobody)
    assert_array_equal(found.contact, 1)
    assert_array_equal(found.valley, NO_VALLEY)
    assert_array_equal(found.saddle, NO_VALLEY)


def test_a_valley_is_the_deeper_the_sparser_the_border_is(sides, meetings):
    """Rows that meet both sides alike are the border."""
    at_border = np.zeros(N_ROWS, dtype=bool)
    at_border[20:30] = True
    meets = np.where(sides.in_one[:, :1], [0, 9, 0, 0, 0], [0, 0, 9, 0, 0])
    meets[at_border] = [0, 5, 5, 0, 0]
    depths = []
    for sparse in (-1.0, 0.0, 1.0):
        gaps = np.where(at_border, sparse, 0.0)
        found = border_of(meets.astype(np.float32), gaps, 1.0, sides)
        depths.append((found.valley[0], found.sure[0], found.saddle[0]))
    assert (np.diff(depths, axis=0) > 0).all()
    assert depths[1] == pytest.approx((0, 0, 0))


def test_quantiles_and_means_are_of_rows_inside(sides):
    values = RNG(2).randn(N_ROWS, 2)
    for split in range(2):
        own = np.sort(values[sides.inside[:, split], split])
        found = low_quantile(values, sides.inside, 0.1)[split]
        assert found == own[int(0.1 * len(own))]
        assert mean(values, sides.inside)[split] == pytest.approx(own.mean())
    assert_array_equal(low_quantile(values, np.zeros_like(sides.inside), 0.1), [0, 0])


def test_counts_around_rows_are_of_the_nearest_others():
    X = RNG(0).rand(50, 2)
    within = RNG(1).rand(50, 4) < 0.5
    distances = squared_distances(X)
    around = Around.of(distances, nearest_rows(distances, 50))
    few, more = around.counts(within)
    for row in range(50):
        near = np.argsort(distances[row])[1:]
        assert_array_equal(few[row], within[near[:N_FEW]].sum(axis=0))
        assert_array_equal(more[row], within[near[:N_MORE]].sum(axis=0))
        gaps = np.sqrt(distances[row, near])
        gaps /= np.sqrt(distances.max())
        assert around.log_few[row] == pytest.approx(np.log(gaps[:N_FEW].mean()))
        assert around.log_more[row] == pytest.approx(np.log(gaps[:N_MORE].mean()))


def halves(X, in_one):
    """Return the separation of a single split of all rows."""
    within = np.column_stack([in_one, ~in_one])
    apart, dip = separations(principal_axes(X), within, np.array([0]), np.array([1]))
    return apart[0], dip[0]


@pytest.mark.parametrize("n_columns", [2, 10, 40])
def test_two_clusters_are_farther_apart_than_halves_of_one(n_columns):
    rng = RNG(0)
    X = rng.randn(400, n_columns)
    one = halves(X, X[:, 0] > 0)
    side = np.arange(400) % 2 == 0
    two = halves(X + 8 * side[:, np.newaxis] * np.eye(n_columns)[0], side)
    assert two[0] > one[0] + 1
    assert two[1] > one[1] + 1
    assert one[1] < 0.4


def test_a_direction_that_separates_by_chance_does_not_count():
    """In many columns some direction separates any two sets of few rows."""
    X = RNG(0).randn(40, MAX_AXES)
    assert halves(X, np.arange(40) % 3 == 0)[0] < 1.5


def test_separation_does_not_depend_on_units_nor_on_turns():
    rng = RNG(0)
    X = rng.randn(200, 3) + 5 * (np.arange(200) % 2)[:, np.newaxis]
    side = np.arange(200) < 90
    turn = np.linalg.qr(rng.randn(3, 3))[0]
    expected = halves(X, side)
    for other in (1e6 * X, 1e-6 * X + 3, X @ turn):
        assert halves(other, side) == pytest.approx(expected, abs=1e-5)
