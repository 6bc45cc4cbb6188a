"""How good clusters are without parameters: PSKC and others on labelled sets.

    python benchmarks/quality.py --data DIR

DIR/benchmark holds npz files with X and y, and with y1, y2, ... where there are other references
(label 0 is noise and does not count). Columns are scaled to [0, 1]. Results are kept in
benchmarks/quality.json as they come, so that a run which was stopped goes on; docs/quality.md and
the pictures of failures are written at the end.
"""

from __future__ import annotations

import argparse
import itertools
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from quality_methods import FOR_SMALL_SETS, METHODS, SEEDED, score
from quality_page import draw_failures, page
from quality_sets import load_sets
from sklearn.metrics import adjusted_rand_score

from pskclust._utils.files import replacing

ROOT = Path(__file__).parents[1]
SEEDS = range(8)


def main() -> None:
    arguments = _arguments()
    results = json.loads(arguments.results.read_text()) if arguments.results.exists() else {}
    sets = load_sets(arguments.data)
    for method in arguments.only or METHODS:
        for each in sets:
            if each.group == "large" and method in FOR_SMALL_SETS:
                continue
            known = results.setdefault(each.name, {"group": each.group, "n": len(each.X)})
            known["ks"] = each.ks
            if method not in known:
                known[method] = measured(method, each)
                print(f"{method:26s} {each.name:20s} {known[method]}", flush=True)
                _write(arguments.results, json.dumps(results, indent=1).encode())
    _write(ROOT / "docs/quality.md", page(results).encode())
    draw_failures(results, sets, ROOT / "docs/pictures")


def measured(method: str, each: Any) -> dict[str, Any]:
    """Return the scores of a method, how alike its seeds are, and what it found."""
    started = time.process_time()
    seeds = SEEDS if method in SEEDED else SEEDS[:1]
    found = [METHODS[method](each.X, each.references, each.ks, seed) for seed in seeds]
    answer = {
        "ari": [round(score(each.references, labels), 4) for labels in found],
        "clusters": [len(np.unique(labels[labels >= 0])) for labels in found],
        "seconds": round((time.process_time() - started) / len(found), 2),
    }
    if len(each.references) > 1:
        first = each.references[:1]
        answer["ari_with_first"] = [round(score(first, labels), 4) for labels in found]
    if len(found) > 1:
        pairs = itertools.combinations(found, 2)
        agreements = [adjusted_rand_score(one, other) for one, other in pairs]
        answer["agreement"] = round(float(np.mean(agreements)), 4)
    return answer


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="folder with benchmark/*.npz")
    parser.add_argument("--results", type=Path, default=ROOT / "benchmarks/quality.json")
    parser.add_argument("--only", nargs="*", choices=METHODS, help="methods to run")
    return parser.parse_args()


def _write(path: Path, content: bytes) -> None:
    with replacing(path) as stream:
        stream.write(content)


if __name__ == "__main__":
    main()
