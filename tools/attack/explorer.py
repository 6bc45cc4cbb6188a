"""Attack: the explorer must refuse hostile requests, and keep answering beside slow clients."""

from __future__ import annotations

import http.client
import json
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
from sklearn.datasets import make_blobs

import pskclust
from tests.helpers.explorer_client import FRAME, Client
from tools.attack.cases import Case, require

_REQUESTS = 25
_PATHS = (
    "/", "/api/session", "/api/fit", "/api/news", "/api/picture", "/api/export", "/api/undo",
    "/../../etc/passwd", "/js/../../server.py", "/%2e%2e/%2e%2e/etc/passwd", "/\0", "//",
    "/api/" + "x" * 5000,
    "/api/point", "/api/map", "/api/advice", "/js/main.js", "http://elsewhere/api/fit",
)  # fmt: skip
_METHODS = ("GET", "POST", "PUT", "DELETE", "OPTIONS", "HEAD", "TRACE", "\x01", "PATCH")
_VALUES = (
    None, True, -1, 0, 1, 2**31, 2**63, 10**400, 1e308, float("inf"), float("nan"), -0.5, 1e-320,
    "", "x", "../../x", "\0", "<script>", [], [1], {}, {"a": 1}, "9" * 10_000,
)  # fmt: skip
_HEADERS = (
    {"Host": "evil.example"}, {"Origin": "http://evil.example"}, {"Content-Length": "-1"},
    {"Content-Length": "99999999999"}, {"X-Session": "x" * 10_000}, {"X-Session": "../.."},
    {"Transfer-Encoding": "chunked"}, {"Content-Type": "text/plain"},
    {"Sec-Fetch-Site": "cross-site"}, {},
)  # fmt: skip


def cases(rng: np.random.RandomState, folder: Path) -> Iterator[Case]:
    """Yield batches of hostile requests; after each, the explorer must answer a valid request."""
    X = make_blobs(300, centers=3, random_state=0)[0]
    server = pskclust.explore(X, psi=8, tau=0.1, port=0, open_browser=False, block=False)
    with server:
        client = Client(server.url)
        client.wait()
        while True:
            seed = rng.randint(1 << 31)
            way = (_requests, _settings, _raw, _slow)[rng.choice(4, p=[0.4, 0.35, 0.15, 0.1])]
            yield Case(
                f"{way.__name__} {seed}",
                lambda w=way, s=seed: _survived(client, w, np.random.RandomState(s)),
            )


def _survived(client: Client, way, rng: np.random.RandomState) -> int:
    n_sent = way(client, rng)
    started = time.monotonic()
    status, _, _ = client.request("GET", "/")
    require(status == 200, f"a valid request gets status {status} afterwards")
    require(time.monotonic() - started < 10, "a valid request waits for more than ten seconds")
    return n_sent


def _sent(client: Client, method: str, path: str, body: bytes | None, headers: dict) -> None:
    """Send a request; any answer is allowed except an internal error of the server.

    503 is allowed: it means that 64 pages are already open.
    """
    host, _, port = client.address.partition(":")
    connection = http.client.HTTPConnection(host, int(port), timeout=2)
    try:
        connection.request(method, path, body, {**client.headers, **headers})
        answer = connection.getresponse()
        content = answer.read()
        require(
            answer.status < 500 or answer.status == 503,
            f"{method} {path[:60]} {headers}: {answer.status} {content[:200]!r}",
        )
        require(b"root:" not in content, "a file of the machine was sent")
    except (http.client.HTTPException, ValueError, OSError):
        # The server closed the connection, or Python refused to send the request.
        pass
    finally:
        connection.close()


def _requests(client: Client, rng: np.random.RandomState) -> int:
    for _ in range(_REQUESTS):
        path = str(rng.choice(_PATHS))
        if rng.rand() < 0.5:
            frame = {**FRAME, "fit": 1, "kind": "model", "after": 0, "row": 1}
            names = rng.choice(list(frame), size=4)
            frame |= {name: _VALUES[rng.randint(len(_VALUES))] for name in names}
            # A request for updates after the latest one would wait, so it asks for all of them.
            path += f"?{urlencode(frame)}" if "news" not in path else "?after=-1"
        method = str(rng.choice(_METHODS))
        body = rng.bytes(rng.randint(0, 3000)) if rng.rand() < 0.5 else None
        if "news" in path and "after" not in path:
            continue
        _sent(client, method, path, body, _HEADERS[rng.randint(len(_HEADERS))])
    return _REQUESTS


def _settings(client: Client, rng: np.random.RandomState) -> int:
    """Send requests for fits with odd settings; return their number."""
    for _ in range(_REQUESTS):
        asked = dict(client.first)
        for name in rng.choice([*asked, "surprise"], size=rng.randint(1, 4)):
            asked[str(name)] = _VALUES[rng.randint(len(_VALUES))]
        body = json.dumps(asked if rng.rand() < 0.9 else _VALUES[rng.randint(len(_VALUES))])
        path = str(rng.choice(["/api/fit", "/api/session", "/api/undo"]))
        _sent(client, "POST", path, body.encode(), {"Content-Type": "application/json"})
    return _REQUESTS


def _raw(client: Client, rng: np.random.RandomState) -> int:
    """Send bytes that are not valid requests; return the number of connections."""
    for _ in range(_REQUESTS):
        with _socket(client) as connection:
            junk = rng.bytes(rng.randint(1, 5000))
            start = (
                b"",
                b"GET / HTTP/1.1\r\n",
                b"POST /api/fit HTTP/1.1\r\nContent-Length: 10\r\n",
            )
            try:
                connection.sendall(start[rng.randint(3)] + junk)
                connection.settimeout(0.2)
                connection.recv(100)
            except OSError:
                pass
    return _REQUESTS


def _slow(client: Client, rng: np.random.RandomState) -> int:
    """Open connections that never complete a request; a valid request must be answered."""
    connections = [_socket(client) for _ in range(100)]
    try:
        for connection in connections:
            connection.sendall(b"GET / HTTP/1.1\r\nHost: x")
        status, _, _ = client.request("GET", "/")
        require(status == 200, f"{status} beside 100 idle connections")
    finally:
        for connection in connections:
            connection.close()
    return len(connections)


def _socket(client: Client) -> socket.socket:
    host, _, port = client.address.partition(":")
    return socket.create_connection((host, int(port)), timeout=10)
