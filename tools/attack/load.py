"""Many clients of the explorer beside many idle connections: all are served, memory stays level."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np

from benchmarks.explorer_load import Tally, crowd
from pskclust.datasets import make_shapes
from pskclust.explorer.launch import serve
from pskclust.explorer.subject import TableSubject
from tools.attack.cases import Case, require

CLIENTS, SECONDS, IDLE = 50, 60, 100
_MOST_GROWTH = 1.1


def cases(rng: np.random.RandomState, folder: Path) -> Iterator[Case]:
    """Yield minutes of load, each at a new explorer."""
    while True:
        seed = int(rng.randint(1 << 31))
        yield Case(
            f"{CLIENTS} clients, {IDLE} idle connections, {SECONDS} s, seed {seed}",
            lambda s=seed: loaded(s, CLIENTS, SECONDS),
        )


def loaded(seed: int, n_clients: int, seconds: float, n_rows: int = 1000) -> int:
    """Return the number of answers that clients got in some seconds."""
    X, _ = make_shapes(n_rows, random_state=seed)
    tally = Tally()
    with serve(TableSubject.of(X), {}, port=0) as server, contextlib.ExitStack() as open_ones:
        parts = urlsplit(server.url)
        for number in range(IDLE):
            idle = socket.create_connection((parts.hostname, parts.port), timeout=10)
            open_ones.callback(idle.close)
            # Half of them say something, and never the rest of it.
            if number % 2:
                idle.sendall(b"GET / HTTP/1.1\r\nHost: ")
        warm, level = crowd(server.url, n_clients, seconds, tally)
    require(not tally.errors, f"{len(tally.errors)} clients failed: {tally.errors[:3]}")
    require(not tally.stale, f"{tally.stale} pictures of other settings")
    require(
        level <= _MOST_GROWTH * warm,
        f"memory grew from {warm / 1e6:.0f} MB to {level / 1e6:.0f} MB",
    )
    return tally.pictures
