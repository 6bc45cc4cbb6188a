"""Worker: the shards on one worker of a Dask cluster, and the commands that it answers."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._cells.count_tables import ClusterTables, CountTable
from .._cells.partition import Partition
from .._data.rows import Data
from .._data.weights import Weights, uniform_weights
from .._engines.protocol import VERBS, Absorbed, Candidate, RowResults, Verb
from .._engines.select import engine_for_rows
from .._engines.sharded import Shard, ShardedEngine
from .._kernels.select import Backend
from .transport import serve, unpack

Command = tuple[str, tuple[Any, ...]]

# The verbs of an engine, and those of `Worker` alone.
WORKER_VERBS: Mapping[str, Verb] = {
    **VERBS,
    "about": Verb(answers=True, changes=False),
    "absorb_by": Verb(answers=True, changes=True),
    # A worker keeps the results, so one that takes over rows must have them too.
    "row_results": Verb(answers=True, changes=True),
}


def encode_shard(
    blocks: Sequence[Any],
    units: Sequence[NDArray[np.int64]] | None,
    one: int,
    runs: Sequence[range],
    metric: str,
    partition: Partition,
    *,
    n_jobs: int | None,
) -> Shard:
    """Return the cells of the rows of some blocks, whose numbers are those of `runs`."""
    several = [np.asarray(block) for block in blocks]
    for block, run in zip(several, runs, strict=True):
        if len(block) != len(run):
            raise ValueError(
                f"A block of X has {len(block)} rows now, but had {len(run)} before. Blocks must "
                "be the same whenever they are computed."
            )
    rows = np.concatenate(several)
    weights = uniform_weights(len(rows)) if units is None else Weights(np.concatenate(units), one)
    engine = engine_for_rows(Data(rows, metric, weights), partition, n_jobs, all_rows=False)
    return Shard(engine, runs)


class Worker:
    """The shards on one worker."""

    def __init__(self, shards: Sequence[Shard]) -> None:
        self._engine = ShardedEngine(shards, "dask")
        self._shards = shards
        self._table: CountTable
        self._results: list[dict[int, RowResults]] = []

    def listen(self, host: str, key: bytes) -> int:
        """Take commands from one client with the key; return the port, 0 if there is none.

        Behind network address translation a worker cannot listen at the address that others use.
        """
        with contextlib.suppress(OSError):
            return serve(host, key, self.run) if host else 0
        return 0

    def run(self, message: bytes) -> tuple[str, Any]:
        """Run commands in their order; return the answer to the last, or an error."""
        answer = None
        try:
            for verb, arguments in unpack(message):
                if verb not in WORKER_VERBS:
                    raise ValueError(f"{verb!r} is not a verb of an engine")
                owner = self if hasattr(self, verb) else self._engine
                answer = getattr(owner, verb)(*arguments)
        except Exception as error:
            return "error", error
        return "answer", answer

    def about(self) -> tuple[int, Backend]:
        """Return the number of rows in no cluster, and the backend that works on them."""
        return self._engine.n_rows_left, self._engine.backend

    def best_row(
        self, table: CountTable, besides: int | None
    ) -> tuple[Candidate, CountTable] | None:
        """Return the best row and its table for weight 1, which the next step needs."""
        best = self._engine.best_row_if_any(table, besides)
        return None if best is None else (best, self._engine.table_of(best.row, 1))

    def absorb_by(
        self, table: CountTable, is_gain: bool, min_score: int, cluster: int, step: int
    ) -> tuple[Absorbed, CountTable]:
        """Absorb rows by a table: a new one, or the last one with a gain added."""
        if is_gain:
            self._table.add(table)
        else:
            self._table = table
        return self._engine.absorbed(self._table, min_score, cluster, step)

    def row_results(self, clusters: ClusterTables) -> None:
        """Compute the results of all rows for `results_of`, in copies: the engine goes on."""
        self._results.append(
            {
                run.start: own.copied()
                for shard in self._shards
                for run, own in zip(shard.runs, shard.row_results(clusters), strict=True)
            }
        )

    def results_of(self, number: int, first_row: int) -> RowResults:
        """Return the results of a run, given the number of the pass and of the first row."""
        return self._results[number][first_row]
