"""Wait for Dask futures, with a timeout."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError
from typing import Any, TypeVar, cast

from distributed import Client, Future, KilledWorker, wait

from .._utils.memory import readable_bytes

T = TypeVar("T")

_SECONDS_FOR_DETAILS = 5
_N_REPETITIONS = 3
_MORE_MEMORY = (
    "Give them more memory, use more workers, or cut X into smaller blocks with X.rechunk."
)


class LostError(RuntimeError):
    """Error for data on the cluster that was lost with a worker."""


def scheduler_is_gone(error: BaseException) -> RuntimeError:
    """Return the error for a lost scheduler, with its cause."""
    return RuntimeError(
        f"The Dask scheduler is gone, or this client is closed ({error!r}). Fit again with a "
        "client that is connected."
    )


class Tasks:
    """A Dask client with a timeout for every wait."""

    def __init__(self, client: Client, timeout: float) -> None:
        self.client = client
        self.timeout = timeout
        self._known: dict[str, Any] = {}
        self._clock_behind = math.inf
        # Workers are noted before any work, because a lack of memory may kill them at once.
        self._remember(self.asked("listing the workers", _facts_about_workers, client))

    def workers(self) -> dict[str, int]:
        """Return the number of threads of each worker, by address; wait for a first worker."""
        facts = self.asked("listing the workers", _facts_about_workers, self.client)
        if not facts:
            _within(self.timeout, self.client.wait_for_workers, 1, timeout=self.timeout)
            facts = self.asked("listing the workers", _facts_about_workers, self.client)
        if not facts:
            raise self.too_long("there was no worker")
        self._remember(facts)
        return {address: own["nthreads"] for address, own in facts.items()}

    def holders(self, futures: Sequence[Future]) -> dict[str, list[str]]:
        """Return, by the key of each future, the addresses of the workers that hold its result."""
        held: dict[str, list[str]] = self.asked(
            "finding results", self.client.who_has, list(futures)
        )
        return held

    def shared(self, value: object) -> Future:
        """Return a future of a value that is sent to one worker; others fetch it from there.

        `scatter` with `broadcast` is not used: it may wait forever if a worker is lost meanwhile.
        """
        lost = LostError("A value was lost with the workers that it was sent to.")
        for address in list(self.workers())[:_N_REPETITIONS]:
            for direct in (True, False):  # this process may not reach a worker directly
                try:
                    return self._scattered(value, address, direct=direct)
                except LostError as error:
                    lost = error
        raise lost

    def _scattered(self, value: object, address: str, *, direct: bool) -> Future:
        def scatter() -> Future:
            try:
                return self.client.scatter(
                    value,
                    workers=[address],
                    direct=direct,
                    hash=False,
                    timeout=min(self.timeout / 2, _SECONDS_FOR_DETAILS),
                )
            # Dask raises these errors if a worker is gone or paused before the value arrives.
            except (KeyError, TimeoutError) as error:
                raise LostError(f"A value was lost with worker {address}.") from error

        return self.asked("sending data", scatter)

    def repeated(self, attempt: Callable[[], T]) -> T:
        """Return the result of `attempt`, repeated up to three times if a worker is lost."""
        for _ in range(_N_REPETITIONS):
            try:
                return attempt()
            except LostError:
                continue
        return attempt()

    def asked(self, what: str, function: Callable[..., T], *arguments: Any, **options: Any) -> T:
        """Call a function of the client, which might wait forever, with a timeout.

        The function runs in a thread, which is abandoned if the scheduler does not answer.
        """
        outcome = _within(self.timeout, function, *arguments, **options)
        if outcome is None:
            raise self.too_long(f"the cluster gave no answer to a request ({what})")
        answer, error = outcome
        if isinstance(error, OSError) and not isinstance(error, TimeoutError):
            if self._facts_now(self.timeout) is None:
                raise scheduler_is_gone(error) from error
            raise LostError(f"Dask gave up {what}: a worker was lost meanwhile.") from error
        if isinstance(error, CancelledError):
            raise LostError(f"Dask gave up {what}: the result was lost with a worker.") from error
        if error is not None:
            raise error
        return cast(T, answer)

    def finished(self, futures: Sequence[Future], what: str) -> Iterator[list[Future]]:
        """Yield futures as they finish; raise the errors of tasks and of the cluster."""
        waiting: Any = list(futures)
        try:
            while waiting:
                # Outside this context, `wait` would use the default client.
                with self.client.as_current():
                    done, waiting = wait(waiting, self.timeout, return_when="FIRST_COMPLETED")
                for future in done:
                    if future.status != "finished":
                        future.result()
                yield list(done)
        except TimeoutError as error:
            raise self.too_long(f"no result arrived while {what}") from error
        except KilledWorker as error:
            last = error.last_worker
            lost = self._lost(self._facts_now()) | {str(last.name): last.memory_limit}
            raise RuntimeError(
                f"Dask gave up {what}: each worker that tried it was lost. "
                f"{_sentence_about(lost)} {_MORE_MEMORY}"
            ) from error
        except CancelledError as error:
            raise LostError(
                f"Dask gave up {what}: the scheduler was restarted or lost, or rows that cannot be "
                "computed again were lost with a worker. Fit again; with data that is read from "
                "files, a fit survives the loss of workers."
            ) from error

    def gather(self, futures: Sequence[Future], what: str) -> list[Any]:
        """Return the small results of futures, in the order of the futures, and release them."""
        try:
            for _ in self.finished(futures, what):
                pass
            results: list[Any] = self.asked(what, self.client.gather, list(futures))
        finally:
            for future in futures:
                future.release()
        return results

    def too_long(self, what: str) -> TimeoutError:
        """Return a timeout error that names the workers that were lost or sent no heartbeat."""
        now = self._facts_now()
        waited = f"For {self.timeout:g} seconds {what}."
        lost, silent = self._lost(now), self._silent(now)
        if lost:
            return TimeoutError(f"{waited} {_sentence_about(lost)} {_MORE_MEMORY}")
        if silent:
            return TimeoutError(
                f"{waited} No heartbeat came from {', '.join(silent)} meanwhile. Look at their "
                "logs; pass a larger timeout if they need more time."
            )
        return TimeoutError(
            f"{waited} Look at the workers' logs; pass a larger timeout if they need more time."
        )

    def _remember(self, facts: dict[str, Any]) -> None:
        """Note the facts about present workers, for messages about workers that are lost later."""
        self._known.update(facts)
        self._compare_clocks(facts)

    def _compare_clocks(self, facts: dict[str, Any]) -> None:
        """Estimate the lag of the scheduler's clock, which times the heartbeats."""
        ages = [time.time() - own["last_seen"] for own in facts.values()]
        self._clock_behind = min([self._clock_behind, *ages])

    def _facts_now(self, at_most: float = _SECONDS_FOR_DETAILS) -> dict[str, Any] | None:
        """Return the facts about all workers; None if the scheduler does not answer in time."""
        seconds = min(self.timeout, at_most)
        answer, _ = _within(seconds, _facts_about_workers, self.client) or (None, None)
        return answer

    def _lost(self, now: dict[str, Any] | None) -> dict[str, int]:
        """Return the memory limits of workers that are gone or were restarted, by worker name."""
        if now is None:
            return {}
        gone = [self._known[address] for address in sorted(self._known) if address not in now]
        return {str(own["name"]): own["memory_limit"] for own in gone}

    def _silent(self, now: dict[str, Any] | None) -> list[str]:
        """Return the addresses of workers that sent no heartbeat for half of the timeout."""
        if not now:
            return []
        self._compare_clocks(now)
        oldest = time.time() - self._clock_behind - self.timeout / 2
        return sorted(address for address, own in now.items() if own["last_seen"] < oldest)


def _facts_about_workers(client: Client) -> dict[str, Any]:
    """Return the scheduler's facts about each worker, by address."""
    # `client.scheduler_info` is not used: it returns old facts if the scheduler is gone.
    facts: dict[str, Any] = client.sync(client.scheduler.identity)["workers"]
    return facts


def _sentence_about(lost: dict[str, int]) -> str:
    """Return a sentence about lost workers, given the memory limit of each; 0 means no limit."""
    named = [
        f"{name} (memory limit {readable_bytes(limit)})" if limit else name
        for name, limit in lost.items()
    ]
    return f"These workers were lost and may have run out of memory: {', '.join(named)}."


def _within(
    seconds: float, function: Callable[..., T], *arguments: Any, **options: Any
) -> tuple[T | None, BaseException | None] | None:
    """Return the value or the exception of a function; None if it takes longer than `seconds`."""
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
