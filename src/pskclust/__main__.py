"""``python -m pskclust``, and the command ``pskclust``."""

from __future__ import annotations

import os
import signal
import sys


def main() -> None:
    """Run the command line, or say how to get it."""
    # As an exception, so that files which are not complete are cleaned away.
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
    # All is written and closed; taking down scikit-learn's modules one by one takes half a second.
    os._exit(code)


if __name__ == "__main__":
    main()
