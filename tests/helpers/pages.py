"""The pages that people read, and the code in them."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob(".github/**/*.md")])


def blocks(page):
    """Return language and text of each block of code in a page, in order."""
    return re.findall(r"^```(\w*)\n(.*?)^```$", page.read_text(), re.DOTALL | re.MULTILINE)


def code_blocks(page):
    """Return the Python in a page."""
    return [text for language, text in blocks(page) if language == "python"]


def shell_lines(page):
    """Return the lines of shell in a page."""
    texts = [text for language, text in blocks(page) if language == "sh"]
    return [line.partition("  #")[0] for text in texts for line in text.splitlines()]


def runs_to_an_end(line):
    """Whether a line of shell is about the command, and the command ends by itself."""
    return "pskclust " in line and not line.startswith(("pip install", "pskclust explore"))
