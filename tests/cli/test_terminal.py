"""Commands on a terminal: tables that fit its width, and bars that are gone before output."""

from __future__ import annotations

import io
import os
import re
import sys

import numpy as np
import pytest

from pskclust.cli.app import run
from pskclust.cli.bars import Bars
from pskclust.cli.display import say
from tests.helpers.cli import Commands, start

GROWN = ("--psi", "16", "--tau", "0.05", "--n-partitions", "30")
ERASES_A_LINE = "\x1b[2K"


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def command(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TERM", "xterm")
    return Commands(capsys)


@pytest.fixture
def table(blobs, tmp_path):
    np.savetxt(tmp_path / "t.csv", blobs, delimiter=",", header="x,y", comments="")
    return "t.csv"


def printed(monkeypatch, width, *arguments):
    """Return the lines that a command prints on a terminal, without colours."""
    terminal = Terminal()
    monkeypatch.setattr(sys, "stdout", terminal)
    monkeypatch.setenv("COLUMNS", str(width))
    assert run(list(arguments)) == 0
    return re.sub(r"\x1b\[[0-9;]*m", "", terminal.getvalue()).splitlines()


def heading(lines):
    return next(line for line in lines if "cluster" in line and "rows" in line).split("   ")


@pytest.mark.parametrize("width", [40, 60, 80])
def test_a_narrow_terminal_gets_fewer_columns_of_clusters(command, table, monkeypatch, width):
    command.ok("fit", table, "--model", "m.npz")
    for arguments in (("fit", table), ("info", "m.npz")):
        lines = printed(monkeypatch, width, *arguments)
        assert "…" not in "\n".join(lines)
        names = [name.strip() for name in heading(lines)]
        assert names == ["cluster", "rows", "share", "median similarity", "confidence"]
        if width >= 60:
            assert max(len(line) for line in lines[:8]) <= width


def test_a_wide_terminal_gets_all_columns(command, table, monkeypatch):
    assert "similarity: min" in " ".join(heading(printed(monkeypatch, 100, "fit", table)))


def test_clusters_are_listed_by_label(command, blobs, tmp_path):
    # Grown clusters are numbered as they are found; the smallest of three may come first.
    sizes = (100, 60, 25)
    rows = np.vstack([blobs[100 * k : 100 * k + n] for k, n in enumerate(sizes)])
    np.savetxt(tmp_path / "t.csv", rows[::-1], delimiter=",", header="x,y", comments="")
    lines = command.ok("fit", "t.csv", *GROWN).splitlines()
    start = next(place for place, line in enumerate(lines) if "──" in line) + 1
    listed = [line.split()[0] for line in lines[start : lines.index("", start)]]
    labels = [label for label in listed if label != "noise"]
    assert len(labels) >= 3
    assert labels == [str(number) for number in range(len(labels))]


def on_a_terminal(folder, *arguments):
    """Return all that a command prints where both of its outputs are one terminal."""
    pty = pytest.importorskip("pty")
    control, terminal = pty.openpty()
    process = start(*arguments, folder=folder, stdout=terminal, stderr=terminal)
    os.close(terminal)
    parts = []
    while True:
        try:
            part = os.read(control, 1 << 16)
        except OSError:
            # Linux says so at the end.
            break
        if not part:
            break
        parts.append(part)
    os.close(control)
    assert process.wait(timeout=120) == 0
    return b"".join(parts).decode()


def test_an_error_is_wrapped_between_words_and_its_command_is_whole(command, monkeypatch):
    with open("t.csv", "w") as stream:
        stream.write("x,a name\n" + "1,tree\n2,bush\n" * 20)
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("COLUMNS", "50")
    options = ("--growth-rate", "0.2", "--tau", "0.1", "--n-partitions", "50")
    assert run(["fit", "t.csv", *options]) == 3
    lines = terminal.getvalue().splitlines()
    assert len(lines) > 2
    (whole,) = (line for line in lines if line.startswith("  pskclust fit t.csv --drop 'a name'"))
    assert whole.endswith("--tau 0.1 --growth-rate 0.2 --n-partitions 50")
    lines.remove(whole)
    assert all(len(line) < 50 for line in lines)
    together = " ".join(lines)
    assert 'column "a name" is text ("tree")' in together


def test_an_install_command_is_on_a_line_of_its_own(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("COLUMNS", "40")
    say('This needs torch. Install it with: pip install "pskclust[torch]"', to_stderr=True)
    assert terminal.getvalue().splitlines()[-1] == '  pip install "pskclust[torch]"'


@pytest.mark.slow
def test_bars_are_gone_before_labels_are_printed(command, table, tmp_path):
    command.ok("fit", table, "--model", "m.npz")
    for arguments in (("fit", table, *GROWN, "-o", "-"), ("predict", "m.npz", table)):
        text = on_a_terminal(tmp_path, *arguments)
        # The header stands right after the erased bar, and nothing is erased after it.
        _, labels = re.split(r'\x1b\[2K"?cluster"?(?=[,\r])', text, maxsplit=1)
        assert ERASES_A_LINE not in labels


def test_a_stage_of_one_step_has_words_and_no_bar(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    with Bars() as bars:
        bars.show("choose", 0.0)
        bars.show("choose", 1.0)
    text = terminal.getvalue()
    assert "Choosing clusters ..." in text
    assert "Assigning rows ..." in text
    assert "%" not in text
    assert "━" not in text


@pytest.mark.parametrize("name", ["r.pdf", "r", "r.html.gz"])
def test_a_report_is_a_page(command, name):
    # Before the table is looked for.
    line = command.refused(2, "fit", "absent.csv", "--report", name)
    assert f"{name} must end in .html or .htm" in line
