"""BallEncoder: balls around blocks rule out far centres, in data with clusters in many columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._kernels import ball_cells
from .._kernels.neighbour_blocks import BLOCK
from .._utils.parallel import Buffers
from .block_encoders import CellsEncoder, PointsAt
from .voronoi import VoronoiPartition

_CHUNK_ROWS = 2048
# Balls are tried on 24 blocks, to compare their cost with that of a screen. Screening one distinct
# centre takes about as long as multiplying a row by 96 remaining centres (measured).
_BLOCKS_TO_TRY, _PRODUCTS_PER_SCREENED_CENTRE = 24, 96
# Squares and products of lengths within these limits neither overflow nor underflow in float32.
_SHORTEST, _LONGEST = 1e-12, 1e18
# Copying a centre takes as long as multiplying this many rows by it.
_ROWS_PER_COPY = 64
# A ball that leaves more than a quarter of the centres is split, up to 3 times, if this reduces the
# mean radius to three quarters or less.
_MAX_SHARE_OF_BALL, _MAX_SHARE_OF_RADIUS, _MAX_SPLITS = 0.25, 0.75, 3
# Rows are multiplied by at most this many centres at a time, and there are at most this many
# products, to limit memory.
_MAX_CENTRES, _MAX_PRODUCTS = 2048, 1 << 19


class _Ball(NamedTuple):
    """Some rows of a superblock, and the centres that may be nearest to one of them."""

    rows: NDArray[np.intp]  # (m,) indices of rows
    middle: NDArray[np.float64]  # (d,)
    possible: NDArray[np.bool_]  # (u,)


class _Workspace(NamedTuple):
    """Working arrays that a thread reuses from call to call."""

    rows: Buffers
    centres: Buffers
    products: Buffers
    places: NDArray[np.int32]  # (u,) index of each distinct centre among those multiplied, or -1
    choice: tuple[NDArray[Any], ...]  # temporary arrays of `choose_nearest`


class BallEncoder(CellsEncoder):
    """Encoder for many columns: balls rule out far centres, then products find the nearest."""

    def __init__(
        self,
        points_at: PointsAt,
        n_rows: int,
        partition: VoronoiPartition,
        blocks_per_superblock: int,
    ) -> None:
        super().__init__(points_at, n_rows, partition, blocks_per_superblock)
        self._shift = partition.points.mean(axis=0)
        self._shifted = np.empty(partition.points.shape, dtype=np.float32)
        squares = np.empty(len(partition.points))
        for start in range(0, len(squares), _CHUNK_ROWS):
            some = slice(start, start + _CHUNK_ROWS)
            shifted = partition.points[some] - self._shift
            squares[some] = np.einsum("ij,ij->i", shifted, shifted)
            self._shifted[some] = _narrow(shifted)
        self._squares = _narrow(squares)
        self._longest = float(np.sqrt(squares.max()))

    def pays(self, n_rows: int) -> bool:
        """Return whether balls exclude enough centres to beat a product with all centres."""
        n_partitions, psi = self._partition.centres.shape
        n_points, n_columns = self._partition.points.shape
        n_products = self._share_left(n_rows) * n_partitions * psi * n_columns
        return bool(n_products < _PRODUCTS_PER_SCREENED_CENTRE * n_points)

    def _share_left(self, n_rows: int) -> float:
        """Return the fraction of centres that balls around some blocks do not exclude."""
        last = (n_rows - 1) // BLOCK
        some = np.unique(np.linspace(0, last, _BLOCKS_TO_TRY).astype(int)).tolist()
        middles, radii = np.empty((len(some), len(self._shift))), np.empty(len(some))
        for number, block in enumerate(some):
            points = self._points_at(slice(block * BLOCK, min((block + 1) * BLOCK, n_rows)))
            middles[number] = points.mean(axis=0)
            radii[number] = np.sqrt(((points - middles[number]) ** 2).sum(axis=1).max())
        possible = self._possible_centres(middles, radii)
        return float(np.mean(possible[:, self._partition.centres]))

    def _workspace(self) -> _Workspace:
        psi = self._partition.psi
        choice = (
            np.empty(psi, dtype=np.int32),  # possible
            np.empty(psi + 1, dtype=np.int32),  # near
            np.empty((2, BLOCK), dtype=np.float32),  # smallest
            np.empty(BLOCK, dtype=np.int32),  # nearest
        )
        places = np.full(len(self._partition.points), -1, dtype=np.int32)
        return _Workspace(Buffers(), Buffers(), Buffers(), places, choice)

    def _find_cells(
        self, points: NDArray[np.float64], space: _Workspace, cells: NDArray[Any]
    ) -> None:
        for balls in _groups(self._balls(points, space)):
            rows = np.concatenate([ball.rows for ball in balls])
            # The kernel works on whole blocks.
            rows = np.pad(rows, (0, -len(rows) % BLOCK), mode="edge")
            middle = np.mean([ball.middle for ball in balls], axis=0)
            possible = np.any([ball.possible for ball in balls], axis=0)
            shifted, lengths2 = _shifted(points, rows, middle, space.rows)
            radius = np.sqrt(lengths2.max())
            for start, stop in self._partitionings_at_a_time(possible):
                drawn = np.zeros_like(possible)
                drawn[self._partition.centres[start:stop]] = True
                chosen = np.flatnonzero(possible & drawn)
                centres, lengths2 = _shifted(self._partition.points, chosen, middle, space.centres)
                halves = _narrow(lengths2 / 2)
                reach = radius + np.sqrt(lengths2.max())
                space.places[chosen] = np.arange(len(chosen))
                for some in _slices(len(rows), len(chosen)):
                    products = space.products.array((len(chosen), len(rows[some])), np.float32)
                    with np.errstate(over="ignore", invalid="ignore"):
                        np.matmul(centres, shifted[some].T, out=products)
                    ball_cells.choose_nearest(
                        points,
                        rows[some],
                        products,
                        halves,
                        reach,
                        self._partition.points,
                        space.places,
                        self._partition.centres,
                        start,
                        stop,
                        *space.choice,
                        cells,
                    )
                space.places[chosen] = -1

    def _balls(self, points: NDArray[np.float64], space: _Workspace) -> list[_Ball]:
        """Return balls that together hold all rows: one for most blocks, several for the others.

        A block with rows of two clusters has a wide ball, which excludes few centres.
        """
        blocks = list(np.arange(len(points)).reshape(-1, BLOCK))
        balls, parts = [], []
        for ball in self._balls_around(points, blocks, space):
            if np.count_nonzero(ball.possible) <= _MAX_SHARE_OF_BALL * len(ball.possible):
                balls.append(ball)
                continue
            split = _split(points, ball.rows)
            if len(split) == 1:
                balls.append(ball)
            else:
                parts += split
        return balls + (self._balls_around(points, parts, space) if parts else [])

    def _balls_around(
        self, points: NDArray[np.float64], parts: Sequence[NDArray[np.intp]], space: _Workspace
    ) -> list[_Ball]:
        """Return a ball around each part of the rows."""
        middles = np.array([points[rows].mean(axis=0) for rows in parts])
        radii = np.array(
            [
                np.sqrt(_shifted(points, rows, middle, space.rows)[1].max())
                for rows, middle in zip(parts, middles, strict=True)
            ]
        )
        possible = self._possible_centres(middles, radii)
        return [_Ball(*ball) for ball in zip(parts, middles, possible, strict=True)]

    def _possible_centres(
        self, middles: NDArray[np.float64], radii: NDArray[np.float64]
    ) -> NDArray[np.bool_]:
        """Return which distinct centres may be nearest to a point of each ball, (n_balls, u)."""
        away2, errors = self._distances2(middles)
        possible = np.zeros(away2.shape, dtype=np.bool_)
        ball_cells.mark_possible(away2, errors, radii, self._partition.centres, possible)
        return possible

    def _partitionings_at_a_time(self, possible: NDArray[np.bool_]) -> Iterator[tuple[int, int]]:
        """Yield ranges of partitionings that together have a limited number of possible centres."""
        n_partitions = self._partition.n_partitions
        n_parts = min(n_partitions, -(-int(np.count_nonzero(possible)) // _MAX_CENTRES))
        borders = np.linspace(0, n_partitions, n_parts + 1).astype(int).tolist()
        return pairwise(borders)

    def _distances2(
        self, middles: NDArray[np.float64]
    ) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
        """Return squared distances from middles to all centres, and bounds on rounding errors.

        For a middle m, a centre z and the unit roundoff u, the error of a float32 product of d
        columns is at most (d + 4) u |m| |z|, including the rounding of its factors. The sum adds an
        error of a few u (|m| + |z|)^2.
        """
        shifted = middles - self._shift
        squares = np.einsum("ij,ij->i", shifted, shifted)
        with np.errstate(over="ignore", invalid="ignore"):
            away2 = shifted.astype(np.float32) @ self._shifted.T
            away2 *= -2
            away2 += squares[:, np.newaxis].astype(np.float32)
            away2 += self._squares
        reach = np.sqrt(squares) + self._longest
        errors = reach * reach * ((middles.shape[1] + 32) * 2.0**-24)
        errors[~((reach > _SHORTEST) & (reach < _LONGEST))] = np.inf
        return away2, errors


def _shifted(
    points: NDArray[np.float64],
    chosen: NDArray[np.intp],
    middle: NDArray[np.float64],
    buffers: Buffers,
) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """Return a middle minus each chosen point, and the squared lengths."""
    shifted = buffers.array((len(chosen), len(middle)), np.float32)
    lengths2 = np.empty(len(chosen))
    ball_cells.shift_points(points, chosen, middle, shifted, lengths2)
    return shifted, lengths2


def _narrow(values: NDArray[np.float64]) -> NDArray[np.float32]:
    with np.errstate(over="ignore"):
        return values.astype(np.float32)


def _slices(n_rows: int, n_centres: int) -> list[slice]:
    """Return slices of whole blocks of rows, whose products with centres take little memory."""
    step = max(1, _MAX_PRODUCTS // (n_centres * BLOCK)) * BLOCK
    return [slice(start, start + step) for start in range(0, n_rows, step)]


def _split(
    points: NDArray[np.float64], rows: NDArray[np.intp], n_times: int = _MAX_SPLITS
) -> list[NDArray[np.intp]]:
    """Split rows by the nearer of two distant rows, if this makes balls much smaller."""
    own = points[rows]
    from_middle = _distances(own, own.mean(axis=0))
    from_one = _distances(own, own[from_middle.argmax()])
    is_near = from_one < _distances(own, own[from_one.argmax()])
    sides = [own[is_near], own[~is_near]]
    if not n_times or not all(map(len, sides)):
        return [rows]
    radii = [_distances(side, side.mean(axis=0)).max() for side in sides]
    mean_radius = np.average(radii, weights=list(map(len, sides)))
    if mean_radius > _MAX_SHARE_OF_RADIUS * from_middle.max():
        return [rows]
    return [
        *_split(points, rows[is_near], n_times - 1),
        *_split(points, rows[~is_near], n_times - 1),
    ]


def _distances(points: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(np.linalg.norm(points - other, axis=1))


def _groups(balls: list[_Ball]) -> list[list[_Ball]]:
    """Return groups of balls whose rows are multiplied by the same centres.

    A ball joins a group if that saves more copies of centres than it adds products.
    """
    groups: list[tuple[list[_Ball], int, NDArray[np.bool_]]] = []
    for ball in balls:
        best, most = None, 0
        for number, (_, n_rows, possible) in enumerate(groups):
            saved = (
                _cost(n_rows, possible)
                + _cost(len(ball.rows), ball.possible)
                - _cost(n_rows + len(ball.rows), possible | ball.possible)
            )
            if saved > most:
                best, most = number, saved
        if best is None:
            groups.append(([ball], len(ball.rows), ball.possible))
        else:
            members, n_rows, possible = groups[best]
            members.append(ball)
            groups[best] = members, n_rows + len(ball.rows), possible | ball.possible
    return [members for members, _, _ in groups]


def _cost(n_rows: int, possible: NDArray[np.bool_]) -> int:
    """Return the number of products with a centre, including the copies of centres."""
    return (n_rows + _ROWS_PER_COPY) * int(np.count_nonzero(possible))
