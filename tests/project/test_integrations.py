"""The page about other tools shows scripts that ran."""

from __future__ import annotations

import ast
import json
import sys

import pytest

from tests.helpers.pages import ROOT

sys.path.append(str(ROOT / "integrations"))
sys.path.append(str(ROOT / "tools/site"))

import integrations_page
import run_all

RESULTS = json.loads(run_all.RESULTS.read_text())
# The extra `test` holds all that they need; `make check-integrations` runs the others.
LIGHT = ("scikit_learn", "data_frames", "polars_lazy")


def source(name):
    return (ROOT / f"integrations/{name}.py").read_text()


def test_every_script_was_run():
    scripts = {path.stem for path in (ROOT / "integrations").glob("*.py")} - {"run_all"}
    assert scripts == set(run_all.NAMES)
    assert list(RESULTS) == run_all.NAMES


@pytest.mark.parametrize("name", run_all.NAMES)
def test_the_page_shows_what_a_script_printed_and_with_which_versions(name):
    text = integrations_page.section(name, RESULTS[name])
    assert text.startswith(f"## {ast.get_docstring(ast.parse(source(name))).splitlines()[0][:-1]}")
    assert f"It printed `{RESULTS[name]['printed']}`" in text
    for package, number in RESULTS[name]["versions"].items():
        assert f"{package} {number}" in text


def test_packages_are_those_of_others():
    code = "import os\nimport ray.data\nfrom pskclust import PSKC\nfrom sklearn.base import clone\n"
    assert run_all.packages(code) == {"ray", "sklearn"}


@pytest.mark.docs
@pytest.mark.parametrize("name", LIGHT)
def test_a_script_prints_what_the_page_shows(name):
    assert run_all.run(name) == RESULTS[name]["printed"]
