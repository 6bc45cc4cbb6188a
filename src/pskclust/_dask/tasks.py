"""Wait for Dask futures, with a timeout."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from typing import Any, TypeVar, cast

from distributed import Client, Future, KilledWorker, wait

from .._utils.memory import readable_bytes

T = TypeVar("T")

_SECONDS_FOR_DETAILS = 2
_MORE_MEMORY = (
    "Give them more memory, use more workers, or cut X into smaller blocks with X.rechunk."
)


class LostError(RuntimeError):
    """Data on the cluster was lost and cannot be computed again."""


class Tasks:
    """A Dask client, with a timeout on everything that is waited for."""

    def __init__(self, client: Client, timeout: float) -> None:
        self.client = client
        self.timeout = timeout
        self._workers_before = self._known_workers()

    def workers(self) -> dict[str, int]:
        """Return the addresses of the workers there are, with the threads of each."""
        what = "the workers"
        try:
            self.asked(what, self.client.wait_for_workers, 1, timeout=self.timeout)
        except TimeoutError as error:
            raise self.too_long("there was no worker") from error
        # The client's own copy of this is some seconds old.
        threads: dict[str, int] = self.asked(what, self.client.nthreads)
        return threads

    def holders(self, futures: Sequence[Future]) -> dict[str, list[str]]:
        """Return the addresses of the workers that hold the result of each future, by its key."""
        held: dict[str, list[str]] = self.asked("results", self.client.who_has, list(futures))
        return held

    def shared(self, value: object, *, direct: bool = False) -> Future:
        """Return a future of a value that was sent to all workers, past the scheduler if direct."""
        options = {"broadcast": True, "hash": False, **({"direct": True} if direct else {})}
        return self.asked("a place for data", self.client.scatter, value, **options)

    def asked(self, what: str, function: Callable[..., T], *arguments: Any, **options: Any) -> T:
        """Return what a method of the client returns, which by itself waits without end.

        It is called in a thread that is left behind if the scheduler does not answer.
        """
        outcome = _within(self.timeout, function, *arguments, **options)
        if outcome is None:
            raise self.too_long(f"the scheduler did not answer when it was asked for {what}")
        answer, error = outcome
        if isinstance(error, CancelledError):
            raise LostError(f"Dask gave up {what}: it was lost with a worker.") from error
        if error is not None:
            raise error
        return cast(T, answer)

    def finished(self, futures: Sequence[Future], what: str) -> Iterator[list[Future]]:
        """Yield futures as they finish; raise what has gone wrong, on the cluster or with it."""
        waiting: Any = list(futures)
        try:
            while waiting:
                # Else it looks for a client that was made the default one.
                with self.client.as_current():
                    done, waiting = wait(waiting, self.timeout, return_when="FIRST_COMPLETED")
                for future in done:
                    if future.status != "finished":
                        future.result()
                yield list(done)
        except TimeoutError as error:
            raise self.too_long(f"nothing came of {what}") from error
        except KilledWorker as error:
            raise RuntimeError(
                f"Workers were lost again and again while {what}. They may have run out of memory"
                f"{self._limits()}. {_MORE_MEMORY}"
            ) from error
        except CancelledError as error:
            raise LostError(
                f"Dask gave up {what}: the scheduler was restarted or lost, or rows that were put "
                "on a worker, and cannot be computed again, were lost with it. Fit again, from "
                "data that is read from files if this should survive the loss of workers."
            ) from error

    def gather(self, futures: Sequence[Future], what: str) -> list[Any]:
        """Return the results of futures, small ones, in their order, and let go of them."""
        try:
            for _ in self.finished(futures, what):
                pass
            results: list[Any] = self.asked(what, self.client.gather, list(futures))
        finally:
            for future in futures:
                future.release()
        return results

    def too_long(self, what: str) -> TimeoutError:
        """Return an error that tells what was waited for, and which workers were restarted."""
        before, now = self._workers_before, self._known_workers()
        restarted = sorted(
            str(name) for name in before if name in now and before[name] != now[name]
        )
        if restarted:
            return TimeoutError(
                f"For {self.timeout:g} seconds {what}. Meanwhile these workers were restarted: "
                f"{', '.join(restarted)}. They may have run out of memory{self._limits()}. "
                f"{_MORE_MEMORY}"
            )
        return TimeoutError(
            f"For {self.timeout:g} seconds {what}. Look at the workers' logs; pass a larger "
            "timeout if they only need longer."
        )

    def _known_workers(self) -> dict[Any, str]:
        """Return the addresses of workers by name, which a restarted one keeps, as last heard."""
        known = self._infos()
        return {info["name"]: address for address, info in known.items()}

    def _infos(self) -> dict[str, Any]:
        """Return the scheduler's facts about all workers, none if it does not answer soon."""
        seconds = min(self.timeout, _SECONDS_FOR_DETAILS)
        answer, _ = _within(seconds, self.client.scheduler_info, n_workers=-1) or (None, None)
        return dict((answer or {}).get("workers", {}))

    def _limits(self) -> str:
        limits = [info["memory_limit"] for info in self._infos().values() if info["memory_limit"]]
        return f": they may take {readable_bytes(min(limits))} each" if limits else ""


def _within(
    seconds: float, function: Callable[..., T], *arguments: Any, **options: Any
) -> tuple[T | None, BaseException | None] | None:
    """Return the value or exception of a function, None if it takes longer."""
    outcome: list[tuple[T | None, BaseException | None]] = []

    def call() -> None:
        try:
            outcome.append((function(*arguments, **options), None))
        except BaseException as error:
            outcome.append((None, error))

    thread = threading.Thread(target=call, name="pskclust asks the scheduler", daemon=True)
    thread.start()
    thread.join(seconds)
    return outcome[0] if outcome else None
