"""Check that a tag, the version of the package and the list of changes agree.

python tools/check_release.py v0.1.0
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def disagreement(tag: str, version: str, changes: str) -> str | None:
    """Return a sentence about the first disagreement, or None if all agree."""
    if tag != f"v{version}":
        return f"the tag is {tag}, but src/pskclust/_version.py says {version}: tag v{version}."
    heading = re.search(r"^## (.*)$", changes, re.MULTILINE)
    if heading is None or not re.fullmatch(rf"{re.escape(version)}, \d{{4}}-\d\d-\d\d", heading[1]):
        found = "none" if heading is None else f'"{heading[1]}"'
        return (
            f"the first heading of CHANGELOG.md is {found}: write "
            f'"## {version}, " and the date, such as 2027-01-31.'
        )
    return None


def main() -> None:
    version = re.search(r'"(.*)"', (ROOT / "src/pskclust/_version.py").read_text())
    tag = sys.argv[1] if len(sys.argv) > 1 else ""
    if version is None:
        sys.exit("release-check failed: src/pskclust/_version.py has no version.")
    if problem := disagreement(tag, version[1], (ROOT / "CHANGELOG.md").read_text()):
        sys.exit(f"release-check failed: {problem}")
    print(f"release-check passed: {tag}")


if __name__ == "__main__":
    main()
