"""Every example of the help and the docs of the command line runs as it is printed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from cli import SOURCE
from pskclust._kernels.choice import MIN_ROWS_FOR_COMPILED
from pskclust.cli.app import cli

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tools"))

import command_options  # noqa: E402

# A clustering that an example is to end in.
NINE = "9 clusters in 4,000 rows"


def examples(command):
    """Return the commands under "Example:" at the end of a help text."""
    after = (command.epilog or "").partition("Example:\n")[2]
    return re.findall(r"^  (pskclust .*)$", after, re.MULTILINE)


def shell_blocks(page):
    """Return the lines of shell in a page that are about the command."""
    blocks = re.findall(r"```sh\n(.*?)```", (ROOT / page).read_text(), re.DOTALL)
    lines = [line for block in blocks for line in block.splitlines()]
    return [line for line in lines if "pskclust " in line and "pip install" not in line]


@pytest.fixture
def shell(tmp_path):
    """Run lines of shell in a folder with a photograph, where `pskclust` is this code."""
    from PIL import Image

    pixels = np.random.RandomState(0).randint(0, 30, (60, 80, 3)).astype(np.uint8)
    pixels[:, 40:] += 150
    Image.fromarray(pixels).save(tmp_path / "photo.jpg")
    (tmp_path / "bin").mkdir()
    script = tmp_path / "bin/pskclust"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m pskclust "$@"\n')
    script.chmod(0o755)
    path = f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path, "PYTHONPATH": str(SOURCE)}

    def run(*lines):
        command = ["sh", "-ec", "\n".join(lines)]
        answer = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600
        )
        assert answer.returncode == 0, answer.stderr
        assert answer.stderr == ""
        return answer.stdout

    return run


def test_the_help_of_every_command_ends_in_an_example():
    for command in [cli, *cli.commands.values()]:
        assert examples(command), command.name


def test_the_examples_of_the_help_run(shell):
    each = {name: examples(command) for name, command in cli.commands.items()}
    # The example of fit makes the model that those of predict and info use.
    order = ["demo", "fit", "predict", "info", "sweep", "segment", "plan", "completion"]
    # An explorer does not end by itself: tests/test_explorer_server.py runs its example.
    assert sorted([*order, "explore"]) == sorted(each)
    shell(*examples(cli), *(line for name in order for line in each[name]))


def test_the_first_example_of_the_readme_runs(shell, tmp_path):
    lines = shell_blocks("README.md")
    assert lines[0] == "pskclust demo"
    assert lines[1].startswith("pskclust fit demo.csv")
    assert NINE in shell(*lines)
    assert "<html" in (tmp_path / "demo.html").read_text()


def test_the_examples_of_the_page_run(shell, tmp_path):
    out = shell(*shell_blocks("docs/command-line.md"))
    assert NINE in out
    for name in ("demo.html", "labels.csv", "predicted.parquet", "predicted.csv", "sweep.png"):
        assert (tmp_path / name).stat().st_size > 0
    assert (tmp_path / "parts/contact_sheet.png").exists()


def test_the_page_lists_the_options_that_there_are():
    page = command_options.PAGE.read_text()
    assert command_options.with_options(page) == page, "run python tools/command_options.py"
    assert "`--min-cluster-size`" in page


def test_what_demo_advises_is_what_the_readme_shows(shell):
    advice = shell("pskclust demo").splitlines()[-1].strip()
    assert advice == shell_blocks("README.md")[1]


def test_a_first_try_does_not_wait_for_compilation():
    (rows,) = (option for option in cli.commands["demo"].params if option.name == "n_rows")
    assert rows.default < MIN_ROWS_FOR_COMPILED
