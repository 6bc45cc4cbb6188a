"""The tools that a release is checked with."""

from __future__ import annotations

import ast
import sys

import pytest

from tests.helpers.pages import ROOT

sys.path.append(str(ROOT / "tools"))
sys.path.append(str(ROOT / "tools/mutations"))

from edits import edits
from equivalent import EQUIVALENT
from lowest_versions import lowest_versions

SOURCE = '''
def clipped(values: list[int], limit: int = 9) -> list[int]:
    """Return 1 list."""
    kept = []
    for value in values:
        if not value < limit:
            continue
        kept.append(value + 1)
    return kept
'''


def test_every_change_is_one_place_in_a_valid_file():
    found = edits(SOURCE)
    assert [(edit.line, edit.before, edit.after) for edit in found] == [
        (2, "9", "(10)"),
        (6, "not value < limit", "(value < limit)"),
        (6, "value < limit", "(value <= limit)"),
        (6, "value < limit", "(value >= limit)"),
        (7, "continue", "pass"),
        (8, "kept.append(value + 1)", "pass"),
        (8, "value + 1", "(value - 1)"),
        (8, "1", "(2)"),
        (9, "return kept", "return None"),
    ]
    for edit in found:
        assert edit.text.count("\n") == SOURCE.count("\n")
        assert ast.dump(ast.parse(edit.text)) != ast.dump(ast.parse(SOURCE))


def test_changes_to_conditions_keep_what_depends_on_them():
    (edit,) = edits("if found:\n    show(found)\n    show(found)\n".replace("show(found)", "x = f"))
    assert edit.text == "if (not found):\n    x = f\n    x = f\n"


def project(dependencies, **extras):
    return {"dependencies": dependencies, "optional-dependencies": extras}


def test_the_lowest_version_is_the_highest_of_all_lower_bounds():
    extras = {
        "test": ["pskclust[image]", "rich>=13"],
        "image": ["numpy>=2.1", "pillow[x]>=9.1,<20"],
    }
    versions = lowest_versions(project(["numpy>=2.0"], **extras))
    assert {name: str(version) for name, version in versions.items()} == {
        "numpy": "2.1",
        "pillow": "9.1",
        "rich": "13",
    }


def test_a_dependency_without_a_lower_bound_is_refused():
    with pytest.raises(SystemExit, match="numpy<3 has no lower bound. Write: numpy>=VERSION"):
        lowest_versions(project(["numpy<3"], test=[]))


def test_changes_said_to_change_nothing_are_changes_that_can_be_made():
    for module, lines in EQUIVALENT.items():
        source = (ROOT / f"src/pskclust/{module}.py").read_text()
        possible = {(edit.code, edit.change) for edit in edits(source)}
        for code, changes in lines.items():
            assert {(code, change) for change in changes} <= possible
