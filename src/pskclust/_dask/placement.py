"""Placement of blocks of rows on Dask workers, where an actor holds the cells of the rows."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from distributed import Future, get_worker

from .._cells.partition import Partition
from .._engines.out_of_core import rows_per_shard
from .._engines.sharded import Shard
from .._utils.progress import Progress, Report, ignore
from .data import DaskData
from .tasks import LostError, Tasks
from .transport import Connection, SchedulerConnection, SocketConnection, new_key, plain_host
from .worker import Worker, encode_shard

_MOST_LOSSES = 20
# A worker keeps its own blocks, up to this multiple of an equal share of the rows.
_FAIR_SHARE = 1.25
# Each call through the scheduler takes up one of the scheduler's connections, so their number is
# limited.
_CONNECTED_AT_ONCE = 32


class Share(NamedTuple):
    """The blocks of rows that one worker holds, and the connection to it."""

    blocks: list[int]
    actor: Future
    address: str
    connection: Connection


class Placement:
    """Placement of blocks on workers, and on other workers when some are lost."""

    def __init__(
        self, data: DaskData, partition: Partition, n_jobs: int | None, tasks: Tasks
    ) -> None:
        self._data, self._partition, self._n_jobs, self._tasks = data, partition, n_jobs, tasks
        self._n_losses = 0
        self._on_the_way: list[Future] = []
        self._actors: list[Future] = []
        self._connections: list[Connection] = []

    def place(self, blocks: list[int], report: Report = ignore) -> list[Share]:
        """Encode blocks, give them to actors and return the shares; repeat if a worker is lost."""
        n_actors, n_connections = len(self._actors), len(self._connections)
        while True:
            try:
                shares = self._hold(self._encode(sorted(blocks), report))
            except LostError as error:
                self.count_loss(error)
                self._data.forget_lost()
                self._let_go(n_actors, n_connections)
            else:
                self._data.release()
                _release(self._on_the_way)
                return shares

    def close(self) -> None:
        """Release all data on workers, and close all connections."""
        self._let_go(0, 0)
        _release(self._on_the_way)

    def _let_go(self, n_actors: int, n_connections: int) -> None:
        """Release all actors and connections but the first `n_actors` and `n_connections`."""
        for connection in self._connections[n_connections:]:
            connection.close()
        for actor in self._actors[n_actors:]:
            actor.release()
        del self._connections[n_connections:], self._actors[n_actors:]

    def count_loss(self, error: LostError | None = None) -> None:
        """Count a loss of workers; after too many, raise `error`, or by default a RuntimeError."""
        self._n_losses += 1
        if self._n_losses > _MOST_LOSSES:
            raise error or RuntimeError(
                f"Workers were lost more than {_MOST_LOSSES} times during this fit. They may run "
                "out of memory: look at their logs, use more workers, or a smaller n_partitions."
            )

    def _encode(self, blocks: list[int], report: Report) -> dict[Future, list[int]]:
        """Encode blocks; return a future of each shard, with the blocks in it."""
        client = self._tasks.client
        self._data.require(blocks)
        for _ in self._tasks.finished([self._data.rows[block] for block in blocks], "reading X"):
            pass
        partition = self._tasks.shared(self._partition)
        self._on_the_way.append(partition)
        units = self._data.weights.units
        shards = {}
        for address, own in self._assigned(blocks):
            shard = client.submit(
                _encode,
                [self._data.rows[block] for block in own],
                None if units is None else [units(block) for block in own],
                self._data.weights.one,
                [self._data.run(block) for block in own],
                self._data.metric,
                partition,
                n_jobs=self._n_jobs,
                workers=[address],
                allow_other_workers=True,
                pure=False,
            )
            shards[shard] = own
            self._on_the_way.append(shard)
        n_done, n_rows = 0, int(self._data.lengths[blocks].sum())
        for done in self._tasks.finished(list(shards), "encoding"):
            n_done += sum(len(self._data.run(block)) for shard in done for block in shards[shard])
            report(Progress("encode", n_done, n_rows))
        return shards

    def _assigned(self, blocks: list[int]) -> Iterator[tuple[str, list[int]]]:
        """Yield the worker and the blocks of each shard; workers keep most of their own blocks."""
        workers = self._tasks.workers()
        lengths = self._data.lengths
        holders = self._tasks.holders([self._data.rows[block] for block in blocks])
        most = max(_FAIR_SHARE * lengths[blocks].sum() / len(workers), lengths[blocks].max())
        loads: dict[str, int] = dict.fromkeys(workers, 0)
        assigned: dict[str, list[int]] = {}
        for block in blocks:
            here = [one for one in holders.get(self._data.rows[block].key, ()) if one in loads]
            room = [one for one in here if loads[one] + lengths[block] <= most]
            address = room[0] if room else min(loads, key=lambda one: loads[one])
            loads[address] += int(lengths[block])
            assigned.setdefault(address, []).append(block)
        largest = rows_per_shard(self._data.n_columns, self._partition)
        for address, own in assigned.items():
            n_rows = np.cumsum(lengths[own])
            for group in np.split(own, np.flatnonzero(np.diff(n_rows // largest)) + 1):
                yield address, group.tolist()

    def _hold(self, shards: dict[Future, list[int]]) -> list[Share]:
        """Give shards to actors, one on each worker that has shards; return the actors' shares."""
        client = self._tasks.client
        places = self._tasks.holders(list(shards))
        by_worker: dict[str, list[Future]] = {}
        for shard in shards:
            if not places.get(shard.key):
                raise LostError("A shard was lost before an actor received it.")
            by_worker.setdefault(places[shard.key][0], []).append(shard)
        actors: dict[Future, list[int]] = {}
        for address, own in by_worker.items():
            actor = client.submit(
                Worker,
                own,
                actor=True,
                workers=[address],
                allow_other_workers=True,
                pure=False,
            )
            self._actors.append(actor)
            actors[actor] = [block for shard in own for block in shards[shard]]
        for _ in self._tasks.finished(list(actors), "placing the cells"):
            pass
        return self._connected(actors)

    def _connected(self, actors: dict[Future, list[int]]) -> list[Share]:
        """Return each actor's share, with a connection to it."""
        client = self._tasks.client
        places = self._tasks.holders(list(actors))
        if not all(places.get(actor.key) for actor in actors):
            raise LostError("A worker was lost before it received a message.")
        ways = [
            SchedulerConnection(client, places[actor.key][0], actor.key, self._tasks.timeout)
            for actor in actors
        ]
        connections = [
            connection
            for first in range(0, len(ways), _CONNECTED_AT_ONCE)
            for connection in self._faster(ways[first : first + _CONNECTED_AT_ONCE])
        ]
        return [
            Share(blocks, actor, way.address, connection)
            for (actor, blocks), way, connection in zip(
                actors.items(), ways, connections, strict=True
            )
        ]

    def _faster(self, ways: list[SchedulerConnection]) -> list[Connection]:
        """Return direct connections to workers where possible, else the given connections."""
        keys = [new_key() for _ in ways]
        scheduler = self._tasks.client.scheduler.address
        hosts = [plain_host(way.address, scheduler) for way in ways]
        for way, key, host in zip(ways, keys, hosts, strict=True):
            way.call("listen", host, key)
        connections: list[Connection] = []
        lost = None
        # Connect to all workers even if one is lost: a port stays open until a client connects.
        for way, key, host in zip(ways, keys, hosts, strict=True):
            connection: Connection = way
            try:
                port = way.result()
            except ConnectionError as error:
                lost, port = error, 0
            except TimeoutError as error:
                raise self._tasks.too_long(f"worker {way.address} could not be reached") from error
            if port:
                # If this fails, messages go through the scheduler, which reports a lost worker.
                with contextlib.suppress(OSError):
                    connection = SocketConnection(host, port, key, self._tasks.timeout)
            connections.append(connection)
            self._connections.append(connection)
        if lost:
            raise LostError("A worker was lost before it received a message.") from lost
        return connections


def _release(futures: list[Future]) -> None:
    for future in futures:
        future.release()
    futures.clear()


def _encode(*arguments: Any, n_jobs: int | None) -> Shard:
    """Encode a shard with `n_jobs` threads; with None, with all threads of the worker."""
    threads = get_worker().state.nthreads if n_jobs is None else n_jobs
    return encode_shard(*arguments, n_jobs=threads)
