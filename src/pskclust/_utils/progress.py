"""Reports of the progress of a fit."""

from __future__ import annotations

import multiprocessing
import shutil
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self, TextIO


@dataclass(frozen=True)
class Progress:
    """Progress of a fit, as a ``callback`` receives it.

    Parameters
    ----------
    stage : {"sample", "choose", "encode", "grow", "refine", "link", "sweep"}
        The current stage, see the table in the notes.
    done : int
        Number of units that are finished, 0 to `total`.
    total : int
        Total number of units. Growth may end before `done` reaches it: the other rows are noise.
    n_clusters : int, default=0
        Number of clusters found so far, or by the latest fit of a sweep.

    See Also
    --------
    PSKC : Its parameter `callback` receives the progress of a fit.
    sweep : Its parameter `callback` receives the progress of all fits.

    Notes
    -----
    | stage | work | unit |
    |---|---|---|
    | sample | draw a sample from rows that are read block by block | rows read |
    | choose | choose a clustering | choices made |
    | encode | find the cell of each row in each partitioning | rows |
    | grow | grow clusters | rows assigned |
    | refine | refine clusters | passes made |
    | link | assign all rows to chosen or linked clusters | clusterings linked |
    | sweep | fit every pair of psi and tau | fits made |

    Examples
    --------
    >>> from pskclust import PSKC
    >>> seen = []
    >>> X = [[0.0], [0.1], [5.0], [5.1]]
    >>> model = PSKC(psi=2, tau=0.1, random_state=0, callback=seen.append).fit(X)
    >>> seen[0]
    Progress(stage='encode', done=4, total=4, n_clusters=0)
    >>> list(dict.fromkeys(progress.stage for progress in seen))
    ['encode', 'grow', 'refine']
    """

    stage: str
    done: int
    total: int
    n_clusters: int = 0


Report = Callable[[Progress], None]


def ignore(progress: Progress) -> None:
    """Discard the progress of a fit that nobody watches."""


def is_watched() -> bool:
    """Return whether this is the main process and shows standard error to a user."""
    if multiprocessing.parent_process() is not None:
        return False
    return sys.stderr is not None and (sys.stderr.isatty() or _is_notebook())


def _is_notebook() -> bool:
    # If a notebook runs this code, IPython is already imported.
    interactive = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return type(interactive).__name__ == "ZMQInteractiveShell"


COMPILATION = "Compiling code for this processor. The result is kept for later runs."

_MAX_BAR_WIDTH = 30
_WORDS = {
    "sample": "rows read",
    "encode": "rows have their cells",
    "grow": "rows assigned",
    "refine": "passes",
    "sweep": "fits",
}
# Stages of a single step show words instead of a bar: first the work, then its result.
_SINGLE_STEPS = {
    "choose": ("choosing clusters ...", "chose"),
    "link": ("assigning rows ...", "assigned all rows to"),
}
# Words for the work between the end of a stage and the first report of the next stage.
_AFTER = {
    "sample": "choosing clusters ...",
    "choose": "assigning rows ...",
    "encode": "clustering ...",
    "grow": "refining ...",
}
_AT_LAST = "finishing ..."


class Bar:
    """Progress bar: one line redrawn in place on a terminal, elsewhere one line for each stage."""

    SECONDS_BETWEEN_DRAWINGS = 0.1
    LAST_STAGES = ("refine", "link", "sweep")

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._live = stream.isatty()
        self._latest: Progress | None = None
        self._drawn_at = 0.0
        self._drawn_width = 0
        self._has_told = False

    def __call__(self, progress: Progress) -> None:
        if self._latest is not None and progress.stage != self._latest.stage:
            self._end_stage(self._latest)
        self._latest = progress
        if progress.stage in self.LAST_STAGES and progress.done == progress.total:
            self._end_stage(progress)
            self._latest = None
        elif self._live and (
            progress.done == progress.total
            or time.monotonic() - self._drawn_at > self.SECONDS_BETWEEN_DRAWINGS
        ):
            line = _line_of_now(progress)
            self._stream.write("\r" + line.ljust(self._drawn_width))
            self._drawn_width = len(line)
            self._stream.flush()
            self._drawn_at = time.monotonic()

    def _end_stage(self, progress: Progress) -> None:
        line = _line_for(progress).ljust(self._drawn_width)
        self._stream.write(("\r" if self._live else "") + line + "\n")
        self._drawn_width = 0
        self._stream.flush()

    def tell_of_compilation(self) -> None:
        """Write a line about compilation, the first time only."""
        if not self._has_told:
            self._has_told = True
            self._stream.write(("\r" if self._live else "") + COMPILATION + "\n")
            self._stream.flush()


class LateBar:
    """Progress line that appears two seconds into a fit and disappears at its end."""

    SECONDS_BEFORE = 2.0
    SECONDS_BETWEEN = 0.2

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._latest: Progress | None = None
        self._started = time.monotonic()
        self._has_told = False
        self._width = 0
        self._done = threading.Event()
        self._writing = threading.Lock()
        # A thread draws, because some stages report nothing for seconds.
        self._thread = threading.Thread(target=self._draw, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *about: object) -> None:
        self._done.set()
        self._thread.join()
        self._clear()

    def __call__(self, progress: Progress) -> None:
        self._latest = progress

    def tell_of_compilation(self) -> None:
        """Write a line about compilation, the first time only."""
        if not self._has_told:
            self._has_told = True
            self._clear()
            self._write(COMPILATION + "\n")

    def _draw(self) -> None:
        wait = self.SECONDS_BEFORE
        while not self._done.wait(wait):
            wait = self.SECONDS_BETWEEN
            seconds = f" ({time.monotonic() - self._started:.0f} s)"
            line = _line_of_now(self._latest, len(seconds)) + seconds
            self._write("\r" + line.ljust(self._width))
            self._width = len(line)

    def _clear(self) -> None:
        if self._width:
            self._write("\r" + " " * self._width + "\r")
            self._width = 0

    def _write(self, text: str) -> None:
        with self._writing:
            self._stream.write(text)
            self._stream.flush()


def _line_of_now(progress: Progress | None, n_reserved: int = 0) -> str:
    """Return the line for the current stage or, once it has ended, for the work after it."""
    columns = shutil.get_terminal_size().columns - n_reserved
    if progress is None:
        return "reading rows ..."[: columns - 1]
    if progress.done == progress.total:
        return _AFTER.get(progress.stage, _AT_LAST)[: columns - 1]
    return _line_for(progress, n_reserved)


def _line_for(progress: Progress, n_reserved: int = 0) -> str:
    """Return a bar with words that leaves `n_reserved` characters of the terminal's line free."""
    columns = shutil.get_terminal_size().columns - n_reserved
    clusters = f"{progress.n_clusters} cluster{'s' if progress.n_clusters != 1 else ''}"
    if progress.stage in _SINGLE_STEPS:
        work, result = _SINGLE_STEPS[progress.stage]
        done = f"{result} {clusters}"
        return (done if progress.done else work)[: columns - 1]
    words = f"{progress.done:,} of {progress.total:,} {_WORDS[progress.stage]}"
    if progress.stage == "grow":
        words += f", {clusters}"
    width = max(0, min(_MAX_BAR_WIDTH, columns - len(words) - 11))
    full = width * progress.done // max(progress.total, 1)
    return f"{progress.stage:>6} [{'#' * full}{'.' * (width - full)}] {words}"[: columns - 1]
