"""Sessions: settings, results and work in progress of each open page."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import threading
import time
import traceback
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._advice import Hint
from .._utils.progress import Progress, Report
from . import advice
from .answers import summary
from .colours import follow
from .control_names import as_controls
from .fits import Fit, Fitter
from .psi_tau_map import PsiTauMap
from .queue import Cancelled, WorkQueue
from .settings import Settings

MAX_SESSIONS = 64
# An open page requests updates several times a minute.
IDLE_SECONDS = 150.0
_SECONDS_BETWEEN_REPORTS = 0.08
_COLOURINGS_KEPT = 64


class TooManySessionsError(Exception):
    """Error for more sessions than the server allows."""


@dataclass(frozen=True)
class _State:
    """The state of a session, as the page shows it."""

    asked: int = 0  # number of requests so far
    answered: int = 0  # number of the request that the latest fit answers
    doing: str | None = None  # "fit" or "advice"
    progress: dict[str, Any] | None = None
    error: str | None = None
    fit: dict[str, Any] | None = None
    advice: dict[str, Any] | None = None
    map_version: int = 0


class Session:
    """Session of one page in a browser."""

    def __init__(self, fitter: Fitter, queue: WorkQueue, psi_tau_map: PsiTauMap) -> None:
        self.id = secrets.token_urlsafe(18)
        self._fitter, self._queue, self._psi_tau_map = fitter, queue, psi_tau_map
        self._lock = threading.RLock()
        self._state = _State()
        self._version = 0
        self._latest: Fit | None = None
        self._colours: OrderedDict[str, NDArray[np.int64]] = OrderedDict()
        self._waiters: set[tuple[asyncio.AbstractEventLoop, asyncio.Event]] = set()
        self._closed = False
        self.used_at = time.monotonic()

    def ask(self, settings: Settings) -> int:
        """Fit a setting and drop earlier requests; return the number of this request."""
        with self._lock:
            number = self._state.asked + 1
            self._change(asked=number, doing="fit", progress=None, error=None, advice=None)
        known = self._fitter.known(settings.id)
        if known is not None:
            self._queue.cancel(self.id)
            self._publish(number, known)
        else:
            self._queue.submit(
                self.id,
                self._answering(number, lambda report: self._fitter.fit(settings, report)),
            )
        if settings.is_grown:
            self._psi_tau_map.want(settings)
        return number

    def ask_advice(self, kind: str, fit: Fit, clusters: list[int]) -> None:
        """Search for a change of the setting that joins two clusters or splits one."""
        with self._lock:
            number = self._state.asked + 1
            self._change(asked=number, doing="advice", progress=None, error=None, advice=None)

        def search(report: Report) -> Hint:
            if kind == "join":
                pair = clusters[0], clusters[1]
                return advice.join(self._fitter, fit, pair, self._psi_tau_map, report)
            return advice.split(self._fitter, fit, clusters[0], self._psi_tau_map, report)

        self._queue.submit(self.id, self._answering(number, search))

    def stop(self) -> None:
        """Cancel the work in progress."""
        self._queue.cancel(self.id)
        with self._lock:
            if self._state.doing is not None:
                self._change(asked=self._state.asked + 1, doing=None, progress=None)

    def colours(self, fit: Fit) -> NDArray[np.int64]:
        """Return the colours that the clusters of a fit have on this page."""
        with self._lock:
            known = self._colours.get(fit.id)
        return np.arange(fit.n_clusters) if known is None else known

    def map_changed(self) -> None:
        with self._lock:
            self._change(map_version=self._state.map_version + 1)

    def answer(self) -> dict[str, Any]:
        """Return the state as JSON for the page."""
        with self._lock:
            state = dict(vars(self._state))
            state["version"] = self._version
        if state["doing"] is not None:
            state["queue"] = self._queue.place(self.id)
        return state

    async def changed(self, version: int, max_seconds: float) -> dict[str, Any]:
        """Wait until the state is newer than `version`, or for a timeout; return the state."""
        event = asyncio.Event()
        waiter = asyncio.get_running_loop(), event
        with self._lock:
            newer = self._closed or self._version > version
            if not newer:
                self._waiters.add(waiter)
        if not newer:
            try:
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(event.wait(), max_seconds)
            finally:
                with self._lock:
                    self._waiters.discard(waiter)
        return self.answer()

    def close(self) -> None:
        """Cancel the work in progress and answer all waiting requests."""
        self._queue.cancel(self.id)
        with self._lock:
            self._closed = True
            self._change(doing=None, progress=None)

    def _answering(self, number: int, work: Callable[[Report], Fit | Hint]) -> Any:
        def run(check: Report) -> None:
            try:
                found = work(self._reporting(number, check))
            except Cancelled:
                return
            except (ValueError, TypeError, MemoryError, TimeoutError, ImportError) as error:
                self._fail(number, as_controls(str(error)) or "memory ran out.")
            except Exception as error:
                traceback.print_exc()
                self._fail(number, f"{type(error).__name__}: {error}")
            else:
                if isinstance(found, Hint):
                    self._advise(number, found)
                else:
                    self._publish(number, found)

        return run

    def _reporting(self, number: int, check: Report) -> Report:
        told_at = 0.0

        def report(progress: Progress) -> None:
            nonlocal told_at
            check(progress)
            now = time.monotonic()
            if now - told_at > _SECONDS_BETWEEN_REPORTS:
                told_at = now
                with self._lock:
                    if number == self._state.asked:
                        self._change(progress=dict(vars(progress)))

        return report

    def _publish(self, number: int, fit: Fit) -> None:
        with self._lock:
            if number != self._state.asked:
                return
            if fit.id not in self._colours:
                before = self._latest
                colours = np.arange(0) if before is None else self.colours(before)
                self._colours[fit.id] = follow(fit, before, colours)
            self._colours.move_to_end(fit.id)
            while len(self._colours) > _COLOURINGS_KEPT:
                self._colours.popitem(last=False)
            self._latest = fit
            found = self._fitter.found(fit.settings)
            shown = summary(fit, self._colours[fit.id], self._fitter.subject, found)
            self._change(answered=number, doing=None, progress=None, fit=shown)

    def _advise(self, number: int, found: Hint) -> None:
        with self._lock:
            if number == self._state.asked:
                self._change(doing=None, progress=None, advice=advice.to_json(found))

    def _fail(self, number: int, words: str) -> None:
        with self._lock:
            if number == self._state.asked:
                self._change(doing=None, progress=None, error=words)

    def _change(self, **changes: Any) -> None:
        """Replace parts of the state and wake waiting requests."""
        self._state = _State(**{**vars(self._state), **changes})
        self._version += 1
        for loop, event in self._waiters:
            # The event loop may be closed while the server ends.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(event.set)
        self._waiters.clear()


class Sessions:
    """All sessions; a new session drops those that were idle for too long."""

    def __init__(
        self,
        fitter: Fitter,
        *,
        max_sessions: int = MAX_SESSIONS,
        idle_seconds: float = IDLE_SECONDS,
    ) -> None:
        self.fitter = fitter
        self.queue = WorkQueue()
        self.psi_tau_map = PsiTauMap(fitter, self.queue, self._tell_of_map)
        self._max_sessions, self._idle_seconds = max_sessions, idle_seconds
        self._sessions: dict[str, Session] = {}
        self._lock = threading.Lock()

    def open(self) -> Session:
        with self._lock:
            now = time.monotonic()
            idle = [
                key
                for key, session in self._sessions.items()
                if now - session.used_at > self._idle_seconds
            ]
            for key in idle:
                self._sessions.pop(key).close()
            if len(self._sessions) >= self._max_sessions:
                raise TooManySessionsError(
                    f"{self._max_sessions} pages are open already. Close some of them, or start "
                    "another explorer."
                )
            session = Session(self.fitter, self.queue, self.psi_tau_map)
            self._sessions[session.id] = session
            return session

    def get(self, key: str) -> Session | None:
        with self._lock:
            session = self._sessions.get(key)
        if session is not None:
            session.used_at = time.monotonic()
        return session

    def end(self, key: str) -> None:
        with self._lock:
            session = self._sessions.pop(key, None)
        if session is not None:
            session.close()

    def end_all(self) -> None:
        """Answer all waiting requests, so that the server can end."""
        for session in self._all():
            session.close()

    def close(self) -> None:
        self.psi_tau_map.close()
        self.queue.close()

    def _tell_of_map(self) -> None:
        for session in self._all():
            session.map_changed()

    def _all(self) -> list[Session]:
        with self._lock:
            return list(self._sessions.values())
