"""Check whether the tests notice wrong changes to the core: make mutations [ONLY=_pskc/growth]

Each change is made alone, in a copy of the tree, and the tests of its module are run there until
one fails. A change that no test notices survives: its line is not tested, or does not matter.
Changes that cannot matter are listed in equivalent.py, with the reason, and do not count. Changes
are drawn at random, with a fixed seed.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import traceback
from pathlib import Path
from typing import NamedTuple

# Set before the imports: one thread, the profile below, and the variable that conftest.py sets.
os.environ |= {"OMP_NUM_THREADS": "1", "SCIPY_ARRAY_API": "1", "HYPOTHESIS_PROFILE": "mutations"}

import hypothesis
import numba
import pytest
import sklearn.cluster  # noqa: F401  loaded once for all runs
from edits import Edit, edits
from equivalent import EQUIVALENT

ROOT = Path(__file__).parents[2]
LOG = ROOT / "build/mutations.log"
COPIED = ("src", "tests", "pyproject.toml")
PACKAGE = "src/pskclust"
PLAIN = "estimator/test_exactness.py::test_labels_are_those_of_the_pseudocode[plain]"
WEIGHTED = "estimator/test_exactness.py::test_a_row_of_weight_w_is_labelled_as_w_copies[plain]"
COMPILED = "estimator/test_exactness.py::test_labels_are_those_of_the_pseudocode[compiled]"
CELLS = "estimator/test_exactness.py::test_cells_are_those_of_plain_loops"
ABSENT = "estimator/test_estimator.py::test_rows_of_weight_zero_take_no_part_and_are_predicted"
FRACTIONS = "estimator/test_estimator.py::test_the_objective_counts_weight"
GOES_ON = "pskc/test_checkpoint.py::test_a_fit_goes_on_from_the_last_cluster"
PROGRESS = "utils/test_progress.py"
REFINEMENT = "pskc/test_refinement.py"
PARTITION = "cells/test_partition.py"
KERNEL = "estimator/test_isolation_kernel.py"
EVIDENCE = "choice/test_evidence.py"
DRAWN = [PARTITION, CELLS, KERNEL, "model_io/test_model_file.py"]
# The tests of each module; those that notice changes fastest come first.
TESTS = {
    "_pskc/growth": [PLAIN, WEIGHTED, PROGRESS, GOES_ON],
    "_pskc/refinement": [REFINEMENT, PLAIN, WEIGHTED, PROGRESS, ABSENT, FRACTIONS],
    "_cells/count_tables": ["cells/test_count_tables.py", REFINEMENT, PLAIN],
    "_cells/partition": DRAWN,
    "_cells/voronoi": DRAWN,
    "_cells/drawing": DRAWN,
    "_cells/trees": DRAWN,
    "_kernels/reference": [CELLS, PLAIN, PARTITION, KERNEL],
    "_kernels/screening": [PARTITION],
    "_kernels/compiled": [PARTITION, COMPILED],
    "_kernels/neighbour_blocks": ["kernels/test_neighbour_blocks.py"],
    "_kernels/neighbour_growth": ["kernels/test_neighbour_blocks.py"],
    "_kernels/neighbour_labels": ["kernels/test_neighbour_blocks.py"],
    "_kernels/neighbour_encoding": ["kernels/test_neighbour_blocks.py"],
    "_kernels/neighbour_order": ["kernels/test_neighbour_blocks.py"],
    "_kernels/neighbour_layout": ["kernels/test_neighbour_blocks.py"],
    "_kernels/boxes": ["kernels/test_neighbour_blocks.py"],
    "_kernels/block_cells": ["kernels/test_block_cells.py"],
    "_kernels/block_products": ["kernels/test_block_cells.py"],
    "_choice/similarity": ["choice/test_similarity.py", EVIDENCE],
    "_choice/split_tree": ["choice/test_split_tree.py", EVIDENCE],
    "_choice/borders": ["choice/test_borders.py", EVIDENCE],
    "_choice/discriminant": ["choice/test_borders.py"],
    "_choice/scales": ["choice/test_borders.py", EVIDENCE],
    "_choice/consensus": ["choice/test_consensus.py"],
    "_choice/choose": ["choice/test_choose.py"],
}
# Compiling takes longer than a few tests of uncompiled code, so those tests come first.
COMPILED_MODULES = {
    "_kernels/compiled",
    "_kernels/neighbour_blocks",
    "_kernels/neighbour_growth",
    "_kernels/neighbour_labels",
    "_kernels/neighbour_encoding",
    "_kernels/neighbour_order",
    "_kernels/neighbour_layout",
    "_kernels/boxes",
    "_kernels/block_cells",
    "_kernels/block_products",
}
UNCOMPILED_TESTS = ["kernels/test_compiled.py"]
# Tests that take this many times longer count as failed: such a change would be noticed.
PATIENCE, LEAST_SECONDS = 2, 10
MOST_BYTES = 16 << 30


class Stage(NamedTuple):
    """Tests to run together, with or without compilation."""

    tests: list[str]
    compiled: bool


class Outcome(NamedTuple):
    """The outcome of a run of tests."""

    passed: bool
    stopped: bool  # by force: too slow, too large, or a crash
    seconds: float  # CPU time


def main() -> int:
    """Try the changes and return 0 if enough of them are noticed."""
    arguments = _arguments()
    # Without shrinking, which only helps people who read the examples.
    phases = (hypothesis.Phase.explicit, hypothesis.Phase.generate)
    hypothesis.settings.register_profile(
        "mutations", deadline=None, derandomize=True, database=None, phases=phases
    )
    # Raised as an exception, so that the copy is removed.
    signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(128 + number))
    n_caught = n_tried = 0
    with tempfile.TemporaryDirectory(prefix="mutations-") as folder:
        tree = Path(folder)
        _copy(tree)
        for module in arguments.modules:
            caught, tried = _try_module(tree, module, arguments)
            n_caught, n_tried = n_caught + caught, n_tried + tried
    print(f"all: {n_caught} of {n_tried} changes noticed, {n_caught / n_tried:.0%}")
    return int(n_caught < arguments.least * n_tried)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("modules", nargs="*", default=list(TESTS), help="such as _pskc/growth")
    parser.add_argument("--number", type=int, default=30, help="number of changes to each module")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--quick", action="store_true", help="of compiled modules, run only uncompiled tests"
    )
    parser.add_argument("--least", type=float, default=0.9, help="share that must be noticed")
    arguments = parser.parse_args()
    unknown = set(arguments.modules) - set(TESTS)
    if unknown:
        parser.error(
            f"there are no tests for {', '.join(unknown)}; choose among {', '.join(TESTS)}"
        )
    return arguments


def _copy(tree: Path) -> None:
    for name in COPIED:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, tree / name)


def _try_module(tree: Path, module: str, options: argparse.Namespace) -> tuple[int, int]:
    """Return the numbers of changes noticed and tried."""
    path = tree / PACKAGE / f"{module}.py"
    source = path.read_text()
    possible = edits(source)
    # Seeded by name, so that a module's changes do not depend on the other modules tried.
    chosen = random.Random(f"{options.seed} {module}").sample(
        possible, min(options.number, len(possible))
    )
    stages = [Stage(TESTS[module], compiled=True)]
    if module in COMPILED_MODULES:
        uncompiled = Stage(UNCOMPILED_TESTS, compiled=False)
        stages = [uncompiled] if options.quick else [uncompiled, *stages]
    limits = [_limit(tree, stage) for stage in stages]
    print(f"{module}: {len(possible)} changes possible, tests stop after {sum(limits):.0f} s")
    noticed = stopped = equivalent = 0
    for edit in chosen:
        path.write_text(edit.text)
        outcome = _try_stages(tree, stages, limits)
        noticed += not outcome.passed
        stopped += outcome.stopped
        if outcome.passed and _is_equivalent(module, edit):
            equivalent += 1
        elif outcome.passed:
            print(f"  survived, line {edit.line}: {edit.code}\n    {edit.change}", flush=True)
    path.write_text(source)
    print(
        f"{module}: {noticed} of {len(chosen) - equivalent} noticed ({stopped} by force), "
        f"{equivalent} more cannot matter",
        flush=True,
    )
    return noticed, len(chosen) - equivalent


def _is_equivalent(module: str, edit: Edit) -> bool:
    return edit.change in EQUIVALENT.get(module, {}).get(edit.code, {})


def _limit(tree: Path, stage: Stage) -> float:
    """Return the CPU seconds that tests may take, based on their time on unchanged code."""
    unchanged = _run(tree, stage, None)
    if not unchanged.passed:
        sys.exit(f"Tests fail on unchanged code: see {LOG.relative_to(ROOT)}")
    return PATIENCE * unchanged.seconds + LEAST_SECONDS


def _try_stages(tree: Path, stages: list[Stage], limits: list[float]) -> Outcome:
    for stage, limit in zip(stages, limits, strict=True):
        outcome = _run(tree, stage, limit)
        if not outcome.passed:
            break
    return outcome


def _run(tree: Path, stage: Stage, limit: float | None) -> Outcome:
    """Run tests in a forked process, which has loaded all libraries but not pskclust."""
    child = os.fork()
    if not child:
        os._exit(_test(tree, stage, limit))
    status = None
    try:
        _, status, used = os.wait4(child, 0)
    finally:
        if status is None:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
    return Outcome(status == 0, os.WIFSIGNALED(status), used.ru_utime + used.ru_stime)


def _test(tree: Path, stage: Stage, limit: float | None) -> int:
    """Run tests in the copy of the tree; return 0 if they pass."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    if limit is not None:
        # The limit of CPU time ends endless loops; the alarm ends endless waits.
        resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit)))
        signal.alarm(int(20 * limit))
    os.chdir(tree)
    LOG.parent.mkdir(exist_ok=True)
    output = os.open(LOG, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(output, 1)
    os.dup2(output, 2)
    sys.path[:0] = [str(tree / "src"), str(tree)]
    os.environ["PYTHONPATH"] = str(tree / "src")  # for processes that tests start
    sys.dont_write_bytecode = True
    numba.config.DISABLE_JIT = not stage.compiled
    # Plain assertions: pytest cannot rewrite those of modules that are already loaded.
    options = ["-x", "-q", "-p", "no:cacheprovider", "--assert=plain"]
    if not stage.compiled:
        options += ["-W", "ignore:overflow:RuntimeWarning"]
    try:
        return int(pytest.main([*options, *(f"tests/{name}" for name in stage.tests)]))
    except BaseException:
        traceback.print_exc()
        return 1
    finally:
        sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
