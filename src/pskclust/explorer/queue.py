"""Queue of work for one thread; newer work replaces older work of the same owner."""

from __future__ import annotations

import threading
import time
import traceback
from collections import OrderedDict
from collections.abc import Callable

from .._utils.progress import Progress, Report

Work = Callable[[Report], None]

FIT_SECONDS = 600.0
# After an answer, the page requests pictures and the user may change the setting.
IDLE_SECONDS = 0.5


class Cancelled(Exception):  # noqa: N818 - not an error: it was requested
    """Exception raised inside work that has been cancelled."""


class WorkQueue:
    """Queue in which each owner has at most one piece of work, running or waiting."""

    def __init__(self, max_seconds: float = FIT_SECONDS) -> None:
        self._max_seconds = max_seconds
        self._waiting: OrderedDict[str, Work] = OrderedDict()
        self._running: str | None = None
        self._idle_since = time.monotonic()
        self._cancel = threading.Event()
        self._changed = threading.Condition()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="pskclust-fits", daemon=True)
        self._thread.start()

    def submit(self, owner: str, work: Work) -> None:
        """Add work to the queue; older work of the same owner is dropped.

        `work` handles its own errors and is given a function to report progress to, which raises
        Cancelled when the work is to end.
        """
        with self._changed:
            self._drop(owner)
            self._waiting[owner] = work
            self._changed.notify_all()

    def cancel(self, owner: str) -> None:
        """Cancel the running or waiting work of an owner."""
        with self._changed:
            self._drop(owner)

    def place(self, owner: str) -> int:
        """Return the number of owners whose work comes before that of this owner."""
        with self._changed:
            waiting = list(self._waiting)
            before = waiting.index(owner) if owner in waiting else 0
            return before + (self._running not in (None, owner))

    def wait_until_idle(self) -> None:
        """Wait until the queue has been empty for a moment; raise Cancelled if it is closed."""
        with self._changed:
            while True:
                self._changed.wait_for(lambda: self._closed or self._idle())
                if self._closed:
                    raise Cancelled
                left = self._idle_since + IDLE_SECONDS - time.monotonic()
                if left <= 0:
                    return
                self._changed.wait(left)

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._waiting.clear()
            self._cancel.set()
            self._changed.notify_all()
        self._thread.join(timeout=10)

    def _idle(self) -> bool:
        return self._running is None and not self._waiting

    def _drop(self, owner: str) -> None:
        self._waiting.pop(owner, None)
        if self._running == owner:
            self._cancel.set()

    def _run(self) -> None:
        while True:
            with self._changed:
                self._running = None
                self._idle_since = time.monotonic()
                self._changed.notify_all()
                self._changed.wait_for(lambda: self._closed or self._waiting)
                if self._closed:
                    return
                self._running, work = self._waiting.popitem(last=False)
                self._cancel.clear()
            try:
                work(self._reporter())
            except Exception:
                # A failure must not stop the work that follows.
                traceback.print_exc()

    def _reporter(self) -> Report:
        ends = time.monotonic() + self._max_seconds

        def report(progress: Progress) -> None:
            if self._cancel.is_set():
                raise Cancelled
            if time.monotonic() > ends:
                raise TimeoutError(
                    f"this took longer than {self._max_seconds:.0f} seconds and was stopped. Use a "
                    "smaller psi or fewer partitionings, or explore a smaller sample."
                )

        return report
