"""Attack: the explorer must serve many clients beside idle connections in constant memory."""

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
    """Yield cases of a minute of load, each on a new explorer."""
    while True:
        seed = int(rng.randint(1 << 31))
        yield Case(
            f"{CLIENTS} clients, {IDLE} idle connections, {SECONDS} s, seed {seed}",
            lambda s=seed: loaded(s, CLIENTS, SECONDS),
        )


def loaded(seed: int, n_clients: int, seconds: float, n_rows: int = 1000) -> int:
    """Run clients for some seconds; check them, and return the number of pictures they got."""
    X, _ = make_shapes(n_rows, random_state=seed)
    tally = Tally()
    with serve(TableSubject.of(X), {}, port=0) as server, contextlib.ExitStack() as open_ones:
        parts = urlsplit(server.url)
        for number in range(IDLE):
            idle = socket.create_connection((parts.hostname, parts.port), timeout=10)
            open_ones.callback(idle.close)
            # Half of the idle connections send the start of a request, but never its end.
            if number % 2:
                idle.sendall(b"GET / HTTP/1.1\r\nHost: ")
        warm, level = crowd(server.url, n_clients, seconds, tally)
    require(not tally.errors, f"{len(tally.errors)} clients failed: {tally.errors[:3]}")
    require(not tally.stale, f"{tally.stale} pictures do not show the latest settings")
    require(
        level <= _MOST_GROWTH * warm,
        f"memory grew from {warm / 1e6:.0f} MB to {level / 1e6:.0f} MB",
    )
    return tally.pictures
