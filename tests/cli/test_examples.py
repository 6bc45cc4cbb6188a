"""Every example of the help and the docs of the command line runs as it is printed."""

from __future__ import annotations

import re

import pytest

from pskclust.cli.app import cli
from tests.helpers.pages import ROOT, runs_to_an_end, shell_lines

pytestmark = pytest.mark.docs

# A clustering that an example is to end in.
NINE = "9 clusters in 4,000 rows"


def examples(command):
    """Return the commands under "Example:" at the end of a help text."""
    after = (command.epilog or "").partition("Example:\n")[2]
    return re.findall(r"^  (pskclust .*)$", after, re.MULTILINE)


def commands(page):
    """Return the lines of shell in a page that a test can run."""
    return [line for line in shell_lines(ROOT / page) if runs_to_an_end(line)]


def test_the_help_of_every_command_ends_in_an_example():
    for command in [cli, *cli.commands.values()]:
        assert examples(command), command.name


def test_the_examples_of_the_help_run(shell):
    each = {name: examples(command) for name, command in cli.commands.items()}
    # The example of fit makes the model that those of predict and info use.
    order = ["demo", "fit", "predict", "info", "sweep", "segment", "plan", "completion"]
    # An explorer does not end by itself: tests/explorer/test_server.py runs its example.
    assert sorted([*order, "explore"]) == sorted(each)
    shell(*examples(cli), *(line for name in order for line in each[name]))


def test_the_first_example_of_the_readme_runs(shell, tmp_path):
    lines = commands("README.md")
    assert lines[0] == "pskclust demo"
    assert lines[1].startswith("pskclust fit demo.csv")
    assert NINE in shell(*lines)
    assert "<html" in (tmp_path / "demo.html").read_text()


def test_the_examples_of_the_page_run(shell, tmp_path):
    out = shell(*commands("docs/command-line.md"))
    assert NINE in out
    reason = re.search(
        r"^\| chosen \| `(.+)` \|$", (ROOT / "docs/command-line.md").read_text(), re.M
    )
    assert reason[1] in " ".join(out.split())
    for name in ("demo.html", "labels.csv", "predicted.parquet", "predicted.csv", "sweep.png"):
        assert (tmp_path / name).stat().st_size > 0
    assert (tmp_path / "parts/contact_sheet.png").exists()


def test_what_demo_advises_is_what_the_readme_shows(shell):
    advice = shell("pskclust demo").splitlines()[-1].strip()
    assert advice == commands("README.md")[1]
