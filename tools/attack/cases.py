"""A case of an attack, and how a process tells of the cases it runs."""

from __future__ import annotations

import json
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np


class Case(NamedTuple):
    """Something that must not fail: `run` returns the number of things that it compared."""

    description: str
    run: Callable[[], int]


# Yields cases without end; files go to the folder.
Cases = Callable[[np.random.RandomState, Path], Iterator[Case]]


class WrongError(AssertionError):
    """An outcome that is not among those that are promised."""


def require(condition: bool, message: str) -> None:
    """Raise WrongError unless a promise was kept."""
    if not condition:
        raise WrongError(message)


def serve(cases: Cases, seed: int, folder: Path) -> None:
    """Run cases until this process is ended; print a line of JSON before and after each."""
    say = sys.stdout
    for case in cases(np.random.RandomState(seed), folder):
        _tell(say, {"case": case.description})
        started = time.perf_counter()
        try:
            answer = {"compared": case.run()}
        except Exception:
            answer = {"finding": traceback.format_exc()}
        _tell(say, answer | {"seconds": time.perf_counter() - started})


def _tell(stream, content):
    stream.write(json.dumps(content) + "\n")
    stream.flush()
