"""Measure fits, each in a process that is stopped if it takes too much time or memory."""

from __future__ import annotations

import multiprocessing
import resource
import statistics
import time
from collections.abc import Callable
from typing import Any

import numpy as np

Method = Callable[[np.ndarray], Any]

# A method whose first fit takes longer than this is not timed again.
SECONDS_FOR_REPEATS = 10
# Limit of a process's address space; generous, because threads reserve more than they use.
BYTES_ALLOWED = 20 << 30
WARM_UP_ROWS = 25_000
# Limit of the first fit on few rows, which includes imports and compilation.
SECONDS_TO_WARM_UP = 60


def _report_fit(method: Method, X: np.ndarray, warm_up_rows: int, pipe: Any) -> None:
    """Fit to few rows, to load all code, then to all rows; send time, memory and labels."""
    resource.setrlimit(resource.RLIMIT_AS, (BYTES_ALLOWED, BYTES_ALLOWED))
    try:
        method(X[:warm_up_rows])
        pipe.send("warm")
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        started, started_working = time.perf_counter(), time.process_time()
        model = method(X)
        seconds, worked = time.perf_counter() - started, time.process_time() - started_working
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    except MemoryError:
        pipe.send("out of memory")
        return
    pipe.send(
        {
            "seconds": seconds,
            "processor_seconds": worked,
            "megabytes": (peak - before) / 1e3,
            "labels": model.labels_.astype(np.int32),
        }
    )


def timed_fit(
    method: Method, X: np.ndarray, seconds_allowed: float, warm_up_rows: int = WARM_UP_ROWS
) -> dict[str, Any] | str:
    """Return the time, memory and labels of a fit, or a message if it fails.

    The fit runs in a forked process.
    """
    context = multiprocessing.get_context("fork")
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_report_fit, args=(method, X, warm_up_rows, theirs))
    process.start()
    theirs.close()
    try:
        if not ours.poll(max(seconds_allowed, SECONDS_TO_WARM_UP)):
            return f"stopped after {max(seconds_allowed, SECONDS_TO_WARM_UP):.0f} s"
        answer: dict[str, Any] | str = ours.recv()
        if answer == "warm":
            if not ours.poll(seconds_allowed):
                return f"stopped after {seconds_allowed:.0f} s"
            answer = ours.recv()
        return answer
    except EOFError:
        return "failed, most likely for want of memory"
    finally:
        process.terminate()
        process.join()


def compare(
    X: np.ndarray,
    methods: dict[str, Method],
    seconds_allowed: float,
    repeats: int = 3,
    judge: Callable[[np.ndarray], dict[str, float]] = lambda labels: {},
) -> dict[str, Any]:
    """Return medians over the fits of each method, or why it failed.

    In each of the `repeats`, all methods are fitted in turn. `judge` returns further values for the
    labels of a method's first fit.
    """
    fits: dict[str, list[dict[str, Any]]] = {name: [] for name in methods}
    failures: dict[str, str] = {}
    for _ in range(repeats):
        for name, method in methods.items():
            slow = fits[name] and fits[name][0]["seconds"] > SECONDS_FOR_REPEATS
            if slow or name in failures:
                continue
            answer = timed_fit(method, X, seconds_allowed)
            if isinstance(answer, str):
                failures[name] = answer
            else:
                labels = answer.pop("labels")
                if not fits[name]:
                    answer["clusters"] = len(np.unique(labels[labels >= 0]))
                    answer.update(judge(labels))
                fits[name].append(answer)
    return {
        name: {"failure": failures[name]} if name in failures else _summary(some)
        for name, some in fits.items()
    }


def _summary(fits: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        **fits[0],
        "seconds": statistics.median(fit["seconds"] for fit in fits),
        "megabytes": statistics.median(fit["megabytes"] for fit in fits),
        "runs": len(fits),
    }
