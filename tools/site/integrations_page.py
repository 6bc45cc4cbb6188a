"""The sections of docs/integrations.md: scripts, their output, and versions."""

from __future__ import annotations

import ast
import json
from pathlib import Path

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "integrations"


def sections() -> str:
    """Return a section for each script that was run."""
    results = json.loads((SCRIPTS / "results.json").read_text())
    return "\n\n".join(section(name, result) for name, result in results.items())


def section(name: str, result: dict) -> str:
    source = (SCRIPTS / f"{name}.py").read_text()
    title, about = (ast.get_docstring(ast.parse(source)) or "").split("\n\n", 1)
    versions = ", ".join(f"{package} {number}" for package, number in result["versions"].items())
    return "\n\n".join(
        [
            f"## {title.rstrip('.')}",
            about,
            f"```python\n{source.split(chr(34) * 3, 2)[2].strip()}\n```",
            f"It printed `{result['printed']}` with Python {result['python']}, {versions}.",
        ]
    )
