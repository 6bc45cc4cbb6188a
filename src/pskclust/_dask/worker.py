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
    # A worker keeps the results, so a worker that takes over rows must compute them, too.
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
    """Return a shard with the cells of some blocks; `runs` are the row numbers of each block."""
    several = [np.asarray(block) for block in blocks]
    for block, run in zip(several, runs, strict=True):
        if len(block) != len(run):
            raise ValueError(
                f"A block of X had {len(run)} rows when it was read, but has {len(block)} now. A "
                "block must be the same whenever it is computed."
            )
    rows = np.concatenate(several)
    weights = uniform_weights(len(rows)) if units is None else Weights(np.concatenate(units), one)
    engine = engine_for_rows(Data(rows, metric, weights), partition, n_jobs, all_rows=False)
    return Shard(engine, runs)


class Worker:
    """Actor that holds the shards on one worker and runs commands on them."""

    def __init__(self, shards: Sequence[Shard]) -> None:
        self._engine = ShardedEngine(shards, "dask")
        self._shards = shards
        self._table: CountTable
        self._results: list[dict[int, RowResults]] = []

    def listen(self, host: str, key: bytes) -> int:
        """Listen for commands of one client that has the key; return the port, or 0 on failure.

        Behind network address translation, a worker cannot listen at the address by which others
        reach it.
        """
        with contextlib.suppress(OSError):
            return serve(host, key, self.run) if host else 0
        return 0

    def run(self, message: bytes) -> tuple[str, Any]:
        """Run the commands of a message in order; return the answer to the last, or an error."""
        answer = None
        try:
            for verb, arguments in unpack(message):
                if verb not in WORKER_VERBS:
                    raise ValueError(f"{verb!r} is not a verb of a worker")
                owner = self if hasattr(self, verb) else self._engine
                answer = getattr(owner, verb)(*arguments)
        except Exception as error:
            return "error", error
        return "answer", answer

    def about(self) -> tuple[int, Backend]:
        """Return the number of rows in no cluster, and the backend of this worker's engine."""
        return self._engine.n_rows_left, self._engine.backend

    def best_row(
        self, table: CountTable, besides: int | None
    ) -> tuple[Candidate, CountTable] | None:
        """Return the best row, and its table for the next step; None if no row is left."""
        best = self._engine.best_row_if_any(table, besides)
        return None if best is None else (best, self._engine.table_of(best.row, 1))

    def absorb_by(
        self, table: CountTable, is_gain: bool, min_score: int, cluster: int, step: int
    ) -> tuple[Absorbed, CountTable]:
        """Absorb rows by their scores against `table`, plus the last table if `is_gain`."""
        if is_gain:
            self._table.add(table)
        else:
            self._table = table
        return self._engine.absorbed(self._table, min_score, cluster, step)

    def row_results(self, clusters: ClusterTables) -> None:
        """Compute the results of all rows; keep copies for `results_of`, as labels may change."""
        self._results.append(
            {
                run.start: own.copied()
                for shard in self._shards
                for run, own in zip(shard.runs, shard.row_results(clusters), strict=True)
            }
        )

    def results_of(self, number: int, first_row: int) -> RowResults:
        """Return the results of the run that starts at `first_row`, from pass `number`."""
        return self._results[number][first_row]
