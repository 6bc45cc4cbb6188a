"""Progress: a bar for people, a callback for programs."""

from __future__ import annotations

import io
import sys
import time
import types

import pytest

from pskclust import PSKC, Progress
from pskclust._fit.reporting import reporting
from pskclust._kernels.compilation import compilation_starts
from pskclust._utils import progress as _progress
from tests.helpers.cli import in_python


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_the_callback_hears_of_every_stage(scattered):
    heard = []
    model = PSKC(psi=32, tau=0.05, random_state=0, callback=heard.append).fit(scattered)
    stages = [progress.stage for progress in heard]
    assert stages == sorted(stages, key=["encode", "grow", "refine"].index)
    assert heard[0].total == len(scattered)
    grown = [progress for progress in heard if progress.stage == "grow"]
    numbers = [progress.n_clusters for progress in grown]
    assert sorted(set(numbers)) == list(range(1, model.n_clusters_ + 1))
    assert numbers == sorted(numbers)
    assert grown[-1].done == (model.growth_step_ >= 0).sum()
    assert heard[-1] == Progress("refine", 3, 3, model.n_clusters_)


def test_an_exception_in_the_callback_ends_the_fit(blobs):
    def stop(progress):
        if progress.stage == "grow":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        PSKC(tau=0.01, callback=stop).fit(blobs)


def test_verbose_writes_a_line_for_each_stage(blobs, capsys):
    PSKC(tau=0.01, random_state=0, verbose=True).fit(blobs)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 3
    assert "300 of 300 rows have their cells" in lines[0]
    assert "300 of 300 rows assigned, 3 clusters" in lines[1]
    assert "passes" in lines[2]


def test_verbose_tells_of_a_choice(blobs, capsys):
    PSKC(random_state=0, verbose=True).fit(blobs)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 3
    assert "chose 3 clusters" in lines[0]
    assert "300 of 300 rows have their cells" in lines[1]
    assert "assigned all rows to 3 clusters" in lines[2]
    assert "[" not in lines[0] + lines[2]


def test_after_the_last_step_of_a_stage_the_bar_names_the_next_one():
    terminal = Terminal()
    bar = _progress.Bar(terminal)
    bar(Progress("choose", 0, 1))
    bar(Progress("choose", 1, 1, 3))
    assert terminal.getvalue().split("\r")[-1].strip() == "assigning rows ..."
    bar(Progress("encode", 100, 100))
    assert terminal.getvalue().split("\r")[-1].strip() == "clustering ..."


@pytest.mark.parametrize("refine", [False, True])
def test_on_a_terminal_the_bar_is_drawn_over_itself(blobs, monkeypatch, refine):
    terminal = Terminal()
    monkeypatch.setattr(_progress.sys, "stderr", terminal)
    monkeypatch.setattr(_progress.Bar, "SECONDS_BETWEEN_DRAWINGS", 0)
    PSKC(random_state=0, verbose=True, refine=refine).fit(blobs)
    text = terminal.getvalue()
    assert text.count("\n") == 3 + refine
    assert text.count("\r") > 3
    assert text.endswith("\n")


def test_the_bar_fits_a_narrow_terminal(blobs, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "50")
    PSKC(random_state=0, verbose=True).fit(blobs)
    assert max(map(len, capsys.readouterr().err.splitlines())) < 50


def test_nothing_is_written_unless_asked(blobs, capsys, monkeypatch):
    monkeypatch.setattr(_progress.LateBar, "SECONDS_BEFORE", 0)
    PSKC(random_state=0).fit(blobs)
    assert capsys.readouterr() == ("", "")


def slow_fit(blobs, verbose=None):
    """Fit, with a bar that has the time to be drawn."""

    def wait(progress):
        time.sleep(0.02)

    return PSKC(tau=0.01, random_state=0, verbose=verbose, callback=wait).fit(blobs)


