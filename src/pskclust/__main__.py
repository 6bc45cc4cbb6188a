"""``python -m pskclust``, and the command ``pskclust``."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line, or say how to get it."""
    try:
        from .cli.app import run
    except ModuleNotFoundError as error:
        if error.name not in ("click", "rich"):
            raise
        sys.exit(
            f"Error: the command line needs {error.name}. "
            'Install it with: pip install "pskclust[cli]"'
        )
    sys.exit(run())


if __name__ == "__main__":
    main()
