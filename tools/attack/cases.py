"""A case of an attack, and the loop that runs cases in a process and reports them."""

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
    """One test of an attack: `run` raises an error, or returns the number of comparisons."""

    description: str
    run: Callable[[], int]


# A function that yields cases endlessly; their files are in the folder.
Cases = Callable[[np.random.RandomState, Path], Iterator[Case]]


class WrongError(AssertionError):
    """A broken promise."""


def require(condition: bool, message: str) -> None:
    """Raise WrongError with a message unless the condition holds."""
    if not condition:
        raise WrongError(message)


def serve(cases: Cases, seed: int, folder: Path) -> None:
    """Run cases until this process is killed; print a line of JSON before and after each."""
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