@pytest.fixture
def at_once(monkeypatch):
    monkeypatch.setattr(_progress.LateBar, "SECONDS_BEFORE", 0)
    monkeypatch.setattr(_progress.LateBar, "SECONDS_BETWEEN", 0.001)


@pytest.mark.usefixtures("at_once")
def test_a_long_fit_shows_a_bar_on_a_terminal_and_takes_it_away(blobs, monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(_progress.sys, "stderr", terminal)
    slow_fit(blobs)
    text = terminal.getvalue()
    assert "rows assigned" in text
    assert "\n" not in text
    assert text.endswith("\r")
    *_, last, nothing = text.split("\r")
    assert last.strip() == nothing == ""
    assert max(map(len, text.split("\r"))) < 80


@pytest.mark.usefixtures("at_once")
def test_a_bar_is_taken_away_from_a_fit_that_fails(blobs, monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(_progress.sys, "stderr", terminal)

    def stop(progress):
        time.sleep(0.05)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        PSKC(tau=0.01, callback=stop).fit(blobs)
    assert terminal.getvalue().endswith("\r")
    # And the next fit shows one again.
    before = len(terminal.getvalue())
    slow_fit(blobs)
    assert len(terminal.getvalue()) > before


@pytest.mark.usefixtures("at_once")
def test_verbose_false_writes_nothing_on_a_terminal(blobs, monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(_progress.sys, "stderr", terminal)
    slow_fit(blobs, verbose=False)
    assert terminal.getvalue() == ""


def test_a_short_fit_writes_nothing_on_a_terminal(blobs, monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(_progress.sys, "stderr", terminal)
    monkeypatch.setattr(_progress.LateBar, "SECONDS_BEFORE", 600)
    slow_fit(blobs)
    assert terminal.getvalue() == ""


@pytest.mark.usefixtures("at_once")
def test_a_notebook_is_watched_as_a_terminal_is(blobs, monkeypatch):
    kernel = type("ZMQInteractiveShell", (), {})()
    notebook = types.ModuleType("IPython")
    notebook.get_ipython = lambda: kernel
    monkeypatch.setitem(sys.modules, "IPython", notebook)
    stream = io.StringIO()
    monkeypatch.setattr(_progress.sys, "stderr", stream)
    slow_fit(blobs)
    assert "rows assigned" in stream.getvalue()


@pytest.mark.usefixtures("at_once")
def test_fits_at_the_same_time_show_one_bar(blobs, monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(_progress.sys, "stderr", terminal)
    with reporting(None, None) as first, reporting(None, None) as second:
        assert first is not _progress.ignore
        assert second is _progress.ignore


@pytest.mark.parametrize("verbose", [None, True])
def test_compilation_is_told_once_and_only_to_people(verbose, monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(_progress.sys, "stderr", terminal)
    with reporting(verbose, None):
        compilation_starts()
        compilation_starts()
    assert terminal.getvalue().count(_progress.COMPILATION) == 1
    monkeypatch.setattr(_progress.sys, "stderr", io.StringIO())
    with reporting(None, None):
        compilation_starts()
    assert _progress.sys.stderr.getvalue() == ""


@pytest.mark.numba
@pytest.mark.slow
def test_numba_tells_of_what_it_compiles_and_not_of_what_it_has_kept(tmp_path, monkeypatch):
    code = """
from pskclust._kernels.compiling import compiled
from pskclust._kernels.compilation import hearing_of_compilation
import numpy as np
from pskclust._kernels import compiled as kernels
heard = []
with hearing_of_compilation(lambda: heard.append(1)):
    counts = np.zeros((2, 4), dtype=np.int64)
    kernels.count_cells(np.zeros((3, 2), dtype=np.uint8), np.arange(3), counts)
print(len(heard) > 0)
"""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    answers = [in_python(code) for _ in range(2)]
    assert [answer.stdout for answer in answers] == ["True\n", "False\n"], answers
