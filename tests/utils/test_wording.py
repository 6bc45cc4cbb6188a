"""Wording that several interfaces share."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import pskclust
from pskclust._utils.wording import percentage

SHARES = {
    0: "0.0%",
    0.0004: "< 0.1%",
    0.001: "0.1%",
    0.171: "17.1%",
    0.9994: "99.9%",
    0.9997: "> 99.9%",
    1: "100.0%",
}


@pytest.mark.parametrize(("share", "words"), SHARES.items())
def test_only_nothing_is_0_percent_and_only_all_is_100_percent(share, words):
    assert percentage(share) == words


@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
def test_the_explorer_writes_percentages_in_the_same_way():
    script = Path(pskclust.__file__).parent / "explorer" / "page" / "js" / "words.js"
    code = re.search(r"export (function percent.*?\n})", script.read_text(), re.DOTALL)[1]
    code += f"\nconsole.log({[*SHARES]}.map(percent).join());"
    answer = subprocess.run(["node", "-e", code], capture_output=True, text=True, check=True)
    assert answer.stdout.strip() == ",".join(SHARES.values())
