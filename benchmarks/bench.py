"""Measure the time of fits of psKC and of the methods that users would pick instead.

    python benchmarks/bench.py [--quick] [--only PART ...] [--data DIR] [--results FILE]

Every case runs all methods in turn on the same data. Each fit has its own process, in which a small
fit has loaded all code. Tables show medians and ratios within the run, because ratios vary less
than times. A method that takes too long at one size is not timed at larger ones. The files
DIR/flights_3m.npz and DIR/mnist70k.npz are used if they exist. ikpykit, whose licence is not free,
is timed if it is installed.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
from collections.abc import Callable
from pathlib import Path
from typing import Any

import speed_cases
from speed_page import columns_table, draw, facts_table, rows_table, small_table

HERE = Path(__file__).parent
SECONDS_ALLOWED, SECONDS_ALLOWED_QUICK = 40, 8
ROWS, ROWS_QUICK = [1_000, 10_000, 100_000, 1_000_000, 4_000_000], [10_000, 100_000]
COLUMNS, COLUMNS_QUICK = [2, 8, 16, 32, 128, 768], [8, 64]
SMALL, SMALL_QUICK = [200, 1_000, 5_000], [1_000]


def _seconds(options: argparse.Namespace) -> float:
    return SECONDS_ALLOWED_QUICK if options.quick else SECONDS_ALLOWED


# The parts of the results, each with the function that measures it.
PARTS: dict[str, Callable[[argparse.Namespace], Any]] = {
    "rows": lambda o: speed_cases.by_rows(ROWS_QUICK if o.quick else ROWS, _seconds(o)),
    "columns": lambda o: speed_cases.by_columns(COLUMNS_QUICK if o.quick else COLUMNS, _seconds(o)),
    "small": lambda o: speed_cases.small(SMALL_QUICK if o.quick else SMALL, _seconds(o)),
    "predict_over_fit": lambda o: speed_cases.prediction(100_000 if o.quick else 1_000_000),
    "noise": lambda o: speed_cases.noise(),
    "first_use": lambda o: speed_cases.first_use(),
    "flights_3m": lambda o: speed_cases.flights(o.data),
    "mnist70k": lambda o: speed_cases.mnist(o.data),
}
DATA_SETS = ("flights_3m", "mnist70k")


def main() -> None:
    options = _options()
    results: dict[str, Any] = {}
    if options.only:
        results = json.loads(options.results.read_text())
    results["machine"] = f"{platform.machine()}, {os.cpu_count()} processors"
    for name in options.only or PARTS:
        if name in DATA_SETS and not _has_data(name, options):
            print(f"\n{name} is left out: name a folder with {name}.npz by --data, without --quick")
        else:
            results[name] = PARTS[name](options)
    options.results.parent.mkdir(parents=True, exist_ok=True)
    temporary = options.results.with_suffix(".tmp")
    temporary.write_text(json.dumps(results, indent=1) + "\n")
    temporary.replace(options.results)
    for table in (rows_table, columns_table, small_table, facts_table):
        print("\n" + table(results))
    picture = options.results.with_suffix(".png")
    draw(results, picture)
    print(f"\nThe figures are in {options.results}, the picture is {picture}")


def _has_data(name: str, options: argparse.Namespace) -> bool:
    return bool(not options.quick and options.data and (options.data / f"{name}.npz").exists())


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="use small sizes; takes a few minutes")
    parser.add_argument(
        "--only", nargs="+", choices=PARTS, help="measure only these parts, and keep the others"
    )
    parser.add_argument("--data", type=Path, default=os.environ.get("PSKCLUST_DATA"))
    parser.add_argument("--results", type=Path, default=HERE / "results.json")
    return parser.parse_args()


if __name__ == "__main__":
    main()
