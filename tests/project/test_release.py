"""Files that a release needs: workflows, recipe, hooks, llms.txt."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tomllib

import pytest
import yaml

from pskclust import __version__
from tests.helpers.pages import ROOT

sys.path.append(str(ROOT / "tools"))

from check_release import disagreement

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))


def jobs(path):
    return yaml.safe_load(path.read_text())["jobs"]


def runs(path):
    """Yield the shell lines of a workflow, once for each value of its matrix."""
    for job in jobs(path).values():
        matrix = job.get("strategy", {}).get("matrix", {})
        for step in job["steps"]:
            for target in matrix.get("target", [None]):
                if "run" in step:
                    yield step["run"].replace("${{ matrix.target }}", str(target))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_run_targets_of_the_makefile(path):
    lines = list(runs(path))
    assert lines
    for line in lines:
        program, target, *_ = line.split()
        assert program == "make"
        assert target in TARGETS, line


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_may_do_no_more_than_they_need(path):
    workflow = yaml.safe_load(path.read_text())
    assert workflow["permissions"] == {"contents": "read"}
    for name, job in workflow["jobs"].items():
        assert job["timeout-minutes"] <= 90
        expected = {"id-token": "write"} if name == "publish" else None
        assert job.get("permissions") == expected


def test_three_systems_and_all_supported_pythons_are_tested():
    matrix = jobs(ROOT / ".github/workflows/ci.yml")["tests"]["strategy"]["matrix"]
    assert [name.partition("-")[0] for name in matrix["os"]] == ["ubuntu", "macos", "windows"]
    assert f">={matrix['python'][0]}" == PROJECT["requires-python"]
    named = {entry.rpartition(" ")[2] for entry in PROJECT["classifiers"] if "3." in entry}
    assert named <= set(matrix["python"])


@pytest.mark.skipif(not shutil.which("check-jsonschema"), reason="`make lint` checks it")
@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_follow_the_schema(path):
    command = ["check-jsonschema", "--builtin-schema", "vendor.github-workflows", path]
    subprocess.run(command, check=True, timeout=60)


def test_the_recipe_needs_what_the_package_needs():
    recipe = yaml.safe_load((ROOT / "conda/recipe.yaml").read_text())
    needs = [need.replace(" ", "") for need in recipe["requirements"]["run"]]
    dependencies = [need.partition(";")[0] for need in PROJECT["dependencies"]]
    assert needs == [f"python{PROJECT['requires-python']}", *dependencies]
    assert recipe["context"]["version"] == __version__.partition(".dev")[0]
    assert recipe["about"]["license"] == PROJECT["license"]
    assert recipe["about"]["homepage"] == PROJECT["urls"]["Homepage"]


def test_hooks_use_the_ruff_of_the_project():
    (ruff,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    (wanted,) = [need for need in PROJECT["optional-dependencies"]["dev"] if "ruff" in need]
    assert ruff["rev"].removeprefix("v") == wanted.removeprefix("ruff~=")


def test_the_page_for_language_models_links_to_pages():
    text = (ROOT / "docs/llms.txt").read_text()
    nav = (ROOT / "mkdocs.yml").read_text()
    links = re.findall(r"\]\((.+?)\.html\)", text)
    assert len(links) > 15
    for link in links:
        assert f" {link}.md" in nav, link


@pytest.mark.parametrize(
    ("tag", "changes", "problem"),
    [
        ("v1.2.0", "# Changes\n\n## 1.2.0, 2027-01-31\n", None),
        ("v1.2.1", "## 1.2.0, 2027-01-31\n", "the tag is v1.2.1, but .* says 1.2.0: tag v1.2.0"),
        ("v1.2.0", "## 1.2.0, not released yet\n", '"1.2.0, not released yet": write "## 1.2.0, "'),
        ("v1.2.0", "", "CHANGELOG.md is none"),
    ],
)
def test_a_tag_the_version_and_the_changes_agree(tag, changes, problem):
    found = disagreement(tag, "1.2.0", changes)
    assert found is None if problem is None else re.search(problem, found)
