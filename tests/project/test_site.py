"""The site: it builds without a warning, shows all there is, and loads nothing from elsewhere."""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
import tomllib
from html.parser import HTMLParser

import pytest

import pskclust
from pskclust.cli.app import cli
from tests.helpers.pages import ROOT

sys.path.insert(0, str(ROOT / "tools/site"))
sys.path.append(str(ROOT / "benchmarks"))

import embeddings
import gallery

pytestmark = pytest.mark.docs

PUBLIC_MODULES = [
    *("baselines", "dask", "datasets", "explorer", "image", "metrics", "plotting", "report"),
]
# What a browser fetches by itself; a link that is clicked is no load.
LOADS = {
    **dict.fromkeys(("audio", "embed", "iframe", "img", "script", "source", "video"), "src"),
    "link": "href",
    "object": "data",
}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    answer = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=600,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src"), "NO_MKDOCS_2_WARNING": "1"},
    )
    assert answer.returncode == 0, answer.stderr
    return folder


class Loads(HTMLParser):
    """Collects the addresses that a page loads."""

    def __init__(self, page):
        super().__init__()
        self.addresses = []
        self.feed(page.read_text())

    def handle_starttag(self, tag, attributes):
        address = dict(attributes).get(LOADS.get(tag, ""))
        if address:
            self.addresses.append(address)


def test_pages_load_nothing_from_other_hosts(site):
    pages = [*site.rglob("*.html")]
    assert len(pages) > 40
    for page in pages:
        addresses = Loads(page).addresses
        assert addresses
        for address in addresses:
            assert not re.match(r"(\w+:)?//", address), f"{page.name} loads {address}"
    for sheet in site.rglob("*.css"):
        assert not re.search(r"(url\(|@import)\s*['\"]?(\w+:)?//", sheet.read_text()), sheet.name


def test_every_public_name_is_in_the_api(site):
    names = [f"pskclust.{name}" for name in pskclust.__all__ if name != "__version__"]
    for module in PUBLIC_MODULES:
        public = importlib.import_module(f"pskclust.{module}").__all__
        names += [f"pskclust.{module}.{name}" for name in public]
    pages = "".join(page.read_text() for page in (site / "api").glob("*.html"))
    shown = set(re.findall(r'id="(pskclust[\w.]*)"', pages))
    # Two names for one thing are shown once.
    assert set(names) - shown <= {"pskclust.explorer.explore"}
    assert "pskclust.tables.read_table" in shown


def test_roles_in_docstrings_are_links(site):
    for page in (site / "api").glob("*.html"):
        assert not re.search(r":(class|func|meth|mod):", page.read_text()), page.name


def test_the_page_of_the_command_line_lists_all_options(site):
    page = (site / "command-line.html").read_text()
    for name, command in cli.commands.items():
        assert f'id="pskclust-{name}"' in page
        for parameter in command.params:
            for option in parameter.opts:
                assert not option.startswith("-") or f"<code>{option}</code>" in page


def test_the_gallery_shows_every_example(site):
    scripts = {path.stem for path in (ROOT / "examples").glob("*.py")} - {"demo"}
    assert scripts == set(gallery.NAMES)
    index = (site / "gallery/index.html").read_text()
    for example in gallery.examples():
        assert f'href="{example.name}.html"' in index
        assert (site / f"gallery/{example.name}.html").exists()
        assert (site / f"gallery/{example.name}.png").stat().st_size < 150_000


@pytest.mark.parametrize("name", gallery.NAMES)
def test_an_example_prints_and_draws_what_the_gallery_shows(name, tmp_path):
    printed = gallery.run(name, tmp_path / "picture.png")
    assert (tmp_path / "picture.png").read_bytes().startswith(b"\x89PNG")
    shown = (gallery.KEPT / f"{name}.txt").read_text()
    if name == "embeddings":  # of texts that change from version to version of SciPy
        shown, printed = (
            re.sub(r"\d+(\.\d+)?", "N", text.split("\n")[0]) for text in (shown, printed)
        )
    assert printed == shown


def test_the_page_of_embeddings_shows_what_the_example_printed(site):
    page = (site / "embeddings.html").read_text()
    rows = [line for line in embeddings.example_table().splitlines() if line.startswith("| PSKC")]
    assert len(rows) == 2
    for row in rows:
        for cell in row.strip("| ").split(" | "):
            assert f">{cell}</td>" in page


def test_licences_are_listed_of_all_that_users_install():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"]]
    for extra in ("cli", "image", "plot", "explore", "dask"):
        wanted += extras[extra]
    page = (ROOT / "docs/licences.md").read_text()
    for requirement in wanted:
        name = re.match(r"[\w-]+", requirement)[0]
        licence = re.search(rf"^\| {name} \| (.+?) \|", page, re.MULTILINE)
        assert licence, f"{name}: run python tools/licences.py"
        assert licence[1] != "not stated"
