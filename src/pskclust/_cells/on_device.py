"""Voronoi cells that are found on a PyTorch device: "cuda", "mps" or "cpu"."""

from __future__ import annotations

import weakref
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._data.checks import check_method_of_device
from .._data.rows import Data
from .._kernels import reference
from .._kernels.reference import Cells
from .._utils.parallel import Buffers
from .device_screen import DeviceScreen
from .partition import Partition
from .voronoi import VoronoiPartition


@dataclass(frozen=True, eq=False)
class DevicePartition(VoronoiPartition):
    """Voronoi partition whose cells are found on a device; they equal those found on the CPU.

    A partition that was unpickled in another process opens the device there on first use.
    """

    device: str

    @property
    def chunk_rows(self) -> int:
        return self._device_screen.chunk_rows

    def chunk_rows_of(self, compiled: bool) -> int:
        return self.chunk_rows

    def prepare(self, compiled: bool) -> None:
        _ = self._device_screen

    def best_order(self, data: Data, n_jobs: int | None) -> None:
        return None

    def cells(
        self,
        points: NDArray[np.float64],
        kernels: Any = reference,
        buffers: Buffers | None = None,
    ) -> Cells:
        cells = np.empty((len(points), self.n_partitions), dtype=self.cell_type)
        self._device_screen.find_cells(points, cells)
        return cells

    @cached_property
    def _device_screen(self) -> DeviceScreen:
        return DeviceScreen(self.points, self.centres, self.device)


# Centres stay on the device as long as the original partition exists.
_on_devices: weakref.WeakKeyDictionary[Partition, DevicePartition] = weakref.WeakKeyDictionary()


def on_device(partition: Partition, device: str | None) -> Partition:
    """Return the partition with cells found on `device`; unchanged if `device` is None."""
    if device is None:
        return partition
    check_method_of_device(device, partition.method)
    assert isinstance(partition, VoronoiPartition)
    known = _on_devices.get(partition)
    if known is None or known.device != device:
        known = DevicePartition(partition.psi, partition.points, partition.centres, device)
        _on_devices[partition] = known
    return known
