"""Entry point of ``python -m pskclust`` and of the command ``pskclust``."""

from __future__ import annotations

import _thread
import os
import signal
import sys
import threading

# Python discards an interrupt in the callback of a weak reference, so it is sent again after this
# time.
_SECONDS_TO_LEAVE_CALLBACK = 0.01


def main() -> None:
    """Run the command line; if a package is missing, exit with the command that installs it."""
    # SIGTERM raises SystemExit, so that incomplete files are removed.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    sys.unraisablehook = interrupt_again
    try:
        from ._utils.files import remove_own
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
    try:
        code = run()
    finally:
        # An interrupt may have come while a file was being created or removed.
        remove_own()
    sys.stderr.flush()
    # All files are closed, and unloading scikit-learn's modules would take half a second.
    os._exit(code)


def interrupt_again(discarded: sys.UnraisableHookArgs) -> None:
    """Repeat an interrupt that Python has discarded; print any other discarded exception."""
    if issubclass(discarded.exc_type, KeyboardInterrupt):
        threading.Timer(_SECONDS_TO_LEAVE_CALLBACK, _interrupt_main_thread).start()
    else:
        sys.__unraisablehook__(discarded)


def _interrupt_main_thread() -> None:
    if sys.platform == "win32":
        _thread.interrupt_main()
    else:
        # Unlike `interrupt_main`, a signal ends a system call that waits.
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)


if __name__ == "__main__":
    main()
