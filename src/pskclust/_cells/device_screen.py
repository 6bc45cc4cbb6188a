"""Nearest centres by matrix products on a device; doubtful cases are settled on the host.

The device computes the bounds of `screening`. In each partitioning it finds the smallest bound, and
all bounds that exceed it by no more than twice the error. If there is only one, its centre is the
nearest. Otherwise their centres are candidates, and the host decides by distances in float64.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .._kernels.reference import Cells, nearest_centres
from .._kernels.screening import Multiplied, make_screen, rows_to_multiply
from .._utils.parallel import rows_per_product
from .._utils.torch_device import full_precision, open_device

# A device holds at most this many bounds, of at most this many rows, at a time.
_BOUNDS, _MAX_ROWS = 1 << 25, 1 << 14
# Number of bounds that are compared at a time. On the CPU they fit into cache.
_COMPARED, _COMPARED_ON_CPU = 1 << 24, 1 << 20
# More candidates than this are settled before other threads may use the device, to limit memory.
_MAX_WAITING = 1 << 22
# Number of values that are summed at a time to settle candidates.
_NUMBERS_TO_SETTLE = 1 << 20


class Candidates(NamedTuple):
    """Pairs of row and partitioning whose nearest centre is in doubt, with possible centres."""

    rows: NDArray[np.int64]  # (p,) row of each pair
    partitionings: NDArray[np.int64]  # (p,) partitioning of each pair
    pairs: NDArray[np.int64]  # (k,) pair of each candidate, ascending
    numbers: NDArray[np.int64]  # (k,) centre of each candidate, ascending within a pair


class DeviceScreen:
    """Centres on a device, which one thread uses at a time to limit the device's memory."""

    def __init__(self, points: NDArray[np.float64], centres: NDArray[np.intp], device: str) -> None:
        self._device = open_device(device)
        self._screen = make_screen(points, centres, narrow=True, all_columns=True)
        self._lock = threading.Lock()
        dtype = self._screen.factors.dtype
        # If values do not fit into float32 and the device lacks float64, the host finds all cells.
        self._multiplies = dtype == np.float32 or self._device.has_float64
        if self._multiplies:
            with self._device.torch.inference_mode():
                self._factors = self._there(self._screen.factors)
                self._centres = self._there(np.asarray(centres, dtype=np.int64))

    @property
    def chunk_rows(self) -> int:
        """Number of rows to screen at a time, which limits the memory of their bounds."""
        n_points = len(self._screen.points)
        if self._device.device.type == "cpu":
            return rows_per_product(n_points)
        return min(_MAX_ROWS, max(1, _BOUNDS // n_points))

    def find_cells(
        self,
        points: NDArray[np.float64],  # IN   (m, d)
        cells: Cells,  # OUT  (m, t)
    ) -> None:
        """Find the nearest centre of each point; ties go to the first centre."""
        made = rows_to_multiply(points, self._screen)
        in_range = np.isfinite(made.error) & self._multiplies
        known = np.flatnonzero(in_range)
        for start in range(0, len(known), self.chunk_rows):
            some = known[start : start + self.chunk_rows]
            found = np.empty((len(some), cells.shape[1]), dtype=cells.dtype)
            for candidates in self._screened(points[some], made, some, found):
                self._settle(points[some], candidates, found)
            cells[some] = found
        self._settle_rows(points, np.flatnonzero(~in_range), cells)

    def _screened(
        self,
        points: NDArray[np.float64],
        made: Multiplied,
        rows: NDArray[np.intp],
        cells: Cells,
    ) -> list[Candidates]:
        """Fill `cells` by the smallest bounds; return the candidates in doubtful cases."""
        torch = self._device.torch
        waiting: list[Candidates] = []
        with self._lock, torch.inference_mode():
            # The error bounds are twice as large as necessary, which also covers rounding here.
            margin = self._there((2 * made.error[rows]).astype(made.rows.dtype))
            bound2 = self._bounds(made.rows[rows])
            for partitionings in self._groups(len(rows)):
                waiting.append(self._compared(bound2, margin, partitionings, cells))
                if sum(len(candidates.pairs) for candidates in waiting) > _MAX_WAITING:
                    # With many ties, the list of candidates would become too long.
                    for candidates in waiting:
                        self._settle(points, candidates, cells)
                    waiting = []
        return waiting

    def _bounds(self, rows: NDArray[np.floating[Any]]) -> Any:
        """Return the bounds of rows, (u, n), computed on the device."""
        torch, there = self._device.torch, self._there(rows)
        shape = self._factors.shape[1], len(rows)
        bound2 = torch.empty(shape, dtype=there.dtype, device=self._device.device)
        with full_precision(self._device):
            # With an output array, automatic casting does not change the precision of the product.
            torch.mm(self._factors.t(), there.t(), out=bound2)
        return bound2

    def _groups(self, n_rows: int) -> Iterator[slice]:
        """Yield groups of partitionings that are compared together."""
        on_cpu = self._device.device.type == "cpu"
        n_partitions, psi = self._centres.shape
        size = max(1, (_COMPARED_ON_CPU if on_cpu else _COMPARED) // (n_rows * psi))
        for start in range(0, n_partitions, size):
            yield slice(start, min(start + size, n_partitions))

    def _compared(self, bound2: Any, margin: Any, partitionings: slice, cells: Cells) -> Candidates:
        """Fill the cells of some partitionings; return candidates in doubtful cases."""
        torch, numbers = self._device.torch, self._centres[partitionings]
        own2 = bound2.index_select(0, numbers.reshape(-1)).view(*numbers.shape, -1)
        smallest2, nearest = own2.min(dim=1)
        limit = smallest2 + margin
        # Unlike <=, the negated comparison includes bounds that are NaN.
        near = (own2 > limit.unsqueeze(1)).logical_not_()
        cells[:, partitionings] = nearest.t().to(torch.int32).cpu().numpy()
        unsure = torch.nonzero(near.sum(dim=1, dtype=torch.int32) > 1)
        group, rows = unsure[:, 0], unsure[:, 1]
        listed = torch.nonzero(near[group, :, rows])
        group, rows, listed = (array.cpu().numpy() for array in (group, rows, listed))
        return Candidates(rows, group + partitionings.start, listed[:, 0], listed[:, 1])

    def _settle(self, points: NDArray[np.float64], candidates: Candidates, cells: Cells) -> None:
        """Set the cells of rows that have several candidate centres, by float64 distances."""
        rows, partitionings, pairs, numbers = candidates
        if not len(rows):
            return
        centres = self._screen.centres[partitionings[pairs], numbers]
        distance2 = np.empty(len(pairs))
        step = max(1, _NUMBERS_TO_SETTLE // points.shape[1])
        for start in range(0, len(pairs), step):
            some = slice(start, start + step)
            difference = points[rows[pairs[some]]]
            difference -= self._screen.points[centres[some]]
            difference *= difference
            # Sums are in column order, as in `squared_distances`.
            distance2[some] = np.add.accumulate(difference, axis=1, out=difference)[:, -1]
        starts = np.flatnonzero(np.diff(pairs, prepend=-1))
        smallest2 = np.minimum.reduceat(distance2, starts)
        nearest = np.flatnonzero(distance2 == smallest2[pairs])
        firsts = nearest[np.diff(pairs[nearest], prepend=-1) > 0]
        cells[rows, partitionings] = numbers[firsts]

    def _settle_rows(
        self, points: NDArray[np.float64], rows: NDArray[np.intp], cells: Cells
    ) -> None:
        """Find the cells of rows that the device cannot screen, by distances on the host."""
        if not len(rows):
            return
        points, centres = points[rows], self._screen.centres
        scratch = np.empty((2, len(rows), centres.shape[1]))
        found = np.empty(len(rows), dtype=cells.dtype)
        for partitioning, own in enumerate(centres):
            nearest_centres(points, self._screen.points[own], scratch, found)
            cells[rows, partitioning] = found

    def _there(self, array: NDArray[Any]) -> Any:
        """Return an array as a tensor on the device."""
        there: Any = self._device.torch.from_numpy(np.ascontiguousarray(array))
        return there.to(self._device.device)
