"""Replay: messages that changed the state of rows, kept to be sent again to new workers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .worker import WORKER_VERBS, Command


class Replay:
    """Messages with a command that changed the state of rows, in the order of sending."""

    def __init__(self) -> None:
        self._messages: list[bytes] = []

    def add(self, commands: Sequence[Command], message: bytes) -> None:
        """Keep the message if any of its commands changes the state of the rows."""
        if any(WORKER_VERBS[verb].changes for verb, _ in commands):
            self._messages.append(message)

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._messages)
