"""What the holders of rows were asked, as it was sent, to be asked again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from .worker import Command

_WITHOUT_EFFECT = ("about", "total", "best_row", "n_changed_labels", "n_members", "row_results")


class History:
    """All messages that changed what is known of rows."""

    def __init__(self) -> None:
        self._messages: list[bytes] = []

    def add(self, commands: Sequence[Command], message: bytes) -> None:
        """Note commands, and how they were sent."""
        if any(verb not in _WITHOUT_EFFECT for verb, _ in commands):
            self._messages.append(message)

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._messages)
