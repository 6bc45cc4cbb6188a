"""What the holders of rows were asked, kept in little room, to be asked again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._tables import CountTable
from .holder import Command

_WITHOUT_EFFECT = ("about", "total", "best_row", "n_changed_labels", "row_results")
_COMMANDS_AT_A_TIME = 64


class History:
    """All commands that changed what is known of rows.

    Of the table of a growing cluster, only what it gains from step to step is kept.
    """

    def __init__(self) -> None:
        self._commands: list[Command] = []
        self._latest: NDArray[np.int64] = np.zeros(0, dtype=np.int64)

    def add(self, commands: Sequence[Command]) -> None:
        """Note commands as they are sent, before anything they name is changed."""
        for verb, arguments in commands:
            if verb == "absorbed":
                self._commands.append((verb, self._packed(*arguments)))
            elif verb not in _WITHOUT_EFFECT:
                self._commands.append((verb, arguments))

    def batches(self) -> Iterator[list[Command]]:
        """Yield all commands as they were, some at a time."""
        table = np.zeros(0, dtype=np.int64)
        batch: list[Command] = []
        for verb, arguments in self._commands:
            sent = arguments
            if verb == "absorbed":
                shape, cells, gains, mass, min_score, cluster, step = arguments
                table = table.copy() if step > 1 else np.zeros(shape, dtype=np.int64)
                table.ravel()[cells] += gains
                sent = CountTable(table, mass), min_score, cluster, step
            batch.append((verb, sent))
            if len(batch) == _COMMANDS_AT_A_TIME:
                yield batch
                batch = []
        yield batch

    def _packed(
        self, table: CountTable, min_score: int, cluster: int, step: int
    ) -> tuple[Any, ...]:
        gain = (table.counts - self._latest if step > 1 else table.counts).ravel()
        self._latest = table.counts.copy()
        cells = np.flatnonzero(gain)
        return table.counts.shape, cells, gain[cells], table.mass, min_score, cluster, step
