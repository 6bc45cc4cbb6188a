"""Connections between the process that fits and the workers that hold rows.

A fit has hundreds of rounds of a millisecond's work each, but a call of a Dask actor takes several
milliseconds. So a plain socket is used where Dask itself uses plain sockets (tcp://); the key that
opens it is exchanged through Dask. Where Dask encrypts (tls://), or where workers cannot be reached
directly, messages go through the scheduler, over Dask's own connections.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import ipaddress
import os
import pickle
import secrets
import selectors
import socket
import struct
import threading
import time
from collections.abc import Callable
from typing import Any, Protocol

from distributed.protocol import to_serialize

_SECONDS_TO_CONNECT = 10
_LENGTH = struct.Struct("<Q")
_KEY_BYTES = 32
# A worker waits this long without sleeping, because the next message usually arrives sooner. With
# few processors, waking a sleeping worker makes a round about a tenth longer.
_SECONDS_AWAKE = 0.001
_give_way = getattr(os, "sched_yield", lambda: time.sleep(0))


class Connection(Protocol):
    """Connection to one worker, which answers messages in order."""

    def send(self, message: bytes) -> None:
        """Send a message, without waiting for the answer."""

    def receive(self) -> Any:
        """Return the next answer, or raise ConnectionError if the worker is lost."""

    def close(self) -> None: ...


def plain_host(worker: str, scheduler: str) -> str:
    """Return the host at which a worker may listen on a plain socket; "" if it may not.

    A worker may listen if Dask itself uses plain sockets, and only at the address by which other
    machines know the worker, never at all addresses of its machine.
    """
    if not all(address.startswith("tcp://") for address in (worker, scheduler)):
        return ""
    host = worker.removeprefix("tcp://").rpartition(":")[0].strip("[]")
    with contextlib.suppress(ValueError):
        return "" if ipaddress.ip_address(host).is_unspecified else host
    return host


def new_key() -> bytes:
    return secrets.token_bytes(_KEY_BYTES)


class SchedulerConnection:
    """Connection that calls methods of an actor through the scheduler."""

    def __init__(self, client: Any, address: str, actor: str, timeout: float) -> None:
        self._client, self.address, self._actor = client, address, actor
        self._timeout = timeout

    def send(self, message: bytes) -> None:
        self.call("run", message)

    def receive(self) -> Any:
        return _answer_or_error(*self.result())

    def call(self, method: str, *arguments: Any) -> None:
        """Call a method, without waiting for its result."""
        request = {
            "op": "actor_execute",
            "actor": self._actor,
            "function": method,
            "args": [to_serialize(argument) for argument in arguments],
            "kwargs": {},
        }
        call = self._client.scheduler.proxy(worker=self.address, msg=request)
        self._reply = asyncio.run_coroutine_threadsafe(call, self._client.loop.asyncio_loop)

    def result(self) -> Any:
        """Return the result of the last method that was called."""
        reply = _lost_if_broken(self._reply.result, self._timeout)
        if reply["status"] != "OK":
            raise reply["exception"]
        return reply["result"]

    def close(self) -> None:
        """Do nothing, because there is no connection to close."""


class SocketConnection:
    """Connection by a socket to the worker itself."""

    def __init__(self, host: str, port: int, key: bytes, timeout: float) -> None:
        self._socket = socket.create_connection((host, port), _SECONDS_TO_CONNECT)
        try:
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._socket.sendall(key)
        except OSError:
            self._socket.close()
            raise
        self._socket.settimeout(timeout)

    def send(self, message: bytes) -> None:
        _lost_if_broken(_send, self._socket, message)

    def receive(self) -> Any:
        status, answer = unpack(_lost_if_broken(_receive, self._socket))
        return _answer_or_error(status, answer)

    def close(self) -> None:
        self._socket.close()


def pack(message: Any) -> bytes:
    """Return a message as bytes."""
    return pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)


def unpack(message: bytes) -> Any:
    """Unpickle a message. This is safe: the sender has shown that it has the key."""
    return pickle.loads(message)


def serve(host: str, key: bytes, answer: Callable[[bytes], tuple[str, Any]]) -> int:
    """Serve one client, which has ten seconds to connect with the key; return the port."""
    server = socket.create_server((host, 0), family=_family(host))
    server.settimeout(_SECONDS_TO_CONNECT)
    port: int = server.getsockname()[1]
    threading.Thread(
        target=_serve, args=(server, key, answer), name=f"pskclust connection {port}", daemon=True
    ).start()
    return port


def _serve(server: socket.socket, key: bytes, answer: Callable[[bytes], tuple[str, Any]]) -> None:
    with server:
        try:
            connection, _ = server.accept()
        except TimeoutError:
            return
    with connection, selectors.DefaultSelector() as arrivals:
        arrivals.register(connection, selectors.EVENT_READ)
        try:
            connection.settimeout(_SECONDS_TO_CONNECT)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if not hmac.compare_digest(bytes(_read(connection, _KEY_BYTES)), key):
                return
            connection.settimeout(None)
            while True:
                _stay_awake(arrivals)
                _send(connection, pack(answer(_receive(connection))))
        except OSError:  # the other side has closed, or is gone
            return


def _stay_awake(arrivals: selectors.BaseSelector) -> None:
    """Wait without sleeping until a message arrives, for a millisecond at most."""
    end = time.perf_counter() + _SECONDS_AWAKE
    while not arrivals.select(0) and time.perf_counter() < end:
        _give_way()


def _send(connection: socket.socket, message: bytes) -> None:
    connection.sendall(_LENGTH.pack(len(message)) + message)


def _receive(connection: socket.socket) -> bytes:
    (length,) = _LENGTH.unpack(_read(connection, _LENGTH.size))
    return bytes(_read(connection, length))


def _read(connection: socket.socket, length: int) -> bytearray:
    content = bytearray(length)
    rest = memoryview(content)
    while rest:
        n_bytes = connection.recv_into(rest)
        if not n_bytes:
            raise ConnectionError("The connection was closed by the other side.")
        rest = rest[n_bytes:]
    return content


def _lost_if_broken(function: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return function(*arguments)
    except TimeoutError:
        raise
    except (OSError, KeyError) as error:
        raise ConnectionError(str(error)) from error


def _answer_or_error(status: str, answer: Any) -> Any:
    if status == "error":
        raise answer
    return answer


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET
