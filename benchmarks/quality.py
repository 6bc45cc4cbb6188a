"""Measure the quality of PSKC() and of other methods on labelled sets.

    python benchmarks/quality.py --data DIR [--rows 5000] [--only "PSKC()" "HDBSCAN()"]

The sets are the files of DIR/benchmark and DIR/battery (see benchmarks/choice/sets.py). PSKC()
chooses by numbers fitted without the family of the set, which benchmarks/choice/fit.py writes to
left_out.json. A method that is not installed, or that does not compile within five minutes, is left
out; a method that takes more than a minute for a set is stopped. Results are written to
benchmarks/quality.json as they come, so that an interrupted run can be continued. The script writes
docs/quality.md at the end.
"""

from __future__ import annotations

import argparse
import itertools
import json
import signal
import sys
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from quality_methods import METHODS, SEEDED, Task
from quality_page import page
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from pskclust._utils.files import replacing

sys.path.append(str(Path(__file__).parent / "choice"))

from sets import given_sets

ROOT = Path(__file__).parents[1]
SEEDS = (0, 1)
SECONDS_ALLOWED = 60
SECONDS_TO_COMPILE = 300


def main() -> None:
    arguments = _arguments()
    results = json.loads(arguments.results.read_text()) if arguments.results.exists() else {}
    sets = [each for each in given_sets(arguments.data) if len(each.points) <= arguments.rows]
    for method in arguments.only:
        if not warmed_up(method):
            print(f"{method} is left out: not installed, or too slow to compile", flush=True)
            continue
        for each in sets:
            task = Task(each.points, each.references, each.family)
            known = results.setdefault(each.name, {})
            known |= {"family": each.family, "n": len(task.points), "ks": task.numbers}
            if method not in known:
                known[method] = answer = measured(method, task)
                print(f"{method:26s} {each.name:30s} {answer}", flush=True)
                _write(arguments.results, json.dumps(results, indent=1).encode())
    _write(arguments.page, page(results).encode())


def warmed_up(method: str) -> bool:
    """Run a method on a few rows to compile it; return whether it can be used."""
    X, y = make_blobs(200, n_features=4, random_state=0)
    try:
        with warnings.catch_warnings(), stopped_after(SECONDS_TO_COMPILE):
            warnings.simplefilter("ignore")
            METHODS[method](Task(X, [y + 1], "tables"), 0)
    except (ImportError, TimeoutError):
        return False
    return True


def measured(method: str, task: Task) -> dict[str, Any]:
    """Return the scores, clusters and seconds of a method on a task, or why it failed."""
    started = time.process_time()
    try:
        with warnings.catch_warnings(), stopped_after(SECONDS_ALLOWED):
            warnings.simplefilter("ignore")
            seeds = SEEDS if method in SEEDED else SEEDS[:1]
            found = [np.asarray(METHODS[method](task, seed)) for seed in seeds]
    except TimeoutError:
        return {"failure": f"stopped after {SECONDS_ALLOWED} s"}
    except Exception as error:
        return {"failure": f"{type(error).__name__}"}
    answer = {
        "ari": [round(task.score(labels), 4) for labels in found],
        "clusters": [len(np.unique(labels[labels >= 0])) for labels in found],
        "clustered": round(float(np.mean([np.mean(labels >= 0) for labels in found])), 4),
        "seconds": round((time.process_time() - started) / len(found), 2),
    }
    if len(found) > 1:
        pairs = itertools.combinations(found, 2)
        agreements = [adjusted_rand_score(one, other) for one, other in pairs]
        answer["agreement"] = round(float(np.mean(agreements)), 4)
    return answer


@contextmanager
def stopped_after(seconds: int) -> Iterator[None]:
    """Raise TimeoutError in a block that takes too long, once compiled code has returned."""

    def stop(*_: Any) -> None:
        raise TimeoutError

    usual = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, usual)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--data", type=Path, required=True, help="folder with benchmark/ and battery/"
    )
    parser.add_argument("--rows", type=int, default=20_000, help="leave out sets with more rows")
    parser.add_argument("--results", type=Path, default=ROOT / "benchmarks/quality.json")
    parser.add_argument("--page", type=Path, default=ROOT / "docs/quality.md")
    parser.add_argument("--only", nargs="+", choices=METHODS, default=list(METHODS))
    return parser.parse_args()


def _write(path: Path, content: bytes) -> None:
    with replacing(path) as stream:
        stream.write(content)


if __name__ == "__main__":
    main()
