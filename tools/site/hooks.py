"""Hooks of mkdocs that add pages and tables generated from the rest of the tree."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(Path(__file__).parent), str(ROOT / "benchmarks")]

import command_options  # noqa: E402
import gallery  # noqa: E402
import integrations_page  # noqa: E402

# Files at the root of the tree, and the pages that show them.
ROOT_PAGES = {
    "CHANGELOG.md": "changes.md",
    "CODE_OF_CONDUCT.md": "code-of-conduct.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
}


def on_config(config: Any) -> Any:
    """Put the pages of the gallery below its index."""
    for entry in config.nav:
        if "Gallery" in entry:
            pages = [{example.title: example.page} for example in gallery.examples()]
            entry["Gallery"] = [entry["Gallery"], *pages]
    return config


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that have no file in docs/."""
    pages = {page: root_page(name) for name, page in ROOT_PAGES.items()}
    pages["gallery/index.md"] = gallery.index_page()
    pages |= {example.page: gallery.example_page(example) for example in gallery.examples()}
    for path, text in pages.items():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Insert generated tables at their marks; link to pages of the site instead of files."""
    for name, page in ROOT_PAGES.items():
        markdown = markdown.replace(f"](../{name}", f"]({page}")
    markdown = re.sub(r"\]\(\.\./examples/(\w+)\.py\)", r"](gallery/\1.md)", markdown)
    markdown = markdown.replace("](../examples)", "](gallery/index.md)")
    for mark, make in TABLES.items():
        if mark in markdown:
            # The table also replaces the sentence before the mark, for readers of the file.
            place = rf"(\*[^*\n]*\* )?{re.escape(mark)}"
            table = make()
            markdown = re.sub(place, lambda _, table=table: table, markdown)
    return markdown


def on_page_content(html: str, **_: Any) -> str:
    """Remove the dash that mkdocstrings writes before an empty description."""
    return re.sub(r'\s*\u2013\s*<div class="doc-md-description">\s*</div>', "", html)


def root_page(name: str) -> str:
    """Return the text of a file at the root, with its links changed to those of the site."""
    text = (ROOT / name).read_text()
    for other, page in ROOT_PAGES.items():
        text = text.replace(f"]({other}", f"]({page}")
    return text.replace("](docs/", "](")


TABLES: dict[str, Callable[[], str]] = {
    "<!-- table of all options -->": command_options.options_page,
    "<!-- integrations -->": integrations_page.sections,
}
