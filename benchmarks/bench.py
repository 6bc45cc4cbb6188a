"""Time fits, ours and those of the methods that users would pick instead.

    python benchmarks/bench.py [--quick] [--data DIR] [--results FILE]

Every case runs all methods on the same data, turn by turn, each fit in a process of its own that
is warm (it has done a small fit before). Tables show medians and ratios within the run: machines
are noisy, ratios less so. A method that takes too long at one size is not timed at the next one.
DIR/flights_3m.npz and DIR/mnist70k.npz are used if they are there. ikpykit, whose licence is not
free, is timed if somebody has installed it.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
from pathlib import Path
from typing import Any

import speed_cases
from speed_page import columns_table, draw, facts_table, rows_table, small_table

HERE = Path(__file__).parent
SECONDS_ALLOWED, SECONDS_ALLOWED_QUICK = 40, 8
ROWS, ROWS_QUICK = [1_000, 10_000, 100_000, 1_000_000, 4_000_000], [10_000, 100_000]
COLUMNS, COLUMNS_QUICK = [2, 8, 16, 32, 128, 768], [8, 64]
SMALL, SMALL_QUICK = [200, 1_000, 5_000], [1_000]


def main() -> None:
    options = _options()
    quick = options.quick
    seconds = SECONDS_ALLOWED_QUICK if quick else SECONDS_ALLOWED
    results: dict[str, Any] = {
        "machine": f"{platform.machine()}, {os.cpu_count()} processors",
        "rows": speed_cases.by_rows(ROWS_QUICK if quick else ROWS, seconds),
        "columns": speed_cases.by_columns(COLUMNS_QUICK if quick else COLUMNS, seconds),
        "small": speed_cases.small(SMALL_QUICK if quick else SMALL, seconds),
        "predict_over_fit": speed_cases.prediction(100_000 if quick else 1_000_000),
        "noise": speed_cases.noise(),
        "first_use": speed_cases.first_use(),
    }
    given = {"flights_3m": speed_cases.flights, "mnist70k": speed_cases.mnist}
    for name, case in {} if quick else given.items():
        if options.data and (Path(options.data) / f"{name}.npz").exists():
            results[name] = case(Path(options.data))
        else:
            print(f"\n{name}: left out, there is no --data folder with {name}.npz")
    options.results.parent.mkdir(parents=True, exist_ok=True)
    temporary = options.results.with_suffix(".tmp")
    temporary.write_text(json.dumps(results, indent=1) + "\n")
    temporary.replace(options.results)
    for table in (rows_table, columns_table, small_table, facts_table):
        print("\n" + table(results))
    picture = options.results.with_suffix(".png")
    draw(results, picture)
    print(f"\nThe figures are in {options.results}, the picture is {picture}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="small sizes, a few minutes")
    parser.add_argument("--data", type=Path, default=os.environ.get("PSKCLUST_DATA"))
    parser.add_argument("--results", type=Path, default=HERE / "results.json")
    return parser.parse_args()


if __name__ == "__main__":
    main()
