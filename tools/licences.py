"""Write docs/licences.md: the licences that the dependencies of pskclust state.

    python tools/licences.py

Run it where all extras are installed.
"""

from __future__ import annotations

import re
import tomllib
from importlib import metadata
from pathlib import Path

from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/licences.md"
OURSELVES = "pskclust"
# The extras that users install; those for developers are left out.
EXTRAS = ("cli", "image", "plot", "explore", "dask")

ABOUT = """# Licences of dependencies

pskclust is BSD-3-Clause, and contains no code of other projects. The table lists the packages that
`pip` installs with it, with the licences that they state. `python tools/licences.py` writes the
table; your versions may differ.
"""


def needed_by(requirements: list[str]) -> set[str]:
    """Return the names of all packages that requirements need, directly or indirectly."""
    found: set[str] = set()
    waiting = [(Requirement(text), frozenset()) for text in requirements]
    while waiting:
        requirement, wanted = waiting.pop()
        environments = [default_environment() | {"extra": extra} for extra in (*wanted, "")]
        if requirement.marker and not any(map(requirement.marker.evaluate, environments)):
            continue
        name = canonicalize_name(requirement.name)
        if name == OURSELVES or (name in found and not requirement.extras):
            continue
        found.add(name)
        for text in metadata.requires(name) or []:
            waiting.append((Requirement(text), frozenset(requirement.extras)))
    return found


def licence_of(package: str) -> str:
    """Return the licence that a package states, as an expression, a text or a classifier."""
    about = metadata.metadata(package)
    stated = about.get("License-Expression") or about.get("License") or ""
    if stated and "\n" not in stated and len(stated) < 60:
        return stated
    classifiers = about.get_all("Classifier") or []
    named = [each.split(" :: ")[-1] for each in classifiers if each.startswith("License ::")]
    # Some packages state the whole text; its first line is the name.
    return ", ".join(named) or next(iter(stated.splitlines()), "not stated").strip()


def page() -> str:
    """Return the page in Markdown."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    reasons = {"the core": needed_by(project["dependencies"])}
    for extra in EXTRAS:
        reasons[f"`[{extra}]`"] = needed_by(project["optional-dependencies"][extra])
    lines = [ABOUT, "| package | licence | needed for |", "|---|---|---|"]
    for package in sorted(set().union(*reasons.values())):
        core = package in reasons["the core"]
        why = (
            ["the core"] if core else [each for each, names in reasons.items() if package in names]
        )
        lines.append(f"| {package} | {_one_line(licence_of(package))} | {', '.join(why)} |")
    return "\n".join(lines) + "\n"


def _one_line(text: str) -> str:
    return re.sub(r"\s+", " ", text).replace("|", "/")


if __name__ == "__main__":
    PAGE.write_text(page())
