"""The code on the pages and in the docstrings works."""

from __future__ import annotations

import doctest
import importlib
import os
import re
import subprocess
import sys
import tomllib

import pytest
import yaml

from pskclust import __version__
from pskclust.cli.app import cli
from pskclust.explorer import ExplorerServer
from tests.helpers.pages import PAGES, ROOT, blocks, code_blocks, runs_to_an_end, shell_lines

pytestmark = pytest.mark.docs

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]


def with_examples():
    """Return the modules whose docstrings have examples; those of Dask run in its own tests."""
    source = ROOT / "src/pskclust"
    for path in sorted(source.rglob("*.py")):
        name = ".".join(path.relative_to(source).with_suffix("").parts)
        if ">>> " in path.read_text() and name != "dask":
            yield name.removesuffix(".__init__")


@pytest.mark.parametrize("module", list(with_examples()))
def test_docstring_examples(module):
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt

    options = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL
    found = doctest.testmod(importlib.import_module(f"pskclust.{module}"), optionflags=options)
    plt.close("all")
    assert found.attempted > 0
    assert found.failed == 0


# Other tests run these: of the README below, of the command line and of Dask in their own files.
ELSEWHERE = {"README", "command-line", "dask"}
# Files that the code of a page leaves behind.
MADE = {
    "automatic": set(),
    "coming-from-hdbscan": {"model.npz"},
    "exactness": {"rows.npy"},
    "embeddings": {"embeddings.npy"},
    "explorer": set(),
    "faq": set(),
    "groups": set(),
    "new-rows": {"model.npz"},
    "images": {"segments"},
    "index": {"demo.csv", "demo.html"},
    "large-data": {"rows.npy"},
    "parameters": set(),
    "plots": {"clusters.png", "report.html"},
    "start": {
        *("points.csv", "clusters.png", "model.npz", "labels.csv", "by-command.npz"),
        *("again.csv", "parts"),
    },
}


def test_the_code_in_the_readme_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    for block in code_blocks(ROOT / "README.md"):
        exec(block, names)
    assert names["model"].n_clusters_ == 9
    assert (tmp_path / "model.npz").exists()


def has_code(page):
    return code_blocks(page) or any(map(runs_to_an_end, shell_lines(page)))


def test_the_code_of_every_page_is_run():
    assert {page.stem for page in PAGES if has_code(page)} == {*MADE, *ELSEWHERE}


@pytest.mark.parametrize("page", MADE)
def test_the_code_of_a_page_runs(page, tmp_path, monkeypatch, shell):
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt

    monkeypatch.chdir(tmp_path)
    # As at a prompt, where an explorer does not keep the next line waiting.
    monkeypatch.setattr(sys, "ps1", ">>> ", raising=False)
    monkeypatch.setattr("webbrowser.open", lambda url: True)
    before = set(os.listdir(tmp_path))
    names = {}
    for language, text in blocks(ROOT / f"docs/{page}.md"):
        if language == "python":
            exec(text, names)
        elif language == "sh":
            shell(*filter(runs_to_an_end, text.splitlines()))
    plt.close("all")
    for server in [value for value in names.values() if isinstance(value, ExplorerServer)]:
        server.close()
    assert set(os.listdir(tmp_path)) - before == MADE[page]


@pytest.mark.parametrize(
    "page", [page for page in PAGES if shell_lines(page)], ids=lambda p: p.stem
)
def test_lines_of_shell_name_what_there_is(page):
    makefile = (ROOT / "Makefile").read_text()
    for line in shell_lines(page):
        program, *arguments = line.split()
        if program == "make":
            assert re.search(rf"^{arguments[0]}:", makefile, re.MULTILINE), line
        elif program == "python":
            assert (ROOT / arguments[0]).exists(), line
        elif line.startswith("pip install"):
            for extra in re.findall(r"[\w-]+", "".join(re.findall(r"\[(.*?)\]", line))):
                assert extra in EXTRAS, line
        elif line.startswith("python3 -m venv"):
            folder = arguments[2]
            assert line == f"python3 -m venv {folder} && . {folder}/bin/activate"
        elif line.startswith("pskclust explore"):
            context = cli.commands["explore"].make_context("explore", arguments[1:])
            assert context.params["data"], line
        else:
            assert runs_to_an_end(line), line


def test_blocks_of_code_are_of_a_kind_that_is_tested():
    for page in PAGES:
        assert {language for language, _ in blocks(page)} <= {"python", "sh"}, page


def test_the_pictures_of_the_docs_can_be_made_again(tmp_path):
    subprocess.run(
        [
            *(sys.executable, ROOT / "docs/make_pictures.py", "--folder", tmp_path),
            *("--rows", "30000", "--only", "many", "line", "image"),
        ],
        check=True,
        timeout=300,
        env={**os.environ, "MPLCONFIGDIR": str(tmp_path / "config")},
    )
    made = {path.name for path in tmp_path.glob("*.png")}
    assert made == {
        *("clusters_million.png", "similarity_1d.png", "contact_sheet.png", "mean_color.png")
    }
    for picture in (ROOT / "docs/pictures").glob("*.png"):
        assert picture.stat().st_size < 150_000


def test_every_picture_is_on_a_page():
    text = "".join(page.read_text() for page in PAGES)
    for picture in (ROOT / "docs").glob("pictures/*.png"):
        assert f"pictures/{picture.name}" in text, picture.name


def test_links_in_the_docs_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text()):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_demo_prints_a_summary_and_draws_a_picture(tmp_path):
    picture = tmp_path / "demo.png"
    answer = subprocess.run(
        [sys.executable, ROOT / "examples/demo.py", "--rows", "8000", "--picture", picture],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
        env={**os.environ, "MPLCONFIGDIR": str(tmp_path)},
    )
    assert "9 clusters in 8,000 rows" in answer.stdout
    for word in ("noise", "without parameters", "background rows left out", "rows of shapes"):
        assert word in answer.stdout
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_size > 50_000


def test_the_citation_names_the_paper_and_this_version():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["preferred-citation"]["title"] == "Point-Set Kernel Clustering"
    # A version under development is cited as the release that it becomes.
    assert citation["version"] == __version__.partition(".dev")[0]
    assert citation["license"] == PROJECT["license"]
