"""Checkpoint: grown clusters saved in a folder, so that an interrupted fit can continue."""

from __future__ import annotations

import contextlib
import json
import os
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._cells.count_tables import CountTable
from .._cells.methods import PARTITIONS
from .._cells.partition import Partition
from .._engines.protocol import Members, ResumableEngine
from .._utils.exceptions import CheckpointError
from .._utils.files import replacing
from .growth import GrownCluster

_FORMAT, _VERSION = "pskclust checkpoint", 1
_HEADER, _PARTITION, _CLUSTER = "fit.json", "partition.npz", "cluster-{:06}.npz"
# Errors that NumPy raises for a file that is not an archive of arrays.
_UNREADABLE = (EOFError, KeyError, OSError, ValueError, zipfile.BadZipFile)


class Checkpoint:
    """Journal of growth in a folder: a header, the partition, and a file for each cluster."""

    def __init__(
        self,
        folder: str | os.PathLike[str],
        identity: Mapping[str, Any],
        drawn: Partition,
    ) -> None:
        """Continue from the files in the folder, or start a new checkpoint if there are none.

        Files of a fit with another `identity` raise CheckpointError. `drawn` is the partition of a
        new checkpoint.
        """
        self._folder = Path(folder)
        header = {"format": _FORMAT, "version": _VERSION, **identity}
        if (self._folder / _HEADER).exists():
            self._require_same(header)
            arrays = self._read(_PARTITION)
            self.partition: Partition = PARTITIONS[drawn.method](drawn.psi, **arrays)
            return
        self._folder.mkdir(parents=True, exist_ok=True)
        self._forget()
        self.partition = drawn
        self._write(_PARTITION, drawn.arrays())
        with replacing(self._folder / _HEADER) as stream:
            stream.write(json.dumps(header, indent=2).encode())

    def restore(self, engine: ResumableEngine) -> Iterator[GrownCluster]:
        number = 0
        while (self._folder / _CLUSTER.format(number)).exists():
            known = self._read(_CLUSTER.format(number))
            counts = np.zeros(self.partition.table_shape, dtype=np.int64)
            counts.ravel()[known["cells"]] = known["counts"]
            engine.restore(Members(known["rows"], known["steps"]), number)
            mass, seed, n_steps = known["numbers"].tolist()
            yield GrownCluster(CountTable(counts, mass), seed, n_steps)
            number += 1

    def note(self, engine: ResumableEngine, number: int, cluster: GrownCluster) -> None:
        members, counts = engine.members(number), cluster.table.counts.ravel()
        cells = np.flatnonzero(counts)
        self._write(
            _CLUSTER.format(number),
            {
                "rows": members.rows,
                "steps": members.steps,
                "cells": cells,
                "counts": counts[cells],
                "numbers": np.array([cluster.table.mass, cluster.seed, cluster.n_steps]),
            },
        )

    def remove(self) -> None:
        """Remove the saved clusters, and the folder if it is empty."""
        # The header is removed first: without it, the other files are not used.
        (self._folder / _HEADER).unlink(missing_ok=True)
        self._forget()
        with contextlib.suppress(OSError):
            self._folder.rmdir()

    def _forget(self) -> None:
        """Remove all files except the header, including incomplete files of a killed fit."""
        for pattern in (_PARTITION, "cluster-*.npz"):
            for path in [*self._folder.glob(pattern), *self._folder.glob(f".{pattern}.*")]:
                path.unlink()
        for path in self._folder.glob(f".{_HEADER}.*"):
            path.unlink()

    def _require_same(self, header: dict[str, Any]) -> None:
        try:
            found = json.loads((self._folder / _HEADER).read_text())
        except ValueError as error:
            raise self._unreadable(_HEADER, error) from error
        for name, value in json.loads(json.dumps(header)).items():
            if found.get(name) != value:
                what = "of other data" if name == "data" else f"with {name}={found.get(name)!r}"
                now = "" if name == "data" else f", not {value!r}"
                raise CheckpointError(
                    f"checkpoint={str(self._folder)!r} belongs to a fit {what}{now}. Remove the "
                    "folder to start again, or name another one."
                )

    def _read(self, name: str) -> dict[str, NDArray[Any]]:
        try:
            with (
                open(self._folder / name, "rb") as stream,
                np.load(stream, allow_pickle=False) as archive,
            ):
                return dict(archive)
        except _UNREADABLE as error:
            raise self._unreadable(name, error) from error

    def _write(self, name: str, arrays: dict[str, NDArray[Any]]) -> None:
        with replacing(self._folder / name) as stream:
            np.savez(stream, **arrays)  # type: ignore[arg-type]

    def _unreadable(self, name: str, error: Exception) -> CheckpointError:
        return CheckpointError(
            f"checkpoint={str(self._folder)!r} is damaged: {name} cannot be read ({error}). Remove "
            "the folder to start again."
        )
