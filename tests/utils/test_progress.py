"""Progress: a bar for people, a callback for programs."""

from __future__ import annotations

import io

import pytest

from pskclust import PSKC, Progress
from pskclust._utils import progress as _progress


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
    assert "300 of 300 rows encoded" in lines[0]
    assert "300 of 300 rows assigned, 3 clusters" in lines[1]
    assert "passes" in lines[2]


def test_verbose_tells_of_a_choice(blobs, capsys):
    PSKC(random_state=0, verbose=True).fit(blobs)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 3
    assert "1 of 1 choices made" in lines[0]
    assert "300 of 300 rows encoded" in lines[1]
    assert "1 of 1 linked, 3 clusters" in lines[2]


@pytest.mark.parametrize("refine", [False, True])
def test_on_a_terminal_the_bar_is_drawn_over_itself(blobs, monkeypatch, refine):
    terminal = Terminal()
    monkeypatch.setattr(_progress.sys, "stderr", terminal)
    monkeypatch.setattr(_progress._Bar, "SECONDS_BETWEEN_DRAWINGS", 0)
    PSKC(random_state=0, verbose=True, refine=refine).fit(blobs)
    text = terminal.getvalue()
    assert text.count("\n") == 3 + refine
    assert text.count("\r") > 3
    assert text.endswith("\n")


def test_the_bar_fits_a_narrow_terminal(blobs, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "50")
    PSKC(random_state=0, verbose=True).fit(blobs)
    assert max(map(len, capsys.readouterr().err.splitlines())) < 50


def test_nothing_is_written_unless_asked(blobs, capsys):
    PSKC(random_state=0).fit(blobs)
    assert capsys.readouterr() == ("", "")
