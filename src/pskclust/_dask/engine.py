"""DaskEngine: rows on the workers of a Dask cluster.

An actor on each worker holds the cells of its blocks. A round is one message to each actor, mostly
the change of a table and a threshold, and one answer. The engine keeps all messages that change
rows; they are small. When a worker is lost, other workers encode its rows again and receive these
messages again, which restores the labels of the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dask.array as da
import numpy as np
from numpy.typing import NDArray

from .._cells.count_tables import ClusterTables, CountTable
from .._cells.partition import Partition
from .._engines.protocol import Absorbed, Candidate, RowFunction, RowResults
from .._engines.sharded import CombinedRows, summed_up
from .._kernels.select import Backend
from .._utils.progress import Report, ignore
from .data import DaskData
from .placement import Placement, Share
from .replay import Replay
from .results import CollectedResults
from .tasks import Tasks
from .transport import pack
from .worker import WORKER_VERBS, Command


class DaskEngine(CombinedRows):
    """Engine with rows on the workers of a Dask cluster."""

    name = "dask"

    def __init__(
        self,
        data: DaskData,
        partition: Partition,
        n_jobs: int | None,
        tasks: Tasks,
        report: Report = ignore,
    ) -> None:
        self._data, self._tasks = data, tasks
        self.one, self.resolution = data.weights.one, partition.n_partitions
        self._replay = Replay()
        self._waiting: list[Command] = []
        self._results: list[CollectedResults] = []
        self._tables: dict[int, NDArray[np.int64]] = {}
        self._gain: CountTable
        self._mass_then: int
        self._placement = Placement(data, partition, n_jobs, tasks)
        try:
            blocks = np.flatnonzero(data.lengths).tolist()
            self._shares = self._placement.place(blocks, report)
            self._count_rows()
        except BaseException:
            self.close()
            raise

    def reset(self) -> None:
        super().reset()
        self._count_rows()

    def _count_rows(self) -> None:
        abouts = self._ask("about")
        self.n_rows_left = sum(n_open for n_open, _ in abouts)
        self.backend: Backend = abouts[0][1]

    # These verbs differ from those for rows in one process: workers are not asked for tables that
    # this process knows already, and a verb without an answer waits for the next message.

    def best_row(self, table: CountTable, besides: int | None = None) -> Candidate:
        found = [answer for answer in self._ask("best_row", table, besides) if answer is not None]
        best: Candidate
        best, alone = max(found, key=lambda answer: (answer[0].score, -answer[0].row))
        self._tables[best.row] = alone.counts
        return best

    def table_of(self, row: int, units: int) -> CountTable:
        return CountTable(self._tables[row] * units, units)

    def claim(self, row: int, cluster: int) -> None:
        super().claim(row, cluster)
        self.n_rows_left -= 1

    def absorb(self, table: CountTable, min_score: int, cluster: int, step: int) -> Absorbed:
        # Workers have the table of the last step. Since then it has gained only their last answers,
        # unless copies of the seed have joined as well.
        is_gain = step > 1 and table.mass == self._mass_then
        sent = self._gain if is_gain else table
        answers = self._ask("absorb_by", sent, is_gain, min_score, cluster, step)
        absorbed, self._gain = summed_up(answers)
        table.add(self._gain)
        self._mass_then = table.mass
        self.n_rows_left -= absorbed.n_rows
        # The seeds are in a cluster now, so their tables are not needed again.
        self._tables.clear()
        return absorbed

    def row_results(self, clusters: ClusterTables) -> RowResults:
        """Return the results as arrays on the cluster, with the same block lengths as the rows."""
        self._ask("row_results", clusters)
        self._results.append(CollectedResults(len(self._results), self._data, self._tasks))
        self._results[-1].collect(self._shares)
        # Results of earlier passes may have been lost since.
        while lost := self._lost_results():
            self._make_up_for(lost)
        return self._results[-1].arrays()

    def map_rows(self, function: RowFunction, labels: da.Array) -> da.Array:
        """Return the values of `function`, block by block, as a lazy Dask array."""
        return labels.map_blocks(_of_block, function, dtype=np.float64)

    def _lost_results(self) -> list[Share]:
        """Wait until all workers have stored their results; return the shares of lost workers."""
        futures = [future for results in self._results for future in results.futures]
        try:
            for _ in self._tasks.finished(futures, "collecting the labels"):
                pass
        except (RuntimeError, KeyError):
            there = self._tasks.workers()
            lost = [share for share in self._shares if share.address not in there]
            if not lost:
                raise
            return lost
        return []

    def close(self) -> None:
        """Release the memory and connections of this fit on all workers."""
        self._placement.close()

    # Messages to workers, and recovery of lost workers.

    def _ask(self, verb: str, *arguments: Any) -> list[Any]:
        self._waiting.append((verb, arguments))
        # A verb without an answer waits and is sent with the next verb that has one.
        if not WORKER_VERBS[verb].answers:
            return []
        commands, self._waiting = self._waiting, []
        message = pack(commands)
        answers, lost = self._send(self._shares, message)
        while lost:
            more, lost = self._send(self._make_up_for(lost), message)
            answers += more
        self._replay.add(commands, message)
        return answers

    def _make_up_for(self, lost: list[Share]) -> list[Share]:
        """Move the blocks of lost shares to other workers; return the new shares."""
        self._shares = [share for share in self._shares if share not in lost]
        replaced = self._replace([block for share in lost for block in share.blocks])
        self._shares += replaced
        for results in self._results:
            results.collect(replaced)
        return replaced

    def _replace(self, blocks: list[int]) -> list[Share]:
        """Return new shares for lost blocks, with the state of their rows restored."""
        placed: list[Share] = []
        while blocks:
            self._placement.count_loss()
            fresh = self._placement.place(blocks)
            blocks = []
            for message in self._replay:
                _, lost = self._send(fresh, message)
                fresh = [share for share in fresh if share not in lost]
                blocks += [block for share in lost for block in share.blocks]
            placed += fresh
        return placed

    def _send(self, shares: Sequence[Share], message: bytes) -> tuple[list[Any], list[Share]]:
        """Send a message to shares; return the answers, and the shares lost before answering."""
        lost = [share for share in shares if not self._delivered(share, message)]
        answers = []
        for share in shares:
            if share in lost:
                continue
            try:
                answers.append(share.connection.receive())
            except ConnectionError:
                lost.append(share)
            except TimeoutError as error:
                raise self._no_answer(share) from error
        return answers, lost

    def _delivered(self, share: Share, message: bytes) -> bool:
        try:
            share.connection.send(message)
        except ConnectionError:
            return False
        except TimeoutError as error:  # the worker does not read a large message
            raise self._no_answer(share) from error
        return True

    def _no_answer(self, share: Share) -> TimeoutError:
        return TimeoutError(
            f"Worker {share.address} did not answer for {self._tasks.timeout:g} seconds. "
            "Look at its log; pass a larger timeout if it only needs more time."
        )


def _of_block(
    labels: NDArray[np.int64], function: RowFunction, block_info: Any
) -> NDArray[np.float64]:
    """Apply a function to the labels of a block, given the number of its first row."""
    return function(labels, first_row=block_info[0]["array-location"][0][0])
