"""NearScreen: finds the cells of rows among the centres near each row, with compiled code."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from .._kernels.near_cells import list_near, settle_near
from .._kernels.panel_vectors import PANEL_CENTRES, TILE_ROWS
from .._kernels.reference import Cells
from .._kernels.screening import Multiplied, Screen, Screened, make_screen, rows_to_multiply
from .._kernels.second_bound import SecondBound, make_second_bound, rows_for_second_bound
from .._utils.parallel import Buffers
from .near_sizes import (
    entries_to_list,
    n_near,
    room_of_list,
    rows_at_a_time,
    rows_to_list_again,
)

# Bounds of this many centres estimate the limit of a row.
_SAMPLE = 1024
# Sum of a column that only fills the last panel up, so that it exceeds limits.
_NEVER = 3e38


@dataclass(frozen=True, eq=False)
class NearScreen:
    """Distinct centres, packed for float32 products that list the centres near each row."""

    screen: Screen  # without its factors
    second: SecondBound
    panels: NDArray[np.float32]  # (p, k, 64) the factors, in panels of 64 centres
    sample: NDArray[np.float32]  # (k, s) the factors of some centres
    n_near: int  # this many centres have the smallest bounds and are probably nearest
    n_listed: int  # and this many are listed at first

    @classmethod
    def of(cls, points: NDArray[np.float64], centres: NDArray[np.intp]) -> Self | None:
        """Return the screen of centres; None if their squared lengths do not fit into float32."""
        screen = make_screen(points, centres, narrow=True)
        factors = screen.factors
        if factors.dtype != np.float32:
            return None
        n_points = len(points)
        n_panels = -(-n_points // PANEL_CENTRES)
        panels = np.zeros((n_panels, len(factors), PANEL_CENTRES), dtype=np.float32)
        panels[-1, -2] = _NEVER
        for panel, start in zip(panels, range(0, n_points, PANEL_CENTRES), strict=True):
            own = factors[:, start : start + PANEL_CENTRES]
            panel[:, : own.shape[1]] = own
        sample = np.ascontiguousarray(factors[:, :: max(1, n_points // _SAMPLE)])
        wanted = n_near(n_points, *centres.shape)
        second = make_second_bound(screen)
        screen = screen._replace(factors=factors[:, :0].copy())
        return cls(screen, second, panels, sample, wanted, entries_to_list(wanted, n_points))

    def find_cells(self, points: NDArray[np.float64], buffers: Buffers, cells: Cells) -> None:
        """Find the nearest centre of each point; ties go to the first centre."""
        n_points = len(self.screen.points)
        step = rows_at_a_time(self.n_listed)
        for start in range(0, len(points), step):
            some = slice(start, start + step)
            made = rows_to_multiply(points[some], self.screen)
            near, limits = self._limits(made)
            room = room_of_list(self.n_listed, n_points)
            found = cells[some]
            again = self._settle(points[some], made, near, limits, room, buffers, found)
            self._settle_again(points[some], made, near, limits, again, buffers, found)

    def _limits(self, made: Multiplied) -> tuple[NDArray[np.float64], NDArray[np.float32]]:
        """Estimate two limits on bounds: of centres that are probably nearest, and of lists."""
        n_points, n_sampled = len(self.screen.points), self.sample.shape[1]
        with np.errstate(over="ignore", invalid="ignore"):
            bound2 = made.rows @ self.sample
        # Two partitions by one place each are faster than one by two places.
        last = min(self.n_listed * n_sampled // n_points, n_sampled - 1)
        smallest = np.partition(bound2, last, axis=1)[:, : last + 1]
        limits = smallest[:, last]
        place = min(self.n_near * n_sampled // n_points, last)
        near = np.partition(smallest, place, axis=1)[:, place]
        # If errors are infinite, bounds mean nothing, and the first list stays empty.
        return near.astype(np.float64), np.where(
            np.isfinite(made.error), limits, -np.float32(np.inf)
        )

    def _settle_again(
        self,
        points: NDArray[np.float64],
        made: Multiplied,
        near: NDArray[np.float64],
        limits: NDArray[np.float32],
        again: NDArray[np.intp],
        buffers: Buffers,
        cells: Cells,
    ) -> None:
        """Settle the rows whose first list was too short, with limits that suffice."""
        n_points = len(self.screen.points)
        step = rows_to_list_again(n_points)
        for start in range(0, len(again), step):
            some = again[start : start + step]
            own = Multiplied(
                made.rows[some], made.error[some], made.shifted[some], made.squares[some]
            )
            args = points[some], own, near[some]
            found = np.empty((len(some), cells.shape[1]), dtype=cells.dtype)
            left = self._settle(*args, limits[some], n_points, buffers, found)
            if len(left):
                # Not expected. Without limits, all centres are listed, so all rows are settled.
                no_limits = np.full(len(some), np.inf, dtype=np.float32)
                self._settle(*args, no_limits, n_points, buffers, found)
            cells[some] = found

    def _settle(
        self,
        points: NDArray[np.float64],
        made: Multiplied,
        near: NDArray[np.float64],
        limits: NDArray[np.float32],
        room: int,
        buffers: Buffers,
        cells: Cells,
    ) -> NDArray[np.intp]:
        """Fill `cells`, except for rows whose lists are too short; return these rows.

        Also raise the limits of these rows, so that the next list suffices.
        """
        n_rows, n_partitions = cells.shape
        n_tiles = -(-n_rows // TILE_ROWS)
        filled = n_tiles * TILE_ROWS
        rows = np.zeros((filled, made.rows.shape[1]), dtype=np.float32)
        rows[:n_rows] = made.rows
        own_limits = np.full(filled, -np.inf, dtype=np.float32)
        own_limits[:n_rows] = limits
        lists = buffers.array((2, filled, room), np.float32)
        found, found2 = lists[0].view(np.int32), lists[1]
        n_found = np.empty(filled, dtype=np.int64)
        tile = np.empty((TILE_ROWS, PANEL_CENTRES), np.float32), np.empty(TILE_ROWS, np.int64)
        list_near(
            rows, self.panels, len(self.screen.points), own_limits, *tile, found, found2, n_found
        )
        settled = np.empty(n_rows, dtype=np.bool_)
        settle_near(
            points,
            self.screen,
            Screened(rows[:0], made.error, made.shifted, made.squares),
            rows_for_second_bound(points, self.screen, self.second),
            self.second.parts,
            near,
            limits,
            found,
            found2,
            n_found,
            *self._temporary(n_partitions, room),
            cells,
            settled,
        )
        return np.flatnonzero(~settled)

    def _temporary(self, n_partitions: int, room: int) -> tuple[NDArray[Any], ...]:
        return (
            np.empty(n_partitions, dtype=np.float32),  # closest
            np.empty(room, dtype=np.int32),  # chosen
            np.empty(room, dtype=np.float32),  # chosen2
            np.empty(n_partitions, dtype=np.int64),  # n_candidates
            np.empty(n_partitions),  # exact2
        )
