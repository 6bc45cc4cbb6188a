"""Progress bars, shown on a terminal only."""

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
    "encode": "Encoding",
    "grow": "Growing",
    "refine": "Refining",
    "sweep": "Sweeping",
    "predict": "Predicting",
    "segment": "Segmenting",
}
# Stages of a single step show words instead of a bar.
_SINGLE_STEPS = {
    "choose": "Choosing clusters ...",
    "link": "Assigning rows ...",
    "write": "Writing ...",
}
# Words for the work after a stage, until the next stage reports.
_AFTER = {
    "read": "Preparing rows ...",
    "sample": "Choosing clusters ...",
    "choose": "Assigning rows ...",
    "encode": "Clustering ...",
    "grow": "Refining ...",
}
_AT_LAST = "Finishing ..."


class Bars:
    """Display of the current stage, with a bar if its steps are counted; removed at the end."""

    def __init__(self) -> None:
        self._shown: RichProgress | None = None
        self._words: str | None = None
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
        self.stop()

    def stop(self) -> None:
        """Remove the display for good, so that something else can be printed."""
        self._hearing.close()
        if self._shown is not None:
            self._shown.stop()
            self._shown = None

    def of_fit(self, progress: Progress) -> None:
        """Show the progress of a fit; this method is a callback for PSKC."""
        note = ""
        if progress.n_clusters:
            note = f"{progress.n_clusters} cluster{'s' if progress.n_clusters > 1 else ''}"
        self.show(progress.stage, progress.done / max(1, progress.total), note)

    def show(self, stage: str, share: float, note: str = "") -> None:
        """Show the progress of a stage, in place of the previous stage."""
        if self._shown is None:
            return
        if share >= 1:
            words, total = _AFTER.get(stage, _AT_LAST), None
        elif stage in _SINGLE_STEPS:
            words, total = _SINGLE_STEPS[stage], None
        else:
            words, total = _WORDS[stage], 1.0
        if words != self._words:
            if self._task is not None:
                self._shown.remove_task(self._task)
            self._words = words
            self._task = self._shown.add_task(words, total=total, note=note)
        assert self._task is not None
        self._shown.update(self._task, completed=share, note=note)

    def _tell_of_compilation(self) -> None:
        if self._shown is not None and not self._has_told:
            self._has_told = True
            self._shown.console.print(COMPILATION)


def _rich_progress() -> RichProgress:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, Task, TextColumn, TimeElapsedColumn
    from rich.progress_bar import ProgressBar
    from rich.text import Text

    class CountedBar(BarColumn):
        """Progress bar; empty for a stage whose steps are not counted."""

        def render(self, task: Task) -> ProgressBar:
            bar = super().render(task)
            if task.total is None:
                bar.width = 0
            return bar

    class Percentage(TextColumn):
        """Percentage; empty for a stage whose steps are not counted."""

        def render(self, task: Task) -> Text:
            return Text("") if task.total is None else super().render(task)

    return Progress(
        TextColumn("{task.description:<10}"),
        CountedBar(),
        Percentage("[progress.percentage]{task.percentage:>3.0f}%"),
        TimeElapsedColumn(),
        TextColumn("{task.fields[note]}"),
        console=Console(stderr=True),
        transient=True,
    )
