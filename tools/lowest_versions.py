"""Print constraints for pip: the lowest version of each dependency that pyproject.toml allows.

    python tools/lowest_versions.py > constraints.txt

They cover the core and the extra `test`, which includes all extras that users install.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).parents[1]
OURSELVES = "pskclust"


def lowest_versions(project: dict) -> dict[str, Version]:
    """Return the lowest version of each package that the core and the extra `test` need."""
    extras = project["optional-dependencies"]
    waiting = [*project["dependencies"], *extras["test"]]
    lowest: dict[str, Version] = {}
    while waiting:
        requirement = Requirement(waiting.pop())
        if requirement.name == OURSELVES:
            for extra in requirement.extras:
                waiting += extras[extra]
            continue
        version = _lower_bound(requirement)
        # Of several bounds on a package, the highest applies.
        lowest[requirement.name] = max(version, lowest.get(requirement.name, version))
    return lowest


def _lower_bound(requirement: Requirement) -> Version:
    bounds = [each.version for each in requirement.specifier if each.operator == ">="]
    if len(bounds) != 1:
        raise SystemExit(f"{requirement} has no lower bound. Write: {requirement.name}>=VERSION")
    return Version(bounds[0])


if __name__ == "__main__":
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for name, version in sorted(lowest_versions(project).items()):
        print(f"{name}=={version}")
