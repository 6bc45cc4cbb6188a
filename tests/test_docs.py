"""What the docs say works."""

from __future__ import annotations

import doctest
import importlib
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(
    "module",
    [
        "_cost_model",
        "_estimator",
        "_isolation_kernel",
        "_memory",
        "_optional",
        "_row_blocks",
        "_sweep",
        "baselines._density_peaks",
        "baselines._kernel_kmeans",
        "baselines._mbscan",
        "baselines._rcc",
        "baselines._sgl",
        "datasets._digits",
        "datasets._generators",
        "image._segment",
        "metrics",
    ],
)
def test_docstring_examples(module):
    options = doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL
    found = doctest.testmod(importlib.import_module(f"pskclust.{module}"), optionflags=options)
    assert found.attempted > 0
    assert found.failed == 0


def code_blocks(path):
    return re.findall(r"```python\n(.*?)```", path.read_text(), re.DOTALL)


def test_the_code_in_the_readme_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    blocks = code_blocks(ROOT / "README.md")
    assert blocks
    for block in blocks:
        exec(block, names)
    assert names["model"].n_clusters_ == 9
    assert (tmp_path / "model.npz").exists()


@pytest.mark.parametrize("page", ["plots", "images", "large-data", "automatic"])
def test_the_code_in_the_docs_runs(page, tmp_path, monkeypatch):
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt

    monkeypatch.chdir(tmp_path)
    names = {}
    for block in code_blocks(ROOT / "docs" / f"{page}.md"):
        exec(block, names)
    plt.close("all")
    expected = {
        "plots": {"clusters.png", "report.html"},
        "images": {"segments"},
        "large-data": {"rows.npy"},
        "automatic": set(),
    }
    assert {path.name for path in tmp_path.iterdir()} == expected[page]


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


def test_links_in_the_docs_lead_somewhere():
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
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
    for word in ("noise", "objective before refinement", "objective after", "seconds"):
        assert word in answer.stdout
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_size > 50_000


def test_the_readme_names_the_commands_that_make_knows():
    makefile = (ROOT / "Makefile").read_text()
    for command in re.findall(r"^make (\w+)", (ROOT / "README.md").read_text(), re.MULTILINE):
        assert re.search(rf"^{command}:", makefile, re.MULTILINE)
