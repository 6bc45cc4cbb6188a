"""Run the command line in processes that can be killed or limited."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from pskclust.__main__ import main
from pskclust._utils.files import ENDING


class Command:
    """A running command; its temporary files are in the subfolder ``tmp``."""

    def __init__(self, pid: int, errors: int) -> None:
        self.pid = pid
        self._errors = errors

    @classmethod
    def started(cls, folder: Path, arguments: Sequence[str], stdin: Path) -> Command:
        """Run the command in a new Python process."""
        reading, errors = os.pipe()
        with open(stdin, "rb") as source:
            process = subprocess.Popen(
                [sys.executable, "-m", "pskclust", *arguments],
                cwd=folder,
                env={**os.environ, "TMPDIR": str(folder / "tmp")},
                stdin=source,
                stdout=subprocess.DEVNULL,
                stderr=errors,
            )
        # `wait` waits by process id, as for forked commands; Popen must not do so as well.
        process.returncode = 0
        os.close(errors)
        return cls(process.pid, reading)

    @classmethod
    def forked(
        cls,
        folder: Path,
        arguments: Sequence[str],
        stdin: Path,
        prepare: Callable[[], object] = lambda: None,
    ) -> Command:
        """Run the command in a fork of this process, which has already loaded the code."""
        reading, errors = os.pipe()
        pid = os.fork()
        if pid:
            os.close(errors)
            return cls(pid, reading)
        try:
            os.chdir(folder)
            streams = (os.open(stdin, os.O_RDONLY), os.open(os.devnull, os.O_WRONLY), errors)
            for target, stream in enumerate(streams):
                os.dup2(stream, target)
            sys.stdin, sys.stdout, sys.stderr = (
                os.fdopen(number, mode, closefd=False) for number, mode in enumerate("rww")
            )
            tempfile.tempdir = str(folder / "tmp")
            sys.argv = ["pskclust", *arguments]
            prepare()
            main()
        except BaseException:
            os._exit(128 + signal.SIGINT)
        os._exit(0)

    def signalled(self, number: signal.Signals, after: float) -> None:
        """Send a signal after some seconds."""
        time.sleep(after)
        os.kill(self.pid, number)

    def wait(self, timeout: float = 200) -> tuple[int, str]:
        """Return the exit code (negative for a signal) and the output on standard error."""
        end = time.monotonic() + timeout
        while time.monotonic() < end:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                with open(self._errors, errors="replace") as said:
                    return os.waitstatus_to_exitcode(status), said.read()
            time.sleep(0.002)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        raise TimeoutError(f"the command took more than {timeout:g} seconds")


def left_behind(*folders: Path) -> list[str]:
    """Return the names of temporary files that are left in folders."""
    return [name for folder in folders for name in os.listdir(folder) if name.endswith(ENDING)]
