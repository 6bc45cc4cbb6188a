"""Reports of the progress of a fit."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, TextIO


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
        Number of units in all. Growth may end before it is reached: the remaining rows are noise.
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
    | encode | find the cell of each row in each partitioning | rows encoded |
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


def reporter(verbose: bool, callback: Report | None) -> Report:
    """Return a function that passes progress on to the progress bar and to `callback`."""
    candidates = (_Bar(sys.stderr) if verbose else None, callback)
    listeners = [listener for listener in candidates if listener is not None]

    def report(progress: Progress) -> None:
        for listener in listeners:
            listener(progress)

    return report if listeners else ignore


class _Bar:
    """Progress bar: one line redrawn in place on a terminal, elsewhere one line for each stage."""

    MAX_WIDTH = 30
    SECONDS_BETWEEN_DRAWINGS = 0.1
    WORDS: ClassVar = {
        "sample": "rows read",
        "choose": "choices made",
        "encode": "rows encoded",
        "grow": "rows assigned",
        "refine": "passes",
        "link": "linked",
        "sweep": "fits",
    }
    LAST_STAGES = ("refine", "link", "sweep")

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._live = stream.isatty()
        self._latest: Progress | None = None
        self._drawn_at = 0.0
        self._drawn_width = 0

    def __call__(self, progress: Progress) -> None:
        if self._latest is not None and progress.stage != self._latest.stage:
            self._end_stage(self._latest)
        self._latest = progress
        if progress.stage in self.LAST_STAGES and progress.done == progress.total:
            self._end_stage(progress)
            self._latest = None
        elif self._live and time.monotonic() - self._drawn_at > self.SECONDS_BETWEEN_DRAWINGS:
            self._stream.write("\r" + self._line(progress).ljust(self._drawn_width))
            self._drawn_width = len(self._line(progress))
            self._stream.flush()
            self._drawn_at = time.monotonic()

    def _end_stage(self, progress: Progress) -> None:
        line = self._line(progress).ljust(self._drawn_width)
        self._stream.write(("\r" if self._live else "") + line + "\n")
        self._drawn_width = 0
        self._stream.flush()

    def _line(self, progress: Progress) -> str:
        words = f"{progress.done:,} of {progress.total:,} {self.WORDS[progress.stage]}"
        if progress.stage in ("grow", "link"):
            words += f", {progress.n_clusters} cluster{'s' if progress.n_clusters != 1 else ''}"
        columns = shutil.get_terminal_size().columns
        width = max(0, min(self.MAX_WIDTH, columns - len(words) - 11))
        full = width * progress.done // max(progress.total, 1)
        return f"{progress.stage:>6} [{'#' * full}{'.' * (width - full)}] {words}"[: columns - 1]
