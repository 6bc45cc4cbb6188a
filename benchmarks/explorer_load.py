"""Test the explorer under load: fifty clients move its sliders for a minute.

    python benchmarks/explorer_load.py [--clients 50] [--seconds 60] [--rows 2000]

Server and clients run on this machine. Each client changes psi and tau, waits for the answer, and
requests the picture; sometimes it changes them again before the answer arrives. The script fails if
a request fails, if a picture does not show the latest settings of its client, or if memory at the
end exceeds the memory after a warm-up by more than 10%.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import random
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode, urlsplit

from pskclust.datasets import make_shapes
from pskclust.explorer.launch import serve
from pskclust.explorer.subject import TableSubject

PSI = (8, 16, 32, 64)
TAU = (0.005, 0.008, 0.01, 0.015, 0.02, 0.03, 0.05, 0.08)
FRAME = {"left": -2, "right": 20, "bottom": -3, "top": 17, "w": 700, "h": 560}
WARM_MOVES = 4  # of each client on average
HURRY = 0.3  # probability of another move before the answer


@dataclass
class Tally:
    """Counts and times of all clients together."""

    moves: int = 0
    pictures: int = 0
    stale: int = 0
    errors: list[str] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    payloads: list[int] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)


class Client:
    """A client with one page and one persistent connection."""

    def __init__(self, url: str, tally: Tally, seed: int) -> None:
        self._connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=120)
        self._tally, self._random = tally, random.Random(seed)
        self._headers: dict[str, str] = {"Content-Type": "application/json"}
        opened = self._json("POST", "/api/session", {})
        self._headers["X-Session"] = opened["session"]
        self._settings = opened["first"]
        self._version = 0

    def run(self, until: float) -> None:
        """Move sliders until the time `until`; record an error if one occurs."""
        try:
            while time.monotonic() < until:
                self._move()
                time.sleep(self._random.uniform(0, 0.2))
            self._json("POST", "/api/end", {})
        except Exception as error:
            with self._tally.lock:
                self._tally.errors.append(f"{type(error).__name__}: {error}")
        finally:
            self._connection.close()

    def _move(self) -> None:
        began = time.monotonic()
        asked = self._ask()
        while self._random.random() < HURRY:
            asked = self._ask()
        fit, payload = self._answer(asked)
        query = urlencode({"fit": fit["id"], **FRAME})
        content, headers = self._request("GET", f"/api/picture?{query}")
        fresh = headers["x-fit"] == fit["id"] and all(
            fit["settings"][name] == self._settings[name] for name in ("psi", "tau")
        )
        with self._tally.lock:
            self._tally.moves += 1
            self._tally.pictures += 1
            self._tally.stale += not fresh
            self._tally.seconds.append(time.monotonic() - began)
            self._tally.payloads.append(payload + len(content))

    def _ask(self) -> int:
        self._settings = {
            **self._settings,
            "psi": self._random.choice(PSI),
            "tau": self._random.choice(TAU),
        }
        return int(self._json("POST", "/api/fit", self._settings)["asked"])

    def _answer(self, asked: int) -> tuple[dict, int]:
        payload = 0
        while True:
            content, _ = self._request("GET", f"/api/news?after={self._version}")
            payload += len(content)
            state = json.loads(content)
            self._version = state["version"]
            if state["error"]:
                raise RuntimeError(state["error"])
            if state["answered"] == asked:
                return state["fit"], payload

    def _json(self, method: str, path: str, body: dict) -> dict:
        return json.loads(self._request(method, path, json.dumps(body))[0])

    def _request(self, method: str, path: str, body: str | None = None) -> tuple[bytes, dict]:
        self._connection.request(method, path, body, self._headers)
        answer = self._connection.getresponse()
        content = answer.read()
        if answer.status != 200:
            raise RuntimeError(f"{path} answered {answer.status}: {content[:200]!r}")
        return content, {name.lower(): value for name, value in answer.getheaders()}


def memory_bytes() -> int:
    """Return the resident memory of this process, which includes the clients."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE")


def crowd(url: str, n_clients: int, seconds: float, tally: Tally) -> tuple[int, int]:
    """Run clients for some time; return the memory after a warm-up, and at the end.

    The warm-up takes a quarter of the time, and longer on a busy machine: clients make some moves.
    """
    until = time.monotonic() + seconds
    clients = [Client(url, tally, seed) for seed in range(n_clients)]
    threads = [threading.Thread(target=client.run, args=(until,)) for client in clients]
    for thread in threads:
        thread.start()
    time.sleep(seconds / 4)
    while tally.moves < WARM_MOVES * n_clients and any(thread.is_alive() for thread in threads):
        time.sleep(0.05)
    warm = memory_bytes()
    for thread in threads:
        thread.join(timeout=seconds + 300)
    return warm, memory_bytes()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--rows", type=int, default=2000)
    options = parser.parse_args()
    X, _ = make_shapes(options.rows, random_state=0)
    tally = Tally()
    with serve(TableSubject.of(X), {}, port=0) as server:
        began = time.monotonic()
        warm, level = crowd(server.url, options.clients, options.seconds, tally)
        took = time.monotonic() - began
    seconds = sorted(tally.seconds)
    print(f"clients      {options.clients}, for {took:.0f} s, {options.rows:,} rows")
    print(f"moves        {tally.moves:,}, {tally.moves / took:.1f} a second")
    print(f"answer       median {seconds[len(seconds) // 2]:.2f} s, longest {seconds[-1]:.2f} s")
    print(f"payload      at most {max(tally.payloads) / 1000:.0f} kB a move")
    print(f"errors       {len(tally.errors)} {tally.errors[:3] or ''}")
    print(f"stale        {tally.stale} of {tally.pictures:,} pictures")
    print(
        f"memory       {warm / 1e6:.0f} MB after warm-up, {level / 1e6:.0f} MB at the end", end=" "
    )
    print(f"({level / warm - 1:+.1%})")
    if tally.errors or tally.stale or level > 1.1 * warm:
        raise SystemExit("FAILED: errors, stale pictures, or memory that grew by more than 10%")


if __name__ == "__main__":
    main()
