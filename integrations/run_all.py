"""Run the scripts of this folder, and keep their output and versions for docs/integrations.md.

    python integrations/run_all.py [NAME ...]

`make check-integrations` installs the packages and runs all scripts. The run stops at the first
script that fails.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import subprocess
import sys
import tempfile
from importlib.metadata import packages_distributions, version
from pathlib import Path

FOLDER = Path(__file__).parent
RESULTS = FOLDER / "results.json"
SECONDS = 900
# In the order of the page.
NAMES = [
    *("scikit_learn", "data_frames", "polars_lazy", "skops_file", "mlflow_model"),
    *("bertopic_topics", "scanpy_cells", "spark_map", "ray_batches"),
]
OURSELVES = "pskclust"


def packages(source: str) -> set[str]:
    """Return the third-party packages that a script imports."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        if isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.partition(".")[0])
    return found - {OURSELVES} - sys.stdlib_module_names


def run(name: str) -> str:
    """Run a script in an empty folder; return the last line that it prints."""
    with tempfile.TemporaryDirectory(prefix=f"{name}-") as folder:
        answer = subprocess.run(
            [sys.executable, FOLDER / f"{name}.py"],
            cwd=folder,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            env={**os.environ, "MPLCONFIGDIR": folder},
        )
    if answer.returncode:
        sys.exit(f"{answer.stderr}\n{name} failed.")
    # Programs that a script starts may print, too; the last line is the script's.
    return answer.stdout.strip().splitlines()[-1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(NAMES))
    names = parser.parse_args().names or NAMES
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    distributions = packages_distributions()
    for name in names:
        printed = run(name)
        found = packages((FOLDER / f"{name}.py").read_text())
        wanted = sorted({distributions[package][0] for package in found})
        results[name] = {
            "versions": {package: version(package) for package in wanted},
            "python": ".".join(map(str, sys.version_info[:3])),
            "printed": printed,
        }
        ordered = {each: results[each] for each in NAMES if each in results}
        RESULTS.write_text(json.dumps(ordered, indent=1) + "\n")
        print(f"{name}: {printed}", flush=True)


if __name__ == "__main__":
    main()
