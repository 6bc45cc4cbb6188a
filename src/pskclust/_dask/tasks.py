"""Wait for Dask futures, with a timeout."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from typing import Any

from distributed import Client, Future, wait


class LostError(RuntimeError):
    """Data on the cluster was lost and cannot be computed again."""


class Tasks:
    """A Dask client, with a timeout on everything that is waited for."""

    def __init__(self, client: Client, timeout: float) -> None:
        self.client = client
        self.timeout = timeout

    def workers(self) -> dict[str, int]:
        """Return the addresses of the workers there are, with the threads of each."""
        try:
            self.client.wait_for_workers(1, timeout=self.timeout)
        except TimeoutError as error:
            raise self.too_long("there was no worker") from error
        # The client's own copy of this is some seconds old.
        threads: dict[str, int] = self.client.nthreads()
        return threads

    def finished(self, futures: Sequence[Future], what: str) -> Iterator[list[Future]]:
        """Yield futures as they finish; raise what has gone wrong, on the cluster or with it."""
        waiting: Any = list(futures)
        try:
            while waiting:
                done, waiting = wait(waiting, timeout=self.timeout, return_when="FIRST_COMPLETED")
                for future in done:
                    if future.status != "finished":
                        future.result()
                yield list(done)
        except TimeoutError as error:
            raise self.too_long(f"nothing came of {what}") from error
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
            results: list[Any] = self.client.gather(list(futures))
        finally:
            for future in futures:
                future.release()
        return results

    def too_long(self, what: str) -> TimeoutError:
        """Return an error that tells what was waited for."""
        return TimeoutError(
            f"For {self.timeout:g} seconds {what}. Look at the workers' logs; pass a larger "
            "timeout if they only need longer."
        )
