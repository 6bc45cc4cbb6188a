"""Progress bars on a terminal; elsewhere nothing."""

from __future__ import annotations

import contextlib
import sys
from types import TracebackType
from typing import TYPE_CHECKING, Self

from .._kernels.compilation import hearing_of_compilation
from .._utils.progress import COMPILATION

if TYPE_CHECKING:
    from rich.progress import Progress as RichProgress
    from rich.progress import TaskID

    from .._utils.progress import Progress

_WORDS = {
    "read": "Reading",
    "sample": "Sampling",
    "choose": "Choosing",
    "link": "Linking",
    "encode": "Encoding",
    "grow": "Growing",
    "refine": "Refining",
    "sweep": "Sweeping",
    "predict": "Predicting",
    "segment": "Segmenting",
    "write": "Writing",
}


class Bars:
    """A bar for each stage, one below the other, gone when all is done."""

    def __init__(self) -> None:
        self._shown: RichProgress | None = None
        self._stage: str | None = None
        self._task: TaskID | None = None
        self._hearing = contextlib.ExitStack()
        self._has_told = False

    def __enter__(self) -> Self:
        if sys.stderr.isatty():
            self._shown = _rich_progress()
            self._shown.start()
            self._hearing.enter_context(hearing_of_compilation(self._tell_of_compilation))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._hearing.close()
        if self._shown is not None:
            self._shown.stop()

    def of_fit(self, progress: Progress) -> None:
        """Show what a fit reports; this is a callback for PSKC."""
        note = ""
        if progress.n_clusters:
            note = f"{progress.n_clusters} cluster{'s' if progress.n_clusters > 1 else ''}"
        self.show(progress.stage, progress.done / max(1, progress.total), note)

    def show(self, stage: str, share: float, note: str = "") -> None:
        """Show how far a stage is; the one before it is done."""
        if self._shown is None:
            return
        if stage != self._stage:
            if self._task is not None:
                self._shown.update(self._task, completed=1.0)
            self._stage = stage
            self._task = self._shown.add_task(_WORDS[stage], total=1.0, note=note)
        assert self._task is not None
        self._shown.update(self._task, completed=share, note=note)

    def _tell_of_compilation(self) -> None:
        if self._shown is not None and not self._has_told:
            self._has_told = True
            self._shown.console.print(COMPILATION)


def _rich_progress() -> RichProgress:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn

    return Progress(
        TextColumn("{task.description:<10}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[note]}"),
        console=Console(stderr=True),
        transient=True,
    )
