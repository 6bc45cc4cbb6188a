"""Measure the statements of the paper's tables and figures.

    python reproduction/run.py [--data DIR] [--only NAME ...] [--fast] [--accept] [--output DIR]

The folder of --data, or of PSKCLUST_DATA, holds the paper's data sets, MNIST and the images.
Results whose data is missing are left out, and the page says so. Each result is written to
results.json as soon as it is made; index.html shows the paper's results beside ours. The run fails
if a value differs from expected.json, which has values for full runs and for --fast; --accept
writes the values of this run there. docs_page.py writes docs/reproduction.md from results.json.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
import time
import traceback
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import matplotlib
from framework import Outcome, Settings, accepted, unexpected, write_json
from page import write_page

matplotlib.use("agg")

HERE = Path(__file__).parent
EXPECTED = json.loads((HERE / "expected.json").read_text())
# In the order of the page; each is a module with TITLE, PLACES and a function `run`.
RESULTS = (
    "figure1",
    "figure2",
    "figure3",
    "table1",
    "table2",
    "printed_settings",
    "table3",
    "table4",
    "table5",
    "scaleup",
    "stability",
    "postprocessing",
    "reduced_painting",
    "contours",
    "peers",
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=os.environ.get("PSKCLUST_DATA"))
    parser.add_argument("--only", nargs="+", choices=RESULTS, metavar="NAME", default=RESULTS)
    parser.add_argument(
        "--fast", action="store_true", help="run subsets of the searches, sizes and seeds"
    )
    parser.add_argument(
        "--accept", action="store_true", help="write the values of this run to expected.json"
    )
    parser.add_argument("--output", type=Path, default=HERE.parent / "build/reproduction")
    options = parser.parse_args()
    options.output.mkdir(parents=True, exist_ok=True)
    results = _earlier_results(options.output)
    failed = False
    for name in options.only:
        results[name] = _in_new_process(name, options)
        failed |= "error" in results[name] or bool(results[name].get("unexpected"))
        results = {name: results[name] for name in RESULTS if name in results}
        write_json(options.output / "results.json", results)
        write_page(options.output, results)
    print(f"The page is {options.output / 'index.html'}")
    return int(failed)


def _earlier_results(output: Path) -> dict[str, Any]:
    try:
        earlier: dict[str, Any] = json.loads((output / "results.json").read_text())
    except (OSError, ValueError):
        return {}
    return {name: earlier[name] for name in RESULTS if name in earlier}


def _in_new_process(name: str, options: argparse.Namespace) -> dict[str, Any]:
    """Make one result in a new process: threads of other results would hang those it forks."""
    with ProcessPoolExecutor(1, get_context("spawn")) as processes:
        return processes.submit(_make, name, options).result()


def _make(name: str, options: argparse.Namespace) -> dict[str, Any]:
    """Return one result, ready for JSON: its outcome, or why there is none."""
    module = importlib.import_module(name)
    data = Path(options.data) if options.data else None
    settings = Settings(options.output, data, options.fast, Bar(name))
    started, started_working = time.perf_counter(), processor_seconds()
    result: dict[str, Any] = {
        "title": module.TITLE,
        "places": module.PLACES,
        "fast": options.fast,
    }
    try:
        outcome: Outcome = module.run(settings)
    except (FileNotFoundError, ModuleNotFoundError) as reason:  # data or a package is missing
        result["left_out"] = str(reason)
    except Exception:
        traceback.print_exc()
        result["error"] = traceback.format_exc(limit=-1).strip().splitlines()[-1]
    else:
        result.update(outcome.to_json())
        mode = "fast" if options.fast else "full"
        if options.accept:
            accept(mode, name, outcome.values)
        expected = EXPECTED[mode]
        result["unexpected"] = unexpected(outcome.values, expected.get(name, {}))
    result["seconds"] = time.perf_counter() - started
    result["processor_seconds"] = processor_seconds() - started_working
    settings.tell(1)
    said = result.get("left_out") or result.get("error") or times(result)
    print(f"\r{name:<16} {said:<50} {time.strftime('%H:%M:%S')}", flush=True)
    for line in result.get("unexpected", []):
        print(f"{'':<16} {line}", flush=True)
    return result


def accept(mode: str, name: str, values: dict[str, float]) -> None:
    """Write values to expected.json, which is read again in case another run has changed it."""
    EXPECTED.update(json.loads((HERE / "expected.json").read_text()))
    EXPECTED[mode][name] = accepted(values, EXPECTED[mode].get(name, {}))
    write_json(HERE / "expected.json", EXPECTED)


def times(result: dict[str, Any]) -> str:
    return f"{result['seconds']:.0f} s, processors {result['processor_seconds']:.0f} s"


def processor_seconds() -> float:
    """Return the CPU seconds of this process and of its finished children."""
    return sum(os.times()[:4])


class Bar:
    """A progress bar; it shows nothing if the output is not a terminal."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._shown = sys.stdout.isatty()

    def __call__(self, share: float) -> None:
        if self._shown:
            full = int(40 * min(1, share))
            bar = "#" * full + "." * (40 - full)
            print(f"\r{self._name:<16} [{bar}] {share:4.0%}", end="", flush=True)


if __name__ == "__main__":
    sys.exit(main())
