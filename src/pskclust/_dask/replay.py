"""Replay: the commands sent to workers that changed the state of rows, to be sent again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .worker import WORKER_VERBS, Command


class Replay:
    """All messages with a command that changed the state of rows, in the order sent."""

    def __init__(self) -> None:
        self._messages: list[bytes] = []

    def add(self, commands: Sequence[Command], message: bytes) -> None:
        """Note commands, and the message that they were sent in."""
        if any(WORKER_VERBS[verb].changes for verb, _ in commands):
            self._messages.append(message)

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._messages)
