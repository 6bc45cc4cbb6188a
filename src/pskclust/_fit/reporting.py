"""Where a fit reports its progress: a callback, a progress bar, or nowhere."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator

from .._kernels.compilation import hearing_of_compilation
from .._utils.progress import Bar, LateBar, Progress, Report, ignore, is_watched

_one_at_a_time = threading.Lock()


@contextlib.contextmanager
def reporting(verbose: bool | int | None, callback: Report | None) -> Iterator[Report]:
    """Yield the function to which a fit reports its progress.

    With `verbose=None`, a bar is shown only in a terminal or a notebook, and only if the fit takes
    more than two seconds.
    """
    listeners: list[Report] = [] if callback is None else [callback]

    def report(progress: Progress) -> None:
        for listener in listeners:
            listener(progress)

    with contextlib.ExitStack() as shown:
        if verbose:
            bar = Bar(sys.stderr)
            shown.enter_context(hearing_of_compilation(bar.tell_of_compilation))
            listeners.insert(0, bar)
        elif verbose is None and is_watched() and _one_at_a_time.acquire(blocking=False):
            shown.callback(_one_at_a_time.release)
            late = shown.enter_context(LateBar(sys.stderr))
            shown.enter_context(hearing_of_compilation(late.tell_of_compilation))
            listeners.insert(0, late)
        yield report if listeners else ignore
