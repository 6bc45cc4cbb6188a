"""Entry point of ``python -m pskclust`` and of the command ``pskclust``."""

from __future__ import annotations

import os
import signal
import sys


def main() -> None:
    """Run the command line; if a package is missing, exit with the command that installs it."""
    # SIGTERM raises SystemExit, so that incomplete files are removed.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    try:
        from .cli.app import run
    except KeyboardInterrupt:
        sys.exit(130)
    except ModuleNotFoundError as error:
        if error.name not in ("click", "rich"):
            raise
        sys.exit(
            f"Error: the command line needs {error.name}. "
            'Install it with: pip install "pskclust[cli]"'
        )
    code = run()
    sys.stderr.flush()
    # All files are closed, and unloading scikit-learn's modules would take half a second.
    os._exit(code)


if __name__ == "__main__":
    main()
