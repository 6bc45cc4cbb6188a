"""Running commands in tests."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow.csv
from PIL import Image

from pskclust.cli.app import run

SOURCE = Path(__file__).parents[2] / "src"


def read_csv(path):
    """Return a table with its numbers to the last bit, which not every version of pandas reads."""
    return pyarrow.csv.read_csv(path).to_pandas()


class Answer(NamedTuple):
    code: int
    out: str
    err: str


class Commands:
    """Runs commands within this process and keeps what they print."""

    def __init__(self, capsys):
        self._capsys = capsys

    def __call__(self, *arguments):
        self._capsys.readouterr()
        code = run([str(argument) for argument in arguments])
        return Answer(code, *self._capsys.readouterr())

    def ok(self, *arguments):
        answer = self(*arguments)
        assert answer.code == 0, answer.err
        assert answer.err == ""
        return answer.out

    def refused(self, code, *arguments):
        """Return the one line on standard error of a command that must end with `code`."""
        answer = self(*arguments)
        assert answer.code == code, answer
        assert answer.out == ""
        assert answer.err.startswith("Error: ")
        assert answer.err.count("\n") == 1
        return answer.err.removeprefix("Error: ").strip()


def start(*arguments, folder, **options):
    """Start a command in a process of its own."""
    command = [sys.executable, "-m", "pskclust", *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    return subprocess.Popen(command, cwd=folder, env=environment, **(pipes | options))


def in_python(code):
    """Run some code in a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, env=environment, timeout=300)


class Shell:
    """Runs lines of shell in a folder with a photograph, where `pskclust` is this code."""

    def __init__(self, folder):
        pixels = np.random.RandomState(0).randint(0, 30, (60, 80, 3)).astype(np.uint8)
        pixels[:, 40:] += 150
        Image.fromarray(pixels).save(folder / "photo.jpg")
        (folder / "bin").mkdir()
        script = folder / "bin/pskclust"
        script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m pskclust "$@"\n')
        script.chmod(0o755)
        path = f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}"
        self._folder = folder
        self._environment = {**os.environ, "PATH": path, "PYTHONPATH": str(SOURCE)}

    def __call__(self, *lines):
        answer = subprocess.run(
            ["sh", "-ec", "\n".join(lines)],
            cwd=self._folder,
            env=self._environment,
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert answer.returncode == 0, answer.stderr
        assert answer.stderr == ""
        return answer.stdout
